"""Half a year of audits and second reviews, for a picture of the page about quality.

`python -m dev.looked_again` writes them over what the installation judged safe: samples as a draw
leaves them, of past months, and what two people found in them. In Arabic more was missed.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from classifier.models import Classification
    from reviews.models import Stratum

MONTHS = 6
LEFT_ALONE = 10
STANDS_FOR = 120
"""So many verdicts for each that was drawn."""
MISSED = {"ar": 3}
"""One audit of so many finds something, by language; elsewhere one of `MISSED_ELSEWHERE`."""
MISSED_ELSEWHERE = 20
DIFFERS = 6
HARMLESS = "no_violation"


def look_again() -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415  after django.setup

    from classifier.models import Classification  # noqa: PLC0415

    first, second = (User.objects.get(username=name) for name in ("reviewer", "admin"))
    safe = Classification.objects.filter(
        superseded=False, report__item__list="judged_safe", report__item__decisions=None
    )
    one_an_item = safe.order_by("report__item", "-pk").distinct("report__item")
    verdicts = list(one_an_item.select_related("report__item"))
    seen: Counter[str] = Counter()
    for number, verdict in enumerate(verdicts[LEFT_ALONE:]):
        language = verdict.report.language.partition("-")[0]
        seen[language] += 1
        misses = seen[language] % MISSED.get(language, MISSED_ELSEWHERE) == 0
        _audit(verdict, number, first, language=language, misses=misses)
    _review_twice(first, second)


def _audit(
    verdict: Classification, number: int, reviewer: User, *, language: str, misses: bool
) -> None:
    """Draw it in one of the months, and let somebody decide who does not see what it says."""
    from reviews.claims import claim_item  # noqa: PLC0415
    from reviews.decisions import Wish, decide_item  # noqa: PLC0415
    from reviews.models import BlindAudit  # noqa: PLC0415

    report = verdict.report
    stratum = _stratum("audits", number % MONTHS, verdict, language)
    BlindAudit.objects.create(stratum=stratum, classification=verdict, report=report)
    if number % 9 == 0:
        return  # nobody has looked at it yet
    claim_item(item_id=report.item_id, reviewer=reviewer, blind=True)
    wish = Wish("remove", ("harassment", "hate", "spam")[number % 3]) if misses else Wish(HARMLESS)
    decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=wish,
        report_ids=[report.pk],
        last_decision_id=None,
    )


def _review_twice(first: User, second: User) -> None:
    """Let somebody else look at some of the decisions, who mostly finds the same."""
    from django.utils import timezone  # noqa: PLC0415

    from reviews.models import Action, Decision, DoubleReview  # noqa: PLC0415

    decisions = Decision.objects.filter(reviewer=first, action__outcome__in=["clears", "upholds"])
    for number, decision in enumerate(decisions.order_by("-category", "pk")[:40]):
        report = decision.reports.order_by("pk")[0]
        verdict = report.classifications.get(superseded=False)
        differs = number % DIFFERS == 0
        category = ("" if decision.category else "spam") if differs else decision.category
        DoubleReview.objects.create(
            stratum=_stratum("double_reviews", number % MONTHS, verdict, report.language),
            decision=decision,
            reviewer=second,
            action=Action.objects.get(pk="remove" if category else HARMLESS),
            category=category,
            severity=decision.severity,
            agrees=not differs,
            answered_at=timezone.now() - timedelta(hours=1),
        )


def _stratum(of: str, month: int, verdict: Classification, language: str) -> Stratum:
    from django.utils import timezone  # noqa: PLC0415

    from reviews.models import Draw  # noqa: PLC0415

    since = timezone.now() - timedelta(days=30 * (MONTHS - month))
    since += timedelta(seconds=Draw.objects.count())
    draw = Draw.objects.create(
        of=of, since=since, until=since + timedelta(seconds=1), seed="a picture", actor_name="dev"
    )
    return draw.strata.create(
        sender=verdict.report.sender,
        language=language,
        category=verdict.category if of == "audits" else "",
        band="0.95-0.99" if verdict.confidence >= 0.95 else "0.90-0.95",
        policy_version=verdict.policy_version,
        population=STANDS_FOR,
        drawn=1,
    )


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")
    django.setup()
    look_again()


if __name__ == "__main__":
    main()
