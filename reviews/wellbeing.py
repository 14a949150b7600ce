"""What the desk knows of the person in front of it: how they work, and how much they have seen today."""

from dataclasses import dataclass
from datetime import UTC

from django.contrib.auth.models import User
from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now, TruncDay

from reports.models import Severity
from reviews.models import Claim, Preferences
from reviews.preferences import preferences_of
from reviews.veil import reveals

SEVERE = Severity.HIGH


@dataclass(frozen=True)
class Desk:
    """One person's desk. Severe items are counted once each, by when they came into their hands."""

    preferences: Preferences
    severe_today: int
    """Since midnight UTC."""
    severe_since_pause: int
    """Of those, since the last pause, or since the person last chose to go on without one."""
    has_revealed: bool
    """Whether they have lifted the veil of the item that was asked about."""

    def veils(self, rank: int) -> bool:
        """Whether this person wants what is so severe hidden until they ask for it."""
        return self.preferences.veil_from is not None and rank >= self.preferences.veil_from

    @property
    def proposes_pause(self) -> bool:
        return self.severe_since_pause >= self.preferences.pause_after


def read_desk(user: User, *, item_id: int | None = None) -> Desk:
    """In one statement beside the preferences; `item_id` where the page is about one item."""
    preferences = preferences_of(user)
    today = Claim.objects.filter(claimed_at__gte=TruncDay(Now(), tzinfo=UTC))
    paused = preferences.paused_at
    counts = User.objects.annotate(
        today=_severe(today),
        since=_severe(today.filter(claimed_at__gt=paused) if paused else today),
        revealed=Exists(reveals(item_id or 0).filter(actor=OuterRef("pk"))),
    )
    row = counts.values_list("today", "since", "revealed").get(pk=user.pk)
    return Desk(preferences, *row)


def _severe(claims: QuerySet[Claim]) -> Coalesce:
    """How many severe items are among these claims of the outer query's user."""
    mine = claims.filter(reviewer=OuterRef("pk"), item__rank__gte=SEVERE).order_by()
    counted = mine.values("reviewer").annotate(many=Count("item", distinct=True)).values("many")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
