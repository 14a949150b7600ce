"""One switch turns single letters off; it is remembered for the person."""

from reports.models import AuditEntry
from reviews.models import Preferences
from reviews.tests.people import log_in, page

SWITCH = "/review/preferences/keys/"


def test_letters_are_on_until_the_person_turns_them_off_and_the_page_says_so(db: None) -> None:  # noqa: ARG001
    dana, omar = log_in("dana", "reviewer"), log_in("omar", "reviewer")
    assert 'data-single-keys="on"' in page(dana, "/review/pending/")

    answer = dana.post(SWITCH, {"single_keys": "off", "next": "/review/pending/?language=ar"})

    assert answer["Location"] == "/review/pending/?language=ar"
    assert 'data-single-keys="off"' in page(dana, "/review/pending/")
    assert 'data-single-keys="on"' in page(omar, "/review/pending/")
    dana.post(SWITCH, {"single_keys": "on"})
    assert 'data-single-keys="on"' in page(dana, "/review/pending/")


def test_a_change_leaves_one_audit_row_and_the_same_again_none(db: None) -> None:  # noqa: ARG001
    dana = log_in("dana", "reviewer")

    for wanted in ("on", "off", "off", "on"):
        dana.post(SWITCH, {"single_keys": wanted})

    rows = AuditEntry.objects.filter(action="preferences_changed")
    assert [row.detail for row in rows] == [{"fields": ["single_keys"]}] * 2
    assert Preferences.objects.get().single_keys


def test_the_way_back_leads_to_no_other_site(db: None) -> None:  # noqa: ARG001
    dana = log_in("dana", "reviewer")

    for foreign in ("https://evil.example/", "//evil.example", "javascript:alert(1)", ""):
        answer = dana.post(SWITCH, {"single_keys": "off", "next": foreign})
        assert answer["Location"] == "/review/"


def test_it_needs_a_person_with_a_role(db: None) -> None:  # noqa: ARG001
    assert log_in("nobody").post(SWITCH, {"single_keys": "off"}).status_code == 403
    assert log_in("dana", "reviewer").get(SWITCH).status_code == 405
    assert not Preferences.objects.filter(single_keys=False).exists()
