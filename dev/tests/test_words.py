"""The stand-in's word rules."""

import time

import pytest

from dev.standin.words import MAX_QUOTE_LENGTH, SURE, UNSURE, judge


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I will kill you", "credible_threat"),
        ("سأقتلك غداً", "credible_threat"),
        ("والله لأذبحك", "credible_threat"),
        ("هكسر رقبتك", "credible_threat"),
        ("I know where you live", "credible_threat"),
        ("I want to kill myself", "self_harm"),
        ("أفكر في الانتحار", "self_harm"),
        ("You are 13? Send me a photo, it is our secret", "minors"),
        ("I hate women", "hate"),
        ("أكره اللاجئين", "hate"),
        ("Nobody likes you", "harassment"),
        ("يا حمار", "harassment"),
        ("Someone should shoot him", "violence"),
        ("send nudes", "sexual"),
        ("Double your bitcoin today", "scam"),
        ("اضغط هنا", "spam"),
        ("fake passports, fast delivery", "other"),
    ],
)
def test_each_category_has_its_words(text: str, category: str) -> None:
    assert judge([text]).category == category


@pytest.mark.parametrize(
    "text", ["See you at lunch", "صباح الخير", "", "\U0001f469\u200d\U0001f467", "I love women"]
)
def test_nothing_found_is_surely_no_violation(text: str) -> None:
    assert judge([text]) == ("none", SURE, ())


@pytest.mark.parametrize(
    "text", ["kill the process", "I'll destroy you in the next match", "I would never hurt you"]
)
def test_ambiguous_words_are_an_unsure_none(text: str) -> None:
    assert judge([text]) == ("none", UNSURE, ())


def test_a_negation_right_before_does_not_count() -> None:
    assert judge(["I don't hate women"]).category == "none"


def test_the_most_severe_category_wins_over_all_texts() -> None:
    assert judge(["buy now", "I will kill you", "I hate women"]).category == "credible_threat"


@pytest.mark.parametrize(
    "text",
    ["I w\u200bill k\u200dill you", "\u202eI WILL KILL YOU", "سَأَقْتُلُكَ", "سـأقـتـلـك", "سأقتلككككك"],
)
def test_disguises_are_folded_away(text: str) -> None:
    assert judge([text]).category == "credible_threat"


def test_quotes_are_verbatim_short_and_at_most_three() -> None:
    text = "I will kill you. " * 5 + "x " * 200 + "I will kill him and " + "y " * 200
    judged = judge([text, "و سَأَقْتُلُكَ غداً", "ﷺ I will kill you"])
    assert 1 <= len(judged.quotes) <= 3
    for quote in judged.quotes:
        assert len(quote) <= MAX_QUOTE_LENGTH
        assert any(quote in one for one in (text, "و سَأَقْتُلُكَ غداً", "ﷺ I will kill you"))


def test_a_long_text_is_judged_in_time() -> None:
    text = "women and men went to the market and nobody said a word " * 400
    started = time.process_time()
    judge([text])
    assert time.process_time() - started < 2
