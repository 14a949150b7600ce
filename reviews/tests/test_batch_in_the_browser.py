"""The page of a batch in a real browser: it keeps itself up to date, and rests when nobody looks."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

from classifier.models import Batch, Job, PolicyVersion
from classifier.tests.batches import add_flow, add_jobs, end_jobs, make_batch
from reviews.tests.chromium import FOUND, MISSING, open_context, stop_clock
from reviews.tests.test_batch_page import address, staff

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
POLL = 3_000
# A page cannot be hidden by a test, but told that it is.
HIDEABLE = (
    "Object.defineProperty(document, 'hidden', {get: () => window.away === true});"
    "window.look = away => { window.away = away;"
    " document.dispatchEvent(new Event('visibilitychange')); }"
)


@pytest.fixture
def batch(policy: PolicyVersion, transactional_db: None) -> Batch:  # noqa: ARG001
    batch = make_batch(policy, max_cost=Decimal(10))
    add_jobs(batch, 4)
    return batch


@pytest.fixture
def asked() -> list[str]:
    """The requests for the parts that change."""
    return []


@pytest.fixture
def shown(browser: Browser, batch: Batch, live_server: Any, asked: list[str]) -> Iterator[Page]:
    """The batch's page; its clock moves as the test says."""
    cookie = staff("omar", "operator").cookies[settings.SESSION_COOKIE_NAME].value
    context, complaints = open_context(browser, live_server.url)
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )
    context.add_init_script(HIDEABLE)
    page = context.new_page()
    stop_clock(page)
    page.on(
        "request",
        lambda request: asked.append(request.url) if request.url.endswith("/now/") else None,
    )
    page.goto(address(batch))
    yield page
    context.close()
    assert complaints == []


def end_half(batch: Batch) -> None:
    end_jobs(list(Job.objects.filter(batch=batch)[:2]), ago=timedelta(seconds=1))
    add_flow(batch, "none", "spam", 2)


def test_progress_and_picture_change_without_a_reload(batch: Batch, shown: Page) -> None:
    summary = shown.locator("#batch-summary")
    expect(summary).to_contain_text("0% have ended.")
    assert shown.locator("svg.flow").count() == 0
    shown.evaluate("window.same = document.getElementById('batch-summary')")

    end_half(batch)
    shown.clock.run_for(POLL)

    expect(summary).to_contain_text("50% have ended.")
    expect(shown.locator("progress")).to_have_attribute("value", "50.0")
    expect(shown.locator("svg.flow .band")).to_have_count(1)
    # A screen reader tells changes of an element that stays, and of no other.
    assert shown.evaluate("window.same === document.querySelector('[aria-live]')")


def test_a_form_comes_with_its_state_and_keeps_what_is_typed(
    batch: Batch, shown: Page, asked: list[str]
) -> None:
    Batch.objects.filter(pk=batch.pk).update(state="stopped")
    shown.clock.run_for(POLL)
    shown.get_by_label("New cost limit").fill("12.5")

    end_half(batch)
    shown.clock.run_for(POLL)
    expect(shown.locator("#batch-summary")).to_contain_text("50% have ended.")

    expect(shown.get_by_label("New cost limit")).to_have_value("12.5")
    shown.get_by_role("button", name="Go on").click()
    expect(shown.locator(".messagelist")).to_contain_text("It goes on.")
    batch.refresh_from_db()
    assert (batch.state, batch.max_cost) == (Batch.State.RUNNING, Decimal("12.5"))
    assert len(asked) == 2


def test_it_rests_while_nobody_looks_and_catches_up_at_once(
    batch: Batch, shown: Page, asked: list[str]
) -> None:
    shown.evaluate("look(true)")
    shown.clock.run_for(20 * POLL)
    assert asked == []

    end_half(batch)
    shown.evaluate("look(false)")
    shown.clock.run_for(1)

    expect(shown.locator("#batch-summary")).to_contain_text("50% have ended.")
    assert len(asked) == 1


def test_it_ends_with_the_batch(batch: Batch, shown: Page, asked: list[str]) -> None:
    Batch.objects.filter(pk=batch.pk).update(state="done", ended_at=batch.created_at)
    shown.clock.run_for(POLL)
    expect(shown.locator("#batch-summary")).to_contain_text("Done.")

    shown.clock.run_for(20 * POLL)

    assert len(asked) == 1


def test_it_says_when_it_is_no_longer_kept_up_to_date_and_when_it_is_again(shown: Page) -> None:
    stale = shown.get_by_role("alert")
    shown.route("**/now/", lambda route: route.fulfill(status=403))
    shown.clock.run_for(POLL)
    expect(stale).to_have_text("This page is no longer kept up to date. Reload it.")

    shown.unroute("**/now/")
    shown.clock.run_for(2 * POLL)

    expect(stale).to_have_count(0)
