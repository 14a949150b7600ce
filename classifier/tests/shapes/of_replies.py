"""The catalogue of malformed replies (3.3), where the model's answer is at fault; in its order.

The rows that the HTTP answer or its envelope is to blame for stand in `of_errors`.
"""

from typing import Any

from classifier.tests.shapes.row import (
    CUT,
    INVALID,
    MISPLACED,
    RECORDED,
    REFUSED,
    REPLY_MARK,
    THREAT,
    PutOff,
    Recorded,
    Shape,
    Step,
    content,
    dress,
    edit,
    finish,
    message,
    number,
    shapes,
    verdict,
)

THINKS = {"thinks": True}


def now_thinks(outcome: PutOff) -> PutOff:
    """The same, and the model is known to think from now on."""
    return PutOff(reason=outcome.reason, attempts=outcome.attempts, learns=THINKS)


def in_summary(start: str, **more: Any) -> Step:
    """Written into the JSON text of the summary, before its first word."""
    return edit(['"summary": "', f'"summary": "{start}'], **more)


DRESSED = [
    *shapes(
        ("3.3 #1 a fence with its language", dress("```json\n", "\n```"), RECORDED),
        ("3.3 #1 a bare fence", dress("```\n", "\n```"), RECORDED),
        ("3.3 #1 a fence with returns", dress("```json\r\n", "\r\n```\r\n"), RECORDED),
        ("3.3 #1 a fence that ends too early", dress("```json\n", "\n```\nOr so."), INVALID),
        ("3.3 #1 a fence after a word", dress("Here:\n```json\n", "\n```"), INVALID),
        ("3.3 #1 a fence that is not closed", dress("```json\n"), INVALID),
        ("3.3 #2 a byte order mark", dress("\ufeff"), RECORDED),
        ("3.3 #2 white space around", dress(" \r\n\t", "\n\n "), RECORDED),
        ("3.3 #2 both", dress("\n\ufeff\n", "\n"), RECORDED),
        ("3.3 #3 a thought in tags", dress("<think>Safe? No {}.</think>\n"), RECORDED),
        ("3.3 #3 two thoughts", dress("<think>a</think><think>b</think>"), RECORDED),
        ("3.3 #3 a thought, then a fence", dress("<think>a</think>```\n", "\n```"), RECORDED),
        ("3.3 #4 a thought from an unknown thinker", dress("Hm.</think>"), INVALID),
        ("3.3 #6 content in chunks", dress(parts=True), RECORDED),
        (
            "3.3 #6 only the text chunks are read",
            message(
                content=[
                    {"type": "thinking", "thinking": [{"type": "text", "text": REPLY_MARK}]},
                    {"type": "text", "text": "$verdict"},
                    {"type": "reference", "reference_ids": [1]},
                ]
            ),
            RECORDED,
        ),
        (
            "3.3 #6 a chunk that is a verdict and one that takes it back",
            message(
                content=[
                    {"type": "text", "text": "$verdict"},
                    {"type": "text", "text": REPLY_MARK},
                ]
            ),
            INVALID,
        ),
        (
            "3.3 #6 thoughts alone",
            message(content=[{"type": "thinking", "thinking": "$verdict"}]),
            now_thinks(INVALID),
        ),
    ),
    *shapes(
        ("3.3 #4 a thought from a known thinker", dress("Hm.</think>"), RECORDED),
        ("3.3 #4 a known thinker that did not think", dress(), RECORDED),
        model=THINKS,
    ),
]

