from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item


class SavedView(models.Model):
    """A list with filters under a name; its owner's, or everybody's where it is shared."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=80)
    list = models.CharField(_("list"), max_length=16, choices=Item.List)
    # Names and values of `reviews.filters.Filters`; what is blank is left out.
    filters = models.JSONField(_("filters"), default=dict)
    shared = models.BooleanField(_("shared"), default=False)
    saved_at = models.DateTimeField(_("saved"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [
            models.UniqueConstraint(name="one_view_per_owner_and_name", fields=["owner", "name"]),
            models.CheckConstraint(
                name="view_list_is_known",
                condition=models.Q(list__in=["pending", "needs_review", "judged_safe", "resolved"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name
