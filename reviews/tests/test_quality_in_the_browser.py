"""Quality in a real browser: differences become cases, and two answers are settled."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Page, expect

from classifier.evaluation import make_set
from classifier.models import EvaluationCase, PolicyVersion
from reports.tests.sending import body_saying, make_sender
from reviews.models import Decision, DoubleReview
from reviews.tests import people
from reviews.tests.chromium import FOUND, MISSING, log_in, make_reviewer
from reviews.tests.differing import differing, in_effect, wish
from reviews.tests.misses import MISSED, find_missed, send_safe

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]

both_ways = pytest.mark.parametrize(
    "scripts", [True, False], ids=["with JavaScript", "without JavaScript"]
)


@pytest.fixture
def lena(transactional_db: None) -> User:  # noqa: ARG001
    make_reviewer("lena")
    lena = User.objects.get(username="lena")
    lena.groups.add(Group.objects.get(name="lead"))
    return lena


def opened(open_page: Any, address: str, *, scripts: bool = True) -> Page:
    page: Page = open_page(java_script_enabled=scripts)
    log_in(page, "lena")
    expect(page.locator("h1")).to_have_text("Needs review")
    page.goto(address)
    return page


@both_ways
def test_differences_are_narrowed_and_one_press_adds_a_case(
    open_page: Any,
    lena: User,
    policy: PolicyVersion,
    scripts: bool,  # noqa: FBT001
) -> None:
    differing(make_sender("chat-app"), policy, "A threat, not hate")
    missed = make_sender("forum").send(body_saying("Nobody saw this"))
    people.classify(missed, policy)
    wish(missed, "dana", action="remove", category="hate")
    for decision in Decision.objects.all():
        in_effect(decision)
    make_set(name="golden", description="", actor=lena)
    page = opened(open_page, "/review/quality/differences/", scripts=scripts)

    expect(page.locator(".card")).to_have_count(2)
    page.get_by_label("Kind").select_option(label="missed: the machine judged it safe")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card")).to_contain_text("Nobody saw this")
    page.get_by_role("button", name="Add to golden").click()

    expect(page.get_by_role("status").first).to_contain_text("Added to")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.get_by_role("link", name="In golden")).to_be_visible()
    expect(page.get_by_role("button", name="Add to golden")).to_have_count(0)
    case = EvaluationCase.objects.get()
    assert (case.report, case.category, case.source) == (missed, "hate", "disagreement")
    page.get_by_role("row", name="Credible threat").get_by_role("link").click()
    expect(page.locator(".card")).to_contain_text("A threat, not hate")
    expect(page.locator(".chip", has_text="People found")).to_contain_text("Hate")


@both_ways
@pytest.mark.usefixtures("lena")
def test_a_lead_settles_which_of_two_answers_stands(
    open_page: Any,
    policy: PolicyVersion,
    scripts: bool,  # noqa: FBT001
) -> None:
    sender = make_sender("chat-app")
    first = differing(sender, policy, "The first one")
    second = differing(
        sender, policy, "The second one", action_id="warn", category="harassment", note="milder"
    )
    for review in (first, second):
        in_effect(review.decision)
    page = opened(open_page, "/review/quality/to-settle/", scripts=scripts)

    card = page.locator(".card", has_text="The second one")
    expect(card.locator("section").first).to_contain_text("dana decided: remove. Hate.")
    expect(card.locator("section").last).to_contain_text("omar would decide: warn. Harassment.")
    card.get_by_role("button", name="The second stands").click()
    expect(page.get_by_role("status").first).to_contain_text("Settled: the second answer stands.")
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("button", name="The first stands").click()

    expect(page.get_by_role("status").first).to_contain_text("Settled: the first answer stands.")
    expect(page.locator("p.panel")).to_contain_text("Nothing is to settle")
    sides = dict(DoubleReview.objects.values_list("pk", "side"))
    assert sides == {first.pk: "first", second.pk: ""}  # once it is in effect
    newest = Decision.objects.latest("pk")
    assert (newest.reviewer.username, newest.action_id) == ("lena", "warn")


@pytest.mark.usefixtures("lena")
def test_who_finds_neither_right_decides_anew_and_it_waits_no_longer(
    open_page: Any, policy: PolicyVersion
) -> None:
    review = differing(make_sender("chat-app"), policy)
    in_effect(review.decision)
    page = opened(open_page, "/review/quality/to-settle/")

    page.get_by_role("link", name="Neither: decide anew").click()
    expect(page.locator(".notice", has_text="Two people")).to_contain_text(
        "omar would decide: no violation."
    )
    page.get_by_label("warn", exact=True).check()
    page.get_by_label("Category").select_option(label="Spam")
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("status").first).to_contain_text("Decided: warn.")

    expect(page).to_have_title(re.compile("To settle"))
    expect(page.locator("p.panel")).to_contain_text("Nothing is to settle")


@both_ways
def test_all_that_is_like_a_miss_is_chosen_and_sent_back_at_once(
    open_page: Any,
    lena: User,  # noqa: ARG001
    policy: PolicyVersion,
    scripts: bool,  # noqa: FBT001
) -> None:
    client = make_sender("chat-app")
    find_missed(people.log_in("dana", "reviewer"), send_safe(client, policy, "the same words"))
    like = [send_safe(client, policy, "the same words") for _copy in range(3)]
    page = opened(open_page, MISSED, scripts=scripts)
    everything = page.get_by_role("button", name="Choose all")
    send_back = page.get_by_role("button", name="Send back to review")
    if scripts:
        everything.click()
        expect(send_back).to_have_text("Send back to review (3)")
    else:
        expect(everything).to_be_hidden()
        for box in page.get_by_role("checkbox").all():
            box.check()
    send_back.click()

    expect(page.get_by_text("1 report sent back to review.")).to_have_count(3)
    for report in like:
        report.refresh_from_db()
        assert report.status == "needs_review"
