"""A key is issued in the admin: shown once, kept nowhere, revoked there as well."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from reports.models import ApiKey, AuditEntry
from reports.tests.sending import Client
from reviews.tests.forms import form_values
from reviews.tests.people import log_in, page

pytestmark = pytest.mark.django_db


def staff(name: str, *roles: str) -> Browser:
    browser = log_in(name, *roles)
    User.objects.filter(username=name).update(is_staff=True)
    return browser


def address_of(client: Client) -> str:
    return f"/admin/reports/sender/{client.sender.pk}/issue-key/"


def test_the_key_is_shown_once_works_and_no_cache_keeps_the_page(client_of_sender: Client) -> None:
    browser = staff("amira", "admin")
    assert "Issue the key" in page(browser, address_of(client_of_sender))

    answer = browser.post(address_of(client_of_sender))

    assert "no-store" in answer["Cache-Control"]
    shown = re.search(r'<code class="secret" dir="ltr">([^<]+)</code>', answer.content.decode())
    assert shown
    key = shown[1]
    assert Client(client_of_sender.sender, key).post().status_code == 202
    secret = key.partition(".")[2]
    everywhere = [
        page(browser, address_of(client_of_sender)),
        page(browser, "/admin/reports/apikey/"),
        page(browser, f"/admin/reports/apikey/{ApiKey.objects.latest('pk').pk}/change/"),
        page(browser, "/admin/reports/auditentry/"),
        str(list(ApiKey.objects.values())),
        str(list(AuditEntry.objects.values())),
        str(dict(browser.session)),
    ]
    assert not [place for place in everywhere if secret in place]


def test_asking_for_the_page_issues_nothing(client_of_sender: Client) -> None:
    page(staff("amira", "admin"), address_of(client_of_sender))

    assert ApiKey.objects.count() == 1


def test_who_issued_it_stands_in_the_audit(client_of_sender: Client) -> None:
    staff("amira", "admin").post(address_of(client_of_sender))

    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor_name) == ("key_issued", "amira")
    assert entry.actor == User.objects.get(username="amira")


def test_an_operator_sees_the_senders_and_issues_no_key(client_of_sender: Client) -> None:
    browser = staff("omar", "operator")

    assert "Issue a key" not in page(
        browser, f"/admin/reports/sender/{client_of_sender.sender.pk}/change/"
    )
    assert browser.post(address_of(client_of_sender)).status_code == 403
    assert ApiKey.objects.count() == 1


def test_a_key_of_no_sender_is_a_404() -> None:
    assert staff("amira", "admin").post("/admin/reports/sender/1/issue-key/").status_code == 404


def test_a_pasted_key_finds_its_line_and_is_not_looked_at(client_of_sender: Client) -> None:
    browser = staff("amira", "admin")

    for typed in (client_of_sender.key, client_of_sender.key.partition(".")[0]):
        html = page(browser, f"/admin/reports/apikey/?q={typed}")
        assert "found: 1" in html
    assert "found: 0" in page(browser, "/admin/reports/apikey/?q=000000000000")


def test_a_form_that_nobody_touched_changes_no_sender_and_leaves_no_row(
    client_of_sender: Client,
) -> None:
    sender = client_of_sender.sender
    before = AuditEntry.objects.count()

    browser, address = staff("amira", "admin"), f"/admin/reports/sender/{sender.pk}/change/"
    answer = browser.post(address, form_values(page(browser, address)))

    assert answer.status_code == 302
    assert AuditEntry.objects.count() == before
