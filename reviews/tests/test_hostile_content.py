"""Strings of every origin are foreign: escaped, isolated, their hidden characters shown."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import JSONField, Value
from django.db.models.functions import Now
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import EvaluationCase, PolicyVersion
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from reports.foreign_text import name_controls, show_controls
from reports.models import Report
from reports.tests.sending import Client, make_sender, report_body, store_instead
from reviews.models import Decision, DoubleReview
from reviews.tests.people import decide, judge_threat, log_in, page
from reviews.tests.quality import drawn_double_review

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
BIDI = "\u202egpj.exe\u2066"
EVIL = f"{SCRIPT}{BIDI}"
WITHOUT_FOREIGN_TEXT = {"/admin/reports/auditentry/", "/admin/classifier/policyversion/1/change/"}


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.mark.parametrize("role", ["reviewer", "superuser"])
def test_nothing_that_anybody_wrote_runs_or_leaks_its_direction(
    client_of_sender: Client, policy: PolicyVersion, role: str
) -> None:
    """Item, reporter, messages, comment, the model's words, notes, reasons and names."""
    message = {"id": EVIL, "author_id": EVIL, "text": EVIL, "reported": True}
    body = report_body(
        item={"type": EVIL, "id": EVIL, "author_id": EVIL, "url": "https://x.example/?<script>"},
        reporter={"id": EVIL},
        comment=EVIL,
        messages=[message],
        metadata={EVIL: EVIL},
    )
    report = client_of_sender.send(body)
    judge_threat(report, policy, summary=EVIL, quotes=[EVIL], served_model=EVIL, rules=[SCRIPT])
    evil_name = log_in("<script>evil</script>", "reviewer")
    address = f"/review/items/{report.item_id}/"
    decide(
        evil_name,
        report.item,
        page(evil_name, address),
        action="no_violation",
        note=EVIL,
        reason=EVIL,
    )
    if role == "superuser":
        browser = Browser()
        browser.force_login(User.objects.create_superuser("root"))
        pages = [
            "/admin/reports/item/?list=resolved",
            "/admin/reports/auditentry/",
            "/admin/reviews/decision/",
            f"/admin/reviews/decision/{Decision.objects.get().pk}/change/",
            f"/admin/reports/item/{report.item_id}/change/",
            "/admin/classifier/policyversion/1/change/",
        ]
    else:
        browser = log_in("dana", "reviewer")
        pages = [address, "/review/resolved/"]

    for each in pages:
        html = page(browser, each)
        assert "<script>alert" not in html
        assert "<script>evil" not in html
        assert "onerror=alert(2)>" not in html.replace("onerror=alert(2)&gt;", "")
        assert "\u202e" not in html, each
        assert "U+202E" in html or each in WITHOUT_FOREIGN_TEXT, each


