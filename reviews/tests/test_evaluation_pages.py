"""Evaluation sets: made, filled, looked through, taken out of, and downloaded, each by who may."""

import json
import re

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import EvaluationCase, EvaluationSet, PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.queue import PAGE
from reviews.tests.people import decide, judge_threat, log_in, page

SETS = "/review/quality/evaluation/"
ADD = f"{SETS}cases/add/"


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """What is decided is in effect."""
    settings.UNDO_SECONDS = 0


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


@pytest.fixture
def golden(lena: Browser) -> str:
    """The address of an empty set."""
    assert lena.post(SETS, {"name": "golden"}).status_code == 302
    return f"{SETS}golden/"


def decided(client: Client, text: str, *, category: str = "", **changes: object) -> Report:
    """A report about which dana decided."""
    report = client.send(body_saying(text, **changes))
    dana = log_in("dana", "reviewer")
    html = page(dana, f"/review/items/{report.item_id}/")
    wish = {"action": "remove", "category": category} if category else {"action": "no_violation"}
    assert decide(dana, report.item, html, **wish).status_code == 302
    return report


def add(browser: Browser, report: Report, **values: str) -> str:
    """The page that one comes back to."""
    sent = {"report": report.public_id, "set": "golden", "source": "disagreement", **values}
    answer = browser.post(ADD, {"next": f"{SETS}golden/", **sent})
    assert answer.status_code == 302, answer.content
    return page(browser, answer["Location"].partition("#")[0])


