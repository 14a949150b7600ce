"""A text measured by what its bytes are: letters, marks, digits, frequent words and the rest.

Tokens a byte differ by a factor of eight between these classes and little within one. Everything
is linear and runs in C, for hostile text may be a megabyte: the text is turned into one byte a sign
(`_ENCODE`), and bytes are counted by deleting them.
"""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

# Frequent words are looked for in so much; a longer text pays the price of rare words throughout.
_WORDS_BYTES = 128 * 1024
# Shares above which letters are a key's or a number's company, not words; from so many letters on.
_ROUGH_RARE, _ROUGH_RARE_ARABIC, _ROUGH_DIGITS, _ROUGH_FROM = 0.16, 0.22, 0.25, 12
# Words with the article, of the words of an Arabic text: dialects have up to 0.2 of them, standard
# Arabic 0.25 to 0.45. Shorter texts say nothing.
_DIALECT, _FORMAL, _FORMAL_WORDS = 0.2, 0.4, 6
# Bytes in frequent English words, of all in Latin words: Arabizi has up to 0.05, English from 0.25.
_FOREIGN, _ENGLISH = 0.05, 0.2

_ARABIC = "أإابةتثجحخدذرزسشصضطظعغفقكلمنهوىي"
_RARE_ARABIC = "ثذضظغزطخص"
_COSTLY = "ءآؤئ\u064b\u064c\u064d\u0670\u0640"  # one token a byte in an old vocabulary
_MARKS = "\u064e\u064f\u0650\u0651\u0652"
_DIGITS = "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹"
_ALPHABET = "".join(map(chr, range(128))) + _ARABIC + _COSTLY + _MARKS + _DIGITS + "،؛؟"
# One byte for each sign of the alphabet; signs outside are left out.
_ENCODE = codecs.charmap_build(_ALPHABET.ljust(256, "\ufffe"))


def _codes(signs: str) -> bytes:
    return bytes(map(_ALPHABET.index, signs))


_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LATIN = _UPPER + _UPPER.lower()
_RARE = b"jqxzvwJQXZVW"
_ARABIC_CODES, _RARE_ARABIC_CODES = _codes(_ARABIC), _codes(_RARE_ARABIC)
_MARK_CODES, _DIGIT_CODES = _codes(_MARKS), _codes(_DIGITS)
_ANY = bytes(range(256))
# Nothing for the plain letters, something for all others.
_PLAIN = bytes(code not in set(_LATIN) - set(_RARE + _UPPER) for code in range(256))
_ONLY_LATIN = bytes(code if code in _LATIN else 32 for code in range(256))
_NOT_LATIN = _ANY.translate(None, _LATIN)
_NOT_ARABIC = _ANY.translate(None, _ARABIC_CODES)
_ARABIC_AS_A = bytes(65 if c in _ARABIC_CODES else c & 127 for c in range(256))
_ARTICLES = (" ال".encode(), " وال".encode(), " بال".encode(), " لل".encode())
_NO_ARTICLE = " اللي".encode()
# What grows to up to three times its bytes when it is composed; the ranges hold a few more.
_GROWING = re.compile(
    "[\u0344\u0958-\u095f\u09dc-\u09df\u0a33-\u0a36\u0a59-\u0a5e\u0b5c\u0b5d\u0f43-\u0fb9\u2adc"
    "\ufa6c\ufacf-\ufad7\ufb1d-\ufb4e\U0001d15e-\U0001d1c0]+"
)
_FREQUENT = b"""
the to and you that it is of in for on me my this be have was not are with what so but do your just
all if can like know at will he she they we up out get about no or there how one from when don go
now good see want time an right as would here who think yeah why say some did got her him his them
then been going could make because really more our were has their come back down well only never
should which than any take over had way even where other after too off into us very people tell look
please someone again every something thing always still said does need am new work first last day
home tomorrow today night school
""".split()
_FREQUENT_WORDS = frozenset([*_FREQUENT, *map(bytes.capitalize, _FREQUENT), b"I", b"a", b"A"])


@dataclass(frozen=True)
class Measured:
    """A text's UTF-8 bytes by class. Together the classes are the whole text."""

    total: int
    grown: int
    """What composing the text (NFC) may add, which one tokenizer does first."""
    letters: Mapping[str, int]
    """latin, english, arabic, formal_arabic, emoji: what a model's ratio is learnt of."""
    frequent_words: int
    besides: Mapping[str, int]
    """frequent, capitals, rare, stretched, marks, digits, blanks, other: priced as they are."""
    rough: frozenset[str]
    """Of the letters those that are nobody's words."""


def bytes_by_script(text: str) -> dict[str, int]:
    """UTF-8 bytes by class, which together are the whole text; a blank is its following word's.

    `frequent` are frequent English words, `english` the others of a text with many of them. An
    Arabic text is `formal_arabic` in so far as its words have the article, for vocabularies know
    standard Arabic far better than dialects. `stretched` are Arabic letters that stand for the
    third time and more in a row; such Latin ones are `rare`, as are j, q, x, z, v and w.
    """
    found = measure(text)
    return {**found.letters, **found.besides}


