"""What the address narrows a list to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from classifier.models import Classification, Job
from reports.models import Item, Report
from reviews.models import Claim, Hold

PARKED = "parked"  # as a filter: whatever waits for a person, for whichever reason
ME, NOBODY = "me", "nobody"  # as an assignee
LONGEST_VALUE = 255
AGES = {
    "1h": (timedelta(hours=1), _("an hour")),
    "4h": (timedelta(hours=4), _("4 hours")),
    "1d": (timedelta(days=1), _("a day")),
    "7d": (timedelta(days=7), _("a week")),
    "30d": (timedelta(days=30), _("30 days")),
}


@dataclass(frozen=True)
class Filters:
    """What the address narrows a list to, as it stands there; blank means any."""

    sender: str = ""
    category: str = ""
    language: str = ""
    reason: str = ""
    waiting: str = ""
    item_type: str = ""
    confidence_from: str = ""
    confidence_to: str = ""
    older_than: str = ""
    newer_than: str = ""
    version: str = ""
    rule: str = ""
    hold: str = ""
    assignee: str = ""
    viewer: int = field(default=0, metadata={"in_address": False})
    """Whom "me" means: the id of who looks."""

    @classmethod
    def read(cls, values: Mapping[str, Any], *, viewer: int = 0) -> "Filters":
        """Of an address or a saved view; what is no filter is left out, what no form offers is kept."""
        kept: dict[str, Any] = {
            name: str(values.get(name, ""))[:LONGEST_VALUE].replace("\0", "") for name in NAMES
        }
        return cls(**kept, viewer=viewer)

    def chosen(self) -> dict[str, str]:
        """What narrows at all, by the names in the address."""
        return {name: value for name in NAMES if (value := getattr(self, name))}

    def ask_for_verdicts(self) -> bool:
        """Whether that something is among what is found tells what a machine said of it."""
        told = {"category", "confidence_from", "confidence_to", "version", "rule"}
        return not told.isdisjoint(self.chosen())

    def reads_reports(self) -> bool:
        """Whether the items must be looked through one after the other."""
        return bool(self.chosen().keys() - {"assignee", "hold"})


NAMES = [each.name for each in fields(Filters) if each.metadata.get("in_address", True)]


def narrowed(items: QuerySet[Item], name: Item.List, filters: Filters) -> QuerySet[Item]:
    """Each filter asks whether any of the item's reports matches; so no join doubles a card.

    A value that no form offers finds nothing.
    """
    chosen = filters.chosen()
    if name != Item.List.PENDING:
        chosen.pop("waiting", None)
    try:
        for key, value in chosen.items():
            if key == "assignee":
                items = items.filter(_assigned(value, viewer=filters.viewer))
            else:
                items = items.filter(_CONDITIONS[key](value))
    except (ValueError, KeyError, OverflowError):
        return items.none()
    return items


def _of_reports(condition: Q) -> Exists:
    return Exists(Report.objects.filter(condition, item=OuterRef("pk")))


def _of_verdicts(**condition: object) -> Exists:
    current = Classification.objects.filter(report__item=OuterRef("pk"), superseded=False)
    return Exists(current.filter(**condition))


def _language(tag: str) -> Exists:
    return _of_reports(Q(language=tag) | Q(language__startswith=f"{tag}-"))


def _waiting(reason: str) -> Exists:
    waiting = Job.objects.filter(report__item=OuterRef("pk"), report__status="pending")
    wanted = Q(parked=True) if reason == PARKED else Q(reason=reason)
    return Exists(waiting.filter(wanted))


def _rule(name: str) -> Q:
    return Q(_of_reports(Q(floor_rules__contains=[name]))) | Q(_of_verdicts(rules__contains=[name]))


def _hold(kind: str) -> Exists:
    return Exists(Hold.objects.in_force().filter(item=OuterRef("pk"), kind=kind))


def _assigned(who: str, *, viewer: int) -> Q:
    claims = Claim.objects.in_force().filter(item=OuterRef("pk"))
    if who == NOBODY:
        return ~Q(Exists(claims))
    mine = Q(reviewer=viewer) if who == ME else Q(reviewer__username=who)
    return Q(Exists(claims.filter(mine)))


def _number(value: str) -> int:
    number = int(value)
    if not 0 <= number < 2**31:
        raise ValueError(value)
    return number


_CONDITIONS: dict[str, Callable[[str], Q | Exists]] = {
    "sender": lambda value: Q(sender__name=value),
    "category": lambda value: _of_verdicts(category=value),
    "language": _language,
    "reason": lambda value: _of_reports(Q(reason=value)),
    "waiting": _waiting,
    "item_type": lambda value: Q(type=value),
    "confidence_from": lambda value: _of_verdicts(confidence__gte=float(value)),
    "confidence_to": lambda value: _of_verdicts(confidence__lte=float(value)),
    "older_than": lambda value: Q(since__lt=Now() - AGES[value][0]),
    "newer_than": lambda value: Q(since__gte=Now() - AGES[value][0]),
    "version": lambda value: _of_verdicts(policy_version=_number(value)),
    "rule": _rule,
    "hold": _hold,
}
