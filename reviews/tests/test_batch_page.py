"""The page of a batch for operations: what it shows, to whom, and how it keeps up."""

import html as entities
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from classifier.models import Batch, Category, PolicyVersion, WaitingReason
from classifier.tests.batches import (
    add_disagreement,
    add_flow,
    add_jobs,
    add_provider_batch,
    end_jobs,
    make_batch,
)
from reports.models import AuditEntry
from reviews.tests.people import log_in, page

BATCHES = "/admin/classifier/batch/"
MINUTE = timedelta(minutes=1)
EVIL = "<script>alert(1)</script>\u202e"


@pytest.fixture
def batch(policy: PolicyVersion) -> Batch:
    return make_batch(policy)


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return staff("omar", "operator")


def staff(name: str, *roles: str) -> Browser:
    browser = log_in(name, *roles)
    User.objects.filter(username=name).update(is_staff=True)
    return browser


def address(batch: Batch, step: str = "change") -> str:
    return f"{BATCHES}{batch.pk}/{step}/"


def numbers_of(html: str) -> dict[str, str]:
    """The pairs of words and figures that the page tells."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html)
    return {entities.unescape(word): figure for word, figure in pairs}


def table_of_flows(html: str) -> set[tuple[str, str, str]]:
    table = html.partition("The same as numbers")[2].partition("</table>")[0]
    return set(
        re.findall(
            r'<tr><td><bdi>(.*?)</bdi></td><td class="[^"]*"><bdi class="severity">(.*?)</bdi></td>'
            r'<td class="num">(.*?)</td></tr>',
            table,
        )
    )


def bands_of_picture(html: str) -> set[tuple[str, str, str]]:
    return set(
        re.findall("<title>from \u2068(.*?)\u2069 to \u2068(.*?)\u2069: (.*?)</title>", html)
    )


# --- The list


def test_the_list_tells_state_purpose_and_how_far_each_is(
    batch: Batch, policy: PolicyVersion, browser: Browser
) -> None:
    Batch.objects.filter(pk=batch.pk).update(wanted=2_000)
    add_flow(batch, "none", "spam", 1_200)
    add_flow(batch, "spam", "spam", 34)
    make_batch(policy, purpose="nightly", state="stopped")

    html = page(browser, BATCHES)

    assert (
        '<progress max="2000" value="1234" aria-label="verdicts recorded"></progress>'
        " <bdi>1,234 of 2,000</bdi>" in html
    )
    assert "policy migration" in html
    assert re.search(r"<td[^>]*>stopped</td>", html)
    assert f'<a href="{address(batch)}">' in html


def test_more_batches_are_no_more_queries(
    batch: Batch, policy: PolicyVersion, browser: Browser
) -> None:
    add_flow(batch, "none", "spam", 3)
    page(browser, BATCHES)
    with CaptureQueriesContext(connection) as few:
        page(browser, BATCHES)
    for _each in range(9):
        add_flow(make_batch(policy), "none", "spam", 3)
    with CaptureQueriesContext(connection) as many:
        page(browser, BATCHES)

    assert len(many) == len(few)


# --- The page


def test_the_page_tells_how_far_the_batch_is(batch: Batch, browser: Browser) -> None:
    jobs = add_jobs(batch, 40)
    end_jobs(jobs[:25], ago=MINUTE)
    end_jobs(jobs[25:30], reason=WaitingReason.TOO_LONG, ago=MINUTE)
    add_provider_batch(batch, "submitted", 6, submitted_at=Now() - MINUTE)
    add_disagreement(batch, jobs[0])
    Batch.objects.filter(pk=batch.pk).update(
        prompt_tokens=1_234_567, max_cost=Decimal(30), created_at=Now() - 10 * MINUTE
    )

    html = page(browser, address(batch))
    told = numbers_of(html)

    assert "<strong>Running.</strong> 75% have ended. Estimated end: " in html
    assert '<progress max="100" value="75.0"' in html
    assert (told["Wanted"], told["Done"], told["Parked"]) == ("40", "25", "5")
    assert (told["To be asked by calls"], told["At the provider"]) == ("10", "6")
    assert told["Rate"] == "3.0 a minute"
    assert told["Tokens read and written"] == "1,234,567 · 0"
    assert (told["Cost so far"], told["Cost limit"]) == ("–", "30.00")
    assert told["Disagreements"].startswith("open: 1 · reopened: 0 · settled: 0 <a ")
    (listed,) = re.findall(r'href="([^"]*)"', told["Disagreements"])
    assert "1 disagreement" in page(browser, listed)


def test_the_picture_and_the_table_tell_the_same(batch: Batch, browser: Browser) -> None:
    for before, after, reports in (
        ("none", "none", 1_500),
        ("none", "spam", 250),
        ("harassment", "none", 40),
        ("", "scam", 7),
        ("of_old", "scam", 3),
    ):
        add_flow(batch, before, after, reports)

    html = page(browser, address(batch))

    assert table_of_flows(html) == {
        ("No violation", "No violation", "1,500"),
        ("No violation", "Spam", "250"),
        ("Harassment", "No violation", "40"),
        ("not judged before", "Scam", "7"),
        ("of_old", "Scam", "3"),
    }
    assert bands_of_picture(html) == table_of_flows(html)
    assert "1,800 verdicts are recorded. 293 of them changed" in html
    assert '<svg class="flow" viewBox="0 0 780 ' in html
    assert 'role="img" aria-labelledby="flow-title flow-words"' in html


def test_the_picture_begins_where_the_reader_does(batch: Batch, browser: Browser) -> None:
    add_flow(batch, "none", "spam", 3)

    assert '<g class="before rank-0"><rect x="230"' in page(browser, address(batch))
    browser.post("/language/", {"language": "ar", "next": "/"})
    arabic = page(browser, address(batch))
    assert '<g class="before rank-0"><rect x="536"' in arabic
    assert '<g class="after rank-1"><rect x="230"' in arabic


def test_the_parked_are_listed_with_what_to_do_and_lead_to_their_items(
    batch: Batch, browser: Browser
) -> None:
    (job,) = add_jobs(batch, 1)
    end_jobs([job], reason=WaitingReason.TOO_LONG, ago=MINUTE)

    html = page(browser, address(batch))

    assert "The content is longer than the model can read." in html
    assert WaitingReason.TOO_LONG.for_operations in html
    assert (
        f'<a href="/review/items/{job.report.item_id}/"><bdi dir="ltr">{job.report.public_id}'
        in html
    )


def test_the_slowest_and_the_failed_at_the_provider_are_listed(
    batch: Batch, browser: Browser
) -> None:
    add_provider_batch(
        batch, "submitted", 50, remote_id="batch_slow", submitted_at=Now() - 90 * MINUTE, polls=17
    )
    add_provider_batch(batch, "ended", 20, remote_id="batch_bad", error="token_limit_exceeded")

    html = page(browser, address(batch))

    slowest = html.partition("Slowest first")[2].partition("</table>")[0]
    assert "batch_slow" in slowest
    assert re.search(r"1\shour, 30\sminutes", slowest)
    assert "batch_bad" not in slowest
    failed = html.partition("Failed at the provider")[2].partition("</table>")[0]
    assert "token_limit_exceeded" in failed


def test_foreign_words_run_nothing(batch: Batch, browser: Browser) -> None:
    categories: list[Category] = [
        {"id": "evil", "name": EVIL, "severity": 2, "safe": False, "guidance": ""},
        {"id": "none", "name": "No violation", "severity": 0, "safe": True, "guidance": ""},
    ]
    PolicyVersion.objects.create(
        number=7,
        title="seven",
        model="m",
        prompt="p",
        categories=categories,
        safe_threshold=0.5,
        content_hash="0" * 64,
    )
    add_flow(batch, "evil", EVIL[:60], 5)
    Batch.objects.filter(pk=batch.pk).update(words=EVIL, note=EVIL, actor_name=EVIL)
    add_provider_batch(
        batch, "submitted", 5, remote_id=EVIL, remote_status=EVIL, error=EVIL, submitted_at=Now()
    )

    html = page(browser, address(batch))

    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert html.count("&lt;script&gt;alert(1)") >= 10
    assert ' style="' not in html


def test_the_page_asks_no_more_queries_for_more_rows(batch: Batch, browser: Browser) -> None:
    def furnish(sender: str, count: int) -> None:
        jobs = add_jobs(batch, count, sender_name=sender)
        end_jobs(jobs, reason=WaitingReason.TOO_LONG, ago=MINUTE)
        for number in range(count):
            add_flow(batch, f"{sender}_{number}", "none", 3)
            add_provider_batch(batch, "submitted", 5, error="x", submitted_at=Now())

    furnish("few", 1)
    page(browser, address(batch))
    with CaptureQueriesContext(connection) as few:
        page(browser, address(batch))
    furnish("many", 8)
    with CaptureQueriesContext(connection) as many:
        page(browser, address(batch))

    assert len(many) == len(few)


# --- Kept up to date


def test_the_fragment_holds_what_changes_and_says_when_nothing_did(
    batch: Batch, browser: Browser
) -> None:
    jobs = add_jobs(batch, 4)

    first = browser.get(address(batch, "now"))
    assert first.status_code == 200
    assert "<html" not in first.content.decode()
    assert "0% have ended." in first.content.decode()
    tag = first.headers["ETag"]
    assert browser.get(address(batch, "now"), headers={"If-None-Match": tag}).status_code == 304

    end_jobs(jobs[:1], ago=MINUTE)
    second = browser.get(address(batch, "now"), headers={"If-None-Match": tag})
    assert second.status_code == 200
    assert "25% have ended." in second.content.decode()


def test_the_fragment_changes_with_the_state(batch: Batch, browser: Browser) -> None:
    tag = browser.get(address(batch, "now")).headers["ETag"]
    Batch.objects.filter(pk=batch.pk).update(state="stopped")

    answer = browser.get(address(batch, "now"), headers={"If-None-Match": tag})

    assert answer.status_code == 200
    assert 'id="batch-actions" data-live="stopped"' in answer.content.decode()


# --- Cancel and resume


def test_an_operator_cancels_and_the_second_time_changes_nothing(
    batch: Batch, browser: Browser
) -> None:
    first = browser.post(address(batch, "cancel"), follow=True).content.decode()
    second = browser.post(address(batch, "cancel"), follow=True).content.decode()

    batch.refresh_from_db()
    assert batch.state == Batch.State.CANCELLING
    assert "It is being cancelled" in first
    assert "Nothing was changed" in second
    (entry,) = AuditEntry.objects.filter(object_type="batch")
    assert (entry.actor_name, entry.action) == ("omar", "batch_cancelled")
    assert 'action="' + address(batch, "cancel") not in second


def test_an_operator_lets_a_stopped_batch_go_on(batch: Batch, browser: Browser) -> None:
    Batch.objects.filter(pk=batch.pk).update(state="stopped", max_cost=Decimal(10))
    assert 'name="max_cost"' in page(browser, address(batch))

    refused = browser.post(address(batch, "resume"), {"max_cost": "9"}, follow=True)
    assert "is recorded, or it is out of date: record one first" in refused.content.decode()
    wrong = browser.post(address(batch, "resume"), {"max_cost": "much"}, follow=True)
    assert "Enter a number." in wrong.content.decode()
    gone_on = browser.post(address(batch, "resume"), {"max_cost": "12.5"}, follow=True)

    assert "It goes on." in gone_on.content.decode()
    batch.refresh_from_db()
    assert (batch.state, batch.max_cost) == (Batch.State.RUNNING, Decimal("12.5"))


@pytest.mark.parametrize("step", ["cancel", "resume"])
def test_a_batch_is_told_nothing_by_a_link(batch: Batch, browser: Browser, step: str) -> None:
    assert browser.get(address(batch, step)).status_code == 405
    batch.refresh_from_db()
    assert batch.state == Batch.State.RUNNING


# --- Who may


def test_who_may_only_look_is_shown_no_button_and_refused(batch: Batch) -> None:
    browser = staff("vera")
    vera = User.objects.get(username="vera")
    assert browser.get(address(batch)).status_code == 403
    assert browser.get(address(batch, "now")).status_code == 403
    vera.user_permissions.add(Permission.objects.get(codename="view_batch"))

    assert "Cancel this batch" not in page(browser, address(batch))
    assert browser.get(address(batch, "now")).status_code == 200
    for step in ("cancel", "resume"):
        assert browser.post(address(batch, step)).status_code == 403
    batch.refresh_from_db()
    assert batch.state == Batch.State.RUNNING


def test_a_reviewer_has_no_business_here(batch: Batch) -> None:
    browser = staff("dana", "reviewer")

    for step in ("change", "now"):
        assert browser.get(address(batch, step)).status_code == 403
    for step in ("cancel", "resume"):
        assert browser.post(address(batch, step)).status_code == 403


def test_without_a_log_in_nothing_is_told(batch: Batch) -> None:
    for step in ("change", "now"):
        answer = Browser().get(address(batch, step))
        assert answer.status_code == 302
        assert "/login/" in answer.headers["Location"]


def test_no_such_batch_is_not_found(browser: Browser) -> None:
    assert browser.get(f"{BATCHES}999/change/").status_code == 404
    assert browser.get(f"{BATCHES}999/now/").status_code == 404
    assert browser.post(f"{BATCHES}999/cancel/").status_code == 404
