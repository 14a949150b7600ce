from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from reports.models import Severity


class Preferences(models.Model):
    """How a reviewer works: remembered for the person, whatever the browser. No row: the defaults."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        primary_key=True,
        related_name="review_preferences",
        verbose_name=_("user"),
    )
    single_keys = models.BooleanField(_("single letters are commands"), default=True)
    veil_from = models.SmallIntegerField(
        _("blurred from this severity on"), null=True, choices=Severity, default=Severity.MEDIUM
    )
    """Null: nothing is blurred."""
    greyscale = models.BooleanField(_("media without colours"), default=True)
    # Ids of categories that are not handed to this person.
    opted_out = models.JSONField(_("categories not handed to me"), default=list)
    pause_after = models.PositiveSmallIntegerField(
        _("a pause is proposed after so many severe items"), default=20
    )
    paused_at = models.DateTimeField(_("last pause"), null=True, editable=False)

    class Meta:
        verbose_name = _("preferences")
        verbose_name_plural = _("preferences")
        constraints = [
            models.CheckConstraint(
                name="veil_from_is_a_severity",
                condition=models.Q(veil_from=None) | models.Q(veil_from__range=(0, 4)),
            ),
            models.CheckConstraint(
                name="a_pause_is_proposed_after_some_items",
                condition=models.Q(pause_after__gte=1),
            ),
        ]

    def __str__(self) -> str:
        return str(self.user_id)
