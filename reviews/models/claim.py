from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item

# However often it is renewed: a claim ends by itself.
LONGEST_CLAIM = timedelta(hours=8)


class ClaimQuerySet(models.QuerySet["Claim"]):
    def in_force(self) -> "ClaimQuerySet":
        """Neither released nor run out (database clock)."""
        return self.filter(released_at=None, expires_at__gt=Now())


class Claim(models.Model):
    """An item in one reviewer's hands until it is released or its time runs out."""

    item = models.ForeignKey(Item, models.PROTECT, related_name="claims", verbose_name=_("item"))
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("reviewer")
    )
    handed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("handed over by"),
    )
    """The colleague who handed it over; null for an item that its reviewer took."""
    note = models.TextField(_("note at the hand-over"), blank=True, db_default="")
    blind = models.BooleanField(_("blind"), default=False, db_default=False)
    """Its reviewer sees neither what the machine said nor what others decided, until they decide."""
    double_review = models.ForeignKey(
        "DoubleReview",
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("double review"),
    )
    """The second review that it was handed out for: the answer overrides nothing."""
    claimed_at = models.DateTimeField(_("claimed"), db_default=Now(), editable=False)
    expires_at = models.DateTimeField(_("expires"))
    released_at = models.DateTimeField(_("released"), null=True)

    objects = ClaimQuerySet.as_manager()

    class Meta:
        verbose_name = _("claim")
        verbose_name_plural = _("claims")
        constraints = [
            models.UniqueConstraint(
                name="one_open_claim_per_item",
                fields=["item"],
                condition=models.Q(released_at=None),
            ),
            models.CheckConstraint(
                name="a_claim_ends_by_itself",
                condition=models.Q(expires_at__lte=models.F("claimed_at") + LONGEST_CLAIM),
            ),
            models.CheckConstraint(
                name="a_second_review_is_blind",
                condition=models.Q(double_review=None) | models.Q(blind=True),
            ),
        ]
        indexes = [
            # Read by what a reviewer has in hand, and by the count of today's severe items.
            models.Index(fields=["reviewer", "-claimed_at"], name="claim_of_reviewer"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.reviewer_id}"


class Skip(models.Model):
    """An item that a reviewer passed over: not handed to them again until they start anew."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="+", verbose_name=_("item"))
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("reviewer")
    )
    skipped_at = models.DateTimeField(_("skipped"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("skipped item")
        verbose_name_plural = _("skipped items")
        constraints = [
            models.UniqueConstraint(name="one_skip_per_reviewer", fields=["reviewer", "item"])
        ]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.reviewer_id}"
