"""Cases with a known answer: what people add to an evaluation set, take out, and read out of it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef
from django.utils.translation import gettext as _

from classifier.models import EvaluationCase, EvaluationSet, PolicyVersion
from reports.audit import write_audit
from reports.models import Content, ContentUnreadableError, Report, Severity
from reports.submission import Submission


class CaseRefusedError(Exception):
    """Nothing was added; the message says why."""


@dataclass(frozen=True)
class Found:
    """What people found in a report: `category` is blank where they found no violation.

    `severity` is what `version` holds the category to be.
    """

    category: str
    severity: Severity
    version: PolicyVersion | None

    @property
    def safe(self) -> bool:
        return not self.category


def make_set(*, name: str, description: str, actor: User) -> EvaluationSet:
    """A set without cases. The same name once more is that set; its description stays as it was."""
    with transaction.atomic():
        evaluation_set, made = EvaluationSet.objects.get_or_create(
            name=name, defaults={"description": description}
        )
        if made:
            write_audit(
                action="evaluation_set_created",
                of=evaluation_set,
                actor=actor,
                detail={"name": name},
            )
    return evaluation_set


def add_case(
    *,
    report: Report,
    evaluation_set: EvaluationSet,
    source: EvaluationCase.Source,
    found: Found,
    actor: User,
) -> tuple[EvaluationCase, bool]:
    """The report's content by value in the set; whether it is new there.

    What stands in the set already stays as it is. Raises `CaseRefusedError` where the content is
    gone or cannot be read.
    """
    try:
        submission = Content.objects.get(report=report).submission()
    except Content.DoesNotExist:
        raise CaseRefusedError(_("The report's text was purged.")) from None
    except ContentUnreadableError:
        raise CaseRefusedError(_("The content of this report cannot be read.")) from None
    with transaction.atomic():
        case, added = EvaluationCase.objects.get_or_create(
            set=evaluation_set,
            report=report,
            defaults={
                "language": report.language,
                "content": _without_names(submission, language=report.language),
                "safe": found.safe,
                "category": found.category,
                "severity": found.severity,
                "policy_version": found.version,
                "source": source,
                "added_by": actor,
            },
        )
        if added:
            write_audit(action="case_added", of=case, actor=actor, detail=_told(case))
    return case, added


def remove_case(*, case_id: int, actor: User) -> EvaluationCase:
    """Take out what was added by mistake; answers with what it was.

    Raises `EvaluationCase.DoesNotExist`.
    """
    with transaction.atomic():
        cases = EvaluationCase.objects.select_related("set", "report")
        case = cases.select_for_update(of=("self",)).get(pk=case_id)
        write_audit(action="case_removed", of=case, actor=actor, detail=_told(case))
        EvaluationCase.objects.filter(pk=case_id).delete()
    return case


def sets_with(report_ids: Collection[int]) -> list[EvaluationSet]:
    """Every set, by name; `holds` are those of the reports that are cases of it. One statement."""
    held = EvaluationCase.objects.filter(set=OuterRef("pk"), report__in=report_ids)
    sets = EvaluationSet.objects.annotate(holds=ArraySubquery(held.values("report")))
    return list(sets.order_by("name"))


def lines_of(evaluation_set: EvaluationSet) -> Iterator[dict[str, Any]]:
    """Its cases for the release gate and for engineers, the oldest first; purged ones left out.

    Who added a case, and whose report it was, is not told; `report` is the report's public id.
    """
    cases = EvaluationCase.objects.filter(set=evaluation_set, purged_at=None)
    for case in cases.select_related("report").order_by("pk").iterator(chunk_size=200):
        yield {
            "report": str(case.report.public_id),
            "language": case.language,
            "safe": case.safe,
            "category": case.category or None,
            "severity": Severity(case.severity).name.lower(),
            "policy_version": case.policy_version_id,
            "source": case.source,
            "added_at": case.added_at.isoformat(),
            "content": case.content,
        }


def _without_names(submission: Submission, *, language: str) -> dict[str, Any]:
    """What the model reads, as it was sent; no author, no reporter, no id, no time, no address."""
    return {
        "type": submission.item.type,
        "language": language,
        "reason": submission.reason,
        "comment": submission.comment,
        "messages": [
            {"text": message.text, "reported": bool(message.reported)}
            for message in submission.messages
        ],
    }


def _told(case: EvaluationCase) -> dict[str, Any]:
    return {
        "set": case.set.name,
        "report": str(case.report.public_id),
        "category": case.category,
        "source": case.source,
    }
