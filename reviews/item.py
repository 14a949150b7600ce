"""Everything that an item's page shows, read in a constant number of statements."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, Count, Func, IntegerField, Max, QuerySet, Value, When
from django.db.models.fields import TextField
from django.db.models.functions import Cast

from classifier.models import Disagreement
from reports.models import Content, ContentUnreadableError, Item, Report
from reports.submission import Submission, SubmittedItem, SubmittedMessage
from reports.waiting import waiting_sentence
from reviews import words
from reviews.in_hand import InHand, Waiting, in_hand_of, waiting_of, with_hands
from reviews.models import Action, Decision, Hold

SHOWN_REPORTS = 20
SHOWN_BYTES = 1024 * 1024
SHOWN_DECISIONS = 50


@dataclass(frozen=True)
class ShownReport:
    """A report whose content the page shows; None where the stored content cannot be read."""

    report: Report
    submission: Submission | None


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
class Event:
    """One line of the item's story. `kind` is received, classified or decided."""

    at: datetime
    kind: str
    report: Report | None = None
    classification: Any = None
    decision: Decision | None = None


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
        return sorted(self._events(), key=lambda event: event.at)

    def _events(self) -> Iterator[Event]:
        for each in self.shown:
            yield Event(each.report.received_at, "received", report=each.report)
            for verdict in each.report.classifications.all():
                yield Event(
                    verdict.created_at, "classified", report=each.report, classification=verdict
                )
        for decision in self.decisions:
            yield Event(decision.created_at, "decided", decision=decision)


def read_item(item_id: int) -> ItemPage:
    """The item with its most pressing reports; raises `Item.DoesNotExist`."""
    items = Item.objects.select_related("sender").annotate(
        report_count=Count("reports"), newest_report=Max("reports")
    )
    item = with_hands(items).get(pk=item_id)
    every = Report.objects.filter(item=item)
    chosen = _within_bounds(
        list(
            _most_pressing(every.with_outcome()).annotate(
                bytes=BodyBytes(Cast("content__body", TextField()))
            )[:SHOWN_REPORTS]
        )
    )
    contents = Content.objects.in_bulk([report.pk for report in chosen])
    decisions = (
        Decision.objects.filter(item=item)
        .select_related("reviewer", "action", "overrides__reviewer", "overrides__action")
        .select_related("overridden_by")
        .order_by("-id")[:SHOWN_DECISIONS]
    )
    return ItemPage(
        item=item,
        shown=[ShownReport(report, _readable(contents.get(report.pk))) for report in chosen],
        more=item.report_count - len(chosen),
        decisions=list(decisions),
        in_hand=in_hand_of(item),
        waits=waiting_of(item),
        disagreements=_disagreements(chosen),
    )


def _disagreements(reports: list[Report]) -> list[Disagreement]:
    found = Disagreement.objects.filter(report__in=reports).standing()
    alike = {
        (each.state, each.classification.policy_version_id, each.classification.category): each
        for each in found.select_related("classification")
    }
    return list(alike.values())


class BodyBytes(Func):
    """How many bytes a body's JSON has."""

    function = "octet_length"
    output_field = IntegerField()


def _readable(content: Content | None) -> Submission | None:
    try:
        return content.submission() if content else None
    except ContentUnreadableError:
        return None


def _most_pressing(reports: Any) -> QuerySet[Report]:
    """Open reports first, as the lists order them."""
    settled = Case(
        When(status__in=["needs_review", "pending"], then=Value(0)),
        When(status="judged_safe", then=Value(1)),
        default=Value(2),
    )
    ordered: QuerySet[Report] = reports.order_by(settled, "-rank", "received_at", "id")
    return ordered


def _within_bounds(reports: list[Any]) -> list[Any]:
    """As many as fit on a page, at least one."""
    total = 0
    chosen: list[Any] = []
    for report in reports:
        total += report.bytes
        if chosen and total > SHOWN_BYTES:
            break
        chosen.append(report)
    return chosen