EMPTY = shapes(
    (
        "3.3 #5 a thought without end",
        content(f"<think>{REPLY_MARK} says"),
        now_thinks(INVALID),
    ),
    (
        "3.3 #5 a thought without end, cut by its length",
        finish("length", content=f"<think>{REPLY_MARK} says"),
        now_thinks(CUT),
    ),
    (
        "3.3 #7 the verdict as reasoning_content",
        message(content=None, reasoning_content="$verdict"),
        now_thinks(INVALID),
    ),
    (
        "3.3 #7 the verdict as reasoning",
        message(content=None, reasoning="$verdict"),
        now_thinks(INVALID),
    ),
    (
        "3.3 #7 the verdict as reasoning, content blank",
        message(content="", reasoning_content="$verdict"),
        now_thinks(INVALID),
    ),
    ("3.3 #8 content null", content(None), INVALID),
    ("3.3 #8 content blank", content(""), INVALID),
    ("3.3 #9 cut by its length", finish("length", content='{"category": "none", "conf'), CUT),
    ("3.3 #9 cut by its length, yet whole", finish("length"), CUT),
    ("3.3 #11 white space until the end", finish("length", content="\n" * 900), CUT),
    (
        "3.3 #11 a key, then white space until the end",
        finish("length", content='{"category":' + "\n" * 900),
        CUT,
    ),
    ("3.3 #11 white space, then a stop", content(" \n" * 900), INVALID),
    ("3.3 #14 a refusal", {"kind": "refusal", "refusal": f"I cannot, {REPLY_MARK}."}, REFUSED),
    ("3.3 #14 a refusal beside a verdict", message(refusal=f"No, {REPLY_MARK}."), REFUSED),
    ("3.3 #14 a refusal in prose", content(f"I'm sorry, but no {REPLY_MARK}."), REFUSED),
    ("3.3 #14 a refusal in Arabic", content("عذرا، لا أستطيع المساعدة في هذا."), REFUSED),
    ("3.3 #14 a refusal by its finish reason", finish("refusal", content=""), REFUSED),
)

TEXT_AROUND = shapes(
    ("3.3 #18 text after it", dress(after=f"\nOn reflection, {REPLY_MARK}."), INVALID),
    ("3.3 #18 text before it", dress(f"Here is the {REPLY_MARK}: "), INVALID),
    ("3.3 #18 one sign after it", dress(after="."), INVALID),
    ("3.3 #19 two objects", message(content="$verdict$verdict"), INVALID),
    ("3.3 #19 two objects on two lines", message(content="$verdict\n$verdict"), INVALID),
    ("3.3 #19 a list of verdicts", message(content="[$verdict]"), INVALID),
    ("3.3 #20 a key twice", edit(['"category":', '"category": "spam", "category":']), INVALID),
    (
        "3.3 #20 a key twice, the same value",
        edit(['"category": "none"', '"category": "none", "category": "none"']),
        INVALID,
    ),
    (
        "3.3 #20 a key twice, once by its number",
        edit(['"category":', '"c\\u0061tegory": "none", "category":']),
        INVALID,
    ),
)

CONFIDENCES = shapes(
    *(
        (f"3.3 #21 {written}", number(written), INVALID)
        for written in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "nan")
    ),
    ('3.3 #23 "0.9"', verdict(confidence="0.9"), INVALID),
    *(
        (f"3.3 #24 {written}", number(written), INVALID)
        for written in ("95", "100", "10", "1e12", "3.14", "1.0000001", "1000000000000000")
    ),
    ("3.3 #24 1 is one", verdict(confidence=1), Recorded(changes={"confidence": 1.0})),
    ("3.3 #25 true", verdict(confidence=True), INVALID),
    ("3.3 #25 false", verdict(confidence=False), INVALID),
    ("3.3 #26 high", verdict(confidence="high"), INVALID),
    ("3.3 #26 90%", verdict(confidence="90%"), INVALID),
    ("3.3 #26 90% without quotes", number("90%"), INVALID),
    ("3.3 #26 null", verdict(confidence=None), INVALID),
    ("3.3 #26 negative", verdict(confidence=-0.1), INVALID),
)

