"""A newer version's answer about what an invalidation closed: what it finds severe goes to people."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from classifier.jobs import Claimed
from classifier.models import PolicyVersion
from classifier.tests.situations import claim, end_lease, load_version, record
from conftest import check_constraints_now
from reports.models import Item, Report, Severity
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import resolve
from reports.tests.reporting_again import judge_safe, report_by, report_by_each
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def late(client_of_sender: Client, policy: PolicyVersion) -> Claimed:
    """Asked under two versions at once; closed by the older one's answer, the newer one's is to come."""
    bad = report_by(client_of_sender, "bad")
    older = claim(bad, policy)
    newer = claim(bad, load_version(prompt="Another."))
    record(older, category="spam")
    end_lease(bad)
    invalidate(bad)
    assert status_of(newer) == "resolved"
    return newer


def status_of(claimed: Claimed) -> str:
    check_constraints_now()
    return str(Report.objects.get(pk=claimed.report_id).status)


def found_severe(claimed: Claimed) -> None:
    record(claimed, category="credible_threat")


def test_what_it_finds_severe_goes_to_people(late: Claimed) -> None:
    found_severe(late)

    assert status_of(late) == "needs_review"
    assert Item.objects.get().rank >= Severity.HIGH


def test_what_it_finds_less_severe_stays_closed(late: Claimed) -> None:
    record(late, category="spam")

    assert status_of(late) == "resolved"


def test_it_goes_to_people_below_somebody_who_has_the_item(late: Claimed) -> None:
    dana = User.objects.create(username="dana")
    soon = timezone.now() + timedelta(minutes=5)
    Item.objects.get().claims.create(reviewer=dana, expires_at=soon)

    found_severe(late)

    assert status_of(late) == "needs_review"


def test_it_goes_to_people_where_others_brought_the_item_back(
    client_of_sender: Client, policy: Any, late: Claimed
) -> None:
    judge_safe(report_by(client_of_sender, "u-1"), policy)
    report_by_each(client_of_sender, "u-2", "u-3")
    assert Item.objects.get().list == "needs_review"

    found_severe(late)

    assert status_of(late) == "needs_review"
    assert Item.objects.get().rank >= Severity.HIGH


def test_what_a_person_decided_since_stays_decided(late: Claimed) -> None:
    resolve(Report.objects.get(pk=late.report_id), action="no_violation")

    found_severe(late)

    assert status_of(late) == "resolved"
