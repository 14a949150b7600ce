from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from reports.models.report import Report
from reports.models.sender import Sender


class Invalidation(models.Model):
    """Reports of one reporter who acted in bad faith count for nothing, within a scope.

    They say nothing any more of their item, author or reporter; those in review or judged safe that
    nothing severe was found in are closed. `scope` is data: `since` and `until` (ISO 8601, half-open),
    `item_type` and `limit`. It can be revoked as a whole, which puts them back.
    """

    sender = models.ForeignKey(Sender, models.PROTECT, verbose_name=_("sender"))
    pseudonym = models.CharField(_("pseudonym"), max_length=32)
    scope = models.JSONField(_("scope"), default=dict)
    reason = models.CharField(_("why"), max_length=500)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("actor"),
    )
    actor_name = models.CharField(_("who"), max_length=150)
    made_at = models.DateTimeField(_("made"), db_default=Now(), editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True)

    class Meta:
        verbose_name = _("invalidation")
        verbose_name_plural = _("invalidations")
        indexes = [
            # Read by the page of one reporter.
            models.Index(fields=["pseudonym", "-id"], name="invalidation_of_reporter"),
        ]

    def __str__(self) -> str:
        return f"{self.pseudonym}: {self.made_at}"


class InvalidatedReport(models.Model):
    """One report of an invalidation, with how it stood before."""

    invalidation = models.ForeignKey(Invalidation, models.PROTECT, related_name="reports")
    report = models.ForeignKey(Report, models.PROTECT, related_name="invalidated")
    status_before = models.CharField(_("status before"), max_length=16, choices=Report.Status)

    class Meta:
        verbose_name = _("invalidated report")
        verbose_name_plural = _("invalidated reports")
        constraints = [
            models.UniqueConstraint(
                name="an_invalidation_names_a_report_once", fields=["invalidation", "report"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.report_id} by {self.invalidation_id}"