def test_pages_of_quality_run_nothing_that_anybody_wrote(
    client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    """Texts, notes of both people, their names, and what a set is for."""
    settings.UNDO_SECONDS = 0
    message = {"id": EVIL, "author_id": EVIL, "text": EVIL, "reported": True}
    item = {"type": EVIL, "id": EVIL, "author_id": EVIL}
    report = client_of_sender.send(
        report_body(item=item, comment=EVIL, messages=[message], language="en-x-a")
    )
    judge_threat(report, policy, summary=EVIL)
    evil_name = log_in("<script>evil</script>", "reviewer")
    html = page(evil_name, f"/review/items/{report.item_id}/")
    said = {"action": "remove", "category": "hate", "note": EVIL, "reason": EVIL}
    decide(evil_name, report.item, html, **said)
    omar = User.objects.create(username="<script>evil</script>too")
    review = drawn_double_review(Decision.objects.get())
    answer = {
        "reviewer": omar,
        "action_id": "warn",
        "category": "spam",
        "severity": 3,
        "note": EVIL,
    }
    DoubleReview.objects.filter(pk=review.pk).update(**answer, answered_at=Now(), agrees=False)
    lena = log_in("lena", "lead")
    lena.post("/review/quality/evaluation/", {"name": "golden", "description": EVIL})
    case = {"report": report.public_id, "set": "golden", "source": "audit"}
    assert lena.post("/review/quality/evaluation/cases/add/", case).status_code == 302
    root = Browser()
    root.force_login(User.objects.create_superuser("root"))

    for browser, address in (
        (lena, "/review/quality/to-settle/"),
        (lena, "/review/quality/differences/"),
        (lena, "/review/quality/evaluation/"),
        (lena, "/review/quality/evaluation/golden/"),
        (root, "/admin/reviews/doublereview/"),
        (root, f"/admin/reviews/doublereview/{review.pk}/change/"),
        (root, "/admin/classifier/evaluationcase/"),
        (root, f"/admin/classifier/evaluationcase/{EvaluationCase.objects.get().pk}/change/"),
    ):
        html = page(browser, address)
        assert "<script>alert" not in html, address
        assert "<script>evil" not in html, address
        assert "\u202e" not in html, address
        assert "U+202E" in html, address


@pytest.mark.parametrize("hidden", "\u2028\u2029\u2063\u206a\ufff9\u180e\u034f\u3164\x07\x85\u00ad")
def test_whatever_cannot_be_seen_is_shown_as_a_label(hidden: str) -> None:
    assert show_controls(f"a{hidden}b") == f'a<span class="glyph">U+{ord(hidden):04X}</span>b'
    assert name_controls(f"a{hidden}b") == f"a[U+{ord(hidden):04X}]b"


@pytest.mark.parametrize(
    "text",
    ["👨‍👩‍👧‍👦", "🇱🇧", "e\u0301\u0323", "می‌خواهم", "a\tb\nc", "\u0600١٢",
     "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"],
)  # fmt: skip
def test_what_can_be_seen_is_left_as_it_was_written(text: str) -> None:
    assert show_controls(text) == text


def test_a_category_of_an_installations_own_is_called_by_its_name(
    browser: Browser, client_of_sender: Client
) -> None:
    title, content = read_policy_file(FIRST_POLICY, model="stand-in-not-a-model")
    content.categories[0]["id"] = "extremism"
    content.categories[0]["name"] = "Violent extremism"
    policy, _changed = load_policy(title=title, content=content, activate=True, actor_name="test")
    report = client_of_sender.send()
    judge_threat(report, policy, category="extremism")

    for address in ("/review/needs-review/", f"/review/items/{report.item_id}/"):
        assert "Violent extremism" in page(browser, address)


def test_a_policy_of_hostile_words_is_escaped_too(
    browser: Browser, client_of_sender: Client
) -> None:
    _title, content = read_policy_file(FIRST_POLICY, model="stand-in-not-a-model")
    content.categories[0]["id"] = "of_our_own"
    content.categories[0]["name"] = SCRIPT
    load_policy(title=SCRIPT, content=content, activate=True, actor_name="test")
    report = client_of_sender.send()

    for address in (f"/review/items/{report.item_id}/", "/review/pending/"):
        html = page(browser, address)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html


def test_every_foreign_text_has_a_direction_of_its_own(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(report_body(comment="تعليق"))
    judge_threat(report, policy, summary="خلاصة", quotes=[])

    html = page(browser, f"/review/items/{report.item_id}/")

    for text in ("See you at lunch.", "تعليق", "خلاصة"):
        found = re.search(rf"<(\w+)([^>]*)>{re.escape(text)}", html)
        assert found is not None
        assert 'dir="auto"' in found[2]
    assert "<bdi>m-81</bdi>" in html


def test_emoji_families_flags_and_accents_are_never_split_by_an_excerpt(
    browser: Browser, client_of_sender: Client
) -> None:
    family = "👨‍👩‍👧‍👦"
    for text in (family * 300, "🇱🇧" * 300, "e\u0301\u0323" * 300):
        report = client_of_sender.send(
            report_body(
                item={"type": "message", "id": text[:20]},
                messages=[{"text": text, "reported": True}],
            )
        )
        found = re.search(
            rf"items/{report.item_id}/[^>]*>([^<]*) …</a>", page(browser, "/review/pending/")
        )
        assert found is not None
        unit = {"👨": family, "🇱": "🇱🇧", "e": "e\u0301\u0323"}[text[0]]
        assert found[1] == unit * (len(found[1]) // len(unit))


def test_one_broken_row_says_so_and_the_others_are_shown(
    browser: Browser, policy: PolicyVersion
) -> None:
    client = make_sender("odd-app")
    client.send(report_body(item={"type": "message", "id": "whole"}))
    broken = client.send(report_body(item={"type": "message", "id": "broken"}))
    store_instead(broken, [])
    Report.objects.filter(pk=broken.pk).update(floor_rules=Value(None, JSONField()))

    html = page(browser, "/review/pending/")

    assert "<bdi>whole</bdi>" in html
    assert "<bdi>broken</bdi>" in html
    item = page(browser, f"/review/items/{broken.item_id}/")
    assert "The content of this report cannot be read." in item
    assert 'name="action"' in item
    judge_threat(broken, policy, rules={})
    assert "<bdi>broken</bdi>" in page(browser, "/review/needs-review/")


def test_an_error_never_looks_like_an_empty_list(
    browser: Browser, client_of_sender: Client
) -> None:
    """A database that fails gives the page for errors, which says that it is none."""
    client_of_sender.send()
    browser.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL search_path TO nowhere")

    answer = browser.get("/review/pending/")

    assert answer.status_code == 500
    assert "not an empty list" in answer.content.decode()
