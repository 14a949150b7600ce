"""Who may open what: every page needs a person with a role; an API key opens none."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.tests.sending import Client, body_saying
from reviews.models import Decision
from reviews.roles import ROLES
from reviews.tests.people import decide, log_in, page

PAGES = [
    "/review/pending/",
    "/review/needs-review/",
    "/review/safe/",
    "/review/resolved/",
    "/review/disagreements/",
    "/review/items/{item}/",
    "/review/search/?q=x",
    "/review/views/",
    "/review/decisions/",
    "/review/authors/{report}/",
]


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize(
    ("roles", "status"),
    [
        (("reviewer",), {200, 302}),
        (("admin",), {200, 302}),
        (("operator",), {200, 302}),
        ((), {403}),
    ],
)
def test_each_page_asks_for_a_role(
    client_of_sender: Client, address: str, roles: tuple[str, ...], status: set[int]
) -> None:
    report = client_of_sender.send(body_saying("x"))

    answer = log_in("somebody", *roles).get(
        address.format(item=report.item_id, report=report.public_id)
    )

    assert answer.status_code in status
    assert "/login/" not in answer.headers.get("Location", "")


@pytest.mark.parametrize("address", [*PAGES, "/review/pending/start/", "/admin/"])
def test_without_a_log_in_every_page_leads_to_it_and_a_key_changes_nothing(
    client_of_sender: Client, address: str
) -> None:
    report = client_of_sender.send(body_saying("x"))
    headers = {"Authorization": f"Bearer {client_of_sender.key}"}

    answer = Browser().get(
        address.format(item=report.item_id, report=report.public_id), headers=headers
    )

    assert answer.status_code == 302
    assert "/login/" in answer["Location"]


def test_who_may_only_read_cannot_decide(client_of_sender: Client, policy: PolicyVersion) -> None:  # noqa: ARG001
    report = client_of_sender.send(body_saying("x"))
    operator = log_in("olga", "operator")
    html = page(operator, f"/review/items/{report.item_id}/")
    reader = log_in("dana", "reviewer")

    assert 'name="action"' not in html
    seen = page(reader, f"/review/items/{report.item_id}/")
    assert decide(operator, report.item, seen, action="no_violation").status_code == 403
    assert not Decision.objects.exists()


def test_the_roles_exist_after_migrate_with_every_permission_they_name(db: None) -> None:  # noqa: ARG001
    for name, permissions in ROLES.items():
        group = Group.objects.get(name=name)
        held = {
            f"{each.content_type.app_label}.{each.codename}"
            for each in Permission.objects.filter(group=group).select_related("content_type")
        }
        assert held == set(permissions)


def test_a_form_from_another_site_is_refused(client_of_sender: Client) -> None:
    report = client_of_sender.send(body_saying("x"))
    log_in("dana", "reviewer")
    browser = Browser(enforce_csrf_checks=True)
    browser.force_login(Group.objects.get(name="reviewer").user_set.get())

    answer = browser.post(f"/review/items/{report.item_id}/", {"action": "no_violation"})

    assert answer.status_code == 403
    assert not Decision.objects.exists()


def test_logging_in_by_the_form_leads_to_the_page_that_was_asked_for(db: None) -> None:  # noqa: ARG001
    log_in("dana", "reviewer")
    from django.contrib.auth.models import User  # noqa: PLC0415

    dana = User.objects.get(username="dana")
    dana.set_password("a long enough word")
    dana.save()
    browser = Browser()

    wrong = browser.post("/login/?next=/review/pending/", {"username": "dana", "password": "no"})
    assert "do not match" in wrong.content.decode()
    right = browser.post(
        "/login/?next=/review/pending/", {"username": "dana", "password": "a long enough word"}
    )

    assert right["Location"] == "/review/pending/"
