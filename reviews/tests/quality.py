"""Samples as a draw would leave them: one verdict, or one decision, each of a stratum of its own."""

from datetime import UTC, datetime, timedelta

from classifier.models import PolicyVersion
from reports.models import Report
from reviews.models import BlindAudit, Decision, DoubleReview, Draw, SamplingRate, Stratum


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


def sample_always(of: str, rate: float = 1.0) -> None:
    """Set the general rate of one kind: 1 always, 0 never."""
    SamplingRate.objects.filter(of=of, sender=None, language="", category="", band="").update(
        rate=rate
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
