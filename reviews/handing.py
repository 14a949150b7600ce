"""Giving an item out of one's hands: to a named colleague, or aside until a time."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Least, Now

from reports.audit import write_audit
from reports.models import Item
from reviews.blind import BlindWorkError, read_blindness
from reviews.claims import (
    claim_in_force,
    end_claim_of,
    end_what_ran_out,
    lock_open_item,
    refuse_if_held,
)
from reviews.holds import keeping_from
from reviews.models import Claim, Hold
from reviews.roles import DECIDE

HANDED_FOR = timedelta(hours=4)


class ResolvedError(Exception):
    """The item is resolved, or not there: there is nothing to wait for."""


class WaitsForAnotherError(Exception):
    """The item waits for a person who may decide it; `hold` says why. Nothing was written."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(f"hold {hold.pk} is open")
        self.hold = hold


def colleagues_of(reviewer: User) -> QuerySet[User]:
    """Who else may decide and is active, by name."""
    return User.objects.with_perm(DECIDE).exclude(pk=reviewer.pk).order_by("username")


def hand_over(*, item_id: int, reviewer: User, to: User, note: str = "") -> None:
    """Give an item to a colleague, whom it waits for `HANDED_FOR` and who is given it before others.

    Raises `ResolvedError`; `HeldByAnotherError` where a third person has it; `WaitsForAnotherError`
    where the colleague may not decide it; `BlindWorkError` for what one has blind. The same hand-over
    sent twice is one, and another note takes the place of the first.
    """
    with transaction.atomic():
        item = _locked(item_id, reviewer)
        standing = claim_in_force(item_id)
        if standing and (standing.reviewer_id, standing.handed_by_id) == (to.pk, reviewer.pk):
            if note not in {"", standing.note}:
                Claim.objects.filter(pk=standing.pk).update(note=note)
                _audit_handing(standing, by=reviewer)
            return
        refuse_if_held(item_id, reviewer)
        _refuse_if_kept_from(to, item)
        end_claim_of(item, reviewer)
        end_what_ran_out(item)
        _end_putting_aside(item)
        claim = Claim.objects.create(
            item=item, reviewer=to, handed_by=reviewer, note=note, expires_at=Now() + HANDED_FOR
        )
        _audit_handing(claim, by=reviewer)


def put_aside(*, item_id: int, reviewer: User, lasts: timedelta, note: str = "") -> None:
    """Take an item out of everybody's way for a time; it keeps its list and its place.

    Raises `ResolvedError`, `HeldByAnotherError`, `BlindWorkError` for what one has blind, and
    `WaitsForAnotherError` where it is escalated or proposed already. What is put aside can be put
    aside anew; the same request sent twice is one.
    """
    with transaction.atomic():
        item = _locked(item_id, reviewer)
        refuse_if_held(item_id, reviewer)
        standing = Hold.objects.filter(item=item, ended_at=None).first()
        let_go = end_claim_of(item, reviewer)
        if standing is not None:
            if standing.kind != Hold.Kind.PUT_ASIDE:
                raise WaitsForAnotherError(standing)
            if not let_go and (standing.placed_by_id, standing.note) == (reviewer.pk, note):
                return
        _end_putting_aside(item)
        hold = Hold.objects.create(
            item=item,
            kind=Hold.Kind.PUT_ASIDE,
            placed_by=reviewer,
            until=Now() + lasts,
            note=note,
        )
        seconds = int(lasts.total_seconds())
        detail = {"hold": hold.pk, "seconds": seconds}
        write_audit(action="put_aside", of=item, actor=reviewer, detail=detail)


def _audit_handing(claim: Claim, *, by: User) -> None:
    detail = {"claim": claim.pk, "to": claim.reviewer_id}
    write_audit(action="handed_over", of=claim.item, actor=by, detail=detail)


def _locked(item_id: int, reviewer: User) -> Item:
    item = lock_open_item(item_id)
    # Before the list is looked at: what is refused must not tell where the item stands.
    if read_blindness(item_id=item_id, reader=reviewer) is not None:
        raise BlindWorkError
    if item is None:
        raise ResolvedError
    return item


def _refuse_if_kept_from(person: User, item: Item) -> None:
    kept = keeping_from(person).exclude(kind=Hold.Kind.PUT_ASIDE).filter(item=item).first()
    if kept is not None:
        raise WaitsForAnotherError(kept)


def _end_putting_aside(item: Item) -> None:
    """It ends now, or ended when its time came."""
    aside = Hold.objects.filter(item=item, kind=Hold.Kind.PUT_ASIDE, ended_at=None)
    aside.update(ended_at=Least("until", Now()))
