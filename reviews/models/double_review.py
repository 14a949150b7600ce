from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from reports.models import Severity
from reviews.models.action import Action
from reviews.models.decision import Decision
from reviews.models.sampling import Stratum


class DoubleReviewQuerySet(models.QuerySet["DoubleReview"]):
    def that_differ_for(self, person: User) -> "DoubleReviewQuerySet":
        """Not settled, and this person is one of the two."""
        one_of_two = Q(reviewer=person) | Q(decision__reviewer=person)
        return self.filter(one_of_two, agrees=False, settled_at=None)

    def whose_first_stands(self) -> "DoubleReviewQuerySet":
        """Of decisions that no later row overrides which nobody took back."""
        later = Decision.objects.filter(
            item=OuterRef("decision__item"), pk__gt=OuterRef("decision")
        )
        return self.filter(~Exists(later.standing()))


class DoubleReview(models.Model):
    """A decision that was drawn for a second person, who does not see it; and what they would decide.

    The second answer changes nothing by itself. Where it differs, a lead settles which stands: the
    first, the second, or neither (`settling` is then the decision that overrides the first). Who
    answers, and who settles, is somebody else than who decided: a trigger sees to it.
    """

    class Side(models.TextChoices):
        FIRST = "first", _("the first")
        SECOND = "second", _("the second")
        NEITHER = "neither", _("neither")

    stratum = models.ForeignKey(
        Stratum, models.PROTECT, related_name="double_reviews", verbose_name=_("stratum")
    )
    decision = models.OneToOneField(
        Decision, models.PROTECT, related_name="double_review", verbose_name=_("first decision")
    )
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("second reviewer"),
    )
    action = models.ForeignKey(
        Action, models.PROTECT, null=True, related_name="+", verbose_name=_("action")
    )
    category = models.CharField(_("category"), max_length=64, blank=True)
    severity = models.SmallIntegerField(_("severity"), null=True, choices=Severity)
    note = models.TextField(_("note for colleagues"), blank=True)
    answered_at = models.DateTimeField(_("answered"), null=True)
    agrees = models.BooleanField(_("agrees"), null=True)
    """Whether both found the same: the same category, or both no violation."""
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("settled by"),
    )
    side = models.CharField(_("what stands"), max_length=8, choices=Side, blank=True)
    settling = models.ForeignKey(
        Decision, models.PROTECT, null=True, related_name="+", verbose_name=_("settling decision")
    )
    settled_at = models.DateTimeField(_("settled"), null=True)

    objects = DoubleReviewQuerySet.as_manager()

    class Meta:
        verbose_name = _("double review")
        verbose_name_plural = _("double reviews")
        constraints = [
            models.CheckConstraint(
                name="second_answer_is_whole",
                condition=Q(
                    reviewer=None,
                    action=None,
                    category="",
                    severity=None,
                    answered_at=None,
                    agrees=None,
                )
                | Q(
                    reviewer__isnull=False,
                    action__isnull=False,
                    severity__range=(0, 4),
                    answered_at__isnull=False,
                    agrees__isnull=False,
                ),
            ),
            models.CheckConstraint(
                name="settlement_is_whole",
                condition=Q(settled_by=None, settled_at=None, side="", settling=None)
                | Q(
                    settled_by__isnull=False,
                    settled_at__isnull=False,
                    side__in=["first", "second", "neither"],
                    agrees=False,
                ),
            ),
        ]
        indexes = [
            # Read when one is to be handed out.
            models.Index(
                fields=["decision"], name="double_review_unanswered", condition=Q(answered_at=None)
            ),
            # Read by the calibration queue.
            models.Index(
                fields=["-severity", "id"],
                name="double_review_to_settle",
                condition=Q(agrees=False, settled_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.decision.item}"
