from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models.policy import PolicyVersion
from reports.models import Report, Severity


class EvaluationSet(models.Model):
    """Cases with a known answer, by which a policy version will be measured."""

    name = models.SlugField(_("name"), max_length=64, unique=True)
    description = models.CharField(_("description"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("evaluation set")
        verbose_name_plural = _("evaluation sets")

    def __str__(self) -> str:
        return self.name


class EvaluationCase(models.Model):
    """One report's content by value, and what people found in it.

    `content` is what the model would read and nothing that names a person: `{"type", "language",
    "reason", "comment", "messages": [{"text", "reported"}]}`. It outlives the report's own content
    until it is purged as well: then it is null, together with `purged_at`.
    """

    class Source(models.TextChoices):
        DISAGREEMENT = "disagreement", _("machine and people differ")
        AUDIT = "audit", _("a blind audit")
        DOUBLE_REVIEW = "double_review", _("a double review")

    set = models.ForeignKey(
        EvaluationSet, models.PROTECT, related_name="cases", verbose_name=_("evaluation set")
    )
    report = models.ForeignKey(Report, models.PROTECT, related_name="+", verbose_name=_("report"))
    language = models.CharField(_("language"), max_length=35)
    content = models.JSONField(_("content"), null=True)
    safe = models.BooleanField(_("people found no violation"))
    category = models.CharField(
        _("category"), max_length=64, blank=True, help_text=_("Blank where none was found.")
    )
    severity = models.SmallIntegerField(_("severity"), choices=Severity)
    policy_version = models.ForeignKey(
        PolicyVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("policy version of the category"),
    )
    source = models.CharField(_("found by"), max_length=16, choices=Source)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("added by")
    )
    added_at = models.DateTimeField(_("added"), db_default=Now(), editable=False)
    purged_at = models.DateTimeField(_("purged"), null=True)

    class Meta:
        verbose_name = _("evaluation case")
        verbose_name_plural = _("evaluation cases")
        constraints = [
            models.UniqueConstraint(name="one_case_per_set_and_report", fields=["set", "report"]),
            models.CheckConstraint(
                name="case_names_what_people_found",
                condition=Q(safe=True, category="") | Q(safe=False) & ~Q(category=""),
            ),
            models.CheckConstraint(
                name="case_source_is_known",
                condition=Q(source__in=["disagreement", "audit", "double_review"]),
            ),
            models.CheckConstraint(
                name="case_severity_is_known", condition=Q(severity__range=(0, 4))
            ),
            models.CheckConstraint(
                name="case_content_is_there_or_purged",
                condition=Q(purged_at=None, content__isnull=False)
                | Q(purged_at__isnull=False, content=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.set_id}: {self.report_id}"
