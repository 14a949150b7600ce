"""Real tokenizers, of a package that is optional at run time: exact counts where one fits a model.

A tokenizer fits when its counts explain what the server counted, never by a model's name.
"""

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import regex

# Of the package `quicktok-v1`.
TOKENIZERS = ("cl100k_base", "o200k_base", "llama3", "qwen3")
# Hostile text costs up to 190 ms a megabyte; no message and no window is longer than this.
_EXACT_BYTES = 96 * 1024
# Qwen's composes first, in quadratic time where marks follow upon marks.
_MANY_MARKS = regex.compile(r"\p{M}{32}")
# A chat template's frame, at most, and how far counts may miss what the server said beyond it.
_LARGEST_FRAME, _TOLERANCE, _LEAST_MISS = 600, 0.01, 1

# Harmless, each of another script, and of clearly different counts by the known tokenizers: for a
# probe to send one by one. Each also teaches the ratio of its script.
CALIBRATION_TEXTS = (
    (
        "Good morning! The library opens at nine on weekdays, and the reading room upstairs stays quiet "
        "until lunch. Bring your own notebook and pencils; tea and biscuits are free for everybody who "
        "helps to sort the books, omg it's gonna be so cozy lol."
    ),
    (
        "تعلن المكتبة العامة عن افتتاح قاعة القراءة الجديدة يوم الاثنين القادم، وتدعو جميع الطلاب "
        "والباحثين إلى زيارة المكتبة والاستفادة من الكتب والمراجع المتوفرة في القاعة طوال فصل الشتاء."
    ),
    (
        "ازيكم يا جماعة، بكرة ان شاء الله هنتقابل عند المكتبة الساعة تلاتة، واللي عايز ييجي معانا يقول "
        "من دلوقتي عشان نحجز مكان ونجيب شاي وحاجة حلوة. شلونكم شباب، وين رايحين باچر؟"
    ),
    (
        "sabah el 5eer ya gama3a, bokra han2abel ba3d 3and el maktaba el sa3a talata, w elly 3ayez yegy "
        "ma3ana y2ool delwa2ty 3ashan ne7gez makan w negeeb shay, shu ra2ykon ya shabab, nshuf ba3d hunik "
        "ba3d el shoghl?"
    ),
    (
        "إِنَّ فِي الْكُتُبِ حَيَاةً طَيِّبَةً، وَمَنْ قَرَأَ كَثِيراً تَعَلَّمَ كَثِيراً. 😂😂😍🎉👍🏽📚☕🌧️👨‍👩‍👧🇪🇬🪁🫖 "
        "2026-11-30 17:45, 0123456789, 987654321, 31415926535; ٢٠٢٦/١١/٣٠ ٠١٢٣٤٥٦٧٨٩"
    ),
)


def exact_count(text: str, tokenizer: str) -> int | None:
    """What the tokenizer makes of it, special tokens as plain text; None where that cannot be had.

    None without the package's wheel, for an unknown name and for text that would take too long.
    """
    loaded = _load(tokenizer)
    if (
        loaded is None
        or len(text) > _EXACT_BYTES
        or len(data := text.encode("utf-8", "replace")) > _EXACT_BYTES
    ):
        return None
    if not text.isascii() and _MANY_MARKS.search(text):
        return None
    return len(loaded.encode_ordinary(data.decode()))


def fitting_tokenizer(observations: Sequence[tuple[str, int]]) -> str:
    """The name of the one tokenizer that explains what a server counted for texts; else "".

    `observations` are texts with the tokens that the server said, each with the same frame around
    it: at least three of different scripts. A tokenizer fits when one frame, between 0 and 600
    tokens, explains them all to 1 %. Where several fit the texts told too little, and none is named.
    """
    if len(observations) < 3:
        return ""
    said = [tokens for _text, tokens in observations]
    fitting = []
    for name in TOKENIZERS:
        counts = [exact_count(text, name) for text, _tokens in observations]
        known = [each for each in counts if each is not None]
        if len(known) == len(said) and _explains(known, said):
            fitting.append(name)
    return fitting[0] if len(fitting) == 1 else ""


def _explains(counts: Sequence[int], said: Sequence[int]) -> bool:
    """Whether one frame, with each count, gives what was said, to 1 % of the count."""
    slack = [max(_LEAST_MISS, each * _TOLERANCE) for each in counts]
    pairs = list(zip(said, counts, slack, strict=True))
    low = max(tokens - each - miss for tokens, each, miss in pairs)
    high = min(tokens - each + miss for tokens, each, miss in pairs)
    return max(low, 0) <= min(high, _LARGEST_FRAME)


@lru_cache(maxsize=2)
def _load(name: str) -> Any:
    """The tokenizer, some 50 MB once loaded; None where there is none."""
    if name not in TOKENIZERS:
        return None
    try:
        return importlib.import_module("quicktok").Tokenizer(name, "")
    except (ImportError, OSError, RuntimeError):
        return None
