"""Everything that an item's page shows, read in a constant number of statements."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    Count,
    F,
    Func,
    IntegerField,
    Max,
    OuterRef,
    Prefetch,
    Q,
    Subquery,
    Sum,
    TextField,
    Value,
    When,
    Window,
)
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast, JSONObject, RowNumber

from classifier.models import Classification, Disagreement
from reports.models import (
    AuditEntry,
    Content,
    ContentUnreadableError,
    Invalidation,
    Item,
    Report,
    Return,
)
from reports.reliability import OF_REPORT, Reliability
from reports.submission import Submission, SubmittedItem, SubmittedMessage
from reports.waiting import waiting_sentence
from reviews import words
from reviews.blind import Blind, blindness_of, with_blindness
from reviews.in_hand import (
    InHand,
    Waiting,
    fields_of_return,
    in_hand_of,
    read_return,
    returned_of,
    waiting_of,
    with_hands,
)
from reviews.models import Action, Decision, Draft, Hold
from reviews.story import (
    Event,
    events_of,
    invalidations,
    read_invalidations,
    read_sendings_back,
    sendings_back,
)

SHOWN_REPORTS = 20
SHOWN_BYTES = 1024 * 1024
SHOWN_DECISIONS = 50
SHOWN_RETURNS = 20


@dataclass(frozen=True)
class ShownReport:
    """A report whose content the page shows; None where the stored content cannot be read."""

    report: Report
    submission: Submission | None
    reporter: Reliability | None
    """None where the sender named nobody."""
    invalidations: list[Invalidation]


@dataclass
class Conversation:
    """Messages that several reports may have sent alike, and the quotes found in them."""

    messages: list[SubmittedMessage]
    language: str
    quotes: list[str] = field(default_factory=list)


@dataclass
class MachineAnswer:
    """What the model said, or why it has not, and the reports that it said the same of."""

    verdict: Any
    waits: str
    floor: list[str]
    reports: list[Report] = field(default_factory=list)


@dataclass(frozen=True)
class ItemPage:
    item: Item
    shown: list[ShownReport]
    more: int
    """Reports of the item that are not shown, and that a decision from this page leaves alone."""
    decisions: list[Decision]
    in_hand: InHand | None
    waits: Waiting | None
    disagreements: list[Disagreement]
    """What a newer version found where none had been found; alike ones but once."""
    draft: Draft | None
    """What the reader has typed about it and not submitted."""
    blind: Blind | None
    """The reader works blind: of verdicts, decisions and what it waits for nothing is in here."""
    returns: list[Return]
    """When several people brought it back, the newest first."""
    returned: Return | None
    """The one since which nobody has decided."""
    sent_back: list[AuditEntry]

    @property
    def title(self) -> str:
        return f"{self.item.type} {self.item.external_id}"

    @property
    def last_decision(self) -> Decision | None:
        """The newest row, whatever it says: a form sent from this page follows it."""
        return self.decisions[0] if self.decisions else None

    @property
    def standing(self) -> Decision | None:
        """The newest decision or proposal that nobody took back."""
        rows = (row for row in self.decisions if row.kind != Decision.Kind.UNDO)
        return next((row for row in rows if not row.is_undone), None)

    @property
    def proposal(self) -> Decision | None:
        """What waits for a second person."""
        standing = self.standing
        return standing if standing and standing.kind == Decision.Kind.PROPOSAL else None

    def offers(self, action: Action) -> bool:
        """Whether the action makes sense where the item stands."""
        held = self.waits.kind if self.waits else ""
        if action.outcome == Action.Outcome.REOPENS:
            if self.blind:
                return False
            in_review = self.item.list in {Item.List.PENDING, Item.List.NEEDS_REVIEW}
            return not in_review or held in {Hold.Kind.ESCALATED, Hold.Kind.SECOND_APPROVAL}
        return action.outcome != Action.Outcome.ESCALATES or held != Hold.Kind.ESCALATED

    @property
    def lead(self) -> Report:
        return self.shown[0].report

    @property
    def facts(self) -> SubmittedItem | None:
        """What the sender said of the item itself, from the most pressing report that can be read."""
        return next((each.submission.item for each in self.shown if each.submission), None)

    @property
    def metadata(self) -> list[tuple[str, str]]:
        """What the sender sent along with the most pressing report: names, and values as JSON."""
        sent = next((each.submission.metadata for each in self.shown if each.submission), None)
        return [
            (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for key, value in (sent or {}).items()
        ]

    def conversations(self) -> list[Conversation]:
        """The distinct conversations, in the order of the reports that brought them."""
        found: dict[str, Conversation] = {}
        for each in self.shown:
            if each.submission is None:
                continue
            same = json.dumps([message.model_dump() for message in each.submission.messages])
            fresh = Conversation(each.submission.messages, each.report.language)
            conversation = found.setdefault(same, fresh)
            verdict = each.report.current_classification()
            conversation.quotes += (verdict.quotes if verdict else None) or []
        return list(found.values())

    def answers(self) -> list[MachineAnswer]:
        """The distinct answers, in the order of the reports that they were given to."""
        found: dict[tuple[Any, ...], MachineAnswer] = {}
        for each in self.shown:
            verdict = each.report.current_classification()
            answer = MachineAnswer(
                verdict,
                waiting_sentence(each.report),
                words.floor_sentences(each.report),
            )
            said = (
                (verdict.policy_version_id, verdict.category, verdict.confidence, verdict.summary)
                if verdict
                else (answer.waits,)
            )
            found.setdefault((*said, *answer.floor), answer).reports.append(each.report)
        return list(found.values())

    def story(self) -> list[Event]:
        """What happened, oldest first."""
        return sorted(events_of(self), key=lambda event: event.at)


def read_item(item_id: int, *, reader: User) -> ItemPage:
    """The item with its most pressing reports, and what `reader` has typed about it.

    Raises `Item.DoesNotExist`.
    """
    draft = Draft.objects.filter(item=OuterRef("pk"), reviewer=reader)
    items = Item.objects.select_related("sender").annotate(
        report_count=Count("reports"),
        newest_report=Max("reports"),
        draft=Subquery(draft.values(typed=JSONObject(**{name: name for name in _DRAFTED}))),
        its_returns=ArraySubquery(
            Return.objects.filter(item=OuterRef("pk"))
            .order_by("-pk")
            .values(found=JSONObject(**fields_of_return()))[:SHOWN_RETURNS]
        ),
        its_sendings_back=sendings_back(),
    )
    item = with_blindness(with_hands(items), reader).get(pk=item_id)
    blind = blindness_of(item)
    shown = list(_shown_reports(item, blind=blind is not None))
    if blind:
        # In the order that tells nothing of how they were judged.
        shown.sort(key=lambda each: each.report.pk)
    decisions = (
        Decision.objects.filter(item=item)
        .select_related("reviewer", "action", "overrides__reviewer", "overrides__action")
        .select_related("overridden_by")
        .order_by("-id")[:SHOWN_DECISIONS]
    )
    return ItemPage(
        item=item,
        shown=shown,
        more=item.report_count - len(shown),
        decisions=[] if blind else list(decisions),
        in_hand=in_hand_of(item),
        waits=None if blind else waiting_of(item),
        disagreements=_disagreements([each.report for each in shown]),
        draft=_drafted(item.draft) if item.draft else None,
        blind=blind,
        returns=[read_return(found) for found in item.its_returns],
        returned=returned_of(item),
        sent_back=read_sendings_back(item.its_sendings_back),
    )


_DRAFTED = ("action", "category", "note", "reason", "saved_at")


def _drafted(told: dict[str, str]) -> Draft:
    return Draft(**{**told, "saved_at": datetime.fromisoformat(told["saved_at"])})


# Open reports first, as the lists order them.
_SETTLED = Case(
    When(status__in=["needs_review", "pending"], then=Value(0)),
    When(status="judged_safe", then=Value(1)),
    default=Value(2),
)
_PRESSING = (_SETTLED, "-rank", "received_at", "id")


def _shown_reports(item: Item, *, blind: bool) -> Iterator[ShownReport]:
    """As many as fit on a page, at least one; contents beyond the bound do not leave the database."""
    pressing = Report.objects.filter(item=item).order_by(*_PRESSING).values("pk")[:SHOWN_REPORTS]
    verdicts = Classification.objects.select_related("disagreement")
    if blind:
        verdicts = verdicts.none()
    body_bytes = BodyBytes(Cast("content__body", TextField()))
    within = Q(so_far__lte=SHOWN_BYTES) | Q(nth=1)
    reports: Any = (
        Report.objects.filter(pk__in=pressing)
        .select_related("item", "sender")
        .prefetch_related("jobs", Prefetch("classifications", verdicts))
        .annotate(
            so_far=Window(Sum(body_bytes), order_by=_PRESSING),
            nth=Window(RowNumber(), order_by=_PRESSING),
            of_reporter=RawSQL(OF_REPORT, []),  # noqa: S611 - our own constant
            its_invalidations=invalidations(),
        )
        .annotate(body=Case(When(within, then=F("content__body"))))
        .order_by("nth")
    )
    for report in reports:
        if report.nth > 1 and report.so_far > SHOWN_BYTES:
            return
        decided, upheld, invalidated = report.of_reporter
        known = Reliability(decided, upheld, bool(invalidated))
        named_by = read_invalidations(report.its_invalidations)
        yield ShownReport(
            report, _readable(report.body), known if report.reporter_pseudonym else None, named_by
        )


def _disagreements(reports: list[Report]) -> list[Disagreement]:
    """Of each report the newest that stands; what several reports have in common but once."""
    alike: dict[tuple[Any, ...], Disagreement] = {}
    for report in reports:
        verdicts = sorted(report.classifications.all(), key=lambda each: -each.pk)
        found = (getattr(verdict, "disagreement", None) for verdict in verdicts)
        newest = next((each for each in found if each and each.stands(report)), None)
        if newest:
            verdict = newest.classification
            alike[newest.state, verdict.policy_version_id, verdict.category] = newest
    return list(alike.values())


class BodyBytes(Func):
    """How many bytes a body's JSON has."""

    function = "octet_length"
    output_field = IntegerField()


def _readable(body: Any) -> Submission | None:
    try:
        return None if body is None else Content(body=body).submission()
    except ContentUnreadableError:
        return None
