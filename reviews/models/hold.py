from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models.expressions import Combinable


class HoldQuerySet(models.QuerySet["Hold"]):
    def in_force(self) -> "HoldQuerySet":
        """Not ended, and its time, if it has one, has not come (database clock)."""
        return self.filter(Q(until=None) | Q(until__gt=Now()), ended_at=None)


class Hold(models.Model):
    """Why an open item waits for something other than the next free reviewer; it has a name.

    Put aside until a time; escalated to whoever may decide escalated items; or proposed by one
    reviewer and waiting for the approval of a different one. The item keeps its list and its rank.
    """

    class Kind(models.TextChoices):
        PUT_ASIDE = "put_aside", _("put aside")
        ESCALATED = "escalated", _("escalated")
        SECOND_APPROVAL = "second_approval", _("waits for a second person")

    item = models.ForeignKey(Item, models.PROTECT, related_name="holds", verbose_name=_("item"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("placed by")
    )
    note = models.TextField(_("note for colleagues"), blank=True, db_default="")
    placed_at = models.DateTimeField(_("placed"), db_default=Now(), editable=False)
    until: "models.DateTimeField[datetime | Combinable | None, datetime | None]" = (
        models.DateTimeField(_("until"), null=True)
    )
    """When it ends by itself; only what was put aside does."""
    ended_at = models.DateTimeField(_("ended"), null=True)

    objects = HoldQuerySet.as_manager()

    class Meta:
        verbose_name = _("hold")
        verbose_name_plural = _("holds")
        constraints = [
            models.UniqueConstraint(
                name="one_open_hold_per_item", fields=["item"], condition=Q(ended_at=None)
            ),
            models.CheckConstraint(
                name="hold_kind_is_known",
                condition=Q(kind__in=["put_aside", "escalated", "second_approval"]),
            ),
            models.CheckConstraint(
                name="what_is_put_aside_has_a_time",
                condition=Q(kind="put_aside", until__isnull=False)
                | (~Q(kind="put_aside") & Q(until=None)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.item_id}"
