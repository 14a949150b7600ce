"""What audits and second reviews of the last weeks say, as figures for operations."""

from datetime import timedelta

from django.utils import timezone
from prometheus_client import CollectorRegistry, Gauge

from reviews.quality.agreement import read_agreement
from reviews.quality.calibration import to_settle
from reviews.quality.estimates import read_estimates

WITHIN = timedelta(days=90)


def figures_of_quality(registry: CollectorRegistry) -> None:
    """Four statements, bounded by what was drawn within `WITHIN`; absent: nothing was answered."""
    audits = Gauge(
        "moderation_blindspot_audit_items",
        "Blind audits of the last 90 days by what they found; missed_severe is not in missed",
        ["result"],
        registry=registry,
    )
    missed = Gauge(
        "moderation_missed_share",
        "Estimated share of violations among items that a machine judged safe, with its 95% interval",
        ["bound"],
        registry=registry,
    )
    kappas = Gauge(
        "moderation_reviewer_agreement_kappa",
        "Cohen's kappa of second reviews, by category against the rest; absent: undefined",
        ["category"],
        registry=registry,
    )
    looked_at = Gauge(
        "moderation_reviewer_agreement_answers",
        "Second reviews that this kappa rests on: of a category, those where either person said it",
        ["category"],
        registry=registry,
    )
    settle = Gauge(
        "moderation_samples_to_settle",
        "Second reviews that differ from the first decision and wait for a lead",
        registry=registry,
    )
    since = timezone.now() - WITHIN
    estimates = read_estimates(since=since)
    overall = estimates.overall
    for result, count in (
        ("ok", overall.answered - overall.found),
        ("missed", overall.found - estimates.severe),
        ("missed_severe", estimates.severe),
        ("open", estimates.open),
    ):
        audits.labels(result).set(count)
    for bound, share in (
        ("estimate", overall.share),
        ("low", overall.low),
        ("high", overall.high),
    ):
        if share is not None:
            missed.labels(bound).set(share)
    agreements = read_agreement(since=since)
    named = [(each.label or "none", each) for each in agreements.by_category]
    for category, each in [("all", agreements.overall), *named]:
        looked_at.labels(category).set(each.agreed.of)
        if each.kappa.value is not None:
            kappas.labels(category).set(each.kappa.value)
    settle.set(to_settle().count())
