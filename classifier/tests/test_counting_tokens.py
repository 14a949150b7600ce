import json
import random
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.tokenizers import TOKENIZERS, exact_count
from classifier.tokens import (
    CALIBRATION_TEXTS,
    Counting,
    bytes_by_script,
    count,
    fitting_tokenizer,
    learn,
)

COLD = Counting()
ENGLISH, FORMAL, DIALECT, ARABIZI, SIGNS = CALIBRATION_TEXTS
# Ratios as of a new vocabulary: cheap for all that is natural.
CHEAP = Counting(
    ratios={"latin": 0.4, "english": 0.22, "arabic": 0.2, "formal_arabic": 0.12, "emoji": 0.75}
)
FRESH_EGYPTIAN = (
    "يا عم سيبك منه ده واحد مش محترم وكل الناس عارفينه، بيضحك على البنات وبعدين يقفل التليفون"
)
has_wheel = pytest.mark.skipif(
    exact_count("a", TOKENIZERS[0]) is None, reason="the wheel of quicktok-v1 is not installed"
)

HOSTILE = {
    "one letter": "a" * 1_000_000,
    "one Arabic letter": "ه" * 500_000,
    "special tokens": "<|endoftext|>" * 80_000,
    "hidden": "\u200b" * 333_333,
    "one that stands for eighteen": "\ufdfa" * 333_333,
    "what grows composed": "\u0958a" * 250_000,
    "digits": "1" * 1_000_000,
    "blanks": " " * 1_000_000,
    "marks": "a" + "\u0301\u0316" * 250_000,
    "short words": "b " * 500_000,
    "just so many words": "b " * 65_536,
    "emoji": "😂" * 250_000,
    "random": "".join(map(chr, random.Random(1).choices(range(0x20, 0xD7FF), k=350_000))),  # noqa: S311
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("tokenizer", ["", "qwen3", "o200k_base"])
def test_a_megabyte_of_anything_is_counted_fast(name: str, tokenizer: str) -> None:
    count("warm", Counting(tokenizer))
    began = time.process_time()
    count(HOSTILE[name], Counting(tokenizer))
    # Of the processor's time, and ten times what it takes: a quadratic step costs minutes.
    assert time.process_time() - began < 0.5


@given(text=st.text(max_size=300) | st.text("aA1 هـًqz<|>\n😂\u0958\U0001d160\u200d", max_size=300))
def test_no_text_is_above_the_hard_bound_or_below_a_quarter_of_a_token_a_letter(text: str) -> None:
    size = len(text.encode())
    for counting in (COLD, CHEAP):
        assert count(text, counting) <= 3 * size + 1
    if text.isascii():
        assert count(text, COLD) <= size + 1
    assert count(text, CHEAP) <= count(text, COLD)
    assert sum(bytes_by_script(text).values()) == size
    assert min(bytes_by_script(text).values()) >= 0


@has_wheel
@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=st.text("aAbq1 هظغَّـ!😂\u0958éя中\n<|endoftext|>", max_size=200))
def test_cold_no_tokenizer_makes_more_tokens(name: str, text: str) -> None:
    exact = exact_count(text, name)
    assert exact is not None
    assert exact <= count(text, COLD)


@has_wheel
@pytest.mark.parametrize("name", TOKENIZERS)
def test_learnt_from_other_texts_it_is_neither_low_nor_twice_too_high(name: str) -> None:
    ratios: dict[str, float] = {}
    for text in CALIBRATION_TEXTS:
        ratios = learn(ratios, text=text, tokens=exact_count(text, name) or 0)
    assert set(ratios) >= {"latin", "english", "arabic", "formal_arabic"}
    for text in (
        FRESH_EGYPTIAN,
        "I told you to stay away from my sister, and you did not listen, so now you will see.",
        "وأكدت الوزارة أن المستشفيات في المدن الكبرى مستعدة لاستقبال المرضى خلال الأيام القادمة.",
        "ya3ni enta leh bt3mel keda? ana olt lak mesh 3ayez ashoofak tany, sebny fe 7aly ba2a",
    ):
        exact = exact_count(text, name) or 0
        assert exact <= count(text, Counting(ratios=ratios)) <= 2 * exact


