from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models.sender import Sender


class ReporterIdentity(models.Model):
    """Which reporter of a sender hides behind a pseudonym; apart from the reports, deleted on its own."""

    sender = models.ForeignKey(Sender, models.PROTECT, verbose_name=_("sender"))
    pseudonym = models.CharField(_("pseudonym"), max_length=32)
    external_id = models.CharField(_("id at the sender"), max_length=255)

    class Meta:
        verbose_name = _("reporter identity")
        verbose_name_plural = _("reporter identities")
        constraints = [
            models.UniqueConstraint(
                name="one_identity_per_pseudonym", fields=["sender", "pseudonym"]
            )
        ]

    def __str__(self) -> str:
        return self.pseudonym


class TrustedFlagger(models.Model):
    """A reporter whose word has weight with one sender, such as a trusted flagger of the DSA (art. 22).

    Made by `manage.py trust_reporter`: a form field that anybody may tick is no proof.
    """

    sender = models.ForeignKey(Sender, models.PROTECT, verbose_name=_("sender"))
    pseudonym = models.CharField(_("pseudonym"), max_length=32)
    name = models.CharField(_("name"), max_length=200)
    reasons = models.JSONField(
        _("field of expertise"),
        default=list,
        help_text=_("Reasons of reports that count; none: all of them."),
    )
    trusted_at = models.DateTimeField(_("trusted since"), db_default=Now(), editable=False)
    ended_at = models.DateTimeField(_("trusted until"), null=True, editable=False)

    class Meta:
        verbose_name = _("trusted flagger")
        verbose_name_plural = _("trusted flaggers")
        constraints = [
            models.UniqueConstraint(
                name="one_trust_per_reporter",
                fields=["sender", "pseudonym"],
                condition=models.Q(ended_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.name
