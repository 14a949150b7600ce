"""Samples as a draw would leave them: one verdict, or one decision, each of a stratum of its own."""

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User

from classifier.models import PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.decisions import Wish, decide_item
from reviews.models import (
    Action,
    BlindAudit,
    Decision,
    DoubleReview,
    Draw,
    SamplingRate,
    Stratum,
)
from reviews.tests.people import classify


def drawn_audit(
    report: Report, *, population: int = 1, drawn: int = 1, band: str = "0.90-0.95"
) -> BlindAudit:
    """The current verdict of a report that was judged safe, drawn for an audit."""
    verdict = report.classifications.get(superseded=False)
    stratum = _stratum(
        report,
        of=Draw.Of.AUDITS,
        category=verdict.category,
        band=band,
        version=verdict.policy_version,
        population=population,
        drawn=drawn,
    )
    return BlindAudit.objects.create(stratum=stratum, classification=verdict, report=report)


def drawn_double_review(decision: Decision, *, population: int = 1, drawn: int = 1) -> DoubleReview:
    """A decision, drawn for a second person."""
    report = decision.reports.order_by("pk").first()
    assert report is not None
    upholds = decision.action is not None and decision.action.upholds
    stratum = _stratum(
        report,
        of=Draw.Of.DOUBLE_REVIEWS,
        category=decision.category if upholds else "",
        band="",
        version=None,
        population=population,
        drawn=drawn,
    )
    return DoubleReview.objects.create(stratum=stratum, decision=decision)


def share(of: str, rate: float) -> None:
    """Set how much of what is handed out is so: 1 always, 0 never."""
    SamplingRate.objects.update_or_create(of=of, defaults={"rate": rate})


def judge_spam(report: Report, policy: PolicyVersion) -> None:
    """It comes to needs review, below critical."""
    classify(
        report,
        policy,
        category="spam",
        confidence=0.88,
        severity=1,
        safe=False,
        summary="It advertises.",
        rules=["unsafe_category"],
    )


def judged_safe(client: Client, policy: PolicyVersion, text: str) -> Report:
    report = client.send(body_saying(text))
    classify(report, policy)
    return report


def decided(
    client: Client, policy: PolicyVersion, text: str, *, by: str, action: str = "no_violation"
) -> Decision:
    """Someone's decision about a new report in review."""
    report = client.send(body_saying(text))
    judge_spam(report, policy)
    reviewer, _made = User.objects.get_or_create(username=by)
    upholds = Action.objects.get(pk=action).upholds
    return decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=Wish(action, "spam" if upholds else "", note=f"a note of {by}"),
        report_ids=[report.pk],
        last_decision_id=None,
    )


def _stratum(
    report: Report,
    *,
    of: Draw.Of,
    category: str,
    band: str,
    version: PolicyVersion | None,
    population: int,
    drawn: int,
) -> Stratum:
    since = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=Draw.objects.count())
    draw = Draw.objects.create(
        of=of, since=since, until=since + timedelta(hours=1), seed="test", actor_name="test"
    )
    return Stratum.objects.create(
        draw=draw,
        sender=report.sender,
        language=report.language.partition("-")[0],
        category=category,
        band=band,
        policy_version=version,
        population=population,
        drawn=drawn,
    )
