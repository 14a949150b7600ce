"""One decision about several items of a list; each is a transaction of its own and has its own answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction

from reports import lifecycle
from reports.models import Item, Report, Severity
from reviews.claims import HeldByAnotherError
from reviews.decisions import (
    NothingToDecideError,
    StaleDecisionError,
    ToSettleError,
    Wish,
    decide_item,
)
from reviews.models import Claim, Decision, Hold


@dataclass(frozen=True)
class Chosen:
    """An item as the list showed it: its newest row about decisions, and its newest report."""

    item_id: int
    last_decision_id: int | None
    newest_report_id: int


class Became(StrEnum):
    """What became of one item."""

    DECIDED = "decided"
    PROPOSED = "proposed"  # it waits for a second person
    TOO_LATE = "too late"
    HELD = "held"  # another reviewer has it in hand
    BY_ITSELF = "by itself"  # too grave, put aside, or waits for somebody: not in passing
    GONE = "gone"


@dataclass(frozen=True)
class Outcome:
    """`decision` is the row that was written, or the one that came first; `claim` is who has it."""

    item_id: int
    became: Became
    item: Item | None = None
    decision: Decision | None = None
    claim: Claim | None = None


def decide_items(*, reviewer: User, wish: Wish, chosen: Sequence[Chosen]) -> list[Outcome]:
    """Decide about each; one that cannot be decided says why and keeps no other from it."""
    return [_decide_one(reviewer, wish, each) for each in chosen]


def _decide_one(reviewer: User, wish: Wish, chosen: Chosen) -> Outcome:
    try:
        with transaction.atomic():
            item = lifecycle.lock_item(chosen.item_id)
            if _by_itself(item):
                return Outcome(item.pk, Became.BY_ITSELF, item)
            reports = Report.objects.filter(item=item, pk__lte=chosen.newest_report_id)
            decision = decide_item(
                item_id=item.pk,
                reviewer=reviewer,
                wish=wish,
                report_ids=reports.values_list("pk", flat=True),
                last_decision_id=chosen.last_decision_id,
            )
    except HeldByAnotherError as held:
        return Outcome(item.pk, Became.HELD, item, claim=held.claim)
    except ToSettleError:
        return Outcome(item.pk, Became.BY_ITSELF, item)
    except StaleDecisionError as stale:
        return Outcome(item.pk, Became.TOO_LATE, item, decision=stale.standing)
    except (Item.DoesNotExist, NothingToDecideError):
        return Outcome(chosen.item_id, Became.GONE)
    proposed = decision.kind == Decision.Kind.PROPOSAL
    decision.refresh_from_db(fields=["created_at", "effective_at"])
    became = Became.PROPOSED if proposed else Became.DECIDED
    return Outcome(item.pk, became, item, decision=decision)


def _by_itself(item: Item) -> bool:
    return item.rank >= Severity.CRITICAL or Hold.objects.in_force().filter(item=item).exists()
