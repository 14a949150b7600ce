import uuid
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from reports.models.item import Item
from reports.models.sender import Sender
from reports.models.severity import Severity
from reports.submission import Reason, Submission

if TYPE_CHECKING:
    from datetime import datetime


class ReportQuerySet(models.QuerySet["Report"]):
    """Reads of reports; they chain."""

    def pending(self) -> "ReportQuerySet":
        """Accepted, no verdict, no decision. Never counted as safe."""
        return self.filter(status=Report.Status.PENDING)

    def judged_safe(self) -> "ReportQuerySet":
        """A machine judged them safe and no person has looked."""
        return self.filter(status=Report.Status.JUDGED_SAFE)

    def in_list_order(self) -> "ReportQuerySet":
        """Most severe first, then oldest: a function of rows that retries never change."""
        return self.order_by("-rank", "received_at", "id")

    def overdue(self) -> "ReportQuerySet":
        """Still pending although the sender's latency budget has run out (database clock)."""
        return self.pending().filter(due_at__lt=Now())

    def with_outcome(self) -> "ReportQuerySet":
        """With what the lists say of a report: its item, sender, jobs and verdicts."""
        return self.select_related("item", "sender").prefetch_related("jobs", "classifications")

    def with_decisions(self) -> "ReportQuerySet":
        """With what the API says of a report: the outcome and what people decided."""
        return self.with_outcome().prefetch_related("decided__decision__overridden_by")

    def with_excerpt(self) -> "ReportQuerySet":
        """With the start of the first reported text as `excerpt`, without loading the content."""
        return self.annotate(excerpt=FirstReportedText("content__body"))


class FirstReportedText(models.Func):
    """The start of a body's first reported message, else of its first message."""

    CHARACTERS = 2_000
    WHOLE = (
        "coalesce(jsonb_path_query_first(%(expressions)s,"
        " '$.messages[*] ? (@.reported == true).text') #>> '{}',"
        " %(expressions)s #>> '{messages,0,text}')"
    )
    template = f"left({WHOLE}, {CHARACTERS})"
    output_field = models.TextField()