def excerpts(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def test_a_set_is_made_and_one_of_its_name_but_once(lena: Browser, golden: str) -> None:
    html = page(lena, SETS)
    assert f'<a href="{golden}"><bdi>golden</bdi></a>' in html

    again = lena.post(SETS, {"name": "golden"})

    assert again.status_code == 422
    assert "There is a set of this name." in again.content.decode()
    assert lena.post(SETS, {"name": "with spaces"}).status_code == 422
    assert EvaluationSet.objects.count() == 1


def test_a_case_says_what_people_found_and_who_added_it(
    lena: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    golden: str,
) -> None:
    report = decided(client_of_sender, "You all stink.", category="hate", language="en-GB")

    html = add(lena, report)

    assert "Added to \u2068golden\u2069." in html
    assert excerpts(html) == ["You all stink."]
    assert "people found: <bdi>Hate</bdi>" in html
    assert "added by <bdi>lena</bdi>" in html
    case = EvaluationCase.objects.get()
    assert (case.safe, case.category, case.policy_version) == (False, "hate", policy)
    assert "stands in \u2068golden\u2069 already" in add(lena, report)
    assert page(lena, golden).count('class="excerpt"') == 1


@pytest.mark.usefixtures("golden", "policy")
def test_what_is_found_is_what_the_newest_decision_in_effect_says(
    lena: Browser, client_of_sender: Client, settings: Settings
) -> None:
    report = decided(client_of_sender, "overridden", category="hate")
    for seconds, action in ((60, "warn"), (0, "no_violation")):
        settings.UNDO_SECONDS = seconds
        html = page(lena, f"/review/items/{report.item_id}/")
        decide(lena, report.item, html, action=action, category="spam")
        said = add(lena, report)
        assert ("no decision about this report is in effect" in said) == bool(seconds)

    assert EvaluationCase.objects.get().safe


@pytest.mark.usefixtures("golden")
@pytest.mark.parametrize("action", ["", "reopen", "escalate", "suspend"])
def test_without_a_decision_that_settles_it_there_is_no_case(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, action: str
) -> None:
    if action == "reopen":
        report = decided(client_of_sender, "sent back")
    else:
        report = client_of_sender.send(body_saying("open"))
        judge_threat(report, policy)
    if action:
        html = page(lena, f"/review/items/{report.item_id}/")
        wish = {"action": action, "category": "hate"}
        assert decide(lena, report.item, html, **wish).status_code == 302

    assert "no decision about this report is in effect" in add(lena, report)
    assert not EvaluationCase.objects.exists()


@pytest.mark.usefixtures("golden", "policy")
def test_a_set_is_counted_by_language_finding_and_source(
    lena: Browser, client_of_sender: Client
) -> None:
    for text, category, language in (("a", "hate", "en"), ("b", "hate", "ar"), ("c", "", "ar")):
        add(
            lena,
            decided(client_of_sender, text, category=category, language=language),
            source="audit" if text == "a" else "disagreement",
        )

    for address in (SETS, f"{SETS}golden/"):
        html = re.sub(r"</?(bdi|span|dd|dt)[^>]*>", "", page(lena, address))
        assert "Cases3" in html
        assert "Languagesar 2 · en 1" in html
        assert "What people foundHate 2 · No violation 1" in html
        assert "machine and people differ 2 · a blind audit 1" in html


@pytest.mark.usefixtures("policy")
def test_what_was_added_by_mistake_is_taken_out(
    lena: Browser, client_of_sender: Client, golden: str
) -> None:
    add(lena, decided(client_of_sender, "a mistake"))
    address = f"{SETS}cases/{EvaluationCase.objects.get().pk}/take-out/"
    assert f'action="{address}"' in page(lena, golden)

    answer = lena.post(address)

    html = page(lena, answer["Location"])
    assert "Taken out of \u2068golden\u2069." in html
    assert "No case is in it yet." in html
    assert lena.post(address).status_code == 404


@pytest.mark.usefixtures("policy")
def test_the_file_holds_a_line_a_case(lena: Browser, client_of_sender: Client, golden: str) -> None:
    reports = [decided(client_of_sender, text) for text in ("first", "second")]
    for report in reports:
        add(lena, report)

    answer = lena.get(f"{golden}cases.jsonl")

    lines = [json.loads(line) for line in b"".join(answer).decode().splitlines()]
    assert [line["content"]["messages"][0]["text"] for line in lines] == ["first", "second"]
    assert 'filename="golden.jsonl"' in answer["Content-Disposition"]
    page(lena, f"{SETS}nowhere/cases.jsonl", status=404)


def test_pages_of_cases_follow_a_key(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, golden: str
) -> None:
    report = client_of_sender.send(body_saying("many"))
    cases = [
        EvaluationCase(
            set=EvaluationSet.objects.get(),
            report=client_of_sender.send(body_saying(f"case {number}")) if number else report,
            language="en",
            content={"messages": [{"text": f"case {number}", "reported": True}]},
            safe=False,
            category="hate",
            severity=3,
            policy_version=policy,
            source="audit",
            added_by_id=int(lena.session["_auth_user_id"]),
        )
        for number in range(PAGE + 2)
    ]
    EvaluationCase.objects.bulk_create(cases)
    first = page(lena, golden)
    following = re.search(r'href="(\?after=\d+)">Next page', first)
    assert following

    second = page(lena, f"{golden}{following[1]}")

    shown = [f"case {number}" for number in reversed(range(PAGE + 2))]
    assert (excerpts(first), excerpts(second)) == (shown[:PAGE], shown[PAGE:])
    for key in ("x", "-1", str(2**63)):
        assert lena.get(golden, {"after": key})["Location"] == golden


@pytest.mark.usefixtures("policy")
def test_a_text_that_its_reader_wants_hidden_is_hidden(
    lena: Browser, client_of_sender: Client, golden: str
) -> None:
    add(lena, decided(client_of_sender, "I will kill you tomorrow", category="credible_threat"))

    assert "I will kill you" in page(lena, golden)
    assert "I will kill you" not in page(log_in("vera", "lead", veiled=True), golden)


@pytest.mark.usefixtures("policy")
def test_an_operator_reads_and_changes_nothing(
    lena: Browser, client_of_sender: Client, golden: str
) -> None:
    report = decided(client_of_sender, "a text")
    add(lena, report)
    otto = log_in("otto", "operator")

    html = page(otto, golden) + page(otto, SETS)

    assert "Take out" not in html
    assert "Make the set" not in html
    assert otto.post(SETS, {"name": "another"}).status_code == 403
    assert otto.post(ADD, {"report": report.public_id}).status_code == 403
    case = EvaluationCase.objects.get()
    assert otto.post(f"{SETS}cases/{case.pk}/take-out/").status_code == 403
    assert log_in("dana", "reviewer").get(golden).status_code == 403


@pytest.mark.usefixtures("golden", "policy")
def test_the_way_back_leads_to_no_other_site(lena: Browser, client_of_sender: Client) -> None:
    report = decided(client_of_sender, "a text")
    sent = {"report": report.public_id, "set": "golden", "source": "audit"}

    for odd in ("https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""):
        assert lena.post(ADD, {**sent, "next": odd})["Location"] == SETS
    for broken in ({"report": "x"}, {"source": "hearsay"}, {"set": "a b"}):
        assert lena.post(ADD, {**sent, **broken}).status_code == 422
    assert lena.post(ADD, {**sent, "set": "nowhere"}).status_code == 404
