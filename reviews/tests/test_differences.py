"""Where machine and people differ: counted, narrowed, and listed with both answers."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from classifier.models import Classification, PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Report
from reports.tests.sending import Client, body_saying, make_sender
from reports.tests.unguarded import unguarded
from reviews.models import Claim, Decision
from reviews.queue import LOOKED_THROUGH, PAGE
from reviews.tests.people import classify, decide, fill_list, judge_threat, log_in, page
from reviews.undo import undo_decision

LIST = "/review/quality/differences/"


pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """What is decided is in effect."""
    settings.UNDO_SECONDS = 0


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


def answered(
    client: Client,
    policy: PolicyVersion,
    text: str,
    *,
    machine: str,
    people: str,
    **changes: object,
) -> Report:
    """A report with a verdict and dana's decision; "none" is no violation, "unsure" a doubted one."""
    report = client.send(body_saying(text, **changes))
    if machine == "none":
        classify(report, policy)
    elif machine == "unsure":
        classify(report, policy, safe=False, confidence=0.4, rules=["below_threshold"])
    else:
        judge_threat(report, policy, category=machine)
    wish(report, people)
    return report


def wish(report: Report, people: str, *, by: str = "dana", **values: str) -> None:
    browser = log_in(by, "reviewer")
    html = page(browser, f"/review/items/{report.item_id}/")
    said = {"action": "remove", "category": people}
    if people == "none":
        said = {"action": "no_violation"}
    answer = decide(browser, report.item, html, **{**said, **values})
    assert answer.status_code == 302


def excerpts(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def counts(html: str) -> dict[tuple[str, str], tuple[int, str]]:
    """What the table says by its heads: the number, and the address that it leads to."""
    if "<thead>" not in html:
        return {}
    people = re.findall(r'<th scope="col"><bdi>(.*?)</th>', html)
    columns = [re.sub(r"<[^>]+>", "", each) for each in people]
    found = {}
    for row in re.findall(r'<tr><th scope="row">(.*?)</tr>', html):
        head, *cells = re.split(r"</th>|</td>", row)
        for column, cell in zip(columns, cells, strict=False):
            if number := re.search(r'href="([^"]*)"[^>]*>(\d+)<', cell):
                name = re.sub(r"<[^>]+>", "", head)
                found[name, column] = int(number[2]), LIST + unescape(number[1])
    return found


EVERY_DIFFERENCE = [
    "unsure, and it was hate",
    "hate, not spam",
    "a joke",
    "another one",
    "a threat that was missed",
]


@pytest.fixture
def of_each_kind(client_of_sender: Client, policy: PolicyVersion) -> None:
    for text, machine, people in (
        ("a threat that was missed", "none", "credible_threat"),
        ("another one", "none", "credible_threat"),
        ("a joke", "hate", "none"),
        ("hate, not spam", "spam", "hate"),
        ("unsure, and it was hate", "unsure", "hate"),
        ("agreed harmless", "none", "none"),
        ("agreed hate", "hate", "hate"),
        ("unsure, and it was harmless", "unsure", "none"),
    ):
        answered(client_of_sender, policy, text, machine=machine, people=people)


@pytest.mark.usefixtures("of_each_kind")
def test_each_kind_is_counted_and_every_number_leads_to_its_reports(lena: Browser) -> None:
    html = page(lena, LIST)

    assert excerpts(html) == EVERY_DIFFERENCE
    table = counts(html)
    assert {pair: many for pair, (many, _address) in table.items()} == {
        ("No violation", "Credible threat"): 2,
        ("No violation, but unsure", "Hate"): 1,
        ("Hate", "No violation"): 1,
        ("Spam", "Hate"): 1,
    }
    for many, address in table.values():
        narrowed = page(lena, address)
        assert len(excerpts(narrowed)) == many
        assert counts(narrowed) == table
        assert 'aria-current="true"' in narrowed
    assert "On 5 reports machine and people differ, on 3 they agree." in html


@pytest.mark.usefixtures("of_each_kind")
@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("missed", ["another one", "a threat that was missed"]),
        ("false_alarm", ["a joke"]),
        ("other_category", ["hate, not spam"]),
        ("unsure", ["unsure, and it was hate"]),
        ("of another kind", EVERY_DIFFERENCE),
    ],
)
def test_it_is_narrowed_by_kind(lena: Browser, kind: str, shown: list[str]) -> None:
    assert excerpts(page(lena, f"{LIST}?kind={kind}")) == shown


