"""Fold a text to the one spelling the word rules look at, and keep where each letter came from."""

import unicodedata
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
_STRETCHED = 3


class Folded(NamedTuple):
    """`text` is the folded spelling; `origin[i]` is the index in the original of `text[i]`."""

    text: str
    origin: list[int]


def fold(original: str) -> Folded:
    """NFKC and casefold; without zero-width and bidi controls, Arabic marks and tatweel.

    Alef forms, ya and alef maqsura, ta marbuta and ha are unified, digits become ASCII,
    stretched letters are shortened to one.
    """
    letters: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(original):
        for letter in _spelling(character):
            letters.append(letter)
            origin.append(index)
    return _shorten(letters, origin)


def _spelling(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).casefold().translate(ARABIC_FOLD)
    return "".join(
        str(unicodedata.decimal(letter, letter)) for letter in folded if not _is_silent(letter)
    )


def _is_silent(letter: str) -> bool:
    # Cf: zero-width, bidi and joining controls. Mn: combining marks, Arabic diacritics among them.
    return letter == _TATWEEL or unicodedata.category(letter) in {"Cf", "Mn"}


def _shorten(letters: list[str], origin: list[int]) -> Folded:
    kept: list[str] = []
    kept_origin: list[int] = []
    start = 0
    while start < len(letters):
        end = start + 1
        while end < len(letters) and letters[end] == letters[start]:
            end += 1
        if letters[start].isalpha() and end - start >= _STRETCHED:
            kept.append(letters[start])
            kept_origin.append(origin[start])
        else:
            kept.extend(letters[start:end])
            kept_origin.extend(origin[start:end])
        start = end
    return Folded("".join(kept), kept_origin)
