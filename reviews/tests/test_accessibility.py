"""axe-core finds no violation of WCAG 2.2 A and AA: every page, both languages, light and dark."""

from datetime import timedelta
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as HttpClient
from playwright.sync_api import Browser, Page

from classifier.models import Batch, Classification, Job, PolicyVersion, WaitingReason
from classifier.policies import versions
from classifier.tests import history
from classifier.tests.batches import add_flow, add_jobs, add_provider_batch, end_jobs, make_batch
from classifier.tests.situations import load_version
from reports.tests.sending import body_saying, make_sender
from reviews.models import Claim, Preferences
from reviews.tests.chromium import FOUND, MISSING, open_context
from reviews.tests.people import classify, decide, form_of, judge_threat, log_in, page

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]


def axe_source() -> str:
    found = find_spec("axe_playwright_python")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("axe.min.js").read_text()


def violations(shown: Page, complaints: list[str]) -> list[str]:
    """What axe finds on the page as it stands, and what the browser complained of before."""
    found = [*complaints]
    shown.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    shown.evaluate(axe_source())
    result: dict[str, Any] = shown.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    assert result["passes"], "axe looked at nothing"
    complaints.clear()  # axe tries inline styles of its own, which the policy refuses
    found += [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in result["violations"]
        for node in each["nodes"]
    ]
    return found


def furnish(policy: PolicyVersion) -> dict[str, str]:
    """Items in every list; the addresses of the pages to look at."""
    client = make_sender("chat-app")
    pending = client.send(body_saying("I know where you park. \u202e"))
    Job.objects.create(
        report=pending, policy_version=policy, reason=WaitingReason.MODEL_REFUSED, parked=True
    )
    late = make_sender("slow-app", budget_seconds=0.001).send(
        body_saying("ربحت جائزة!", language="ar")
    )
    threat = client.send(body_saying("I will kill you tomorrow"))
    judge_threat(threat, policy, quotes=["kill you"])
    safe = client.send(body_saying("Lunch at noon?"))
    classify(safe, policy)
    decided = client.send(body_saying("decided"))
    dana = log_in("dana", "reviewer")
    disputed = history.judged_safe(client, policy)
    history.ask_again(
        disputed,
        make_batch(history.next_version()),
        category="hate",
        summary="A group is insulted.",
    )
    page(dana, f"/review/items/{disputed.item_id}/")
    html = page(dana, f"/review/items/{decided.item_id}/")
    decide(dana, decided.item, html, action="remove", category="hate", note="a note", reason="why")
    drafts = [load_version(prompt=f"Judge {how}.", activate=False) for how in ("anew", "mildly")]
    versions.make_candidate(number=drafts[0].number, actor=User.objects.get(username="dana"))
    for name in ("a list", "another"):
        sent = {"name": name, "list": "pending", "query": "language=en", "shared": "on"}
        dana.post("/review/views/", sent)
    return {
        "search": "/review/search/",
        "found by text": "/review/search/?q=lunch&language=en",
        "found by id": f"/review/search/?q={threat.public_id}",
        "search refused": f"/review/search/?q={'x' * 300}",
        "filters in force": "/review/pending/?language=en&newer_than=1d&assignee=nobody",
        "saved views": "/review/views/",
        "decisions": "/review/decisions/?reviewer=dana",
        "an author": f"/review/authors/{decided.public_id}/",
        "pending": "/review/pending/",
        "needs review": "/review/needs-review/",
        "judged safe": "/review/safe/",
        "resolved": "/review/resolved/",
        "disagreements": "/review/disagreements/",
        "preferences": "/review/preferences/",
        "pause": "/review/pause/",
        "disputed item": f"/review/items/{disputed.item_id}/",
        "disagreements in the admin": "/admin/classifier/disagreement/",
        "history in the admin": f"/admin/reports/judgedsafereport/{disputed.pk}/change/",
        "nothing found": "/review/safe/?language=tlh",
        "pending item": f"/review/items/{late.item_id}/",
        "item in review": f"/review/items/{threat.item_id}/",
        "safe item": f"/review/items/{safe.item_id}/",
        "decided item": f"/review/items/{decided.item_id}/",
        "no such page": "/review/items/999999/",
        "front page of the admin": "/admin/",
        "pending in the admin": "/admin/reports/pendingreport/",
        "safe in the admin": "/admin/reports/judgedsafereport/",
        "reports in the admin": "/admin/reports/report/?status=all",
        "items in the admin": "/admin/reports/item/?list=all",
        "senders": "/admin/reports/sender/",
        "a sender": f"/admin/reports/sender/{client.sender.pk}/change/",
        "a key to issue": f"/admin/reports/sender/{client.sender.pk}/issue-key/",
        "verdicts": "/admin/classifier/classification/",
        "a verdict": f"/admin/classifier/classification/{Classification.objects.latest('pk').pk}/change/",
        "rules": "/admin/classifier/classification/rules/",
        "jobs": "/admin/classifier/job/",
        "the audit": "/admin/reports/auditentry/",
        "claims in the admin": "/admin/reviews/claim/?standing=all",
        "batches": "/admin/classifier/batch/",
        "a batch": f"/admin/classifier/batch/{furnish_batch(policy).pk}/change/",
        "report in the admin": f"/admin/reports/pendingreport/{pending.pk}/change/",
        "policy versions": "/admin/classifier/policyversion/",
        "candidate": f"/admin/classifier/policyversion/{drafts[0].number}/change/",
        "activation": f"/admin/classifier/policyversion/{drafts[0].number}/activate/",
        "draft": f"/admin/classifier/policyversion/{drafts[1].number}/edit/",
        "two versions": f"/admin/classifier/policyversion/compare/?old=1&new={drafts[1].number}",
    }


