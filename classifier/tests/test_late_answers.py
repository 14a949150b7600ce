"""Answers of two versions race for the same reports: whatever the order, the newest stays current.

A thousand reports, each an interleaving of its own: four writers with connections of their own record
answers of both versions, late ones, and the same ones again, alone and in slices that cut across one
another.
"""

import math
import random
from collections import Counter, defaultdict
from functools import partial
from typing import NamedTuple

import pytest
from django.db import connection, transaction

from classifier.answer_rows import answer_row
from classifier.asking import Asked
from classifier.jobs import Claimed
from classifier.models import Classification, Job, PolicyVersion
from classifier.recording import Recorded, record_answer, record_rows
from classifier.rules import Judgement, judge
from classifier.tests.batches import make_batch
from classifier.tests.history import next_version
from classifier.tests.situations import at_once, make_asked, make_many
from reports.models import Report, Severity

REPORTS, WRITERS = 1_000, 4
SLICES = (1, 5, 25)
CATEGORIES = ("none", "spam", "hate")


class Late(NamedTuple):
    """One answer on its way; a second one about the same job may say something else."""

    claimed: Claimed
    category: str


Said = list[tuple[Late, Recorded]]


def write_jobs(policy: PolicyVersion, batch_id: int | None) -> list[Claimed]:
    """A claimed job for each report under the version."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO classifier_job (report_id, policy_version_id, batch_id, lane, attempts,"
            " claims, faults, reason, parked, done) SELECT id, %s, %s, %s, 0, 1, 0, '', false, false"
            " FROM reports_report RETURNING id, report_id",
            [policy.pk, batch_id, "batch" if batch_id else "live"],
        )
        made = cursor.fetchall()
    return [
        Claimed(job_id, report_id, policy, 1, "", math.inf, batch_id) for job_id, report_id in made
    ]


def deal(jobs: list[Claimed], dice: random.Random) -> list[list[list[Late]]]:
    """For each writer its slices. A job's answers go to different writers, some jobs have two."""
    hands: list[dict[int, list[Late]]] = [defaultdict(list) for _writer in range(WRITERS)]
    for claimed in jobs:
        for writer in dice.sample(range(WRITERS), dice.choice((1, 1, 2))):
            late = Late(claimed, dice.choice(CATEGORIES))
            hands[writer][claimed.policy.pk].append(late)
    return [_cut(list(hand.values()), dice) for hand in hands]


def _cut(of_versions: list[list[Late]], dice: random.Random) -> list[list[Late]]:
    """Slices of one version each, in any order."""
    slices = []
    for some in of_versions:
        dice.shuffle(some)
        while some:
            size = dice.choice(SLICES)
            slices.append(some[:size])
            del some[:size]
    dice.shuffle(slices)
    return slices


def write(slices: list[list[Late]]) -> Said:
    """One writer's work: what became of each of its answers."""
    said: Said = []
    for some in slices:
        said += zip(some, _record(some), strict=True)
    return said


def _record(some: list[Late]) -> list[Recorded]:
    """As a worker records one answer, or a batch a slice of them."""
    judged = [(late.claimed, *_judge(late)) for late in some]
    if len(some) == 1:
        return [record_answer(claimed=each, asked=asked, judgement=j) for each, asked, j in judged]
    rows = {
        each.job_id: answer_row(claimed=each, asked=asked, judgement=j) for each, asked, j in judged
    }
    with transaction.atomic():
        return record_rows(rows, batch_id=some[0].claimed.batch_id)


def _judge(late: Late) -> tuple[Asked, Judgement]:
    asked = make_asked(category=late.category)
    policy = late.claimed.policy
    return asked, judge(verdict=asked.verdict, policy=policy, floor=Severity.NONE, texts=[])


@pytest.mark.django_db(transaction=True)
def test_a_thousand_interleavings_leave_the_newest_current(policy: PolicyVersion) -> None:
    dice = random.Random(20_261_130)  # noqa: S311 - not a secret
    make_many("crowd", REPORTS)
    newer = next_version()
    jobs = [*write_jobs(policy, None), *write_jobs(newer, make_batch(newer).pk)]
    hands = deal(jobs, dice)

    said = [each for hand in at_once([partial(write, hand) for hand in hands]) for each in hand]

    became = Counter((late.claimed.policy.pk, outcome) for late, outcome in said)
    first = [late for late, outcome in said if outcome is not Recorded.DUPLICATE]
    stored = Classification.objects.values_list("report", "policy_version", "category")
    assert set(stored) == {
        (late.claimed.report_id, late.claimed.policy.pk, late.category) for late in first
    }
    assert len(first) == len(stored) == 2 * REPORTS
    current = Classification.objects.filter(superseded=False)
    assert Counter(current.values_list("policy_version", flat=True)) == {newer.pk: REPORTS}
    assert current.values("report").distinct().count() == REPORTS
    # Each way of ending was taken by many, or this would say little.
    assert became[newer.pk, Recorded.SUPERSEDED] == 0
    assert became[policy.pk, Recorded.CURRENT] > REPORTS / 5
    assert became[policy.pk, Recorded.SUPERSEDED] > REPORTS / 5
    for version in (policy, newer):
        assert became[version.pk, Recorded.DUPLICATE] > REPORTS / 5
    # Everything that hangs on a verdict went with it.
    jobs_now = Job.objects.values_list("done", "dropped")
    assert {done for done, _dropped in jobs_now} == {True}
    assert sum(dropped for _done, dropped in jobs_now) == len(said) - len(first)
    severities = Report.objects.filter(classifications__superseded=False).values_list(
        "rank", "classifications__severity"
    )
    assert all(rank == severity for rank, severity in severities)
