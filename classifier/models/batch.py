from django.db import models
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_lazy as _

from classifier.models.policy import PolicyVersion


class BatchQuerySet(models.QuerySet["Batch"]):
    def unfinished(self) -> "BatchQuerySet":
        """Those that something is still to be done for, or that a person may resume."""
        return self.exclude(state__in=[Batch.State.DONE, Batch.State.CANCELLED])

    def at_work(self) -> "BatchQuerySet":
        """Those whose jobs may be asked now; before, verdicts may be carried over to them."""
        return self.filter(state=Batch.State.RUNNING)

    def with_recorded(self) -> "BatchQuerySet":
        """With `recorded`: how many of its reports have a verdict of its, without counting jobs."""
        return self.annotate(recorded=Coalesce(models.Sum("flows__reports"), 0))


class Batch(models.Model):
    """History to be asked under one policy version, observed as one unit. It is made of jobs.

    `classifier.batches` writes it. Its jobs are written in the order of report ids, so
    `planned_up_to` is all that a planner which died has to know.
    """

    class Purpose(models.TextChoices):
        POLICY_MIGRATION = "policy_migration", _("policy migration")
        NIGHTLY = "nightly", _("nightly")
        BACKFILL = "backfill", _("backfill")
        RETRY = "retry", _("retry")

    class State(models.TextChoices):
        """`stopped` waits for a person: its note says why; `cancelling` calls in what is out."""

        PLANNING = "planning", _("planning")
        RUNNING = "running", _("running")
        STOPPED = "stopped", _("stopped")
        CANCELLING = "cancelling", _("being cancelled")
        CANCELLED = "cancelled", _("cancelled")
        DONE = "done", _("done")

    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose)
    policy_version = models.ForeignKey(
        PolicyVersion, models.PROTECT, related_name="+", verbose_name=_("policy version")
    )
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.PLANNING)
    selection = models.JSONField(
        _("selection"), default=dict, help_text=_("Which reports, as data.")
    )
    words = models.TextField(_("selection in words"))
    last_report = models.BigIntegerField(
        _("last report"), help_text=_("Later reports are not of this batch.")
    )
    planned_up_to = models.BigIntegerField(_("planned up to report"), default=0)
    wanted = models.PositiveIntegerField(_("reports to ask"), default=0)
    carried = models.PositiveIntegerField(
        _("carried over"),
        default=0,
        help_text=_("Verdicts taken over from an older version of the same content; no call."),
    )
    estimated_tokens = models.PositiveBigIntegerField(_("estimated tokens"), null=True)
    estimated_cost = models.DecimalField(
        _("estimated cost"), max_digits=14, decimal_places=4, null=True
    )
    max_cost = models.DecimalField(_("cost limit"), max_digits=14, decimal_places=4, null=True)
    prompt_tokens = models.PositiveBigIntegerField(_("tokens read"), default=0)
    completion_tokens = models.PositiveBigIntegerField(_("tokens written"), default=0)
    reopen_at_most = models.PositiveIntegerField(
        _("reopen at most"),
        null=True,
        help_text=_("Blank: what was judged safe and is found critical, within a fixed bound."),
    )
    reopened = models.PositiveIntegerField(_("reopened"), default=0)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, editable=False)
    actor_name = models.CharField(_("by"), max_length=150)
    note = models.TextField(_("why it stands as it does"), blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        permissions = [("run_batches", _("Can start, cancel and resume batches"))]
        constraints = [
            models.CheckConstraint(
                name="batch_purpose_is_known",
                condition=models.Q(
                    purpose__in=["policy_migration", "nightly", "backfill", "retry"]
                ),
            ),
            models.CheckConstraint(
                name="batch_state_is_known",
                condition=models.Q(
                    state__in=[
                        "planning",
                        "running",
                        "stopped",
                        "cancelling",
                        "cancelled",
                        "done",
                    ]
                ),
            ),
            models.CheckConstraint(
                name="batch_that_ended_has_its_time",
                condition=models.Q(state__in=["cancelled", "done"], ended_at__isnull=False)
                | ~models.Q(state__in=["cancelled", "done"]) & models.Q(ended_at=None),
            ),
            models.CheckConstraint(
                name="batch_reopens_no_more_than_allowed",
                condition=models.Q(reopen_at_most=None)
                | models.Q(reopened__lte=models.F("reopen_at_most")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}"


class BatchFlow(models.Model):
    """How many of a batch's reports went from one category to another; counted as they are recorded."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="flows")
    before = models.CharField(_("before"), max_length=64, blank=True)
    """The category that was current; blank for a report that no model had judged."""
    after = models.CharField(_("after"), max_length=64)
    reports = models.PositiveIntegerField(_("reports"))

    class Meta:
        verbose_name = _("flow of a batch")
        verbose_name_plural = _("flows of batches")
        constraints = [
            models.UniqueConstraint(
                name="one_flow_per_batch_and_categories", fields=["batch", "before", "after"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}: {self.reports}"
