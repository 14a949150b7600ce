"""Activation with its plan: what a migration would ask and cost, and both started or neither."""

import re
from datetime import date
from decimal import Decimal

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client as Browser

from classifier.models import Batch, PolicyVersion, ProviderModel
from classifier.policies import versions
from classifier.tests.history import send_judged
from classifier.tests.situations import know_model, load_version, send_text
from reports.models import AuditEntry
from reports.tests.sending import Client
from reviews.tests.people import page

PAGE = "/admin/classifier/policyversion/{}/activate/"
State = PolicyVersion.State


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    return User.objects.create(username="dana", is_staff=True)


@pytest.fixture
def browser(dana: User) -> Browser:
    return allowed(dana, "view_policyversion", "change_policyversion", "run_batches")


def allowed(person: User, *codenames: str) -> Browser:
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = Browser()
    browser.force_login(person)
    return browser


@pytest.fixture
def candidate(policy: PolicyVersion, dana: User) -> PolicyVersion:  # noqa: ARG001
    draft = load_version(prompt="Judge anew.", activate=False)
    return versions.make_candidate(number=draft.number, actor=dana)


def plan_of(browser: Browser, number: int) -> dict[str, str]:
    """The plan's table, without its markup."""
    html = page(browser, PAGE.format(number)).partition('<table class="plan">')[2]
    rows = re.findall(r"<tr><th[^>]*>(.*?)</th><td>(.*?)</td></tr>", html)
    assert rows
    return {name: re.sub(r"<[^>]+>", "", value) for name, value in rows}


def know_price(policy: PolicyVersion) -> None:
    know_model(
        settings.OPENAI_BASE_URL,
        name=policy.model,
        price_prompt=Decimal(1000),
        price_completion=Decimal(0),
        price_batch_share=Decimal("0.5"),
        price_evidence="https://provider.example/prices",
        price_until=date(2999, 1, 1),
    )


# --- The plan


