from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from classifier.models.job import WaitingReason
from classifier.models.policy import PolicyVersion

# What was learnt of a model in a weaker moment is not learnt for ever.
PROBED_AGAIN_AFTER = timedelta(days=1)
# These do not end by waiting.
MENDED_BY_PEOPLE = (
    WaitingReason.PROVIDER_QUOTA,
    WaitingReason.PROVIDER_CREDENTIALS,
    WaitingReason.UNKNOWN_MODEL,
    WaitingReason.UNKNOWN_LIMIT,
    WaitingReason.POLICY_TOO_LONG,
    WaitingReason.WRONG_MODEL,
)
# A short rest is the normal answer to a busy provider.
TOLD_AFTER = timedelta(minutes=1)


class ProviderModelQuerySet(models.QuerySet["ProviderModel"]):
    def of_policy(self, policy: PolicyVersion) -> "ProviderModel":
        """The row of the policy's model at the configured provider; made at its first need."""
        return self.get_or_create(base_url=settings.OPENAI_BASE_URL, name=policy.model)[0]

    def resting(self) -> "ProviderModelQuerySet":
        """Those at the configured provider that are left alone, or not yet asked again since."""
        return self.filter(base_url=settings.OPENAI_BASE_URL, rests_until__isnull=False)

    def worth_telling(self) -> "ProviderModelQuerySet":
        """The resting ones that somebody has to mend, and those that have rested for a while."""
        a_while = models.Q(rests_since__lt=Now() - TOLD_AFTER)
        return self.resting().filter(a_while | models.Q(rest_reason__in=MENDED_BY_PEOPLE))


