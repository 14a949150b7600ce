from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from classifier.models.batch import Batch
from classifier.models.policy import PolicyVersion
from reports.models import Report
from reports.nudge import Lane

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class WaitingReason(models.TextChoices):
    """Why there is no answer yet. The label is the reviewer's sentence; `for_operations` the other."""

    PROVIDER_RATE_LIMITED = (
        "provider_rate_limited",
        _("The provider asked to wait before the next question."),
    )
    PROVIDER_UNAVAILABLE = "provider_unavailable", _("The provider does not answer.")
    PROVIDER_TIMEOUT = "provider_timeout", _("The model did not answer within the deadline.")
    PROVIDER_QUOTA = "provider_quota", _("The provider's quota is used up.")
    PROVIDER_CREDENTIALS = "provider_credentials", _("The provider refused our key.")
    PROVIDER_REJECTED = "provider_rejected", _("The provider refused the request as wrong.")
    POLICY_TOO_LONG = "policy_too_long", _("The policy's own text leaves this model no room.")
    UNKNOWN_LIMIT = "unknown_limit", _("Nobody has said how much this model can read.")
    UNKNOWN_MODEL = "unknown_model", _("The provider does not offer the policy's model.")
    PROBING = "probing_model", _("It is being found out how this model wants to be asked.")
    ANSWER_INVALID = "answer_invalid", _("The model's answer was not usable.")
    ANSWER_MISPLACED = (
        "answer_misplaced",
        _("The answer did not carry this report's reference, so it may belong to another."),
    )
    ANSWER_CUT = "answer_cut", _("The model's answer was cut off.")
    WRONG_MODEL = "wrong_model", _("Another model than the policy's answered.")
    INPUT_TRUNCATED = "input_truncated", _("The model did not read the whole content.")
    MODEL_REFUSED = "model_refused", _("The model refused to judge this content.")
    CONTENT_FILTERED = "content_filtered", _("The provider's filter blocked this content.")
    TOO_LONG = "too_long", _("The content is longer than the model can read.")
    HOLDER_DIED = "holder_died", _("Every worker that tried it stopped before it had an answer.")
    INTERNAL_ERROR = "internal_error", _("Our own code failed; the log says where.")
    BATCH_EXPIRED = "batch_expired", _("The provider's batch ended before this was asked.")
    BATCH_CANCELLED = "batch_cancelled", _("The batch was cancelled before this was asked.")

    @property
    def for_operations(self) -> str:
        """What to do about it, for whoever is paged."""
        return str(_FOR_OPERATIONS[self.value])


_FOR_OPERATIONS: "dict[str, StrOrPromise]" = {
    "provider_rate_limited": _("Wait: all workers keep to what the provider asked for."),
    "provider_unavailable": _("See the provider's status page; asked again by itself."),
    "provider_timeout": _("Is the server overloaded, or MODEL_DEADLINE_SECONDS too short?"),
    "provider_quota": _("Top up the account. Nothing else is needed; it is asked again by itself."),
    "provider_credentials": _("Put a valid OPENAI_API_KEY in place and restart the workers."),
    "provider_rejected": _("The workers' log has status and code; is it our request or this text?"),
    "policy_too_long": _("Load a shorter policy, or one with a model of longer context."),
    "unknown_limit": _(
        "Run `manage.py sync_models`; where the provider says nothing, `record_limit` with evidence."
    ),
    "unknown_model": _("Is the model's name right, and offered to this key? Else load a policy."),
    "probing_model": _("Nothing to do; takes seconds, once for each model."),
    "answer_invalid": _("Many of them: is the model able to follow the schema? Probe it again."),
    "answer_misplaced": _("Look at once: does a proxy mix answers up, or is the model too small?"),
    "answer_cut": _("Tried again with more room. Does the model think aloud without end?"),
    "wrong_model": _(
        "The log names who answered. Add it to MODEL_ALIASES if it is the same model."
    ),
    "input_truncated": _("Raise the server's context length; it cut the input in silence."),
    "model_refused": _("A person decides; it is never asked again."),
    "content_filtered": _("A person decides; it is never asked again, nor elsewhere."),
    "too_long": _("A person decides, or load a policy with a model of longer context."),
    "holder_died": _("Look for this report in the workers' logs before replaying it."),
    "internal_error": _("The workers' log has the traceback. Mend it, then replay."),
    "batch_expired": _(
        "Nothing to do; it is sent again, three times at most, then asked by a call."
    ),
    "batch_cancelled": _("The next batch under this version asks it."),
}


