"""Text of other people's making, made fit for a page: escaped, shortened, its hidden signs shown."""

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


def shorten(text: str, *, at_most: int = 200) -> str:
    """The text's start, cut between words where it has any."""
    if len(text) <= at_most:
        return text
    start = text[:at_most]
    return (start.rsplit(None, 1)[0] if " " in start else start) + " …"