def test_a_card_says_both_answers(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("a text"))
    classify(report, policy, confidence=0.97)
    wish(report, "hate", note="It means her.")

    html = page(lena, LIST)

    card = re.sub(r"<[^>]+>", " ", html[html.index('<ol class="cards">') :])
    card = " ".join(card.split())
    assert "It would have passed" in card
    assert "The machine No violation 0.97 policy version 1" in card
    assert "People dana decided: remove. Hate. It means her." in card
    assert f'href="/review/items/{report.item_id}/"' in html


def test_what_the_machine_was_unsure_of_would_not_have_passed(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "unsure", machine="unsure", people="hate")

    html = page(lena, LIST)

    assert "It was unsure and asked people</span>" in html
    assert "It would have passed" not in html


def test_a_card_is_as_severe_as_what_people_found(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "missed", machine="none", people="credible_threat")

    html = page(lena, LIST)

    assert '<li class="card critical"' in html
    assert '<span class="tag critical">It would have passed</span>' in html


def test_it_is_narrowed_by_language_sender_version_and_time(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    forum = make_sender("forum")
    missed = {"machine": "none", "people": "hate"}
    answered(client_of_sender, policy, "english", **missed, language="en-GB")
    answered(client_of_sender, policy, "arabic", **missed, language="ar")
    answered(forum, policy, "undetermined", **missed, language="ara")
    newer = load_version(prompt="Judge anew.")
    answered(forum, newer, "newer", machine="hate", people="spam", language="ar-EG")
    make_older("english", days=2)

    for query, shown in {
        "language=ar": ["newer", "arabic"],
        "language=en": ["english"],
        "language=a%25": [],
        "sender=forum": ["newer", "undetermined"],
        "sender=nobody": ["newer", "undetermined", "arabic", "english"],
        "version=1": ["undetermined", "arabic", "english"],
        "version=2&machine=hate": ["newer"],
        "version=2&machine=spam": [],
        "people=hate&sender=forum": ["undetermined"],
        "within=1d": ["newer", "undetermined", "arabic"],
        "within=7d&language=en": ["english"],
    }.items():
        html = page(lena, f"{LIST}?{query}")
        assert excerpts(html) == shown, query
        if "machine" not in query and "people" not in query:
            assert sum(many for many, _address in counts(html).values()) == len(shown), query


def make_older(text: str, *, days: int) -> None:
    """Decided so many days earlier."""
    (report,) = Report.objects.filter(content__body__messages__0__text=text)
    with unguarded() as cursor:
        cursor.execute(
            "UPDATE reviews_decision SET created_at = created_at - make_interval(days => %s)"
            " WHERE item_id = %s",
            [days, report.item_id],
        )


def test_a_filter_in_force_is_a_chip_that_takes_it_away(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "a text", machine="none", people="hate")

    html = page(lena, f"{LIST}?kind=missed&people=hate")

    chips = re.findall(r'<a class="chip" href="([^"]*)">([^<]*): <bdi>([^<]*)</bdi>', html)
    assert chips == [
        ("?people=hate", "Kind", "missed: the machine judged it safe"),
        ("?kind=missed", "People found", "Hate"),
    ]


def test_a_category_that_only_an_older_version_named_can_be_asked_for(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = answered(client_of_sender, policy, "a text", machine="hate", people="none")
    with unguarded() as cursor:
        cursor.execute("UPDATE classifier_classification SET category = 'extremism'")
    assert report.item_id

    ((_many, address),) = counts(page(lena, LIST)).values()

    assert address == f"{LIST}?machine=extremism&people=none"
    assert excerpts(page(lena, address)) == ["a text"]
    assert excerpts(page(lena, address.replace("extremism", "hate"))) == []


# --- What does not count


def test_an_unsure_answer_that_people_confirm_is_no_difference(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "unsure", machine="unsure", people="none")

    assert excerpts(page(lena, LIST)) == []


def test_a_decision_that_was_taken_back_or_is_not_in_effect_yet_does_not_count(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    report = answered(client_of_sender, policy, "a text", machine="none", people="hate")
    assert excerpts(page(lena, LIST)) == []
    with unguarded() as cursor:
        cursor.execute("UPDATE reviews_decision SET effective_at = now()")
    assert excerpts(page(lena, LIST)) == ["a text"]

    with unguarded() as cursor:
        cursor.execute("UPDATE reviews_decision SET effective_at = now() + interval '1 minute'")
    decision = Decision.objects.get()
    undo_decision(decision_id=decision.pk, reviewer=decision.reviewer)
    with unguarded() as cursor:
        cursor.execute("UPDATE reviews_decision SET effective_at = now() WHERE kind = 'decision'")

    assert report.item_id
    assert excerpts(page(lena, LIST)) == []


@pytest.mark.parametrize("what", ["decided", "sent back", "proposed"])
def test_of_an_item_only_the_newest_decision_counts(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, what: str
) -> None:
    report = answered(client_of_sender, policy, "a text", machine="none", people="hate")
    assert excerpts(page(lena, LIST)) == ["a text"]

    if what == "decided":
        wish(report, "none", by="omar")
    elif what == "sent back":
        wish(report, "", by="omar", action="reopen")
    else:
        wish(report, "hate", by="omar", action="suspend")

    assert excerpts(page(lena, LIST)) == []


def test_a_later_decision_that_was_taken_back_leaves_the_earlier_one_standing(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    report = answered(client_of_sender, policy, "a text", machine="none", people="hate")
    settings.UNDO_SECONDS = 60
    wish(report, "none", by="omar")
    assert excerpts(page(lena, LIST)) == []

    later = Decision.objects.latest("pk")
    undo_decision(decision_id=later.pk, reviewer=later.reviewer)

    assert excerpts(page(lena, LIST)) == ["a text"]


@pytest.mark.parametrize(("older", "newer"), [("none", "hate"), ("hate", "spam")])
def test_a_verdict_counts_until_a_newer_one_supersedes_it(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, older: str, newer: str
) -> None:
    report = answered(client_of_sender, policy, "a text", machine=older, people="hate")
    assert excerpts(page(lena, LIST)) == (["a text"] if older != "hate" else [])

    Classification.objects.filter(report=report).update(superseded=True)
    judge_threat(report, load_version(prompt="Judge anew."), category=newer)

    assert excerpts(page(lena, LIST)) == (["a text"] if newer != "hate" else [])


def test_what_its_reader_has_in_hand_blind_is_left_out(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = answered(client_of_sender, policy, "a text", machine="none", people="hate")
    claim = Claim.objects.create(
        item=report.item,
        reviewer_id=int(lena.session["_auth_user_id"]),
        blind=True,
        expires_at=timezone.now() + timedelta(minutes=5),
    )
    assert excerpts(page(lena, LIST)) == []
    assert excerpts(page(log_in("lara", "lead"), LIST)) == ["a text"]

    Claim.objects.filter(pk=claim.pk).update(released_at=Now())

    # What they let go of they may open again, as blind as before.
    assert excerpts(page(lena, LIST)) == []


# --- The page


def test_pages_follow_a_key_and_show_each_report_once_beside_the_counts_of_all(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill(client_of_sender, policy, PAGE + 2, found="spam")
    seen: list[str] = []
    address, numbers = LIST, []
    while address:
        html = page(lena, address)
        seen += re.findall(r"<bdi>(bulk-\d+)</bdi>", html)
        numbers.append([many for many, _address in counts(html).values()])
        following = re.search(r'href="(\?[^"]*after=[^"]*)">Next page', html)
        address = LIST + unescape(following[1]) if following else ""

    assert len(seen) == len(set(seen)) == PAGE + 2
    assert numbers == [[PAGE + 2], [PAGE + 2]]
    for key in ("x", "1", "1.2", "-1.0.0", f"{2**63}.0.0", "1.2.3.4"):
        assert lena.get(LIST, {"after": key, "kind": "missed"})["Location"] == f"{LIST}?kind=missed"
    assert lena.get(LIST, {"after": "x"})["Location"] == LIST


def test_it_looks_through_so_many_decisions_by_their_indexes_and_leads_on_from_there(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "long ago", machine="none", people="hate")
    fill(client_of_sender, policy, LOOKED_THROUGH, found="none")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE classifier_classification")

    with CaptureQueriesContext(connection) as asked:
        html = page(lena, f"{LIST}?kind=missed&language=en")
    sql = next(query["sql"] for query in asked if "WITH looked" in query["sql"])

    assert f"{LOOKED_THROUGH:,} decisions were looked through" in html
    assert excerpts(html) == []
    (further,) = re.findall(r'href="(\?[^"]*after=[\d.]+)"', html)
    assert excerpts(page(lena, LIST + unescape(further))) == ["long ago"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    small = {"reviews_action", "classifier_policyversion", "reviews_claim"}
    assert set(re.findall(r"Seq Scan on (\w+)", plan)) <= small


def fill(client: Client, policy: PolicyVersion, count: int, *, found: str) -> None:
    """So many reports with this verdict, in which a person found no violation."""
    fill_list(client, policy, "resolved", count)
    with unguarded() as cursor:
        cursor.execute(
            "INSERT INTO classifier_classification (report_id, policy_version_id, superseded,"
            " category, confidence, summary, quotes, severity, safe, rules, served_model,"
            " model_seconds, answer_hash) SELECT id, %s, false, %s, 0.9, 'bulk', '[]', 0, %s, '[]',"
            " 'model', 1, '' FROM reports_report WHERE idempotency_key LIKE 'bulk-%%'",
            [policy.number, found, found == "none"],
        )


def test_a_text_that_its_reader_wants_hidden_is_hidden(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    answered(client_of_sender, policy, "horrible", machine="credible_threat", people="hate")

    assert "horrible" in page(log_in("lena", "lead"), LIST)
    assert "horrible" not in page(log_in("vera", "lead", veiled=True), LIST)


def test_one_press_adds_a_case_and_the_page_says_so(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = answered(client_of_sender, policy, "a text", machine="none", people="hate")
    assert "Make an evaluation set first" in page(lena, LIST)
    lena.post("/review/quality/evaluation/", {"name": "golden"})
    html = page(lena, f"{LIST}?kind=missed")
    assert ">Add to golden</button>" in html
    form = html.partition('action="/review/quality/evaluation/cases/add/"')[2].partition("</form>")[
        0
    ]
    sent = dict(re.findall(r'name="(report|source|next|set)" value="([^"]*)"', form))

    answer = lena.post("/review/quality/evaluation/cases/add/", sent)

    assert answer["Location"] == f"{LIST}?kind=missed#report-{report.pk}"
    html = page(lena, f"{LIST}?kind=missed")
    assert "In <bdi>golden</bdi>" in html
    assert "Add to golden" not in html
    assert "Add to" not in page(log_in("otto", "operator"), LIST)


@pytest.mark.usefixtures("of_each_kind")
def test_the_page_asks_few_statements_whatever_the_rows(lena: Browser) -> None:
    lena.post("/review/quality/evaluation/", {"name": "golden"})
    page(lena, LIST)

    with CaptureQueriesContext(connection) as asked:
        assert len(excerpts(page(lena, LIST))) == 5
    assert len(asked) <= 12


def test_who_may_not_see_quality_is_refused() -> None:
    page(log_in("dana", "reviewer"), LIST, status=403)


def test_an_empty_list_says_whether_anything_was_decided(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    nothing, same = "Nobody has decided about anything", "say the same of every report"
    html = page(lena, LIST)
    assert nothing in html
    assert same not in html
    assert "No difference matches the filter." in page(lena, f"{LIST}?kind=missed")

    answered(client_of_sender, policy, "a text", machine="hate", people="hate")

    html = page(lena, LIST)
    assert same in html
    assert nothing not in html
