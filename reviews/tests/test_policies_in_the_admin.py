"""Policy versions in the admin: a draft's form, the steps, two side by side, and who may."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.policies import versions
from classifier.tests.situations import load_version
from reviews.tests.forms import form_values
from reviews.tests.people import log_in, page

VERSIONS = "/admin/classifier/policyversion/"
SCRIPT = "<script>alert(1)</script>"
State = PolicyVersion.State


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return staff("amira", "admin")


def staff(name: str, *roles: str) -> Browser:
    browser = log_in(name, *roles)
    User.objects.filter(username=name).update(is_staff=True)
    return browser


def address(number: int, step: str = "change") -> str:
    return f"{VERSIONS}{number}/{step}/"


def draft_of(policy: PolicyVersion) -> PolicyVersion:
    return versions.copy_to_draft(number=policy.number, actor=User.objects.create(username="dora"))


def raw_form(browser: Browser, number: int) -> dict[str, Any]:
    answer = browser.get(address(number, "edit"))
    assert answer.status_code == 200
    return form_values(answer.content.decode())


def save(browser: Browser, number: int, values: dict[str, Any]) -> str:
    answer = browser.post(address(number, "edit"), values, follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


# --- A draft's form


def test_a_form_that_nobody_touched_saves_the_same_content(
    policy: PolicyVersion, browser: Browser
) -> None:
    draft = draft_of(policy)

    html = save(browser, draft.number, raw_form(browser, draft.number))

    assert "Version 2 is a draft. Nothing is judged under it." in html
    draft.refresh_from_db()
    assert draft.content_hash == policy.content_hash
    assert (draft.prompt, draft.categories) == (policy.prompt, policy.categories)


def test_all_of_a_draft_is_edited_categories_added_removed_and_put_in_another_order(
    policy: PolicyVersion, browser: Browser
) -> None:
    draft = draft_of(policy)
    count = len(policy.categories)
    values = raw_form(browser, draft.number)
    values |= {
        "title": "Second",
        "model": "n",
        "safe_threshold": "0.9",
        "prompt": "Judge.\r\nOnce.",
        "categories-0-ORDER": "3",  # minors behind self_harm
        "categories-1-DELETE": "on",
        f"categories-{count}-id": "doxing",
        f"categories-{count}-name": "Private data",
        f"categories-{count}-severity": "high",
        f"categories-{count}-guidance": " An  address. ",
        f"categories-{count}-ORDER": "1",
    }

    save(browser, draft.number, values)

    draft.refresh_from_db()
    assert (draft.title, draft.model, draft.safe_threshold) == ("Second", "n", 0.9)
    assert draft.prompt == "Judge.\nOnce."
    ids = [each["id"] for each in draft.categories]
    assert ids[:3] == ["doxing", "minors", "self_harm"]
    assert "credible_threat" not in ids
    assert draft.categories[0] == {
        "id": "doxing",
        "name": "Private data",
        "severity": 3,
        "safe": False,
        "guidance": "An address.",
    }


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"title": ""}, "This field is required."),
        ({"prompt": " "}, "This field is required."),
        ({"safe_threshold": "1.5"}, "Ensure this value is less than or equal to 1."),
        ({"safe_threshold": "nan"}, "Enter a number."),
        ({"model": "x" * 201}, "Ensure this value has at most 200 characters"),
        ({"categories-0-id": "Spam!"}, "Enter a valid value."),
        ({"categories-0-severity": "mild"}, "mild is not one of the available choices."),
        ({"categories-0-id": "spam"}, "a category id stands twice"),
        ({"categories-0-safe": "on"}, "minors: a safe category has severity none"),
        ({"categories-10-safe": ""}, "no category is marked safe"),
        ({f"categories-{n}-DELETE": "on" for n in range(10)}, "Please submit at least 2 forms."),
        ({"categories-TOTAL_FORMS": "x"}, "Enter a whole number."),
    ],
)
def test_what_no_file_may_say_no_form_may_say(
    changes: dict[str, str], complaint: str, policy: PolicyVersion, browser: Browser
) -> None:
    draft = draft_of(policy)
    values = {k: v for k, v in (raw_form(browser, 2) | changes).items() if v or k == "title"}

    html = save(browser, draft.number, values)

    assert "Nothing was saved." in html
    assert complaint in html
    assert PolicyVersion.objects.get(pk=2).content_hash == policy.content_hash


def test_of_two_who_edit_one_draft_the_second_is_told(
    policy: PolicyVersion, browser: Browser
) -> None:
    draft = draft_of(policy)
    first, second = raw_form(browser, 2), raw_form(browser, 2)
    save(browser, 2, first | {"prompt": "The first."})

    html = save(browser, 2, second | {"prompt": "The second."})

    assert "Version 2 was saved by somebody else meanwhile" in html
    assert "The second.</textarea>" in html
    draft.refresh_from_db()
    assert draft.prompt == "The first."


# --- The steps


def test_a_version_offers_the_steps_that_lead_on_from_its_state(
    policy: PolicyVersion, browser: Browser
) -> None:
    def offered(number: int) -> set[str]:
        html = page(browser, address(number)).partition('<ul class="policy-steps">')[2]
        return set(re.findall(rf"{VERSIONS}{number}/([a-z-]+)/", html.partition("</ul>")[0]))

    draft_of(policy)
    assert offered(1) == {"copy"}
    assert offered(2) == {"edit", "freeze", "copy"}
    browser.post(address(2, "freeze"))
    assert offered(2) == {"activate", "copy"}
    browser.post(address(2, "activate"), {})
    assert offered(1) == {"roll-back", "copy"}


def test_a_copy_leads_to_the_new_draft_and_a_roll_back_to_the_new_candidate(
    policy: PolicyVersion, browser: Browser
) -> None:
    load_version(prompt="A mistake.")

    copied = browser.post(address(2, "copy"), follow=True)
    back = browser.post(address(1, "roll-back"), follow=True)

    assert copied.redirect_chain == [(address(3), 302)]
    assert "Version 3 is a draft." in copied.content.decode()
    assert back.redirect_chain == [(address(4), 302)]
    assert "Version 4 is a candidate." in back.content.decode()
    assert "1 (retired)" in page(browser, address(4))
    assert PolicyVersion.objects.get(pk=4).content_hash == policy.content_hash


def test_a_step_that_came_too_late_is_one_sentence(policy: PolicyVersion, browser: Browser) -> None:
    draft_of(policy)
    browser.post(address(2, "freeze"))

    answer = browser.post(address(2, "freeze"), follow=True)

    assert "Version 2 is candidate: only a draft becomes a candidate." in answer.content.decode()
    assert browser.get(address(2, "edit")).status_code == 302
    assert browser.get(address(1, "activate")).status_code == 302


@pytest.mark.usefixtures("policy")
def test_no_step_is_taken_by_following_a_link(browser: Browser) -> None:
    for step in ("copy", "freeze", "roll-back"):
        assert browser.get(address(1, step)).status_code == 405


def test_who_may_only_view_sees_everything_and_changes_nothing(policy: PolicyVersion) -> None:
    draft_of(policy)
    operator = staff("omar", "operator")

    html = page(operator, address(2))
    assert "Copy to a new draft" not in html
    assert 'class="policy-steps"' in html
    page(operator, f"{VERSIONS}compare/?old=1&new=2")
    for step in ("copy", "freeze", "roll-back", "edit", "activate"):
        assert operator.post(address(2, step), {"title": "x"}).status_code == 403
    for step in ("edit", "activate"):
        assert operator.get(address(2, step)).status_code == 403
    assert staff("rita", "reviewer").get(f"{VERSIONS}compare/").status_code == 403
    assert PolicyVersion.objects.count() == 2


# --- Two side by side


def test_two_versions_stand_side_by_side_and_what_differs_is_marked(
    policy: PolicyVersion, browser: Browser
) -> None:
    draft_of(policy)
    values = raw_form(browser, 2)
    values |= {
        "prompt": values["prompt"].replace("moderation team", "safety team"),
        "safe_threshold": "0.9",
        "categories-0-severity": "high",
        "categories-8-DELETE": "on",
        "categories-11-id": "doxing",
        "categories-11-name": "Private data",
        "categories-11-severity": "high",
    }
    save(browser, 2, values)

    html = page(browser, f"{VERSIONS}compare/?old=1&new=2")

    assert "<del>moderation</del> team" in html
    assert "<ins>safety</ins> team" in html
    assert "<td><del>0.8</del></td>" in html
    assert "<td><ins>0.9</ins></td>" in html
    assert '<del><span class="severity rank-4">critical</span></del>' in html
    assert '<ins><span class="severity rank-3">high</span></ins>' in html
    rows = dict(re.findall(r'<th scope="row"><bdi dir="ltr">(\w+)</bdi></th> <td>(\w*)</td>', html))
    assert {name: word for name, word in rows.items() if word} == {
        "minors": "changed",
        "spam": "removed",
        "doxing": "added",
    }
    assert "Both say the same." not in html
    assert "Both say the same." in page(browser, f"{VERSIONS}compare/?old=1&new=1")


@pytest.mark.usefixtures("policy")
def test_versions_that_there_are_not_are_told_at_the_form(browser: Browser) -> None:
    assert "not one of the available choices" in page(browser, f"{VERSIONS}compare/?old=1&new=99")
    assert "<del>" not in page(browser, f"{VERSIONS}compare/")


def test_hostile_words_are_escaped_and_isolated_on_every_page(
    policy: PolicyVersion, browser: Browser
) -> None:
    evil = f"{SCRIPT}\u202e"
    draft_of(policy)
    values = raw_form(browser, 2) | {
        "title": evil,
        "model": evil,
        "prompt": f"{evil}\r\nمرحبا",
        "categories-0-name": evil,
        "categories-0-guidance": evil,
    }
    save(browser, 2, values)

    pages = {
        name: page(browser, where)
        for name, where in {
            "list": VERSIONS,
            "version": address(2),
            "edit": address(2, "edit"),
            "compare": f"{VERSIONS}compare/?old=1&new=2",
            "compare back": f"{VERSIONS}compare/?old=2&new=1",
        }.items()
    }
    browser.post(address(2, "freeze"))
    pages["activate"] = page(browser, address(2, "activate"))

    for name, html in pages.items():
        assert "<script>alert" not in html, name
        assert "&lt;script&gt;alert(1)" in html, name
        if name != "edit":  # a field holds what is to be edited
            assert "\u202e" not in html, name
            assert '<span class="glyph">U+202E</span>' in html, name
    assert '<ins>&lt;script&gt;alert(1)&lt;/script&gt;<span class="glyph">' in pages["compare"]
