"""What reviewers read: the four lists of items and their counts.

Order: most severe first, then oldest; resolved items latest first. Pages follow a key, not a
number, so that a list which moves meanwhile shows no item twice and a deep page costs no more.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery

from classifier.models import Classification, Job
from reports.models import Item, Report, Return, Severity
from reviews.blind import in_hand_blind
from reviews.filters import Filters, narrowed
from reviews.in_hand import InHand, Waiting, in_hand_of, returned_of, waiting_of, with_hands
from reviews.models import Decision

PAGE = 25
LOOKED_THROUGH = 20_000
"""Items of a list that one page of it looks through for what its filters want."""


@dataclass(frozen=True)
class Card:
    """One item of a list: the report that put it there (its most severe, then oldest), and the
    newest decision about it, if there was one.
    """

    item: Item
    lead: Report
    reports: int
    decision: Decision | None
    in_hand: InHand | None
    waits: Waiting | None
    seen: str = ""
    """The item, the newest row about it (0: none) and its newest report, as the card shows them;
    blank where it cannot be chosen."""
    returned: Return | None = None
    """Several people brought it back, and nobody has decided since."""


@dataclass(frozen=True)
class Page:
    cards: list[Card]
    after: str
    """The key of the next page; blank on the last one."""
    looked_through: int | None = None
    """The page is not full, yet the list goes on: only so many of its items were looked through."""


@dataclass(frozen=True)
class Counts:
    """Items by list, and open disagreements; exact up to the bound and one more beyond it."""

    pending: int
    overdue: int
    needs_review: int
    judged_safe: int
    resolved: int
    disagreements: int


_ONE_COUNT = (
    "(SELECT count(*) FROM (SELECT FROM reports_item WHERE list = '{}' LIMIT %(most)s) AS items)"
)
# The columns of `Counts`; each bounded, so that a long list costs no more than a short one.
COUNTS = "{}, {}, {}, {}, {}, {}".format(
    _ONE_COUNT.format("pending"),
    "(SELECT count(*) FROM (SELECT FROM reports_item WHERE list = 'pending'"
    " AND due_at < clock_timestamp() LIMIT %(most)s) AS late)",
    *(_ONE_COUNT.format(name) for name in ("needs_review", "judged_safe", "resolved")),
    "(SELECT count(*) FROM (SELECT FROM classifier_disagreement WHERE state = 'open'"
    " LIMIT %(most)s) AS found)",
)


def read_page(name: Item.List, *, filters: Filters, after: str = "") -> Page:
    """One page of a list, without what its viewer has in hand blind.

    `after` is the key that the page before gave; `ValueError` for another.
    """
    every = in_order(name)
    if after:
        every = _beyond(every, name, after)
    last = _last_in_reach(every) if filters.reads_reports() else None
    rows: list[Any] = list(
        with_hands(narrowed(_up_to(every, name, last), name, filters))
        .exclude(pk__in=in_hand_blind(filters.viewer))
        .select_related("sender")
        .annotate(**_lead_and_count(name))[: PAGE + 1]
    )
    shown = rows[:PAGE]
    leads = Report.objects.filter(pk__in=[row.lead_id for row in shown])
    leads = leads.select_related("item", "sender").prefetch_related(*_OUTCOME[name])
    by_id = {report.pk: report for report in leads.with_excerpt()}
    decisions = Decision.objects.newest_of([row.pk for row in shown])
    cards = [
        Card(
            row,
            by_id[row.lead_id],
            row.report_count,
            decisions.get(row.pk),
            in_hand_of(row),
            waiting_of(row),
            f"{row.pk}.{row.last_decision_id or 0}.{row.newest_report_id}",
            returned_of(row),
        )
        for row in shown
    ]
    if len(rows) > PAGE:
        return Page(cards, _key(name, shown[-1]))
    if last is not None:
        return Page(cards, _key(name, last), looked_through=LOOKED_THROUGH)
    return Page(cards, "")


def within_reach(name: Item.List, filters: Filters, *, each: bool = False) -> QuerySet[Item]:
    """What of a list the filters want, in its order; of the list's first `LOOKED_THROUGH` at most.

    `each`: the caller asks something of each item's reports itself.
    """
    every = in_order(name)
    last = _last_in_reach(every) if each or filters.reads_reports() else None
    return narrowed(_up_to(every, name, last), name, filters)


def goes_on(name: Item.List, filters: Filters, *, each: bool = False) -> bool:
    """Whether the list has items that `within_reach` does not look at."""
    beyond = in_order(name).values("pk")[LOOKED_THROUGH : LOOKED_THROUGH + 1]
    return (each or filters.reads_reports()) and beyond.exists()


def _last_in_reach(every: QuerySet[Item]) -> Item | None:
    """Where items are asked something of their reports: the last that is looked at; None: all are."""
    return every[LOOKED_THROUGH - 1 : LOOKED_THROUGH].first()


# What a card tells of its lead: why it waits, or what was answered. Each costs a statement.
_JOBS = ("jobs", Prefetch("classifications", Classification.objects.none()))
_VERDICTS = (Prefetch("jobs", Job.objects.none()), "classifications")
_OUTCOME = {name: _JOBS if name == Item.List.PENDING else _VERDICTS for name in Item.List}


def in_order(name: Item.List) -> QuerySet[Item]:
    if name == Item.List.RESOLVED:
        return Item.objects.filter(list=name).order_by("-resolved_at", "-id")
    return Item.objects.filter(list=name).order_by("-rank", "since", "id")


def _lead_and_count(name: Item.List) -> dict[str, Any]:
    """The report that the card shows, from those that put the item into this list; and how many."""
    mine = Report.objects.filter(item=OuterRef("pk")).order_by()
    count = mine.values("item").annotate(count=Count("*")).values("count")
    # A pending report may be what ranks an item that is in review.
    shown = ["needs_review", "pending"] if name == Item.List.NEEDS_REVIEW else [name]
    lead = mine.filter(status__in=shown).order_by("-rank", "received_at", "id").values("pk")[:1]
    newest = mine.order_by("-pk").values("pk")[:1]
    last = Decision.objects.filter(item=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    return {
        "lead_id": Subquery(lead),
        "report_count": Subquery(count),
        "newest_report_id": Subquery(newest),
        "last_decision_id": Subquery(last),
    }


def _key(name: Item.List, item: Item) -> str:
    if name == Item.List.RESOLVED:
        return f"{_microseconds(item.resolved_at)}.{item.pk}"
    return f"{item.rank}.{_microseconds(item.since)}.{item.pk}"


def _beyond(items: QuerySet[Item], name: Item.List, after: str) -> QuerySet[Item]:
    numbers = [int(part) for part in after.split(".")]
    if len(numbers) != (2 if name == Item.List.RESOLVED else 3) or numbers[-1] > 2**63 - 1:
        raise ValueError(after)
    if name == Item.List.RESOLVED:
        moment, pk = _moment(numbers[0]), numbers[1]
        return items.filter(resolved_at__lte=moment).filter(
            Q(resolved_at__lt=moment) | Q(pk__lt=pk)
        )
    rank, moment, pk = min(numbers[0], Severity.CRITICAL), _moment(numbers[1]), numbers[2]
    later = Q(since__gt=moment) | Q(since=moment, pk__gt=pk)
    return items.filter(rank__lte=rank).filter(Q(rank__lt=rank) | later)


def _up_to(items: QuerySet[Item], name: Item.List, last: Item | None) -> QuerySet[Item]:
    """Those that do not stand behind `last`; in the order of the list's index."""
    if last is None:
        return items
    if name == Item.List.RESOLVED:
        resolved_at = last.resolved_at
        before = Q(resolved_at__gt=resolved_at) | Q(pk__gte=last.pk)
        return items.filter(resolved_at__gte=resolved_at).filter(before)
    before = Q(since__lt=last.since) | Q(since=last.since, pk__lte=last.pk)
    return items.filter(rank__gte=last.rank).filter(Q(rank__gt=last.rank) | before)


def _microseconds(moment: datetime | None) -> int:
    assert moment is not None  # noqa: S101 - a resolved item has the time
    since_epoch = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since_epoch.days * 86_400 + since_epoch.seconds) * 1_000_000 + since_epoch.microseconds


def _moment(microseconds: int) -> datetime:
    seconds, rest = divmod(microseconds, 1_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
    except (OverflowError, OSError) as error:
        raise ValueError(microseconds) from error
