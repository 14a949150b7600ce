from typing import TypedDict

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models import Report, Severity
from reports.nudge import Lane


class Category(TypedDict):
    """One category of a policy version, as its JSON column holds it."""

    id: str
    name: str
    severity: int
    safe: bool
    guidance: str


class PolicyVersionQuerySet(models.QuerySet["PolicyVersion"]):
    def active(self) -> "PolicyVersion | None":
        """The one version that new reports are judged under; None before the first activation."""
        return self.filter(state=PolicyVersion.State.ACTIVE).first()


class PolicyVersion(models.Model):
    """One numbered set of rules: categories, threshold, prompt, model. Immutable from candidate on.

    Another model is another version. `classifier.policies` makes and activates them.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        CANDIDATE = "candidate", _("candidate")
        ACTIVE = "active", _("active")
        RETIRED = "retired", _("retired")

    number = models.PositiveIntegerField(_("number"), primary_key=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.DRAFT)
    title = models.CharField(_("title"), max_length=200)
    model = models.CharField(_("model"), max_length=200)
    prompt = models.TextField(_("prompt"))
    categories: "models.JSONField[list[Category], list[Category]]" = models.JSONField(
        _("categories")
    )
    safe_threshold = models.FloatField(
        _("threshold for safe"),
        help_text=_("A safe category below this confidence goes to people."),
    )
    rules_revision = models.PositiveIntegerField(_("revision of the rules"))
    content_hash = models.CharField(_("content hash"), max_length=64, editable=False)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)
    activated_at = models.DateTimeField(_("activated"), null=True, editable=False)

    objects = PolicyVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("policy version")
        verbose_name_plural = _("policy versions")
        constraints = [
            models.UniqueConstraint(
                name="one_active_policy_version",
                fields=["state"],
                condition=models.Q(state="active"),
            ),
            models.CheckConstraint(
                name="policy_state_is_known",
                condition=models.Q(state__in=["draft", "candidate", "active", "retired"]),
            ),
            models.CheckConstraint(
                name="policy_safe_threshold_is_a_probability",
                condition=models.Q(safe_threshold__gte=0, safe_threshold__lte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"

    def category(self, category_id: str) -> Category:
        """The category with this id; `KeyError` where the version has none."""
        for each in self.categories:
            if each["id"] == category_id:
                return each
        raise KeyError(category_id)


class WaitingReason(models.TextChoices):
    """Why there is no answer yet. The label is the reviewer's sentence."""

    PROVIDER_RATE_LIMITED = (
        "provider_rate_limited",
        _("The provider asked to wait before the next question."),
    )
    PROVIDER_UNAVAILABLE = "provider_unavailable", _("The provider does not answer.")
    PROVIDER_TIMEOUT = "provider_timeout", _("The model did not answer within the deadline.")
    PROVIDER_QUOTA = "provider_quota", _("The provider's quota is used up.")
    PROVIDER_CREDENTIALS = "provider_credentials", _("The provider refused our key.")
    PROVIDER_REJECTED = "provider_rejected", _("The provider refused the request as wrong.")
    UNKNOWN_MODEL = "unknown_model", _("The provider does not offer the policy's model.")
    ANSWER_INVALID = "answer_invalid", _("The model's answer was not usable.")
    ANSWER_CUT = "answer_cut", _("The model's answer was cut off.")
    WRONG_MODEL = "wrong_model", _("Another model than the policy's answered.")
    INPUT_TRUNCATED = "input_truncated", _("The model did not read the whole content.")
    MODEL_REFUSED = "model_refused", _("The model refused to judge this content.")
    CONTENT_FILTERED = "content_filtered", _("The provider's filter blocked this content.")
    TOO_LONG = "too_long", _("The content is longer than the model can read.")
    HOLDER_DIED = "holder_died", _("Every worker that tried it stopped before it had an answer.")
    INTERNAL_ERROR = "internal_error", _("Our own code failed; the log says where.")


class Job(models.Model):
    """One wanted answer: who works on it, how often it was tried, when to try again, and why.

    `attempts` counts what spends the bound (refused answers, holders that died); `claims` only
    grows and fences a holder whose lease ran out; `faults` counts the provider's failures in a row,
    `dropped` the answers that came after the one that stands.
    """

    MAX_ATTEMPTS = 3

    Reason = WaitingReason

    report = models.ForeignKey(Report, models.PROTECT, related_name="jobs")
    policy_version = models.ForeignKey(PolicyVersion, models.PROTECT, related_name="+")
    lane = models.CharField(_("lane"), max_length=8, choices=Lane, default=Lane.LIVE)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    claims = models.PositiveIntegerField(_("claims"), default=0)
    faults = models.PositiveIntegerField(_("provider faults"), default=0)
    dropped = models.PositiveIntegerField(_("answers that came second"), db_default=0)
    lease_until = models.DateTimeField(_("leased until"), null=True)
    not_before = models.DateTimeField(_("not before"), null=True)
    nudged_at = models.DateTimeField(_("nudged"), null=True)
    reason = models.CharField(_("why it waits"), max_length=32, choices=Reason, blank=True)
    parked = models.BooleanField(_("parked"), default=False)
    done = models.BooleanField(_("done"), default=False)

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


class Classification(models.Model):
    """One stored verdict. A trigger refuses every change but `superseded` and the purge of text."""

    report = models.ForeignKey(Report, models.PROTECT, related_name="classifications")
    policy_version = models.ForeignKey(PolicyVersion, models.PROTECT, related_name="+")
    superseded = models.BooleanField(_("superseded"), default=False)
    category = models.CharField(_("category"), max_length=64)
    confidence = models.FloatField(_("confidence"))
    summary = models.TextField(_("summary"), null=True)  # noqa: DJ001 - null after the purge
    quotes = models.JSONField(_("quotes"), null=True)
    severity = models.SmallIntegerField(_("severity"), choices=Severity)
    safe = models.BooleanField(_("safe"))
    rules = models.JSONField(_("rules that fired"), default=list)
    served_model = models.CharField(_("answered by"), max_length=200)
    prompt_tokens = models.PositiveIntegerField(_("tokens read"), null=True)
    completion_tokens = models.PositiveIntegerField(_("tokens written"), null=True)
    model_seconds = models.FloatField(_("seconds of the call"))
    answer_hash = models.CharField(_("hash of the answer"), max_length=64)
    created_at = models.DateTimeField(_("classified"), db_default=Now(), editable=False)
    purged_at = models.DateTimeField(_("purged"), null=True)

    class Meta:
        verbose_name = _("classification")
        verbose_name_plural = _("classifications")
        constraints = [
            models.UniqueConstraint(
                name="one_classification_per_report_and_version",
                fields=["report", "policy_version"],
            ),
            models.UniqueConstraint(
                name="one_current_classification_per_report",
                fields=["report"],
                condition=models.Q(superseded=False),
            ),
            models.CheckConstraint(
                name="classification_confidence_is_a_probability",
                condition=models.Q(confidence__gte=0, confidence__lte=1),
            ),
            models.CheckConstraint(
                name="classification_severity_is_known", condition=models.Q(severity__range=(0, 4))
            ),
            models.CheckConstraint(
                name="classification_text_is_whole_or_purged",
                condition=models.Q(purged_at=None, summary__isnull=False, quotes__isnull=False)
                | models.Q(purged_at__isnull=False, summary=None, quotes=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category} ({self.confidence:.2f}) under {self.policy_version_id}"


class Heartbeat(models.Model):
    """When a process that nobody calls was last seen at work (the sweep)."""

    name = models.CharField(max_length=32, primary_key=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeats")

    def __str__(self) -> str:
        return self.name
