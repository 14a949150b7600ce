from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models.batch import Batch
from classifier.models.classification import Classification
from reports.models import Report, Severity


class DisagreementQuerySet(models.QuerySet["Disagreement"]):
    def open(self) -> "DisagreementQuerySet":
        """Nobody has looked at them yet; the most severe first, and what no person ever saw."""
        return self.filter(state=Disagreement.State.OPEN).order_by(
            "-severity", "-unseen", "classification"
        )

    def beyond(self, key: str) -> "DisagreementQuerySet":
        """Those behind the one with this key, in the order of `open`; `ValueError` for no key of ours."""
        severity, unseen, pk = map(int, key.split("."))
        if severity not in Severity or unseen not in {0, 1} or not 0 <= pk < 2**63:
            raise ValueError(key)
        later = models.Q(unseen__lt=unseen) | models.Q(unseen=unseen, classification__gt=pk)
        return self.filter(severity__lte=severity).filter(models.Q(severity__lt=severity) | later)


class Disagreement(models.Model):
    """A newer policy version finds a violation where the older one, or a person, found none.

    The report keeps its status: a new verdict never changes a human decision, and a migration must
    not flood the reviewers. It is listed instead, and a bounded number is reopened.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        REOPENED = "reopened", _("reopened")
        SETTLED = "settled", _("settled")  # a later decision or verdict has the last word

    classification = models.OneToOneField(
        Classification, models.PROTECT, primary_key=True, related_name="disagreement"
    )
    report = models.ForeignKey(Report, models.PROTECT, related_name="disagreements")
    batch = models.ForeignKey(Batch, models.PROTECT, null=True, related_name="disagreements")
    severity = models.SmallIntegerField(_("severity"), choices=Severity)
    unseen = models.BooleanField(
        _("judged safe"), help_text=_("By a machine; no person has looked.")
    )
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(_("found"), db_default=Now(), editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, editable=False)

    objects = DisagreementQuerySet.as_manager()

    class Meta:
        verbose_name = _("disagreement")
        verbose_name_plural = _("disagreements")
        constraints = [
            models.CheckConstraint(
                name="disagreement_state_is_known",
                condition=models.Q(state__in=["open", "reopened", "settled"]),
            ),
            models.UniqueConstraint(
                name="one_open_disagreement_per_report",
                fields=["report"],
                condition=models.Q(state="open"),
            ),
            models.CheckConstraint(
                name="disagreement_that_ended_has_its_time",
                condition=models.Q(state="open", ended_at=None)
                | ~models.Q(state="open") & models.Q(ended_at__isnull=False),
            ),
        ]
        indexes = [
            # Read when some are reopened, and by the list.
            models.Index(
                fields=["-severity", "-unseen", "classification"],
                name="disagreement_in_list_order",
                condition=models.Q(state="open"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.report_id}"

    def stands(self, report: Report) -> bool:
        """Whether it is open, or its report stands in review because of it."""
        in_review = report.status == Report.Status.NEEDS_REVIEW
        return self.state == self.State.OPEN or (self.state == self.State.REOPENED and in_review)

    @property
    def key(self) -> str:
        """Its place in the order of `open`, to go on from."""
        return f"{self.severity}.{self.unseen:d}.{self.pk}"