def test_the_plan_tells_how_many_would_be_asked_and_which(
    client_of_sender: Client, policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    send_judged(client_of_sender, 3, policy=policy)
    send_text(client_of_sender, "Nobody has judged this one yet.", language="ar")

    plan = plan_of(browser, candidate.number)

    assert plan["reports asked again"] == "3"
    assert plan["verdicts carried over without a call"] == "0"
    assert plan["never asked: a model or a filter refused them"] == "0"
    assert plan["pending reports"].startswith("1 ")
    assert plan["languages"] == "en: 3"
    assert plan["lists"] == "judged safe: 3"
    assert plan["model"] == candidate.model
    assert plan["oldest"]
    assert plan["newest"]


def test_tokens_and_cost_are_told_and_what_to_do_where_they_are_not_known(
    client_of_sender: Client, policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    plan = plan_of(browser, candidate.number)
    assert plan["tokens read"].startswith("Not known: ")
    assert plan["cost"] == "not known"

    know_price(candidate)
    plan = plan_of(browser, candidate.number)
    low, high = (int(number.replace(",", "")) for number in plan["tokens read"].split(" – "))
    assert 0 < low <= high
    cheapest, dearest = (Decimal(each) for each in plan["cost"].split(" – "))
    # A thousand a million tokens read; by the Batch API half of it.
    assert (cheapest, dearest) == (Decimal(low) / 2000, Decimal(high) / 1000)

    ProviderModel.objects.update(price_until=date(2000, 1, 1))
    plan = plan_of(browser, candidate.number)
    assert plan["cost"].startswith("Not known: no price of this model is recorded")
    assert "manage.py record_price" in plan["cost"]


def test_a_roll_back_asks_nothing_again(
    client_of_sender: Client, policy: PolicyVersion, dana: User, browser: Browser
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    load_version(prompt="A mistake.")
    back = versions.roll_back(number=policy.number, actor=dana)

    plan = plan_of(browser, back.number)

    assert plan["reports asked again"] == "0"
    assert plan["verdicts carried over without a call"].startswith("2 ")


def test_what_else_activation_would_change_is_said(
    policy: PolicyVersion, candidate: PolicyVersion, dana: User, browser: Browser
) -> None:
    html = page(browser, PAGE.format(candidate.number))
    assert "Version 1, which is active now, is retired for good" in html
    assert "unfinished batch" not in html
    assert "in the environment names" not in html

    Batch.objects.create(
        purpose="backfill", policy_version=policy, words="", last_report=1, actor_name="test"
    )
    draft = versions.copy_to_draft(number=1, actor=dana)
    PolicyVersion.objects.filter(pk=draft.pk).update(model="another")
    versions.make_candidate(number=draft.number, actor=dana)

    html = page(browser, PAGE.format(draft.number))
    assert "1 unfinished batch asks history under another version. It is cancelled." in html
    assert '<bdi dir="ltr">another</bdi>, and <bdi dir="ltr">MODEL</bdi> in the environment' in html


# --- The act


def test_looking_at_the_plan_changes_nothing(candidate: PolicyVersion, browser: Browser) -> None:
    written = AuditEntry.objects.count()

    page(browser, PAGE.format(candidate.number))

    candidate.refresh_from_db()
    assert candidate.state == State.CANDIDATE
    assert AuditEntry.objects.count() == written
    assert not Batch.objects.exists()


def test_it_is_activated_without_a_migration_where_none_is_wanted(
    client_of_sender: Client, policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    send_judged(client_of_sender, 1, policy=policy)

    answer = browser.post(PAGE.format(candidate.number), {"max_cost": ""}, follow=True)

    assert "Version 2 is active." in answer.content.decode()
    assert PolicyVersion.objects.active() == candidate
    assert not Batch.objects.exists()


def test_it_is_activated_and_the_migration_begins_within_its_bounds(
    client_of_sender: Client, policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    reports = send_judged(client_of_sender, 2, policy=policy)
    know_price(candidate)

    answer = browser.post(
        PAGE.format(candidate.number),
        {"start": "on", "max_cost": "1000", "reopen_at_most": "7"},
        follow=True,
    )

    assert PolicyVersion.objects.active() == candidate
    batch = Batch.objects.get()
    assert f"Version 2 is active, and batch {batch.pk} asks" in answer.content.decode()
    assert (batch.purpose, batch.policy_version, batch.state) == (
        Batch.Purpose.POLICY_MIGRATION,
        candidate,
        Batch.State.PLANNING,
    )
    assert batch.max_cost == 1000
    assert (batch.reopen_at_most, batch.last_report) == (7, reports[-1].pk)
    assert batch.actor_name == "dana"


@pytest.mark.parametrize(
    ("price", "max_cost", "complaint"),
    [
        (True, "0.0001", "It would cost "),
        (False, "5", "The cost is not known, so it cannot be limited."),
        (True, "-1", "Ensure this value is greater than or equal to 0."),
    ],
)
def test_where_the_migration_cannot_begin_nothing_is_activated(
    client_of_sender: Client,
    policy: PolicyVersion,
    candidate: PolicyVersion,
    browser: Browser,
    *,
    price: bool,
    max_cost: str,
    complaint: str,
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    if price:
        know_price(candidate)

    answer = browser.post(
        PAGE.format(candidate.number), {"start": "on", "max_cost": max_cost, "reopen_at_most": ""}
    ).content.decode()

    assert "Nothing was activated." in answer
    assert complaint in answer
    assert PolicyVersion.objects.active() == policy
    assert not Batch.objects.exists()


def test_a_migration_of_nothing_activates_nothing(
    policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    html = page(browser, PAGE.format(candidate.number))
    assert 'name="start"' not in html

    answer = browser.post(PAGE.format(candidate.number), {"start": "on"}).content.decode()

    assert "There is nothing to ask" in answer
    assert PolicyVersion.objects.active() == policy
    assert not AuditEntry.objects.filter(action="policy_activated", object_id="2").exists()


def test_who_may_not_run_batches_activates_alone(
    client_of_sender: Client, policy: PolicyVersion, candidate: PolicyVersion, dana: User
) -> None:
    send_judged(client_of_sender, 1, policy=policy)
    browser = allowed(dana, "view_policyversion", "change_policyversion")

    assert 'name="start"' not in page(browser, PAGE.format(candidate.number))
    assert browser.post(PAGE.format(candidate.number), {"start": "on"}).status_code == 403
    assert PolicyVersion.objects.active() == policy
    assert browser.post(PAGE.format(candidate.number), {}).status_code == 302
    assert PolicyVersion.objects.active() == candidate


def test_a_version_that_became_older_than_the_active_one_is_refused_at_the_form(
    policy: PolicyVersion, candidate: PolicyVersion, browser: Browser
) -> None:
    newest = load_version(prompt="Judge once more.")

    answer = browser.post(PAGE.format(candidate.number), {}).content.decode()

    assert "Version 2 is older than version 3, which is active" in answer
    assert PolicyVersion.objects.active() == newest
    assert policy.number == 1