CATEGORIES = [
    *shapes(
        ("3.3 #27 Credible_Threat", verdict(category="Credible_Threat"), RECORDED),
        ("3.3 #27 blanks around a threat", verdict(category=" credible_threat "), RECORDED),
        text=THREAT,
    ),
    *shapes(
        ("3.3 #27 None", verdict(category="None"), RECORDED),
        ("3.3 #27 blanks around", verdict(category=" none\n"), RECORDED),
        ("3.3 #27 capitals", verdict(category="NONE"), RECORDED),
        ("3.3 #27 two words for one id", verdict(category="no ne"), INVALID),
        ("3.3 #28 unknown", verdict(category="harmless"), INVALID),
        ("3.3 #28 in Arabic", verdict(category="تهديد"), INVALID),
        ("3.3 #28 in other words", verdict(category="Violent threat"), INVALID),
        ("3.3 #28 two at once", verdict(category="none, spam"), INVALID),
        ("3.3 #28 null", verdict(category=None), INVALID),
        ("3.3 #28 blank", verdict(category=""), INVALID),
        ("3.3 #28 a list", verdict(category=["none"]), INVALID),
    ),
]

KEYS = shapes(
    ("3.3 #29 an extra key", verdict(action="remove"), INVALID),
    ("3.3 #29 an extra key that is blank", verdict(**{"": 1}), INVALID),
    *(
        (f"3.3 #30 no {key}", edit(drop=[key]), INVALID)
        for key in ("summary", "category", "confidence", "quotes")
    ),
    ("3.3 #30 no key at all", content("{}"), INVALID),
)

REFS = shapes(
    ("3.3 #41 another ref", {"kind": "wrong_ref"}, MISPLACED),
    ("3.3 #41 a ref from the evidence's text", verdict(ref="r"), MISPLACED),
    ("3.3 #41 a blank ref", verdict(ref=""), MISPLACED),
    ("3.3 #41 no ref", edit(drop=["ref"]), INVALID),
    ("3.3 #41 a ref of another type", verdict(ref=7), INVALID),
    differs="the answer is dropped and the report asked about again; what matters is that it is "
    "nobody's verdict",
)

SIGNS = shapes(
    ("3.3 #32 single quotes", edit(['"', "'"]), INVALID),
    ("3.3 #32 a comma at the end", edit(["}", ",}"]), INVALID),
    ("3.3 #32 a line break in a text", in_summary("\n"), INVALID),
    ("3.3 #32 smart quotes", edit(['"ref"', "“ref”"]), INVALID),
    ("3.3 #32 smart quotes throughout", edit(['"', "“"]), INVALID),
    ("3.3 #32 Arabic digits", number("٠٫٥"), INVALID),
    ("3.3 #32 Arabic digits around a point", number("٠.٥"), INVALID),
    ("3.3 #33 NUL by its number", in_summary("\\u0000"), INVALID),
    ("3.3 #33 NUL itself", in_summary("\0"), INVALID),
    ("3.3 #33 half of a pair", in_summary("\\ud800"), INVALID),
    ("3.3 #33 a bell", in_summary("\\u0007"), INVALID),
    ("3.3 #33 NUL in a quote", verdict(quotes=["\0"]), INVALID),
    ("3.3 #33 half of a pair in a quote", edit(['"quotes": [', '"quotes": ["\\udc00"']), INVALID),
    ("3.3 #34 an override", in_summary("\u202e"), RECORDED),
    ("3.3 #34 an isolate by its number", in_summary("\\u2067"), RECORDED),
    ("3.3 #34 zero width", edit(["rules", "ru\u200bles\ufeff"]), RECORDED),
    ("3.3 #34 nothing but what cannot be seen", verdict(summary="\u202e\u200b"), INVALID),
    ("3.3 #36 50,000 characters", verdict(summary="a" * 50_000), INVALID),
    ("3.3 #36 one too many", verdict(summary="a" * 1_001), INVALID),
    ("3.3 #36 none", verdict(summary=""), INVALID),
    ("3.3 #42 a guard's words", content("unsafe\nS1, S2"), INVALID),
    ("3.3 #42 a guard's one word", content("safe"), INVALID),
)

OF_REPLIES: dict[str, list[Shape]] = {
    "3.3 dressed": DRESSED,
    "3.3 empty": EMPTY,
    "3.3 text around": TEXT_AROUND,
    "3.3 confidences": CONFIDENCES,
    "3.3 categories": CATEGORIES,
    "3.3 keys": KEYS,
    "3.3 refs": REFS,
    "3.3 signs": SIGNS,
}
