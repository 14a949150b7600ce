"""Text of other people's making, made fit for a page: escaped, shortened, its hidden signs shown."""

import regex
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# What a reader cannot see: format, control and separator characters, and letters without a shape.
# Joiners stay, for words and emoji need them, and so do tab and line breaks. A flag of a region
# (a black flag and its tags) is one sign that can be seen.
# Signs before Arabic and Syriac numbers are of the same kind as controls, yet have a shape.
_VISIBLE = r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
# A selector of a glyph's form belongs to the sign before it. Behind another selector, or (the long
# range) behind anything but an ideograph, it forms nothing and may carry a hidden text.
_SELECTORS = r"\ufe00-\ufe0f\U000E0100-\U000E01EF"
_HIDDEN = regex.compile(
    r"(?V1)(?P<flag>\U0001F3F4[\U000E0061-\U000E007A]{1,6}\U000E007F)"
    rf"|[[\p{{Cf}}\p{{Cc}}\p{{Zl}}\p{{Zp}}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]--[\u200c\u200d\t\n\r{_VISIBLE}]]"
    rf"|(?<=[{_SELECTORS}])[{_SELECTORS}]"
    r"|(?<!\p{Han})[\U000E0100-\U000E01EF]"
)


def show_controls(text: str) -> SafeString:
    """Escaped HTML with every invisible or direction-changing character as a small label."""
    shown = _HIDDEN.sub(
        lambda found: found["flag"] or f'<span class="glyph">U+{ord(found[0]):04X}</span>',
        escape(text),
    )
    return mark_safe(shown)  # noqa: S308 - escaped before the labels were put in


def name_controls(text: str) -> str:
    """The same for places that hold no markup (a page's title, a message): `[U+202E]`."""
    if text.isascii() and text.isprintable():
        return text
    return str(_HIDDEN.sub(lambda found: found["flag"] or f"[U+{ord(found[0]):04X}]", text))


def isolated(text: str) -> str:
    """The same within a sentence that holds no markup, its direction kept to itself."""
    return f"\u2068{name_controls(text)}\u2069"


def unname_controls(text: str) -> str:
    """The way back from `name_controls`, for what somebody copied out of its result."""
    return str(_NAMED.sub(lambda found: chr(int(found[1], 16)), text))


_NAMED = regex.compile(r"\[U\+((?:10|[0-9A-F])?[0-9A-F]{4})\]")


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