class Report(models.Model):
    """One complaint about one item. `reports.lifecycle` alone writes `status`, `floor` and `rank`."""

    class Status(models.TextChoices):
        PENDING = "pending", _("pending")
        NEEDS_REVIEW = "needs_review", _("needs review")
        JUDGED_SAFE = "judged_safe", _("judged safe")
        RESOLVED = "resolved", _("resolved")

    public_id = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    sender = models.ForeignKey(Sender, models.PROTECT, verbose_name=_("sender"))
    item = models.ForeignKey(Item, models.PROTECT, related_name="reports", verbose_name=_("item"))
    idempotency_key = models.CharField(_("idempotency key"), max_length=255)
    # HMAC of the canonical body; with the key it outlives a purge of the content.
    fingerprint = models.BinaryField(max_length=32)
    fingerprint_version = models.PositiveSmallIntegerField()
    likely_retry = models.BooleanField(
        _("likely a retry"),
        default=False,
        help_text=_("The same body arrived before under another idempotency key."),
    )
    status = models.CharField(
        _("status"), max_length=16, choices=Status, default=Status.PENDING, editable=False
    )
    floor = models.SmallIntegerField(
        _("severity floor"), choices=Severity, default=Severity.NONE, editable=False
    )
    floor_rules = models.JSONField(_("rules that raised the floor"), default=list)
    rank = models.SmallIntegerField(
        _("rank"), choices=Severity, default=Severity.NONE, editable=False
    )
    reason = models.CharField(_("reason"), max_length=16, choices=Reason.choices, blank=True)
    reporter_pseudonym = models.CharField(_("reporter"), max_length=32, blank=True)
    author_pseudonym = models.CharField(_("author"), max_length=32, blank=True, db_default="")
    language = models.CharField(_("language"), max_length=35)
    received_at = models.DateTimeField(_("received"), db_default=Now(), editable=False)
    due_at = models.DateTimeField(_("due"), editable=False)
    upheld_at = models.DateTimeField(_("upheld"), null=True, editable=False)
    """When a person found a violation; null again where a later decision says otherwise."""
    invalidated_at = models.DateTimeField(_("invalidated"), null=True, editable=False)
    """Since when it counts for nothing, because its reporter acted in bad faith."""

    objects = ReportQuerySet.as_manager()

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = [
            models.UniqueConstraint(
                name="one_report_per_sender_and_key", fields=["sender", "idempotency_key"]
            ),
            models.CheckConstraint(
                name="report_status_is_known",
                condition=models.Q(
                    status__in=["pending", "needs_review", "judged_safe", "resolved"]
                ),
            ),
            models.CheckConstraint(
                name="report_floor_is_a_severity", condition=models.Q(floor__range=(0, 4))
            ),
            models.CheckConstraint(
                name="report_rank_is_a_severity_above_its_floor",
                condition=models.Q(rank__range=(0, 4)) & models.Q(rank__gte=models.F("floor")),
            ),
            models.CheckConstraint(
                name="report_reason_is_known",
                condition=models.Q(reason__in=["", *Reason.values]),
            ),
        ]
        indexes = [
            # Read by the sweep: each sender's waiting reports, highest floor first, then oldest.
            models.Index(
                fields=["sender", "-floor", "received_at", "id"],
                name="report_waiting_by_sender",
                condition=models.Q(status="pending"),
            ),
            # Read by the lists of reports that nobody has resolved.
            models.Index(
                fields=["status", "-rank", "received_at", "id"],
                name="report_in_list_order",
                condition=~models.Q(status="resolved"),
            ),
            # Read when an item is placed: index-only over its reports.
            models.Index(
                fields=["item"],
                include=["status", "rank", "received_at", "due_at"],
                name="report_of_item",
            ),
            # Read at intake: did this body come before under another key?
            models.Index(fields=["sender", "fingerprint"], name="report_by_fingerprint"),
            # Counted for each sender: bodies that came again under a fresh key.
            models.Index(
                fields=["sender"],
                name="report_likely_retry",
                condition=models.Q(likely_retry=True),
            ),
            # Read at intake: was something upheld before, of this author or about this item?
            models.Index(
                fields=["sender", "author_pseudonym", "upheld_at"],
                name="report_upheld_of_author",
                condition=models.Q(upheld_at__isnull=False),
            ),
            models.Index(
                fields=["item", "upheld_at"],
                name="report_upheld_of_item",
                condition=models.Q(upheld_at__isnull=False),
            ),
            # Read by the sender's own listing.
            models.Index(fields=["sender", "received_at", "id"], name="report_by_arrival"),
            # Read by the search for an exact id and by the pages about one author.
            models.Index(
                fields=["author_pseudonym", "id"],
                name="report_of_author",
                condition=~models.Q(author_pseudonym=""),
            ),
            models.Index(
                fields=["reporter_pseudonym", "id"],
                name="report_of_reporter",
                condition=~models.Q(reporter_pseudonym=""),
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)

    def newest_job(self) -> Any:
        """The job under the highest policy version, or None; reads what was prefetched."""
        return max(self.jobs.all(), key=lambda job: job.policy_version_id, default=None)

    def current_classification(self) -> Any:
        """The verdict that counts, or None; reads what was prefetched."""
        return next((each for each in self.classifications.all() if not each.superseded), None)

    def decisions_that_stand(self) -> list[Any]:
        """What people decided or proposed about it and did not undo; reads what was prefetched."""
        return [each for each in self.decided.all() if not each.decision.is_undone]

    def is_overdue(self, *, at: "datetime | None" = None) -> bool:
        return self.status == self.Status.PENDING and self.due_at < (at or timezone.now())


class PendingReport(Report):
    """The list of reports without a verdict, for the admin."""

    class Meta:
        proxy = True
        verbose_name = _("pending report")
        verbose_name_plural = _("pending reports (no verdict yet)")


class JudgedSafeReport(Report):
    """The list of reports that only a machine has judged, for the admin."""

    class Meta:
        proxy = True
        verbose_name = _("judged-safe report")
        verbose_name_plural = _("judged-safe reports (by a machine)")


class ContentUnreadableError(Exception):
    """A stored body that intake would not accept: the row was changed behind our back."""


class Content(models.Model):
    """What was sent, by value: the request body without the reporter. Never changed; a purge deletes it."""

    report = models.OneToOneField(
        Report, models.PROTECT, primary_key=True, related_name="content", verbose_name=_("report")
    )
    body = models.JSONField(_("body"))

    class Meta:
        verbose_name = _("content")
        verbose_name_plural = _("contents")

    def __str__(self) -> str:
        return f"content of {self.report_id}"

    def submission(self) -> Submission:
        """The body as typed values; raises `ContentUnreadableError` for a row gone wrong."""
        try:
            return Submission.model_validate(self.body)
        except ValidationError:  # its own text would quote the content
            raise ContentUnreadableError(f"content of report {self.report_id}") from None