def measure(text: str) -> Measured:
    """Raises nothing, whatever stands in the text; a lone surrogate counts as a question mark."""
    if text.isascii():
        data = signs = text.encode()
        grown = 0
    else:
        data = text.encode("utf-8", "replace")
        signs = codecs.charmap_encode(text, "ignore", _ENCODE)[0]
        grown = 2 * (len(data) - len(_GROWING.sub("", text).encode("utf-8", "replace")))
    spaces = signs.count(b" ")
    latin = _latin(signs, spaces)
    arabic = _arabic(signs, data, spaces - latin.joined)
    digits = _count(signs, b"0123456789")
    digits_rough = digits >= _ROUGH_FROM and digits > _ROUGH_DIGITS * (digits + latin.letters)
    letters = {
        "latin": latin.plain - latin.english,
        "english": latin.english,
        "arabic": arabic.plain - arabic.formal,
        "formal_arabic": arabic.formal,
        "emoji": 4 * data.count(b"\xf0\x9f"),
    }
    besides = {
        "frequent": latin.frequent,
        "capitals": latin.capitals,
        "rare": latin.rare,
        "stretched": arabic.stretched,
        "marks": 2 * _count(signs, _MARK_CODES),
        "digits": digits + 2 * _count(signs, _DIGIT_CODES),
        "blanks": spaces - latin.joined - arabic.joined,
    }
    besides["other"] = len(data) - sum(letters.values()) - sum(besides.values())
    rough = {"latin", "english"} if latin.rough or digits_rough else set()
    return Measured(
        total=len(data),
        grown=grown,
        letters=letters,
        frequent_words=latin.frequent_words,
        besides=besides,
        rough=frozenset(rough | ({"arabic", "formal_arabic"} if arabic.rough else set())),
    )


@dataclass(frozen=True)
class _Latin:
    """Bytes. `plain` and `frequent` have their words' blanks, `joined` in all; `english` of `plain`."""

    plain: int
    english: int
    frequent: int
    frequent_words: int
    capitals: int
    rare: int
    joined: int
    letters: int
    rough: bool


def _latin(signs: bytes, spaces: int) -> _Latin:
    letters = _count(signs, _LATIN)
    rest, frequent_words, words = signs, 0, 0
    if letters and len(signs) <= _WORDS_BYTES:
        every = signs.translate(_ONLY_LATIN).split()
        others = [word for word in every if word not in _FREQUENT_WORDS]
        frequent_words, words = len(every) - len(others), len(others)
        rest = b" ".join(others)
    rest = rest.translate(None, _NOT_LATIN)
    plain = rest.translate(None, _RARE + _UPPER)
    rare, stretched = _count(rest, _RARE), _stretched(rest, _PLAIN)
    joined = min(spaces, frequent_words + words)
    joined_frequent = min(joined, frequent_words)
    others_bytes = len(plain) - stretched + joined - joined_frequent
    frequent = letters - len(rest) + joined_frequent
    return _Latin(
        plain=others_bytes,
        english=_share_of(
            others_bytes, frequent / max(frequent + others_bytes, 1), _FOREIGN, _ENGLISH
        ),
        frequent=frequent,
        frequent_words=frequent_words,
        capitals=len(rest) - len(plain) - rare,
        rare=rare + stretched,
        joined=joined,
        letters=len(rest),
        rough=len(rest) >= _ROUGH_FROM and rare > _ROUGH_RARE * len(rest),
    )


@dataclass(frozen=True)
class _Arabic:
    """Bytes. `plain` has the words' blanks, `joined`; `formal` of it is standard Arabic's."""

    plain: int
    formal: int
    stretched: int
    joined: int
    rough: bool


def _arabic(signs: bytes, data: bytes, spaces: int) -> _Arabic:
    letters = signs.translate(None, _NOT_ARABIC)
    if not letters:
        return _Arabic(0, 0, 0, 0, rough=False)
    stretched = 2 * _stretched(letters, bytes(256))
    words = signs.translate(_ARABIC_AS_A).count(b" A")
    joined = min(words, spaces)
    plain = 2 * len(letters) - stretched + joined
    share = (sum(map(data.count, _ARTICLES)) - data.count(_NO_ARTICLE)) / max(words, 1)
    return _Arabic(
        plain=plain,
        formal=_share_of(plain, share, _DIALECT, _FORMAL) if words >= _FORMAL_WORDS else 0,
        stretched=stretched,
        joined=joined,
        rough=len(letters) >= _ROUGH_FROM
        and _count(letters, _RARE_ARABIC_CODES) > _ROUGH_RARE_ARABIC * len(letters),
    )


def _share_of(amount: int, found: float, none: float, full: float) -> int:
    """As much of the amount as what was found lies between none and full."""
    return int(amount * min(max((found - none) / (full - none), 0), 1))


def _count(signs: bytes, wanted: bytes) -> int:
    return len(signs) - len(signs.translate(None, wanted))


def _stretched(letters: bytes, wanted: bytes) -> int:
    """How many of the wanted letters are the same as both before them."""
    if len(letters) < 3:
        return 0
    number = int.from_bytes(letters, "big")
    unwanted = int.from_bytes(letters.translate(wanted), "big")
    differs = (number ^ number >> 8) | (number ^ number >> 16) | unwanted
    return differs.to_bytes(len(letters), "big")[2:].count(0)