def furnish_batch(policy: PolicyVersion) -> Batch:
    """A stopped batch with everything that its page may show."""
    batch = make_batch(policy, state="stopped", max_cost=Decimal(10), note="The limit is reached.")
    jobs = add_jobs(batch, 4)
    end_jobs(jobs[:2], reason=WaitingReason.TOO_LONG, ago=timedelta(minutes=1))
    for before, after in (("none", "spam"), ("hate", "credible_threat"), ("", "none")):
        add_flow(batch, before, after, 100)
    add_provider_batch(batch, "submitted", 5, submitted_at=Now(), error="expired")
    return batch


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_no_page_violates_the_guidelines(
    browser: Browser, live_server: Any, policy: PolicyVersion, language: str, scheme: str
) -> None:
    addresses = furnish(policy)
    user = User.objects.create_superuser("root")
    # A pause is proposed from the first severe item on, beside whatever else the pages show.
    Preferences.objects.create(user=user, pause_after=1)
    session = HttpClient()
    session.force_login(user)
    context, complaints = open_context(browser, live_server.url, color_scheme=scheme)
    name = settings.LANGUAGE_COOKIE_NAME
    context.add_cookies([{"name": name, "value": language, "url": live_server.url}])
    shown = context.new_page()
    found: dict[str, list[str]] = {}
    shown.goto("/login/")
    found["log in"] = violations(shown, complaints)
    cookie = session.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )
    for title, address in addresses.items():
        shown.goto(address)
        assert shown.locator("html").get_attribute("lang") == language
        found[title] = violations(shown, complaints)
    # A text that was hidden and is shown, a form that was refused, and one that came too late.
    shown.goto(addresses["item in review"])
    shown.locator("[data-key=s]").click()
    shown.locator(".reported mark").wait_for()
    assert shown.locator(".pause-proposal").count() == 1
    found["text shown"] = violations(shown, complaints)
    seen = form_of(" ".join(shown.content().split()))
    shown.locator("input[name=action][value=remove]").check()
    shown.locator("button[name=stay]").click()
    shown.locator("form[data-bound]").wait_for()
    found["refused form"] = violations(shown, complaints)
    item = int(addresses["item in review"].split("/")[3])
    Claim.objects.update(released_at=Now())  # else omar could not come first
    log_in("omar", "reviewer").post(
        f"/review/items/{item}/", {**seen, "action": "no_violation", "stay": ""}
    )
    shown.locator("input[name=action][value=no_violation]").check()
    shown.locator("button[name=stay]").click()
    shown.locator("#stale").wait_for()
    found["stale form"] = violations(shown, complaints)
    shown.goto(addresses["pending item"])
    shown.locator("#decision textarea[name=note]").fill("mine")
    shown.locator("[data-saved]").wait_for()
    shown.goto(addresses["pending item"])
    shown.locator("#draft").wait_for()
    shown.locator("input[name=action][value=no_violation]").check()
    shown.context.set_offline(True)
    shown.locator("button[name=stay]").click()
    shown.locator("[data-unsent]").wait_for()
    complaints.clear()  # of the connection that was cut
    shown.locator("button[data-key='?']").click()
    found["draft, not sent, keys"] = violations(shown, complaints)
    context.close()

    lines = [f"{title}: {each}" for title, every in found.items() for each in every]
    assert not lines, "\n".join(lines)
