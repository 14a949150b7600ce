"""The spellings that the text rules compare: disguises undone, forms of one letter made one.

A text is compared in at most three spellings. Each is made in one pass or two over the text, and
none is longer than four times the text as it was sent.
"""

import re
import unicodedata

# Raised with every change of what the rules are shown, here or in `reports.patterns`: a policy
# version lists it.
REVISION = 1

# The longest form that a letter, a ligature or a numeral needs. What Unicode spells longer is a
# phrase in one sign (U+FDFA has 18 letters): no rule looks for one, and a megabyte of them is slow.
LONGEST_FORM = 4
_REMEMBERED = 20_000

_ONE_FORM = {
    **dict.fromkeys("أإآٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    **dict.fromkeys("ةھہە", "ه"),
    **dict.fromkeys("کگ", "ك"),
    "ؤ": "و",
    "ئ": "ي",
    "\u0640": "",  # tatweel
    **dict.fromkeys("’‘ʼ´`", "'"),
    **dict.fromkeys("\u115f\u1160\u2800\u3164", ""),  # blank, though Unicode calls them visible
}
# Letters of the Latin alphabet in boxes and flags, which have no compatibility form: first of 26.
_BOXED = (0x1F150, 0x1F170, 0x1F1E6)
_SILENT = {"Cf", "Mn", "Me", "Cc"}

# Latin letter -> digits, signs and letters of other alphabets that stand for it in a disguised word.
_DISGUISES = {
    "a": "4@аαᴀ", "b": "вβʙ", "c": "с¢ᴄ", "d": "ԁđᴅ", "e": "3€еεᴇ", "g": "ɢ", "h": "нħʜ",
    "i": "1!¡|іιıɪ", "j": "јᴊ", "k": "кκᴋ", "l": "£ӏłʟ", "m": "мᴍ", "n": "пηɴ", "o": "0оοøᴏ",
    "p": "рρᴘ", "r": "ʀ", "s": "5$ѕ", "t": "7тτᴛ", "u": "υᴜ", "v": "νᴠ", "w": "ᴡ", "x": "хχ",
    "y": "уʏ", "z": "ᴢ",
}  # fmt: skip
_LOOKALIKES = {ord(sign): letter for letter, signs in _DISGUISES.items() for sign in signs}
# A sign after a word is punctuation, not a letter of it.
_SIGN_AFTER_A_WORD = re.compile(r"[!@$|€£¡¢](?<=\S.)(?!\w)")
# Drawn alike: a capital i that goes on a word in small letters ("kiII", not "sayIF"), and a small l
# among capitals ("KlLL").
_I_FOR_L = re.compile(r"I(?<=[a-z]I)I*(?![A-Z])")
_L_FOR_I = re.compile(r"l(?<=[A-Z]l)(?=[A-Z])")
_TWO_FOR_TO = re.compile(r"2(?<!\w2)(?=morrow\b|moro\b|day\b|night\b|nite\b)")
# The one and the bar may stand for an l as well: those of "ill" and "all" decide.
_ONES = (("i11", "ill"), ("i1l", "ill"), ("il1", "ill"), ("i||", "ill"), ("a11", "all"))

_LETTER = r"[^\W\d_]"
# A letter three times in a row is emphasis. The Roman number is none.
_STRETCHED = re.compile(rf"({_LETTER})\1\1+(?<!\biii\b)")
_SIGNS_IN_A_WORD = re.compile(rf"[^\w\s'](?<={_LETTER}.)[^\w\s']{{0,2}}(?={_LETTER})")
_SINGLE_LETTERS = re.compile(rf"{_LETTER}(?<![^\W_]{{2}})(?:\W{{1,3}}{_LETTER}(?![^\W_])){{2,}}")
_BETWEEN_LETTERS = re.compile(r"\W+")


class _Forms(dict[int, str]):
    """Code point -> its form, worked out when it is first met. Bounded: there are a million."""

    def __missing__(self, code_point: int) -> str:
        form = _form(chr(code_point))
        if len(self) < _REMEMBERED:
            self[code_point] = form
        return form


def _form(character: str) -> str:
    if character in _ONE_FORM:
        return _ONE_FORM[character]
    if unicodedata.category(character) in _SILENT:
        return " " if character.isspace() else ""
    for first in _BOXED:
        if first <= ord(character) < first + 26:
            return chr(ord("a") + ord(character) - first)
    # The second round: a folded letter may have parts of its own (İ).
    letters = _parts(_parts(character).casefold())
    form = "".join(
        _ONE_FORM.get(letter, str(unicodedata.decimal(letter, letter)))
        for letter in letters
        if unicodedata.category(letter) not in _SILENT
    )
    # An Arabic mark that stands alone is spelled "space and mark".
    if not form.strip() and not character.isspace():
        return ""
    return form if len(form) <= LONGEST_FORM else " "


def _parts(text: str) -> str:
    # Hangul is left whole: Unicode computes its parts, which no rule needs, and names none here.
    if any(unicodedata.decomposition(character) for character in text):
        return unicodedata.normalize("NFKD", text)
    return text


_FORMS = _Forms()


def normalize(text: str) -> str:
    """Text in one form: compatibility forms folded, marks, accents and invisible signs gone.

    The forms of alef, ya, ha and kaf are one, digits are ASCII, white space is single spaces.
    """
    return " ".join(text.translate(_FORMS).split())


def spellings(text: str) -> set[str]:
    """What the rules compare, three at most.

    The normalised text with stretched letters shortened; the same with look-alikes read as Latin
    letters; that again with the signs inside words gone and letters that stand alone joined.
    """
    plain = _STRETCHED.sub(r"\1", normalize(text))
    drawn = _L_FOR_I.sub("I", _I_FOR_L.sub(lambda found: "l" * len(found[0]), text))
    revealed = _reveal(plain if drawn == text else _STRETCHED.sub(r"\1", normalize(drawn)))
    return {plain, revealed, _join(revealed)}


def _reveal(text: str) -> str:
    letters = text
    for ones, letter in _ONES:
        letters = letters.replace(ones, letter)
    letters = _SIGN_AFTER_A_WORD.sub("", letters)
    letters = _TWO_FOR_TO.sub("to", letters).translate(_LOOKALIKES)
    return text if letters == text else _STRETCHED.sub(r"\1", letters)


def _join(text: str) -> str:
    words = _SIGNS_IN_A_WORD.sub("", text.replace("_", "-"))
    joined = _SINGLE_LETTERS.sub(lambda found: _BETWEEN_LETTERS.sub("", found[0]), words)
    return text if joined == text else _STRETCHED.sub(r"\1", joined)