@has_wheel
def test_a_fitting_tokenizer_counts_exactly_and_a_little_more() -> None:
    exact = exact_count(DIALECT, "o200k_base") or 0
    assert exact < count(DIALECT, Counting("o200k_base", CHEAP.ratios)) <= exact * 1.02 + 2


@pytest.mark.parametrize("tokenizer", ["", *TOKENIZERS, "no such tokenizer"])
def test_special_tokens_and_lone_surrogates_raise_nothing(tokenizer: str) -> None:
    for text in ("<|endoftext|>", "<|im_start|>system", "a\ud800b", "\udfff" * 50, ""):
        assert count(text, Counting(tokenizer)) >= 1


@has_wheel
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("frame", [0, 11, 400])
def test_the_tokenizer_is_known_by_its_counts(name: str, frame: int) -> None:
    said = [(text, (exact_count(text, name) or 0) + frame) for text in CALIBRATION_TEXTS]
    assert fitting_tokenizer(said) == name


@has_wheel
def test_other_counts_fit_no_tokenizer() -> None:
    said = [(text, (exact_count(text, "llama3") or 0) * 11 // 10) for text in CALIBRATION_TEXTS]
    assert fitting_tokenizer(said) == ""


@has_wheel
def test_texts_that_all_count_alike_name_no_tokenizer() -> None:
    assert fitting_tokenizer([("good", 1), ("good morning", 2), ("good morning all", 3)]) == ""
    assert fitting_tokenizer([]) == ""


def test_without_the_wheel_bytes_serve() -> None:
    script = """
import sys
sys.modules["quicktok"] = None
from classifier.tokens import CALIBRATION_TEXTS, Counting, count, fitting_tokenizer
assert fitting_tokenizer([(text, 99) for text in CALIBRATION_TEXTS]) == ""
for text in CALIBRATION_TEXTS:
    assert count(text, Counting("o200k_base")) == count(text, Counting())
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [(ENGLISH, "english"), (FORMAL, "formal_arabic"), (DIALECT, "arabic"), (ARABIZI, "latin")],
)
def test_a_text_teaches_its_own_script(text: str, name: str) -> None:
    assert list(learn({}, text=text, tokens=110)) == [name]


@pytest.mark.parametrize(
    "text", ["سيبني في حالي", ENGLISH + DIALECT, "qxzj" * 90, "12345" * 90, ""]
)
def test_short_mixed_and_strange_texts_teach_nothing(text: str) -> None:
    assert learn({"arabic": 0.3}, text=text, tokens=70) == {"arabic": 0.3}


@pytest.mark.parametrize("tokens", [0, 1, -5, 10_000, 2**31])
def test_an_absurd_count_is_not_believed(tokens: int) -> None:
    assert learn({"arabic": 0.3}, text=DIALECT, tokens=tokens) == {"arabic": 0.3}


def test_it_rises_at_once_and_falls_slowly() -> None:
    low, high = 70, 140
    ratios = learn({}, text=DIALECT, tokens=low)
    risen = learn(ratios, text=DIALECT, tokens=high)
    fallen = learn(risen, text=DIALECT, tokens=low)
    assert ratios["arabic"] < fallen["arabic"] < risen["arabic"]
    assert risen["arabic"] - fallen["arabic"] < (risen["arabic"] - ratios["arabic"]) / 10
    for _text in range(200):
        fallen = learn(fallen, text=DIALECT, tokens=low)
    assert fallen["arabic"] == pytest.approx(ratios["arabic"], rel=0.05)


def test_what_is_learnt_is_json_and_keeps_to_its_names() -> None:
    found = learn({"arabic": 0.3, "of another version": 7.0}, text=FORMAL, tokens=80)
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"arabic", "formal_arabic"}


@pytest.mark.parametrize("ratios", [{"latin": 1e9}, {"latin": 0.0}, {"latin": -3.0}])
def test_absurd_ratios_in_the_row_stay_within_the_bounds(ratios: dict[str, float]) -> None:
    assert 0.2 * len(ARABIZI) < count(ARABIZI, Counting(ratios=ratios)) <= len(ARABIZI) + 1
