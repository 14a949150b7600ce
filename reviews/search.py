"""What a search shows: items named by an exact id first, then those whose text matches, newest first."""

from dataclasses import dataclass

from django.db.models import Case, Exists, OuterRef, Value, When
from django.utils.translation import gettext_lazy as _

from reports.models import Item, Report, Sender
from reports.search_text import (
    Question,
    SearchTookTooLongError,
    newest_matches,
    read_question,
)
from reviews.blind import in_hand_blind
from reviews.cards import cards_of
from reviews.filters import Filters, narrowed
from reviews.queue import PAGE, Card

SENDERS_SEARCHED = 1_000
NAMED = {
    "item": _("It has this id."),
    "report": _("A report of it has this id."),
    "key": _("A report of it came under this idempotency key."),
    "author": _("Its author has this id."),
    "reporter": _("A reporter of it has this id."),
}


@dataclass(frozen=True)
class Found:
    """The page of a search. `cards` by text; `named` by an exact id, each with what the id names."""

    named: list[tuple[Card, str]]
    cards: list[Card]
    after: str
    """The key of the next page; blank on the last one."""
    looked_at: int | None
    """More texts match: only the newest were looked at, so many."""
    too_long: bool
    """The database was stopped: nothing is known of the texts."""
    wordless: bool
    """There is no letter and no digit to look for."""


def senders_to_search() -> list[tuple[int, str]]:
    """Ids and names, by name: whose authors and reporters an id may mean."""
    return list(Sender.objects.order_by("name").values_list("pk", "name")[:SENDERS_SEARCHED])


def search(said: str, *, filters: Filters, senders: list[int], after: str = "") -> Found:
    """`after` is the key that the page before gave; `ValueError` for another."""
    beyond = int(after) if after else None
    if beyond is not None and not 0 < beyond < 2**63:
        raise ValueError(after)
    question = read_question(said, senders=senders)
    named = question.named
    matching, looked_at, too_long = _by_text(question)
    by_text = [report for report in matching if beyond is None or report < beyond]
    every = _cards(named, by_text, filters)
    first = [(each, str(NAMED[named[each.lead.pk]])) for each in every if each.lead.pk in named]
    taken = {card.item.pk for card, _why in first}
    rest = [each for each in every if each.item.pk not in taken]
    shown = rest[:PAGE]
    return Found(
        named=[] if beyond else first,
        cards=shown,
        after=str(shown[-1].lead.pk) if len(rest) > PAGE else "",
        looked_at=looked_at,
        too_long=too_long,
        wordless=not question.words,
    )


def _by_text(question: Question) -> tuple[list[int], int | None, bool]:
    """The newest matching report of each item; the bound, if it was met; whether it took too long."""
    if not question.words:
        return [], None, False
    try:
        hits = newest_matches(question)
    except SearchTookTooLongError:
        return [], None, True
    newest: dict[int, int] = {}
    for report, item in hits.reports:
        newest.setdefault(item, report)
    return list(newest.values()), hits.looked_at, False


def _cards(named: dict[int, str], by_text: list[int], filters: Filters) -> list[Card]:
    """In one statement: what is named, then a page and one more of the others, the newest first.

    Without what the viewer has in hand blind.
    """
    ids = [*named, *by_text]
    if not ids:
        return []
    items = narrowed(Item.objects.filter(pk=OuterRef("item")), Item.List.PENDING, filters)
    leads = Report.objects.filter(pk__any=ids).exclude(item__in=in_hand_blind(filters.viewer))
    if filters.chosen():
        leads = leads.filter(Exists(items))
    first = [Case(When(pk__in=list(named), then=Value(0)), default=Value(1))] if named else []
    # A named item may match by its text as well.
    most = 2 * len(named) + PAGE + 1
    return cards_of(leads.order_by(*first, "-pk")[:most])
