"""The spellings that the rules compare: a few, each of a bounded length, disguises undone."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.spelling import LONGEST_FORM, normalize, spellings

EVERY_CODE_POINT = range(sys.maxunicode + 1)


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("  A \n b\t", "a b"),
        ("ẞ ﬁ Ⅳ ①", "ss fi iv 1"),
        ("don’t", "don't"),
        ("é Å İ", "e a i"),
        ("k̶i̷l̸l", "kill"),
        ("🅺🇮🅻🅛", "kill"),
        ("أإآٱ ى ة ؤ ئ", "اااا ي ه و ي"),
        ("ی ک گ ھ ۀ", "ي ك ك ه ه"),
        ("١٢ ۱۲ １２", "12 12 12"),
        ("مَرْحَبًاــ", "مرحبا"),
        ("a\u200b\u200d\u2066\ufeff\u00adb", "ab"),
        ("a\u3164\u2800\u0008b", "ab"),
        ("قال محمد ﷺ هنا", "قال محمد هنا"),
        ("ﷲ ﷴ", "الله محمد"),
        ("각 漢 ж", "각 漢 ж"),
    ],
)
def test_text_is_compared_in_one_form(written: str, compared: str) -> None:
    assert normalize(written) == compared


@pytest.mark.parametrize(
    ("written", "also_compared"),
    [
        ("kiiill", "kill"),
        ("سأقتلككك", "ساقتلك"),
        ("k1ll y0u!!", "kill you"),
        ("ki11 $tab", "kill stab"),
        ("кіll", "kill"),
        ("k.i.l.l", "kill"),
        ("k i l l him", "kill him"),
        ("k . i - l / l him", "kill him"),
        ("k*ll", "kll"),
        ("f-ing", "fing"),
        ("ق ـ ت ـ ل", "قتل"),
        ("w 1 l l", "will"),
        ("kiII", "kill"),
        ("kiIl him", "kill him"),
        ("I wiII", "i will"),
        ("I'll KlLL", "i'll kill"),
        ("ki|| him", "kill him"),
        ("murd3r", "murder"),
        ("2morrow or 2nite", "tomorrow or tonite"),
    ],
)
def test_a_disguise_is_undone_in_another_spelling(written: str, also_compared: str) -> None:
    assert also_compared in spellings(written)


@pytest.mark.parametrize("text", ["See you at lunch.", "World War III", "it's 1945", "مرحبا بكم"])
def test_the_text_as_it_was_written_is_among_the_spellings(text: str) -> None:
    assert normalize(text) in spellings(text)


def test_plain_words_have_one_spelling() -> None:
    assert spellings("See you at lunch, ok?") == {"see you at lunch, ok?"}
    assert spellings("If I say YES, or LOL, I mean it") == {"if i say yes, or lol, i mean it"}


@pytest.mark.parametrize("text", ["sayIF", "World War II", "III", "Will", "ALL", "WiFi", "12days"])
def test_letters_that_are_what_they_seem_stay(text: str) -> None:
    assert {each for each in spellings(text) if "l" in each} <= {normalize(text)}
    assert not any("to" in each for each in spellings(text))


def test_no_sign_becomes_more_than_a_few_letters() -> None:
    forms = [normalize(chr(code_point)) for code_point in EVERY_CODE_POINT]

    assert max(len(form) for form in forms) <= LONGEST_FORM


@settings(max_examples=200)
@given(text=st.text(st.characters(codec="utf-8")))
def test_the_one_form_holds_no_marks_no_invisible_signs_and_single_spaces(text: str) -> None:
    form = normalize(text)

    assert form == " ".join(form.split())
    assert not any(unicodedata.category(sign) in {"Cf", "Mn", "Me"} for sign in form)
    assert not set("\u0640أإآ") & set(form)


@settings(max_examples=200)
@given(text=st.text(st.characters(codec="utf-8")))
def test_the_spellings_are_three_at_most_and_bounded_by_the_text(text: str) -> None:
    texts = spellings(text)

    assert len(texts) <= 3
    assert all(len(each) <= LONGEST_FORM * len(text) for each in texts)
