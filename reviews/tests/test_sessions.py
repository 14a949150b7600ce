"""One statement reads who is logged in; it says of their permissions what Django says."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews.sessions import DeskBackend
from reviews.tests.people import log_in

pytestmark = pytest.mark.django_db


def read(name: str) -> User:
    user = DeskBackend().get_user(User.objects.get(username=name).pk)
    assert user is not None
    return user


def test_permissions_come_with_the_user_and_are_those_of_their_groups_and_their_own() -> None:
    log_in("dana", "reviewer", "operator")
    dana = User.objects.get(username="dana")
    dana.user_permissions.add(Permission.objects.get(codename="view_logentry"))
    user = read("dana")

    with CaptureQueriesContext(connection) as asked:
        mine = user.get_all_permissions()

    assert len(asked) == 0
    assert mine == User.objects.get(username="dana").get_all_permissions()
    assert "admin.view_logentry" in mine
    assert "reviews.decide_items" in mine


def test_a_superuser_may_do_everything_and_who_is_inactive_is_nobody() -> None:
    User.objects.create_superuser("root")
    User.objects.create(username="gone", is_active=False)

    assert read("root").has_perm("reviews.decide_items")
    assert DeskBackend().get_user(User.objects.get(username="gone").pk) is None
    assert DeskBackend().get_user(4711) is None


def test_a_permission_that_is_taken_away_is_gone_with_the_next_page() -> None:
    browser = log_in("dana", "reviewer")
    assert browser.get("/review/needs-review/").status_code == 200

    Group.objects.get(name="reviewer").user_set.clear()

    assert browser.get("/review/needs-review/").status_code == 403


def test_a_page_reads_the_person_their_preferences_and_permissions_in_one_statement() -> None:
    browser = log_in("dana", "reviewer")

    with CaptureQueriesContext(connection) as asked:
        browser.get("/review/resolved/")  # the open lists ask who else may decide

    for table in ("auth_permission", "reviews_preferences"):
        assert len([each for each in asked.captured_queries if table in each["sql"]]) == 1
