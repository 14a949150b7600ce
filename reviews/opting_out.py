"""Categories that a person is not handed, and what comes of it for the others.

An opt-out holds even where nobody else is left: content is pushed on no one who asked not to see
it. Such items stay in the lists, so the gap is said aloud instead: to who makes it, to who leads,
and to operations (`moderation_reviewers_taking`).
"""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from classifier.models import Classification, PolicyVersion
from reports.models import Item, Report
from reviews.preferences import preferences_of


def not_opted_out(items: QuerySet[Item], user: User) -> QuerySet[Item]:
    """Without those of which an unresolved report has a current verdict that the user opted out of."""
    opted_out = preferences_of(user).opted_out
    if not opted_out:
        return items
    found = Classification.objects.filter(
        report__item=OuterRef("pk"), superseded=False, category__in=opted_out
    ).exclude(report__status=Report.Status.RESOLVED)
    return items.filter(~Exists(found))


def takers(policy: PolicyVersion) -> dict[str, int]:
    """How many active reviewers are handed each violation of a policy, by category id.

    Superusers are left out: an account that administers would hide that nobody else is left.
    """
    every = _opt_outs()
    return {
        category: sum(category not in opted_out for opted_out in every)
        for category in _violations(policy)
    }


def nobody_takes(policy: PolicyVersion | None) -> list[str]:
    """The violations, by their ids, that every reviewer opted out of; none where there is no reviewer."""
    every = _opt_outs()
    shunned = set.intersection(*every) if every else set()
    return [each for each in _violations(policy) if each in shunned] if policy else []


def _opt_outs() -> list[set[str]]:
    """What each active reviewer opted out of."""
    reviewers = User.objects.with_perm("reviews.decide_items", include_superusers=False)
    chosen = reviewers.values_list("review_preferences__opted_out", flat=True)
    return [set(opted_out or []) for opted_out in chosen]


def _violations(policy: PolicyVersion) -> list[str]:
    return [each["id"] for each in policy.categories if not each["safe"]]
