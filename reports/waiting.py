"""Why a report has no verdict yet: a name for programs, a sentence for people."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from reports.models import Report


class Waiting(models.TextChoices):
    """Why a report is pending while nothing went wrong; other reasons come from its job."""

    WAITING_FOR_WORKER = "waiting_for_worker", _("It waits for a worker.")
    BEING_CLASSIFIED = "being_classified", _("A model is reading it now.")


def waiting_reason(report: Report) -> str | None:
    """The named reason of a pending report, from its newest job; null for any other report."""
    if report.status != Report.Status.PENDING:
        return None
    job = report.newest_job()
    if job is not None and job.lease_until is not None and job.lease_until > timezone.now():
        return Waiting.BEING_CLASSIFIED
    return (job.reason if job else "") or Waiting.WAITING_FOR_WORKER


def waiting_sentence(report: Report) -> str:
    """The same in words; blank for a report that is not pending."""
    reason = waiting_reason(report)
    if reason is None:
        return ""
    if reason in Waiting.values:
        return str(Waiting(reason).label)
    return str(report.newest_job().get_reason_display())


def waits_for_a_person(report: Report) -> bool:
    """Pending and parked: no worker takes it up again by itself."""
    job = report.newest_job()
    return report.status == Report.Status.PENDING and job is not None and job.parked
