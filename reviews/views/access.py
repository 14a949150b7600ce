"""Who may open a page, and who may decide on it."""

from django.contrib.auth.decorators import permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest

from reviews.roles import ADD_CASE, DECIDE, DECIDE_ESCALATED, REVIEW, VIEW_QUALITY

may_review = permission_required(REVIEW, raise_exception=True)
may_decide = permission_required(DECIDE, raise_exception=True)
may_view_quality = permission_required(VIEW_QUALITY, raise_exception=True)
may_add_cases = permission_required(ADD_CASE, raise_exception=True)
may_settle = permission_required(DECIDE_ESCALATED, raise_exception=True)


def person(request: HttpRequest) -> User:
    """Who asks, of a page that asks for a log-in."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    return request.user


def decider(request: HttpRequest) -> User | None:
    """Who asks, if they may decide."""
    user = request.user
    return user if isinstance(user, User) and user.has_perm(DECIDE) else None
