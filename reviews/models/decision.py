from collections.abc import Collection

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Item, Report


class DecisionQuerySet(models.QuerySet["Decision"]):
    def newest_of(self, item_ids: Collection[int]) -> "dict[int, Decision]":
        """The newest decision about each of these items, by item id."""
        newest = self.filter(item__in=item_ids).order_by("item", "-id").distinct("item")
        return {each.item_id: each for each in newest.select_related("reviewer")}


class Decision(models.Model):
    """What a person decided about an item's reports. Append-only; a later row overrides it.

    It counts from `effective_at` on, which leaves time to undo.
    """

    class Action(models.TextChoices):
        NO_VIOLATION = "no_violation", _("no violation")
        WARN = "warn", _("warn")
        REMOVE = "remove", _("remove")
        SUSPEND = "suspend", _("remove and suspend")
        REOPEN = "reopen", _("back to review")

    # Which actions say that there was a violation.
    UPHOLDS = frozenset({Action.WARN, Action.REMOVE, Action.SUSPEND})

    item = models.ForeignKey(Item, models.PROTECT, related_name="decisions", verbose_name=_("item"))
    reports = models.ManyToManyField(
        Report, through="DecidedReport", related_name="decisions", verbose_name=_("reports")
    )
    # Without an index of its own: `decision_of_reviewer` serves it.
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("reviewer"),
    )
    action = models.CharField(_("action"), max_length=16, choices=Action)
    category = models.CharField(_("category"), max_length=64, blank=True)
    # One to one: two people cannot both override the same decision.
    overrides = models.OneToOneField(
        "self", models.PROTECT, null=True, related_name="overridden_by", verbose_name=_("overrides")
    )
    note = models.TextField(_("note for colleagues"), null=True)  # noqa: DJ001 - null after the purge
    reason = models.TextField(_("reason for the author"), null=True)  # noqa: DJ001 - likewise
    created_at = models.DateTimeField(_("decided"), db_default=Now(), editable=False)
    effective_at = models.DateTimeField(_("in effect from"))
    purged_at = models.DateTimeField(_("purged"), null=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        permissions = [
            ("review_items", _("Can read the review lists and items")),
            ("decide_items", _("Can decide about items")),
        ]
        constraints = [
            models.CheckConstraint(
                name="decision_action_is_known",
                condition=models.Q(
                    action__in=["no_violation", "warn", "remove", "suspend", "reopen"]
                ),
            ),
        ]
        indexes = [
            # Read by what one reviewer decided, newest first.
            models.Index(fields=["reviewer", "-id"], name="decision_of_reviewer"),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.item_id}"


class DecidedReport(models.Model):
    """Which reports a decision was about: those whose content the reviewer had before them."""

    decision = models.ForeignKey(Decision, models.PROTECT, related_name="+")
    report = models.ForeignKey(Report, models.PROTECT, related_name="+")

    class Meta:
        verbose_name = _("decided report")
        verbose_name_plural = _("decided reports")
        constraints = [
            models.UniqueConstraint(
                name="a_decision_names_a_report_once", fields=["decision", "report"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.report_id} by {self.decision_id}"
