"""A reviewer chooses how they work: remembered for the person, on record only that they chose."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Severity
from reviews.models import Preferences
from reviews.tests.people import log_in, page

ADDRESS = "/review/preferences/"
DEFAULTS = {"veil_from": "2", "greyscale": "on", "single_keys": "on", "pause_after": "20"}


@pytest.fixture
def browser(policy: PolicyVersion) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer", veiled=True)


def save(browser: Browser, **changes: Any) -> Any:
    """Submit the form; None takes a field out, as a box that is not ticked."""
    values = {**DEFAULTS, **changes}
    return browser.post(ADDRESS, {key: each for key, each in values.items() if each is not None})


def test_every_choice_is_kept_and_shown_again(browser: Browser) -> None:
    answer = save(browser, veil_from="4", greyscale=None, single_keys=None,
                  opted_out=["hate", "minors"], pause_after="5")  # fmt: skip
    assert answer["Location"] == ADDRESS

    kept = Preferences.objects.get(user__username="dana")
    assert (kept.veil_from, kept.greyscale, kept.single_keys, kept.opted_out, kept.pause_after) == (
        Severity.CRITICAL, False, False, ["hate", "minors"], 5,
    )  # fmt: skip
    html = page(browser, ADDRESS)
    assert '<option value="4" selected>' in html
    assert html.count(" checked") == 2
    assert 'value="5"' in html


@pytest.mark.parametrize(("sent", "kept"), [("", None), ("0", 0), ("1", 1)])
def test_texts_can_be_hidden_never_always_or_from_a_severity_on(
    browser: Browser, sent: str, kept: int | None
) -> None:
    save(browser, veil_from=sent)

    assert Preferences.objects.get().veil_from == kept
    assert f'<option value="{sent}" selected>' in page(browser, ADDRESS)


def test_the_record_names_the_fields_and_never_what_was_chosen(browser: Browser) -> None:
    save(browser, opted_out=["self_harm"], pause_after="7")
    save(browser, opted_out=["self_harm"], pause_after="7")

    row = AuditEntry.objects.get(action="preferences_changed")
    assert row.detail == {"fields": ["opted_out", "pause_after"]}
    assert (row.object_type, row.object_id) == ("user", str(User.objects.get().pk))


def test_one_persons_preferences_are_no_other_persons(browser: Browser) -> None:
    save(browser, pause_after="7")

    assert 'value="20"' in page(log_in("omar", "reviewer", veiled=True), ADDRESS)


@pytest.mark.parametrize(
    "wrong",
    [{"pause_after": "0"}, {"pause_after": "no"}, {"veil_from": "9"}, {"opted_out": ["none"]}],
)
def test_what_is_not_offered_is_refused_where_it_stands(
    browser: Browser, wrong: dict[str, Any]
) -> None:
    answer = save(browser, **wrong)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert not Preferences.objects.exists()


def test_a_category_of_another_policy_version_stays_opted_out_of(browser: Browser) -> None:
    user = User.objects.get()
    Preferences.objects.create(user=user, opted_out=["of_an_older_version"])

    save(browser, opted_out=["hate"])

    assert Preferences.objects.get().opted_out == ["hate", "of_an_older_version"]


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_page_is_one_link_away_in_either_language(browser: Browser, language: str) -> None:
    browser.post("/language/", {"language": language, "next": "/"})

    assert f'href="{ADDRESS}"' in page(browser, "/review/needs-review/")
    assert f'lang="{language}"' in page(browser, ADDRESS)
