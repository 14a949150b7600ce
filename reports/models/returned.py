from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models.item import Item
from reports.models.report import Report


class Return(models.Model):
    """New reports by several different people brought an item back that was judged safe or resolved.

    It is open until a person decides about the item, and while it is open no second one is written:
    however many reports still come, they are one card. What is counted says why, so that a brigade
    can be told from a crowd.
    """

    item = models.ForeignKey(Item, models.PROTECT, related_name="returns", verbose_name=_("item"))
    report = models.ForeignKey(
        Report, models.PROTECT, related_name="+", verbose_name=_("report that was sent back")
    )
    reporters = models.PositiveIntegerField(_("different reporters"))
    """Distinct people who reported it since `since`, none of them heard before a decision."""
    fresh = models.PositiveIntegerField(_("of them new"))
    """Those who had reported nothing before `since`."""
    unreliable = models.PositiveIntegerField(_("of them unreliable"))
    since = models.DateTimeField(_("counted since"))
    returned_at = models.DateTimeField(_("brought back"), db_default=Now(), editable=False)
    ended_at = models.DateTimeField(_("decided"), null=True)

    class Meta:
        verbose_name = _("item brought back by reports")
        verbose_name_plural = _("items brought back by reports")
        constraints = [
            models.UniqueConstraint(
                name="one_open_return_per_item", fields=["item"], condition=Q(ended_at=None)
            ),
            models.CheckConstraint(
                name="return_counts_reporters",
                condition=Q(reporters__gte=2)
                & Q(reporters__gte=F("fresh"))
                & Q(reporters__gte=F("unreliable")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}, {self.returned_at:%Y-%m-%d %H:%M}"

    @property
    def looks_like_a_brigade(self) -> bool:
        """At least half of the reporters are new, or at least half of them unreliable."""
        return 2 * max(self.fresh, self.unreliable) >= self.reporters
