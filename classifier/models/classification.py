from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models.policy import PolicyVersion
from reports.models import Report, Severity


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
    # Each call about it: which messages it covered, what it said, what it cost. See recording.py.
    calls = models.JSONField(
        _("calls"), default=list, db_default=models.Value([], models.JSONField())
    )
    answer_hash = models.CharField(_("hash of the answer"), max_length=64)
    carried_from = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("carried over from"),
        help_text=_("The verdict under an older version of the same content; no model was asked."),
    )
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
        indexes = [
            # Read when a sample of what was judged safe is drawn. Rows come in the order of time.
            BrinIndex(fields=["created_at"], name="classification_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.category} ({self.confidence:.2f}) under {self.policy_version_id}"
