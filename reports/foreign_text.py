"""Text of other people's making, made fit for a page: escaped, shortened, its hidden signs shown."""

import regex
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

# Direction controls, zero-width characters and the like; joiners stay, for words and emoji need them.
HIDDEN = frozenset(
    [chr(c) for c in range(0x202A, 0x202F)]
    + [chr(c) for c in range(0x2066, 0x206A)]
    + [chr(c) for c in range(0xE0000, 0xE0080)]
    + ["\u200b", "\u200e", "\u200f", "\u061c", "\u00ad", "\u2060", "\ufeff"]
)


def show_controls(text: str) -> SafeString:
    """Escaped HTML with every invisible or direction-changing character as a small label."""
    shown = "".join(
        f'<span class="glyph">U+{ord(c):04X}</span>' if c in HIDDEN else conditional_escape(c)
        for c in text
    )
    return mark_safe(shown)  # noqa: S308 - each character was escaped above


def name_controls(text: str) -> str:
    """The same for places that hold no markup (a page's title, a message): `[U+202E]`."""
    return "".join(f"[U+{ord(c):04X}]" if c in HIDDEN else c for c in text)


def shorten(text: str, *, at_most: int = 240, fetched: int | None = None) -> str:
    """The text's start, cut between graphemes: no emoji, flag or accent is ever split.

    `fetched`: the text was cut by the database after so many characters, perhaps inside a grapheme.
    """
    graphemes = regex.findall(r"\X", text)
    was_cut = fetched is not None and len(text) >= fetched
    if was_cut:
        graphemes.pop()
    if len(graphemes) > at_most or was_cut:
        return "".join(graphemes[:at_most]) + " …"
    return text
