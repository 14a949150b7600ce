from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item


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
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.reviewer_id}"
