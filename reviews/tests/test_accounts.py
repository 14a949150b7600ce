"""The person comes with their preferences and permissions, and with no more of either than they hold."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from pytest_django import DjangoAssertNumQueries

from reviews.accounts import Accounts
from reviews.models import Preferences


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    user = User.objects.create_user("dana", password="a long enough word")
    user.groups.add(Group.objects.get(name="reviewer"))
    user.user_permissions.add(Permission.objects.get(codename="view_auditentry"))
    return user


def test_their_own_permissions_and_their_groups_are_theirs(dana: User) -> None:
    User.objects.create_user("omar").groups.add(Group.objects.get(name="admin"))

    assert dana.get_all_permissions() == {
        "reviews.review_items",
        "reviews.decide_items",
        "reports.view_auditentry",
    }
    assert not User.objects.get(username="omar").has_perm("classifier.add_batch")


def test_a_closed_account_is_nobody_and_may_nothing(dana: User) -> None:
    dana.is_active = False
    dana.save()

    assert Accounts().get_user(dana.pk) is None
    assert dana.get_all_permissions() == set()


def test_person_preferences_and_permissions_take_two_statements(
    dana: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Preferences.objects.create(user=dana, single_keys=False)

    with django_assert_num_queries(2):
        user = Accounts().get_user(dana.pk)
        assert user is not None
        assert user.has_perms(["reviews.review_items", "reviews.decide_items"])
        assert not user.review_preferences.single_keys
