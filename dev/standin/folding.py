"""Fold a text to the one spelling the word rules look at, and keep where each letter came from."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Letters that writers of Arabic use for one another, and two punctuation marks.
ARABIC_FOLD = str.maketrans(
    {
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ی": "ي",
        "ة": "ه",
        "ک": "ك",
        "؟": "?",
        "،": ",",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    }
)
_TATWEEL = "\u0640"
# A letter written this often in a row is emphasis ("soooo") and counts once.
_RUNS = re.compile(r"(.)\1{2,}", re.DOTALL)


class Folded(NamedTuple):
    """`text` is the folded spelling; `origin[i]` is the index in the original of `text[i]`."""

    text: str
    origin: list[int]


def fold(original: str) -> Folded:
    """NFKC and casefold; without zero-width and bidi controls, Arabic marks and tatweel.

    Alef forms, ya and alef maqsura, ta marbuta and ha are unified, digits become ASCII,
    stretched letters are shortened to one.
    """
    spelled = [_spelling(character) for character in original]
    text = "".join(spelled)
    if len(text) == len(spelled) and "" not in spelled:
        origin = list(range(len(text)))
    else:
        origin = [index for index, letters in enumerate(spelled) for _ in letters]
    return _shorten(text, origin)


@lru_cache(maxsize=4096)
def _spelling(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).casefold().translate(ARABIC_FOLD)
    return "".join(
        str(unicodedata.decimal(letter, letter)) for letter in folded if not _is_silent(letter)
    )


def _is_silent(letter: str) -> bool:
    # Cf: zero-width, bidi and joining controls. Mn: combining marks, Arabic diacritics among them.
    return letter == _TATWEEL or unicodedata.category(letter) in {"Cf", "Mn"}


def _shorten(text: str, origin: list[int]) -> Folded:
    kept: list[str] = []
    kept_origin: list[int] = []
    start = 0
    for run in _RUNS.finditer(text):
        if not run[1].isalpha():
            continue
        kept.append(text[start : run.start() + 1])
        kept_origin += origin[start : run.start() + 1]
        start = run.end()
    return Folded("".join([*kept, text[start:]]), kept_origin + origin[start:])
