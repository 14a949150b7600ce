"""Categories that a person is not handed, and what comes of it for the others.

An opt-out holds even where nobody else is left: content is pushed on no one who asked not to see
it. Such items stay in the lists, so the gap is said aloud instead: to who makes it, to who leads,
and to operations (`moderation_category_taken`).
"""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import Exists, ExpressionWrapper, Func, JSONField, OuterRef, QuerySet

from classifier.models import Classification, PolicyVersion
from reports.models import Item, Report
from reviews.preferences import preferences_of
from reviews.roles import DECIDE


def not_opted_out(items: QuerySet[Item], user: User) -> QuerySet[Item]:
    """Without those of which an unresolved report has a current verdict that the user opted out of."""
    opted_out = preferences_of(user).opted_out
    if not opted_out:
        return items
    found = Classification.objects.filter(
        report__item=OuterRef("pk"), superseded=False, category__in=opted_out
    ).exclude(report__status=Report.Status.RESOLVED)
    return items.filter(~Exists(found))


def is_taken(policy: PolicyVersion) -> dict[str, bool]:
    """Whether anybody is handed each violation of a policy, by category id.

    Not how many: in a small team the number would tell who opted out.
    """
    every = _opt_outs()
    return {
        category: any(category not in opted_out for opted_out in every)
        for category in _violations(policy)
    }


def nobody_takes(policy: PolicyVersion | None) -> list[str]:
    """The violations, by their ids, that every reviewer opted out of; none where there is no reviewer."""
    return in_every(_opt_outs(), policy)


def in_every(opt_outs: Collection[Collection[str]], policy: PolicyVersion | None) -> list[str]:
    shunned = set.intersection(*map(set, opt_outs)) if opt_outs else set()
    return [each for each in _violations(policy) if each in shunned] if policy else []


def handed_to_nobody(items: QuerySet[Item]) -> QuerySet[Item]:
    """Of each of which every reviewer, if there is one, opted out; some by one report, some by another."""
    shunned = (
        Classification.objects.filter(report__item=OuterRef(OuterRef("pk")), superseded=False)
        .exclude(report__status=Report.Status.RESOLVED)
        .alias(opted_out=ExpressionWrapper(OuterRef(OPTED_OUT), JSONField()))
        .filter(opted_out__contains=Func("category", function="to_jsonb", output_field=JSONField()))
    )
    return items.filter(Exists(reviewers()), ~Exists(reviewers().filter(~Exists(shunned))))


OPTED_OUT = "review_preferences__opted_out"


def reviewers() -> QuerySet[User]:
    """Active ones. Superusers are left out: who administers would hide that nobody else is left."""
    return User.objects.with_perm(DECIDE, include_superusers=False)


def _opt_outs() -> list[list[str]]:
    return [opted_out or [] for opted_out in reviewers().values_list(OPTED_OUT, flat=True)]


def _violations(policy: PolicyVersion) -> list[str]:
    return [each["id"] for each in policy.categories if not each["safe"]]
