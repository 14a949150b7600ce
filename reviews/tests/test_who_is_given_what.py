"""What is kept from whom: holds, categories that one opted out of, and what others have."""

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.models import Hold, Preferences
from reviews.tests.moving import NONE_LEFT, START, go, hold, holders, item_of, pk
from reviews.tests.people import (
    classify,
    judge_threat,
    log_in,
    page,
    time_runs_out,
)


@pytest.mark.parametrize(
    ("kind", "by", "is_lead", "given"),
    [
        (Hold.Kind.ESCALATED, "omar", False, False),
        (Hold.Kind.ESCALATED, "omar", True, True),
        (Hold.Kind.SECOND_APPROVAL, "omar", False, True),
        (Hold.Kind.SECOND_APPROVAL, "dana", False, False),
        (Hold.Kind.SECOND_APPROVAL, "dana", True, False),
    ],
)
def test_what_waits_for_somebody_is_given_to_them_alone(
    reports: list[Report], kind: Hold.Kind, by: str, *, is_lead: bool, given: bool
) -> None:
    dana = log_in("dana", "reviewer")
    if is_lead:
        User.objects.filter(username="dana").update(is_superuser=True)
    hold(reports[0], by, kind)

    assert go(dana, START) == item_of(reports[0 if given else 1])

    go(dana, "/review/pending/start/")
    time_runs_out()
    page(dana, item_of(reports[0]))
    assert (holders().get(reports[0].item_id) == "dana") == given


def test_a_category_that_one_has_opted_out_of_is_not_given(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    threat = client_of_sender.send(body_saying("a threat"))
    judge_threat(threat, policy)
    spam = client_of_sender.send(body_saying("spam"))
    spam_verdict = {"category": "spam", "severity": 1, "safe": False, "rules": ["unsafe_category"]}
    classify(spam, policy, **spam_verdict)
    Preferences.objects.filter(user=pk("dana")).update(opted_out=["credible_threat"])

    start = "/review/needs-review/start/"
    assert go(dana, start) == f"/review/items/{spam.item_id}/?from=needs-review"
    assert go(log_in("omar", "reviewer"), start).startswith(f"/review/items/{threat.item_id}/")


def test_when_all_that_is_left_is_in_other_hands_it_says_so(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    for report in reports:
        page(omar, item_of(report))

    assert go(dana, START) == NONE_LEFT

    html = page(dana, NONE_LEFT)
    assert "what is left is in other hands" in html
    assert html.count("<bdi>omar</bdi> has it until") == 5
