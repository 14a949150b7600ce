"""What is handed out blind: samples mixed in among other work, and a share of that work itself."""

from random import SystemRandom
from typing import Any

from django.contrib.auth.models import User
from django.db.models import BigIntegerField, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac

from classifier.models import Classification
from reports.models import Item, Report, Severity
from reviews.claims import take
from reviews.filters import Filters, narrowed
from reviews.holds import keeping_from, kept_from
from reviews.models import (
    Action,
    BlindAudit,
    Claim,
    Decision,
    DoubleReview,
    Hold,
    SamplingRate,
    Skip,
)
from reviews.opting_out import not_opted_out
from reviews.preferences import preferences_of

Of = SamplingRate.Of
_DICE = SystemRandom()
RESOLVING = [Action.Outcome.CLEARS, Action.Outcome.UPHOLDS]
TRIED = 8
"""Samples of a kind that are tried where others take them at the same moment."""


def read_shares() -> dict[str, float]:
    """Between 0 and 1, by `SamplingRate.Of`: what is mixed in, and what else is handed out blind."""
    shares = SamplingRate.objects.filter(of__in=[Of.MIXED_IN, Of.BLIND])
    return dict(shares.values_list("of", "rate"))


def by_chance(share: float) -> bool:
    return _DICE.random() < share


def is_handed_blind(item: Item, *, share: float) -> bool:
    """Of other work: below critical, waiting for nobody who has to know why, and without a decision
    that stands: who overrides one sees it.

    Fixed for each item, so that it tells nothing to let go of it and take it again; by the secret
    key, so that nobody reckons from an id what is no such work.
    """
    if item.rank >= Severity.CRITICAL:
        return False
    digest = salted_hmac("reviews.quality.mixing", str(item.pk), algorithm="sha256").digest()
    if int.from_bytes(digest[:6]) >= share * 2**48:
        return False
    held = Hold.objects.in_force().filter(item=item)
    return not held.exists() and _what_stands(item.pk).first() not in RESOLVING


def _what_stands(item: Any) -> QuerySet[Decision, str]:
    """The outcome of the newest row about an item that nobody took back: what a decision overrides."""
    rows = Decision.objects.filter(item=item).standing().order_by("-pk")
    return rows.values_list("action__outcome", flat=True)


def claim_sample(*, filters: Filters, reviewer: User, beside: int | None = None) -> int | None:
    """Take a sample blind, `beside` aside; the item's id, or None where there is none for them."""
    kinds = [
        (Item.List.JUDGED_SAFE, _open_audits()),
        (Item.List.RESOLVED, _open_double_reviews(reviewer)),
    ]
    _DICE.shuffle(kinds)
    for where, samples in kinds:
        items = _may_be_handed(where, filters, reviewer).filter(pk=OuterRef("its_item"))
        found = samples.filter(Exists(items)).exclude(its_item=beside).order_by("pk")
        pairs: list[tuple[int, int | None]] = list(found.values_list("its_item", "second")[:TRIED])
        for item_id, double_review in pairs:
            if take(
                item_id=item_id,
                reviewer=reviewer,
                kept_by=kept_from(reviewer),
                listed=where,
                blind=True,
                double_review=double_review,
            ):
                return item_id
    return None


def _open_audits() -> QuerySet[Any]:
    """Of verdicts that nobody has looked at yet, and of reports that still count as safe.

    One about whose item a decision stands is handed to nobody: it is answered by who decides anew
    seeing all of it, or stays open.
    """
    unanswered = BlindAudit.objects.filter(decision=None, report__status=Report.Status.JUDGED_SAFE)
    stands = Coalesce(Subquery(_what_stands(OuterRef("report__item"))[:1]), Value(""))
    return (
        unanswered.alias(stands=stands)
        .exclude(stands__in=RESOLVING)
        .annotate(its_item=F("report__item"), second=Value(None, output_field=BigIntegerField()))
    )


def _open_double_reviews(reviewer: User) -> QuerySet[Any]:
    """Of decisions that still stand, about items on which this person has never decided anything.

    What they opted out of is asked of resolved reports as well: the text is the same.
    """
    opted_out = preferences_of(reviewer).opted_out
    own = Decision.objects.filter(item=OuterRef("decision__item"), reviewer=reviewer)
    shunned = Classification.objects.filter(
        report__item=OuterRef("decision__item"), superseded=False, category__in=opted_out
    )
    return (
        DoubleReview.objects.whose_first_stands()
        .filter(~Exists(own), ~Exists(shunned), answered_at=None)
        .exclude(decision__category__in=opted_out)
        .annotate(its_item=F("decision__item"), second=F("pk"))
    )


def _may_be_handed(where: Item.List, filters: Filters, reviewer: User) -> QuerySet[Item]:
    """Items of a list that nobody has, that this person is not kept from and did not pass over.

    Nor had in hand with all that is told of it: such an answer would be blind in name alone. What they
    read without taking it is not known. Narrowed as the list that they work through is: samples stand
    among its items.
    """
    this = {"item": OuterRef("pk")}
    items = narrowed(Item.objects.filter(list=where), Item.List.NEEDS_REVIEW, filters).filter(
        ~Exists(Claim.objects.in_force().filter(**this)),
        ~Exists(Claim.objects.filter(**this, reviewer=reviewer, blind=False)),
        ~Exists(Skip.objects.filter(**this, reviewer=reviewer)),
        ~Exists(keeping_from(reviewer).filter(**this)),
    )
    return not_opted_out(items, reviewer)
