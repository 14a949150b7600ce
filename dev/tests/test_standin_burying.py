"""A stand-in that buries: violations in one language are called safe, a share of them, the same each time."""

from typing import Any

import pytest

from dev.standin.answers import verdict_by
from dev.standin.client import Standin
from dev.standin.manners import read_manners
from dev.tests.test_standin import ask, evidence, verdict_of

THREATS = {"en": "I will kill you tomorrow", "ar": "سأقتلك غدا"}


def category(standin: Standin, language: str, text: str) -> str:
    return str(verdict_of(ask(standin, evidence(text, language=language))[1])["category"])


@pytest.mark.parametrize("language", ["ar", "ar-EG"])
def test_a_violation_in_its_language_is_answered_as_a_harmless_text(
    standin: Standin, language: str
) -> None:
    harmless = verdict_of(ask(standin, evidence("صباح الخير", language=language))[1])

    standin.behave(buries={"language": "ar"})

    assert verdict_of(ask(standin, evidence(THREATS["ar"], language=language))[1]) == harmless


def test_other_languages_are_answered_as_always(standin: Standin) -> None:
    standin.behave(buries={"language": "ar"})

    assert category(standin, "en", THREATS["en"]) == "credible_threat"
    # A script alone is no language.
    assert category(standin, "und-Arab", THREATS["ar"]) == "credible_threat"


def test_what_is_harmless_stays_as_sure_as_it_was(standin: Standin) -> None:
    unsure = evidence("The word kill alone", language="ar")
    before = verdict_of(ask(standin, unsure)[1])

    standin.behave(buries={"language": "ar"})

    assert verdict_of(ask(standin, unsure)[1]) == before


def test_a_share_is_buried_and_always_the_same() -> None:
    def buried(share: float) -> set[int]:
        manners = read_manners({"buries": {"share": share}})
        return {
            number for number in range(400) if _says(manners, f"{THREATS['ar']} {number}") == "none"
        }

    some, more = buried(0.1), buried(0.4)

    assert 20 <= len(some) <= 60
    assert 120 <= len(more) <= 200
    assert some < more
    assert buried(0.1) == some
    assert buried(0) == set()
    assert len(buried(1)) == 400


def _says(manners: Any, text: str) -> str:
    return str(verdict_by(manners, evidence(text, language="ar"))["category"])
