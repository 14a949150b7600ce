from django.db import models
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from reports.foreign_text import name_controls
from reports.models import Severity

# Letters that are commands of the desk: approve, category, start, hold, skip, note, hand over, show the
# text, undo, release.
COMMANDS = "acghkmosux"


class ActionQuerySet(models.QuerySet["Action"]):
    def offered(self) -> "ActionQuerySet":
        """Those that a reviewer can choose today, in their order on the page."""
        return self.filter(is_active=True).order_by("position", "slug")


class Action(models.Model):
    """What a reviewer can decide: data of the installation.

    What it is called, its letter, its place and who must agree may change; what it means (`slug`,
    `outcome`) stands, and none is deleted, because decisions name it. Triggers see to both.
    """

    class Outcome(models.TextChoices):
        CLEARS = "clears", _("resolves: no violation")
        UPHOLDS = "upholds", _("resolves: a violation")
        REOPENS = "reopens", _("sends back to review")
        ESCALATES = "escalates", _("waits for who may decide escalated items")

    slug = models.SlugField(_("id"), max_length=32, primary_key=True)
    names: "models.JSONField[dict[str, str], dict[str, str]]" = models.JSONField(
        _("names"), help_text=_("By language; English must be there.")
    )
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome)
    key = models.CharField(_("letter"), max_length=1)
    second_from = models.SmallIntegerField(
        _("a second person from this severity on"),
        null=True,
        blank=True,
        choices=Severity,
        help_text=_("A different person must approve. Blank: never; none: always."),
    )
    position = models.PositiveSmallIntegerField(_("place in the list"), default=0)
    is_active = models.BooleanField(_("offered"), default=True)

    objects = ActionQuerySet.as_manager()

    class Meta:
        verbose_name = _("action")
        verbose_name_plural = _("actions")
        constraints = [
            models.CheckConstraint(
                name="action_outcome_is_known",
                condition=Q(outcome__in=["clears", "upholds", "reopens", "escalates"]),
            ),
            models.CheckConstraint(
                name="action_has_an_english_name", condition=Q(names__has_key="en")
            ),
            models.CheckConstraint(
                name="action_letter_is_no_command",
                condition=Q(key__regex=r"^[a-z]$") & ~Q(key__in=[*COMMANDS]),
            ),
            models.CheckConstraint(
                name="action_second_from_is_a_severity",
                condition=Q(second_from=None) | Q(second_from__range=(0, 4)),
            ),
            models.UniqueConstraint(
                name="one_offered_action_per_letter", fields=["key"], condition=Q(is_active=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """In the reader's language, else in English; plain text, hidden characters named."""
        language = (get_language() or "en").partition("-")[0]
        return name_controls(self.names.get(language) or self.names["en"])

    @property
    def resolves(self) -> bool:
        return self.outcome in {self.Outcome.CLEARS, self.Outcome.UPHOLDS}

    @property
    def upholds(self) -> bool:
        """It says that there was a violation, and so it names the category."""
        return self.outcome == self.Outcome.UPHOLDS

    def needs_second(self, severity: int) -> bool:
        """Whether a different person must approve it about content of this severity."""
        return self.resolves and self.second_from is not None and severity >= self.second_from
