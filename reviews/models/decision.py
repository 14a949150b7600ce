from collections.abc import Collection

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from reports.models import Item, Report, Severity
from reviews.models.action import Action


class DecisionQuerySet(models.QuerySet["Decision"]):
    def standing(self) -> "DecisionQuerySet":
        """Decisions and proposals that nobody took back; an item's newest of them is what counts."""
        undone = Decision.objects.filter(overrides=OuterRef("pk"), kind=Decision.Kind.UNDO)
        return self.exclude(kind=Decision.Kind.UNDO).filter(~Exists(undone))

    def newest_of(self, item_ids: Collection[int]) -> "dict[int, Decision]":
        """What stands about each of these items, by item id."""
        newest = self.filter(item__in=item_ids).standing().order_by("item", "-id").distinct("item")
        return {each.item_id: each for each in newest.select_related("reviewer", "action")}


class Decision(models.Model):
    """What a person decided about an item's reports. Append-only; a later row overrides it.

    A decision counts from `effective_at` on, which leaves time to undo. A proposal is what needs a
    second person, and counts once that person's decision approves it. An undo takes the row that it
    overrides back, within its time and by who wrote it. One line an item: each row overrides the
    newest before it, whatever its kind.
    """

    class Kind(models.TextChoices):
        DECISION = "decision", _("decision")
        PROPOSAL = "proposal", _("proposal")
        UNDO = "undo", _("undo")

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
    kind = models.CharField(
        _("kind"), max_length=16, choices=Kind, default=Kind.DECISION, db_default=Kind.DECISION
    )
    # The column keeps the name that statements in SQL read; null for an undo.
    action = models.ForeignKey(
        Action,
        models.PROTECT,
        null=True,
        db_column="action",
        db_index=False,
        related_name="+",
        verbose_name=_("action"),
    )
    category = models.CharField(_("category"), max_length=64, blank=True)
    policy_version = models.ForeignKey(
        PolicyVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("policy version of the category"),
    )
    severity = models.SmallIntegerField(_("severity"), null=True, choices=Severity)
    """The higher one of the item's rank and the category's severity then; null before that was kept."""
    # One to one: two people cannot both override the same decision.
    overrides = models.OneToOneField(
        "self", models.PROTECT, null=True, related_name="overridden_by", verbose_name=_("overrides")
    )
    # Not one to one: an approval that was undone makes room for another.
    approves = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="approvals", verbose_name=_("approves")
    )
    note = models.TextField(_("note for colleagues"), null=True)  # noqa: DJ001 - null after the purge
    reason = models.TextField(_("reason for the author"), null=True)  # noqa: DJ001 - likewise
    created_at = models.DateTimeField(_("decided"), db_default=Now(), editable=False)
    effective_at = models.DateTimeField(_("in effect from"), null=True)
    purged_at = models.DateTimeField(_("purged"), null=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        permissions = [
            ("review_items", _("Can read the review lists and items")),
            ("decide_items", _("Can decide about items")),
            ("decide_escalated", _("Can decide about escalated items")),
            ("view_quality", _("Can see how good verdicts and decisions are")),
        ]
        constraints = [
            models.CheckConstraint(
                name="decision_kind_is_known",
                condition=Q(kind__in=["decision", "proposal", "undo"]),
            ),
            models.CheckConstraint(
                name="only_an_undo_has_no_action",
                condition=Q(kind="undo", action=None) | (~Q(kind="undo") & Q(action__isnull=False)),
            ),
            models.CheckConstraint(
                name="only_a_decision_takes_effect",
                condition=Q(kind="decision", effective_at__isnull=False)
                | (~Q(kind="decision") & Q(effective_at=None)),
            ),
            models.CheckConstraint(
                name="only_a_decision_approves",
                condition=Q(approves=None) | Q(kind="decision"),
            ),
            models.CheckConstraint(
                name="decision_severity_is_known",
                condition=Q(severity=None) | Q(severity__range=(0, 4)),
            ),
        ]
        indexes = [
            # Read by what senders see: the few that may still be undone.
            models.Index(fields=["effective_at"], name="decision_by_effect"),
            # Read by what one reviewer decided, newest first.
            models.Index(fields=["reviewer", "-id"], name="decision_of_reviewer"),
        ]

    def __str__(self) -> str:
        return f"{self.action_id or self.kind}: {self.item_id}"

    @property
    def is_undone(self) -> bool:
        later: Decision | None = getattr(self, "overridden_by", None)
        return later is not None and later.kind == self.Kind.UNDO


class DecidedReport(models.Model):
    """Which reports a decision was about: those whose content the reviewer had before them.

    With how each stood before, to which an undo brings it back.
    """

    decision = models.ForeignKey(Decision, models.PROTECT, related_name="+")
    report = models.ForeignKey(Report, models.PROTECT, related_name="decided")
    status_before = models.CharField(  # noqa: DJ001 - null before that was kept
        _("status before"), max_length=16, choices=Report.Status, null=True
    )
    upheld_before = models.DateTimeField(_("upheld before"), null=True)

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