class ProviderModel(models.Model):
    """One model at one provider: how it wants to be asked, and whether it is being left alone.

    `classifier.capabilities` writes how it is asked, `classifier.catalogue` how much it takes,
    `classifier.cooldown` its rests. All workers read the same row.
    """

    class Mode(models.TextChoices):
        """How the answer's form is asked for."""

        JSON_SCHEMA = "json_schema", _("JSON schema")
        JSON_OBJECT = "json_object", _("JSON object")
        TEXT = "text", _("by the prompt alone")

    class OutputLimit(models.TextChoices):
        """The parameter that bounds the answer's length."""

        MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"
        MAX_TOKENS = "max_tokens", "max_tokens"
        NONE = "none", _("none")

    base_url = models.CharField(_("provider"), max_length=500)
    name = models.CharField(_("model"), max_length=200)

    mode = models.CharField(
        _("form of the answer"),
        max_length=16,
        choices=Mode,
        blank=True,
        help_text=_("Blank: not probed yet."),
    )
    output_limit = models.CharField(
        _("limit of the answer"),
        max_length=24,
        choices=OutputLimit,
        default=OutputLimit.MAX_COMPLETION_TOKENS,
    )
    takes_temperature = models.BooleanField(_("takes a temperature"), default=True)
    thinks = models.BooleanField(_("thinks aloud"), default=False)
    echoes_ref = models.BooleanField(
        _("echoes the reference"),
        default=True,
        help_text=_("Off for a model too small to copy it: a mixed-up answer is then not noticed."),
    )
    probed_at = models.DateTimeField(_("probed"), null=True, editable=False)

    # What the provider's own list says, or an error of its that knew better; never ours.
    context_limit = models.PositiveIntegerField(_("context limit"), null=True, editable=False)
    context_source = models.CharField(
        _("source of the limit"), max_length=64, blank=True, editable=False
    )
    counts_answer = models.BooleanField(
        _("the limit holds the answer too"), default=True, editable=False
    )
    listed_at = models.DateTimeField(_("list read"), null=True, editable=False)
    listed_hash = models.CharField(
        _("hash of the entry"), max_length=64, blank=True, editable=False
    )
    shutdown_on = models.DateField(_("shut down on"), null=True, editable=False)
    # What an operator recorded, with evidence, where the provider says nothing.
    recorded_limit = models.PositiveIntegerField(_("recorded limit"), null=True, editable=False)
    recorded_evidence = models.URLField(_("evidence"), max_length=500, blank=True, editable=False)
    recorded_until = models.DateField(_("recorded until"), null=True, editable=False)
    # What it costs, by an operator's record with evidence: no price stands in code.
    price_prompt = models.DecimalField(
        _("price of a million tokens read"), max_digits=12, decimal_places=4, null=True
    )
    price_completion = models.DecimalField(
        _("price of a million tokens written"), max_digits=12, decimal_places=4, null=True
    )
    price_batch_share = models.DecimalField(
        _("share of it in a batch"), max_digits=4, decimal_places=3, null=True
    )
    price_evidence = models.URLField(_("evidence of the price"), max_length=500, blank=True)
    price_until = models.DateField(_("price recorded until"), null=True)
    # Does the provider take batches? Null: not known yet.
    takes_batches = models.BooleanField(_("takes batches"), null=True, editable=False)
    batches_seen_at = models.DateTimeField(null=True, editable=False)
    # How its tokens are counted; see classifier/tokens.py.
    tokenizer = models.CharField(_("tokenizer"), max_length=32, blank=True, editable=False)
    token_ratios: "models.JSONField[dict[str, float], dict[str, float]]" = models.JSONField(
        _("tokens a byte, by script"), default=dict, editable=False
    )
    frame_tokens = models.PositiveIntegerField(
        _("tokens around the text"), null=True, editable=False
    )
    formless = models.PositiveSmallIntegerField(_("answers without form in a row"), default=0)

    faults = models.PositiveIntegerField(_("faults in a row"), default=0, editable=False)
    rests = models.PositiveIntegerField(_("rests in a row"), default=0, editable=False)
    rest_reason = models.CharField(
        _("why it rests"), max_length=32, choices=WaitingReason, blank=True, editable=False
    )
    rests_since = models.DateTimeField(_("rests since"), null=True, editable=False)
    rests_until = models.DateTimeField(_("asked again from"), null=True, editable=False)
    # Held by the one call that finds out whether, or how, the model answers.
    turn_until = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(_("first asked"), db_default=Now(), editable=False)

    objects = ProviderModelQuerySet.as_manager()

    class Meta:
        verbose_name = _("model at a provider")
        verbose_name_plural = _("models at providers")
        constraints = [
            models.UniqueConstraint(
                name="one_row_per_provider_and_model", fields=["base_url", "name"]
            ),
            models.CheckConstraint(
                name="provider_model_limit_has_a_source",
                condition=models.Q(context_limit=None, context_source="")
                # IS NOT NULL, because a check that comes to NULL lets the row pass.
                | models.Q(context_limit__isnull=False, context_limit__gte=256)
                & ~models.Q(context_source=""),
            ),
            models.CheckConstraint(
                name="provider_model_record_has_evidence_and_an_end",
                condition=models.Q(recorded_limit=None, recorded_evidence="", recorded_until=None)
                | models.Q(
                    recorded_limit__isnull=False,
                    recorded_limit__gte=256,
                    recorded_until__isnull=False,
                )
                & ~models.Q(recorded_evidence=""),
            ),
            models.CheckConstraint(
                name="provider_model_price_has_evidence_and_an_end",
                condition=models.Q(
                    price_prompt=None,
                    price_completion=None,
                    price_batch_share=None,
                    price_evidence="",
                    price_until=None,
                )
                | models.Q(
                    price_prompt__isnull=False,
                    price_prompt__gte=0,
                    price_completion__isnull=False,
                    price_completion__gte=0,
                    price_batch_share__isnull=False,
                    price_batch_share__range=(0, 1),
                    price_until__isnull=False,
                )
                & ~models.Q(price_evidence=""),
            ),
            models.CheckConstraint(
                name="provider_model_mode_is_known",
                condition=models.Q(mode__in=["", "json_schema", "json_object", "text"]),
            ),
            models.CheckConstraint(
                name="provider_model_output_limit_is_known",
                condition=models.Q(
                    output_limit__in=["max_completion_tokens", "max_tokens", "none"]
                ),
            ),
            models.CheckConstraint(
                name="provider_model_rest_reason_is_known",
                condition=models.Q(rest_reason__in=["", *WaitingReason.values]),
            ),
            models.CheckConstraint(
                name="provider_model_rests_with_reason_and_times",
                condition=models.Q(rests_until=None, rests_since=None, rest_reason="", rests=0)
                | models.Q(rests_until__isnull=False, rests_since__isnull=False)
                & ~models.Q(rest_reason=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.base_url})"

    def wants_probe(self) -> bool:
        """Never probed; or asked in a weaker way than the best for a day: servers are mended."""
        best = (
            self.mode == self.Mode.JSON_SCHEMA
            and self.takes_temperature
            and self.output_limit == self.OutputLimit.MAX_COMPLETION_TOKENS
        )
        if not self.mode or best or self.probed_at is None:
            return not self.mode
        return timezone.now() - self.probed_at > PROBED_AGAIN_AFTER


def active_policy_with_rest() -> PolicyVersion | None:
    """The active version with `rest_id`, `rest_reason`, `rests_since`, `rests_until` of its model.

    All None while the model is asked freely. One statement: every page of reviewers shows it.
    """
    rest = ProviderModel.objects.worth_telling().filter(name=models.OuterRef("model"))
    return (
        PolicyVersion.objects.filter(state=PolicyVersion.State.ACTIVE)
        .annotate(
            rest_id=models.Subquery(rest.values("pk")[:1]),
            **{
                name: models.Subquery(rest.values(name)[:1])
                for name in ("rest_reason", "rests_since", "rests_until")
            },
        )
        .first()
    )
