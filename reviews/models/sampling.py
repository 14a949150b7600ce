from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models import Classification, PolicyVersion
from reports.models import Report, Sender
from reviews.models.decision import Decision


class SamplingRate(models.Model):
    """How much of what is looked at again, of which kind of work: data of the installation.

    A blank field means any; of the rows that match, the one with the most fields set counts.
    """

    class Of(models.TextChoices):
        AUDITS = "audits", _("audits of what was judged safe")
        DOUBLE_REVIEWS = "double_reviews", _("second reviews of decisions")
        BLIND = "blind", _("other work that is handed out blind as well")
        MIXED_IN = "mixed_in", _("audits and second reviews among what is handed out")

    of = models.CharField(_("of"), max_length=16, choices=Of)
    sender = models.ForeignKey(
        Sender, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("sender")
    )
    language = models.CharField(
        _("language"), max_length=35, blank=True, help_text=_("Such as “ar”, without a region.")
    )
    category = models.CharField(_("category"), max_length=64, blank=True)
    band = models.CharField(
        _("confidence band"),
        max_length=16,
        blank=True,
        help_text=_("Such as “0.90-0.95”; of audits only."),
    )
    rate = models.FloatField(_("share"), help_text=_("Between 0 and 1."))
    at_least = models.PositiveSmallIntegerField(
        _("at least"), default=0, help_text=_("So many of each stratum and draw; of audits only.")
    )

    class Meta:
        verbose_name = _("sampling rate")
        verbose_name_plural = _("sampling rates")
        constraints = [
            models.UniqueConstraint(
                name="one_rate_per_stratum",
                fields=["of", "sender", "language", "category", "band"],
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="sampling_rate_is_of_something_known",
                condition=Q(of__in=["audits", "double_reviews", "blind", "mixed_in"]),
            ),
            models.CheckConstraint(
                name="sampling_rate_is_a_share", condition=Q(rate__gte=0, rate__lte=1)
            ),
            models.CheckConstraint(
                name="sampling_rate_narrows_what_it_can",
                condition=Q(of="audits")
                | Q(of="double_reviews", band="", at_least=0)
                | Q(sender=None, language="", category="", band="", at_least=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.of}: {self.rate}"


class Draw(models.Model):
    """One drawing of a sample: the time it is of, half-open, and the seed that orders it.

    With the seed anybody can draw it again. Draws of a kind follow each other without a gap.
    """

    class Of(models.TextChoices):
        AUDITS = "audits", _("audits of what was judged safe")
        DOUBLE_REVIEWS = "double_reviews", _("second reviews of decisions")

    of = models.CharField(_("of"), max_length=16, choices=Of)
    since = models.DateTimeField(_("since"))
    until = models.DateTimeField(_("until"))
    seed = models.CharField(_("seed"), max_length=64)
    drawn_at = models.DateTimeField(_("drawn"), db_default=Now(), editable=False)
    actor_name = models.CharField(_("who"), max_length=150)

    class Meta:
        verbose_name = _("draw")
        verbose_name_plural = _("draws")
        constraints = [
            models.UniqueConstraint(name="a_draw_begins_once", fields=["of", "since"]),
            models.CheckConstraint(
                name="draw_is_of_something_known",
                condition=Q(of__in=["audits", "double_reviews"]),
            ),
            models.CheckConstraint(name="a_draw_has_a_length", condition=Q(until__gt=F("since"))),
        ]

    def __str__(self) -> str:
        return f"{self.of} {self.since:%Y-%m-%d}"


class Stratum(models.Model):
    """What a draw chose from, kind by kind: how many there were and how many it drew.

    Never changed: the weights of every estimate come from here.
    """

    draw = models.ForeignKey(Draw, models.PROTECT, related_name="strata", verbose_name=_("draw"))
    sender = models.ForeignKey(Sender, models.PROTECT, related_name="+", verbose_name=_("sender"))
    language = models.CharField(_("language"), max_length=35)
    category = models.CharField(_("category"), max_length=64, blank=True)
    """The machine's for audits, the person's for second reviews (blank: no violation)."""
    band = models.CharField(_("confidence band"), max_length=16, blank=True)
    policy_version = models.ForeignKey(
        PolicyVersion,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("policy version"),
    )
    population = models.PositiveIntegerField(_("there were"))
    drawn = models.PositiveIntegerField(_("drawn"))

    class Meta:
        verbose_name = _("stratum")
        verbose_name_plural = _("strata")
        constraints = [
            models.UniqueConstraint(
                name="a_draw_has_a_stratum_once",
                fields=["draw", "sender", "language", "category", "band", "policy_version"],
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="no_more_is_drawn_than_there_is",
                condition=Q(population__gte=1) & Q(drawn__lte=F("population")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.language} {self.category} {self.band}: {self.drawn}/{self.population}"


class BlindAudit(models.Model):
    """An item's verdict of safe that was drawn for a person to look at without seeing it.

    `decision` is what people decided about the report since, and null while nobody has, where the
    newest decision was taken back, and where it only sends the report on; see
    `reviews.quality.answers`, which alone writes it.
    """

    stratum = models.ForeignKey(
        Stratum, models.PROTECT, related_name="audits", verbose_name=_("stratum")
    )
    classification = models.OneToOneField(
        Classification, models.PROTECT, related_name="audit", verbose_name=_("classification")
    )
    report = models.ForeignKey(
        Report, models.PROTECT, related_name="audits", verbose_name=_("report")
    )
    decision = models.ForeignKey(
        Decision, models.PROTECT, null=True, related_name="audits", verbose_name=_("answer")
    )

    class Meta:
        verbose_name = _("blind audit")
        verbose_name_plural = _("blind audits")
        indexes = [
            # Read when one is to be handed out: those that nobody has answered.
            models.Index(
                fields=["report"], name="audit_without_answer", condition=Q(decision=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.report_id}"
