"""No page makes more than twelve statements, whoever opens it and whatever state its item is in."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.tests.furnished import blind_item, furnish
from reviews.tests.people import decide, judge_threat, log_in, page, time_runs_out

MOST_STATEMENTS = 12
# The admin's page of a batch counts a million jobs in pieces that each have an index of their own.
MORE = {"a batch": 19}
pytestmark = [pytest.mark.long, pytest.mark.django_db]


def browser_of(who: str) -> Browser:
    if who == "superuser":
        browser = Browser()
        browser.force_login(User.objects.create_superuser("root"))
        return browser
    return log_in("lena", who)


def waiting_items(client: Client, policy: PolicyVersion) -> dict[str, str]:
    """Items that wait for a lead and for a second person, and one in somebody's hands."""
    dana = log_in("dana", "reviewer")
    addresses = {}
    for name, values in (
        ("escalated", {"action": "escalate"}),
        ("proposed", {"action": "suspend", "category": "hate"}),
        ("in other hands", {}),
    ):
        report = client.send(body_saying(name))
        judge_threat(report, policy)
        addresses[name] = f"/review/items/{report.item_id}/"
        html = page(dana, addresses[name])
        if values:
            item = Item.objects.get(pk=report.item_id)
            assert decide(dana, item, html, **values).status_code == 302
    return addresses


@pytest.mark.parametrize("who", ["reviewer", "lead", "operator", "superuser"])
def test_no_page_makes_more_than_twelve_statements(policy: PolicyVersion, who: str) -> None:
    addresses = {**waiting_items(make_sender("other-app"), policy), **furnish(policy)}
    browser = browser_of(who)
    addresses["blind item"] = blind_item(policy, "root" if who == "superuser" else "lena")
    found = {}

    for free in (False, True):
        if free:
            time_runs_out(minutes=300)
        for name, address in addresses.items():
            with CaptureQueriesContext(connection) as asked:
                browser.get(address)
            found[name, free] = len(asked)

    assert found["item in review", False] > 5
    too_many = {
        (name, free): count
        for (name, free), count in found.items()
        if count > MORE.get(name, MOST_STATEMENTS)
    }
    assert too_many == {}
