"""How many tokens a text is, never guessed low: by the model's own tokenizer where one is known to
fit, else by its bytes.

Source: measurements with eight tokenizers, docs/tokens.md. None makes more tokens of a text than its
UTF-8 bytes and one, once the text is composed (NFC). Each class's bound is about the dearest that
any made of hostile text of the class. What is learnt lowers the price of natural letters alone:
digits, rare letters and what is nobody's words (random letters, keys) keep their bounds. An
under-count is harmless, for the server tells and the text is split again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from classifier.scripts import Measured, bytes_by_script, measure
from classifier.tokenizers import CALIBRATION_TEXTS, exact_count, fitting_tokenizer

__all__ = [
    "CALIBRATION_TEXTS",
    "Counting",
    "at_least",
    "bytes_by_script",
    "count",
    "fitting_tokenizer",
    "learn",
]

# Tokens a byte: the bound, and the least that is believed of a server.
_BOUNDS = {"latin": 1.0, "english": 1.0, "arabic": 0.625, "formal_arabic": 0.625, "emoji": 1.0}
_FLOORS = {"latin": 0.2, "english": 0.22, "arabic": 0.08, "formal_arabic": 0.08, "emoji": 0.75}
# Of what is not learnt: the dearest, and the cheapest that any tokenizer makes of natural text.
_PRICES = {
    "rare": 1.0,
    "stretched": 0.55,
    "marks": 0.63,
    "digits": 1.0,
    "blanks": 1.0,
    "other": 1.0,
}
_LEAST = {"rare": 0.3, "capitals": 0.3, "stretched": 0.1, "marks": 0.3, "digits": 0.3, "other": 0.3}
_LATIN = ("latin", "english")
# What stands in for a ratio that is not learnt yet.
_DEARER = {"english": "latin", "formal_arabic": "arabic"}
_CAPITAL, _ROUGH = 0.6, 0.85
_LEARNT_MARGIN, _EXACT_MARGIN = 1.15, 1.02

_LEAST_BYTES, _DOMINATES = 200, 0.8
_RISE, _FALL = 0.5, 0.02


@dataclass(frozen=True)
class Counting:
    """How one model's tokens are counted: by a tokenizer of the package, or by learnt ratios.

    `ratios`: tokens a byte of latin, english, arabic, formal_arabic, emoji; an absent one is the
    bound.
    """

    tokenizer: str = ""
    ratios: Mapping[str, float] = field(default_factory=dict)


def count(text: str, counting: Counting) -> int:
    """The tokens of `text`, seldom fewer than the model's own count; no special ones, no frame.

    With the model's tokenizer exact and 2 % more; without, by the ratios and 15 % more; never above
    the hard bound. Raises nothing, whatever stands in the text.
    """
    if counting.tokenizer:
        exact = exact_count(text, counting.tokenizer)
        if exact is not None:
            return math.ceil(exact * _EXACT_MARGIN) + 1
    found = measure(text)
    estimate = sum(
        bytes_of * _rate(found, name, counting.ratios) for name, bytes_of in found.letters.items()
    )
    estimate += sum(found.besides[name] * price for name, price in _PRICES.items())
    estimate += found.besides["capitals"] * max(_CAPITAL, _rate(found, "english", counting.ratios))
    estimate += found.frequent_words + found.grown
    return math.ceil(min(estimate, found.total + found.grown)) + 1


def at_least(text: str, counting: Counting) -> int:
    """Fewer tokens than the model makes of it; 0 where nothing is known of how it counts.

    With its tokenizer nine tenths of the exact count, with learnt ratios half of the estimate, which
    is at most twice too high on natural writing (docs/tokens.md); other writing proves nothing.
    """
    if counting.tokenizer:
        exact = exact_count(text, counting.tokenizer)
        return 0 if exact is None else exact * 9 // 10
    found = measure(text)
    known = {name for name in found.letters if {name, _DEARER.get(name)} & set(counting.ratios)}
    natural = found.besides["frequent"] + sum(found.letters[name] for name in known)
    if not text or found.rough or natural < _NATURAL * found.total:
        return 0
    return count(text, counting) // 2


# The share of letters whose price is known, in a text that counts as natural.
_NATURAL = 0.7


def learn(ratios: Mapping[str, float], *, text: str, tokens: int) -> dict[str, float]:
    """New ratios (JSON-ready) after the server counted `tokens` for `text`, the frame taken off.

    A text teaches the ratio of the one class that holds 80 % of it (with Latin letters go frequent
    words, capitals and digits, for Arabizi), and at least 200 bytes; others teach nothing. The ratio
    is an upper estimate, not an average: it rises half of the way to a dearer text and falls a
    fiftieth of the way to a cheaper one, so that it settles near the 96th percentile of what comes;
    the margin of `count` bears the rest. What no tokenizer does (above the bound, below half of the
    floor) is not believed at all. The first text sets the ratio.
    """
    known = {name: float(value) for name, value in ratios.items() if name in _BOUNDS}
    found = measure(text)
    kin = sum(found.besides[name] for name in ("frequent", "capitals", "rare", "digits"))
    for name, bytes_of in found.letters.items():
        dominates = bytes_of + (kin if name in _LATIN else 0) >= _DOMINATES * found.total
        if found.total < _LEAST_BYTES or not bytes_of or not dominates or name in found.rough:
            continue
        # What else is in the text is taken off at the least it can be, so the ratio errs upwards.
        least = sum(found.besides[other] * price for other, price in _LEAST.items())
        seen = (tokens - found.frequent_words - least) / bytes_of
        if not _FLOORS[name] / 2 <= seen <= _BOUNDS[name] * 1.1:
            continue
        seen = min(max(seen, _FLOORS[name]), _BOUNDS[name])
        before = known.get(name, seen)
        known[name] = round(before + (seen - before) * (_RISE if seen > before else _FALL), 5)
    return known


def _rate(found: Measured, name: str, ratios: Mapping[str, float]) -> float:
    """Tokens a byte of learnable letters, with the margin, between the floor and the bound."""
    learnt = ratios.get(name, ratios.get(_DEARER.get(name, "")))
    if learnt is None:
        return _BOUNDS[name]
    if name in found.rough:
        return min(max(learnt * _LEARNT_MARGIN, _ROUGH), _BOUNDS[name])
    return min(max(learnt, _FLOORS[name]) * _LEARNT_MARGIN, _BOUNDS[name])
