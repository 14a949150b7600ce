"""The stand-in's word rules: own word lists in English and Arabic. Not a model, not a policy.

How `judge` reads a text:

1. The text is folded (`folding.fold`): case, diacritics, alef forms, invisible controls.
2. The rules (`rules.RULES`) are tried from the most severe category to the mildest. The first
   that matches gives category and confidence; the matches of that category are quoted.
3. A match does not count when a negation stands right before it ("I never said I hate women"),
   or, for threats and violence, when the sentence speaks of a game ("I will destroy you at chess").
4. Nothing matched: no violation, with `SURE`; but only `UNSURE` when a word such as "kill" or
   "bomb" stands in the text, as in "kill the process". That is below any sensible threshold.

Strong rules say 0.9 and more, weak ones 0.65 to 0.75. The rules know no irony and no quotation:
"she was blocked for writing 'I hate women'" is judged hate.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dev.standin.folding import Folded, fold
from dev.standin.rules import RULES, Rule
from dev.standin.vocabulary import arabic, compile_words, english

SURE = 0.93
UNSURE = 0.55
MAX_QUOTES = 3
MAX_QUOTE_LENGTH = 200

# Rule 3 above.
NEGATED = compile_words(
    r"\b(?:not|no|never|don't|doesn't|didn't|isn't|aren't|nobody|لا|لم|لن|ليس|مش|مو"
    r"|ما) (?:[\w']+ )?$"
)
GAME = compile_words(
    english(
        r"games?|gaming|match|ranked|round|boss|levels?|chess|fifa|raid|quiz|karaoke"
        r"|tournament"
    ),
    arabic(r"لعبة|مباراة|ماتش|جولة|شطرنج|بلايستيشن|فيفا|بطولة"),
)
# Rule 4 above.
UNSURE_WORDS = compile_words(
    english(
        r"kill\w*|murder\w*|shoot\w*|shot|bomb\w*|die[ds]?|dying|dead|attack\w*|destroy\w*"
        r"|blood\w*|weapons?|guns?|knife|suffer|burn\w*|hurt|drugs?"
    ),
    arabic(
        r"\w?قتل\w*|\w?موت\w*|قنبلة|قنابل|سلاح|دم|سكين|[يهبا]?ضرب\w*|\w?حرق\w*|متفجر\w*"
        r"|مخدرات"
    ),
)


class Judged(NamedTuple):
    """`confidence` is 0..1; `quotes` are verbatim parts of the texts, each up to 200 characters."""

    category: str
    confidence: float
    quotes: tuple[str, ...]


HARMLESS = Judged("none", SURE, ())


def judge(texts: Sequence[str]) -> Judged:
    """The verdict on the texts of one report; the same texts give the same verdict."""
    return _judge(tuple(texts))


@lru_cache(maxsize=1024)
def _judge(texts: tuple[str, ...]) -> Judged:
    folded = [fold(text) for text in texts]
    for first in RULES:
        if not any(_matches(first, one) for one in folded):
            continue
        category = [rule for rule in RULES if rule.category == first.category]
        quotes = [
            _quote(text, one, span)
            for text, one in zip(texts, folded, strict=True)
            for rule in category
            for span in _matches(rule, one)
        ]
        unique = tuple(dict.fromkeys(quotes))
        return Judged(first.category, first.confidence, unique[:MAX_QUOTES])
    unsure = any(UNSURE_WORDS.search(one.text) for one in folded)
    return Judged("none", UNSURE, ()) if unsure else HARMLESS


def _matches(rule: Rule, folded: Folded) -> list[tuple[int, int]]:
    return [
        match.span()
        for match in rule.pattern.finditer(folded.text)
        if not _does_not_count(rule, folded.text, match)
    ]


def _does_not_count(rule: Rule, text: str, match: re.Match[str]) -> bool:
    if NEGATED.search(text[max(0, match.start() - 40) : match.start()]):
        return True
    if rule.category not in {"credible_threat", "violence"}:
        return False
    start, end = _sentence(text, match.start(), match.end())
    return GAME.search(text[start:end]) is not None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    before = max(text.rfind(mark, 0, start) for mark in ".!?\n") + 1
    after = min(
        (found for mark in ".!?\n" if (found := text.find(mark, end)) >= 0), default=len(text)
    )
    return before, after


def _quote(original: str, folded: Folded, span: tuple[int, int]) -> str:
    """The sentence around the match as it was written; where that is too long, the match alone."""
    for start, end in (_sentence(folded.text, *span), span):
        stop = folded.origin[end] if end < len(folded.origin) else len(original)
        # A ligature folds to several letters of one origin, and a match may end inside it.
        stop = max(stop, folded.origin[end - 1] + 1)
        quote = original[folded.origin[start] : stop].strip()
        if len(quote) <= MAX_QUOTE_LENGTH:
            return quote
    return quote[:MAX_QUOTE_LENGTH]
