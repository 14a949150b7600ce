import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models.batch import Batch
from classifier.models.job import Job, WaitingReason


class ProviderBatchQuerySet(models.QuerySet["ProviderBatch"]):
    def unfinished(self) -> "ProviderBatchQuerySet":
        """Those with something still to do, here or at the provider."""
        return self.exclude(state=ProviderBatch.State.DONE)

    def out(self) -> "ProviderBatchQuerySet":
        """Those whose lines the provider has, or is about to get, and has not answered."""
        return self.filter(
            state__in=[
                ProviderBatch.State.PLANNED,
                ProviderBatch.State.UPLOADED,
                ProviderBatch.State.SUBMITTED,
            ]
        )


class ProviderBatch(models.Model):
    """One file of questions at the provider: a slice of a batch, within the provider's limits.

    Each step is written before the next begins, so that whoever finds the row knows where to go on.
    `key` stands in the file's name and in the provider's metadata, so an orphan is found again.
    """

    class State(models.TextChoices):
        PLANNED = "planned", _("planned")  # its lines are chosen
        UPLOADED = "uploaded", _("file uploaded")
        SUBMITTED = "submitted", _("at the provider")
        ENDED = "ended", _("ended at the provider")  # nothing more will come
        RECORDED = "recorded", _("recorded")  # each line has its outcome
        DONE = "done", _("files deleted")

    key = models.UUIDField(_("key"), unique=True, default=uuid.uuid4, editable=False)
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="provider_batches")
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.PLANNED)
    lines = models.PositiveIntegerField(_("lines"), default=0)
    input_bytes = models.PositiveBigIntegerField(_("bytes"), null=True)
    input_sha256 = models.CharField(_("hash of the file"), max_length=64, blank=True)
    estimated_tokens = models.PositiveBigIntegerField(_("estimated tokens"), default=0)
    input_file_id = models.CharField(_("input file"), max_length=200, blank=True)
    remote_id = models.CharField(_("id at the provider"), max_length=200, blank=True)
    remote_status = models.CharField(_("status at the provider"), max_length=64, blank=True)
    output_file_id = models.CharField(_("output file"), max_length=200, blank=True)
    error_file_id = models.CharField(_("error file"), max_length=200, blank=True)
    remote_total = models.PositiveIntegerField(_("lines taken"), null=True)
    remote_completed = models.PositiveIntegerField(_("lines answered"), null=True)
    remote_failed = models.PositiveIntegerField(_("lines failed"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True)
    # Set before a request that may be accepted although its answer is lost; null once it came.
    asked_at = models.DateTimeField(null=True, editable=False)
    looked = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="Times that the provider's lists were searched for it."
    )
    polls = models.PositiveIntegerField(_("polls"), default=0)
    next_step_at = models.DateTimeField(_("next step from"), db_default=Now(), editable=False)
    created_at = models.DateTimeField(_("planned"), db_default=Now(), editable=False)
    submitted_at = models.DateTimeField(_("submitted"), null=True, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, editable=False)
    recorded_at = models.DateTimeField(_("recorded"), null=True, editable=False)

    objects = ProviderBatchQuerySet.as_manager()

    class Meta:
        verbose_name = _("batch at the provider")
        verbose_name_plural = _("batches at the provider")
        constraints = [
            models.CheckConstraint(
                name="provider_batch_state_is_known",
                condition=models.Q(
                    state__in=["planned", "uploaded", "submitted", "ended", "recorded", "done"]
                ),
            ),
            models.UniqueConstraint(
                name="one_row_per_remote_batch",
                fields=["remote_id"],
                condition=~models.Q(remote_id=""),
            ),
            models.CheckConstraint(
                name="provider_batch_at_the_provider_has_its_id",
                condition=~models.Q(state="submitted") | ~models.Q(remote_id=""),
            ),
        ]
        indexes = [
            # Read at every pass: what is to be done next.
            models.Index(
                fields=["next_step_at"],
                name="provider_batch_to_do",
                condition=~models.Q(state="done"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key}"

    @property
    def file_name(self) -> str:
        return f"mod-{self.key}.jsonl"


class BatchLine(models.Model):
    """One question in a provider's batch. `custom_id` is all that the provider learns of it."""

    class Outcome(models.TextChoices):
        RECORDED = "recorded", _("recorded")
        DUPLICATE = "duplicate", _("came second")  # another answer under the same version stands
        REFUSED = "refused", _("answer refused")
        FAILED = "failed", _("failed at the provider")
        EXPIRED = "expired", _("not asked in time")
        MISSING = "missing", _("no answer came")
        NOT_SENT = "not_sent", _("not sent")  # too long for one call, or without content

    custom_id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider_batch = models.ForeignKey(ProviderBatch, models.PROTECT, related_name="all_lines")
    job = models.ForeignKey(Job, models.PROTECT, related_name="lines", db_index=False)
    least_tokens = models.PositiveIntegerField(
        default=0, help_text="Fewer tokens read than this prove that the input was cut."
    )
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome, blank=True)
    reason = models.CharField(_("reason"), max_length=32, choices=WaitingReason, blank=True)

    class Meta:
        verbose_name = _("line of a batch")
        verbose_name_plural = _("lines of batches")
        constraints = [
            models.UniqueConstraint(
                name="one_open_line_per_job", fields=["job"], condition=models.Q(outcome="")
            ),
            models.CheckConstraint(
                name="batch_line_outcome_is_known",
                condition=models.Q(
                    outcome__in=[
                        "",
                        "recorded",
                        "duplicate",
                        "refused",
                        "failed",
                        "expired",
                        "missing",
                        "not_sent",
                    ]
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.custom_id}"
