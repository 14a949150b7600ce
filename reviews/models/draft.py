from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item


class Draft(models.Model):
    """What a reviewer has typed about an item and not submitted; theirs alone, gone once decided."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="+", verbose_name=_("item"))
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("reviewer")
    )
    # As typed: a choice that is not offered any more is dropped where the form is shown.
    action = models.CharField(_("action"), max_length=32, blank=True)
    category = models.CharField(_("category"), max_length=64, blank=True)
    note = models.TextField(_("note for colleagues"), blank=True)
    reason = models.TextField(_("reason for the author"), blank=True)
    saved_at = models.DateTimeField(_("saved"), db_default=Now())

    class Meta:
        verbose_name = _("draft")
        verbose_name_plural = _("drafts")
        constraints = [
            models.UniqueConstraint(name="one_draft_per_reviewer", fields=["reviewer", "item"])
        ]

    def __str__(self) -> str:
        return f"{self.item_id} by {self.reviewer_id}"
