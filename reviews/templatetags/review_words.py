from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import gettext

from reports.counting import bounded
from reports.foreign_text import name_controls, shorten, show_controls
from reports.models import Report, Severity
from reports.models.report import FirstReportedText
from reports.submission import read_moment
from reports.waiting import waiting_sentence, waits_for_a_person
from reviews import words
from reviews.history_of_people import COUNTED_WITHIN, Author, read_author
from reviews.quality.second_answer import second_answer
from reviews.undo_offer import offer_of, undo_offer
from reviews.wellbeing import Desk

register = template.Library()

_TONES = {
    Severity.CRITICAL: "critical",
    Severity.HIGH: "high",
    Severity.MEDIUM: "medium",
    Severity.LOW: "low",
    Severity.NONE: "",
}

register.filter("shown", show_controls)
register.filter("named", name_controls)
register.filter(bounded)
register.filter("category_name", words.category_name)
register.filter("rule_sentences", words.rule_sentences)
register.filter("floor_sentences", words.floor_sentences)
register.filter("earlier_sentence", words.earlier_sentence)
register.filter("returned_sentences", words.returned_sentences)
register.filter("decided_sentence", words.decided_sentence)
register.filter("decided_action", words.decided_action)
register.filter(second_answer)
register.filter(undo_offer)
register.filter(offer_of)
register.filter("veils", Desk.veils)


@register.simple_tag
def author_of(report: Report) -> Author | None:
    """What is known of who made what was reported; None where nobody is named."""
    return read_author(report)


@register.simple_tag
def author_days() -> int:
    """How far back decisions about an author are counted."""
    return COUNTED_WITHIN.days


@register.filter
def tone(rank: int) -> str:
    """The style sheet's word for a severity."""
    return _TONES[Severity(rank)]


@register.filter
def severity_name(rank: int) -> str:
    return str(Severity(rank).label)


@register.filter
def counted(number: int) -> str:
    """A whole number as pages write it: 20,000."""
    return f"{number:,}"


@register.filter
def waited(since: datetime) -> str:
    """How long an item has waited, in words."""
    if timezone.now() - since < timedelta(minutes=1):
        return gettext("under a minute")
    return timesince(since)


@register.filter
def seconds_until(moment: datetime) -> int:
    return max(0, int((moment - timezone.now()).total_seconds()))


@register.filter
def moment(value: str) -> datetime:
    """A sender's RFC 3339 text as a time that the page writes in the reader's way."""
    return read_moment(value)


@register.simple_tag
def why_here(list_name: str, report: Any, decision: Any, returned: Any = None) -> list[str]:
    """Sentences: why an item stands in the list."""
    return words.why_here(list_name, report, decision, returned)


register.filter("parked", waits_for_a_person)
register.filter("waiting_sentence", waiting_sentence)


@register.filter
def excerpt(text: str | None) -> SafeString:
    """The start of a report's text, its hidden characters shown."""
    return show_controls(shorten(text or "", fetched=FirstReportedText.CHARACTERS))


@register.filter
def quoted(text: str, quotes: list[str]) -> SafeString:
    """A whole text with the machine's verbatim quotes marked."""
    spans = _spans(text, quotes)
    if not spans:
        return show_controls(text)
    parts, at = [], 0
    for start, end in spans:
        parts += [show_controls(text[at:start]), _MARK, show_controls(text[start:end]), _END]
        at = end
    return SafeString("".join([*parts, show_controls(text[at:])]))


_MARK, _END = SafeString("<mark>"), SafeString("</mark>")


def _spans(text: str, quotes: list[str]) -> list[tuple[int, int]]:
    """Where the quotes stand, merged so that they do not overlap."""
    found = sorted(
        (start, start + len(quote))
        for quote in quotes
        if quote
        for start in [text.find(quote)]
        if start >= 0
    )
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


@register.filter
def part_of(call: dict[str, Any]) -> str:
    """Which part of a long report a call was about."""
    number, _of, total = str(call.get("part") or "").partition(" of ")
    return gettext("%(number)s of %(total)s") % {"number": number, "total": total}