class Job(models.Model):
    """One wanted answer: who works on it, how often it was tried, when to try again, and why.

    `attempts` counts what spends the bound (refused answers, holders that died); `claims` only
    grows and fences a holder whose lease ran out; `faults` counts the provider's failures in a row,
    `dropped` the answers that came after the one that stands; `submissions` how often it stood in a
    provider's batch.
    """

    MAX_ATTEMPTS = 3
    MAX_SUBMISSIONS = 3

    Reason = WaitingReason

    class Through(models.TextChoices):
        """How it is asked; history may go through the provider's Batch API."""

        CALLS = "calls", _("by calls")
        PROVIDER_BATCH = "provider_batch", _("by the provider's batches")

    # Without indexes of their own: those below serve, and a million rows are written in one go.
    report = models.ForeignKey(Report, models.PROTECT, related_name="jobs", db_index=False)
    policy_version = models.ForeignKey(
        PolicyVersion, models.PROTECT, related_name="+", db_index=False
    )
    lane = models.CharField(_("lane"), max_length=8, choices=Lane, default=Lane.LIVE)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    claims = models.PositiveIntegerField(_("claims"), default=0)
    faults = models.PositiveIntegerField(_("provider faults"), default=0)
    dropped = models.PositiveIntegerField(_("answers that came second"), db_default=0)
    further_calls = models.PositiveIntegerField(_("calls beside the first of a try"), db_default=0)
    lease_until = models.DateTimeField(_("leased until"), null=True)
    not_before = models.DateTimeField(_("not before"), null=True)
    nudged_at = models.DateTimeField(_("nudged"), null=True)
    reason = models.CharField(_("why it waits"), max_length=32, choices=Reason, blank=True)
    batch = models.ForeignKey(Batch, models.PROTECT, null=True, related_name="jobs", db_index=False)
    through = models.CharField(
        _("asked"), max_length=16, choices=Through, db_default=Through.CALLS, default=Through.CALLS
    )
    submissions = models.PositiveSmallIntegerField(_("times in a provider's batch"), db_default=0)
    parked = models.BooleanField(_("parked"), default=False)
    done = models.BooleanField(_("done"), default=False)
    ended_at = models.DateTimeField(_("done or parked"), null=True, editable=False)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        constraints = [
            models.UniqueConstraint(
                name="one_job_per_report_and_version", fields=["report", "policy_version"]
            ),
            models.CheckConstraint(
                name="job_lane_is_known", condition=models.Q(lane__in=["live", "batch"])
            ),
            models.CheckConstraint(
                name="job_reason_is_known",
                condition=models.Q(reason__in=["", *WaitingReason.values]),
            ),
            models.CheckConstraint(
                name="job_attempts_are_bounded", condition=models.Q(attempts__range=(0, 3))
            ),
            models.CheckConstraint(
                name="job_through_is_known",
                condition=models.Q(through__in=["calls", "provider_batch"]),
            ),
            models.CheckConstraint(
                name="job_of_a_batch_is_in_its_lane",
                condition=models.Q(batch=None) | models.Q(lane="batch"),
            ),
            models.CheckConstraint(
                name="job_submissions_are_bounded", condition=models.Q(submissions__range=(0, 3))
            ),
            models.CheckConstraint(
                name="job_parked_needs_a_reason",
                condition=models.Q(parked=False) | ~models.Q(reason=""),
            ),
            models.CheckConstraint(
                name="job_that_ended_has_no_lease",
                condition=models.Q(parked=False, done=False)
                | (models.Q(lease_until=None) & ~models.Q(parked=True, done=True)),
            ),
        ]
        indexes = [
            # Read by the batch lane: what a batch has still to ask.
            models.Index(
                fields=["batch", "through", "id"],
                name="job_to_do_of_batch",
                condition=models.Q(batch__isnull=False, done=False, parked=False),
            ),
            # Counted by the batch's page.
            models.Index(
                fields=["batch", "ended_at"],
                include=["done", "reason"],
                name="job_ended_of_batch",
                condition=models.Q(ended_at__isnull=False, batch__isnull=False),
            ),
            # Counted by the metrics.
            models.Index(fields=["dropped"], name="job_dropped", condition=models.Q(dropped__gt=0)),
            # Read by the sweep: leases whose holder may have died.
            models.Index(
                fields=["lease_until"],
                name="job_leased",
                condition=models.Q(lease_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.report_id} under {self.policy_version_id}"
