"""The admin's lists at any size: statements that do not grow with the rows, counts that stop."""

import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from classifier.models import Job, PolicyVersion, WaitingReason
from classifier.tests.explaining import nodes_of
from reports.audit import write_audit
from reports.counting import COUNTED_AT_MOST
from reports.models import Item, Report
from reports.senders import issue_key
from reports.tests.sending import Client, make_sender
from reviews.models import Claim, Hold
from reviews.tests.people import fill_list, page

NOBODYS = "7d9f1e52-6a0c-4f3b-9b8e-2c5d4a3b1f60"

pytestmark = pytest.mark.django_db
MOST_STATEMENTS = 12

# Each list as it opens, and as it is looked at otherwise.
LISTS = [
    f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry
]
MORE = [
    "/admin/reports/item/?list=all",
    "/admin/reports/item/?list=resolved",
    "/admin/reports/item/?q=bulk-1",
    "/admin/reports/report/?status=all",
    "/admin/reports/report/?q=bulk-1",
    "/admin/reports/pendingreport/?waits=parked",
    "/admin/reports/auditentry/?since=day&action=filled",
    "/admin/classifier/classification/?current=yes&version=1&category=none",
    "/admin/classifier/job/?state=parked&reason__exact=provider_timeout",
    "/admin/reviews/claim/?standing=all",
]


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    browser = Browser()
    browser.force_login(User.objects.create_superuser("root"))
    return browser


def fill(policy: PolicyVersion, count: int, name: str) -> None:
    """So many more rows of everything that the lists show."""
    root = User.objects.get(username="root")
    for status in Item.List.values:
        fill_list(make_sender(f"{name}-{status}"), policy, status, count)
    pending = Report.objects.filter(sender__name=f"{name}-pending").select_related("item")
    Job.objects.bulk_create(
        Job(report=each, policy_version=policy, reason=WaitingReason.PROVIDER_TIMEOUT, parked=True)
        for each in pending
    )
    Hold.objects.bulk_create(
        Hold(item=each.item, kind=Hold.Kind.ESCALATED, placed_by=root) for each in pending
    )
    soon = timezone.now() + timedelta(minutes=9)
    Claim.objects.bulk_create(
        Claim(item=each.item, reviewer=root, expires_at=soon) for each in pending
    )
    group = Group.objects.get(name="reviewer")
    for number in range(count):
        sender = make_sender(f"{name}-{number}").sender
        issue_key(sender=sender, actor=root)
        write_audit(action="filled", of=sender, actor=root, detail={"number": number})
        User.objects.create(username=f"{name}-{number}").groups.add(group)


def statements(browser: Browser, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        page(browser, address)
    return [query["sql"] for query in asked]


def test_no_list_asks_more_of_the_database_for_fifty_rows_than_for_one(
    browser: Browser, policy: PolicyVersion
) -> None:
    fill(policy, 1, "few")
    page(browser, LISTS[0])
    few = {each: len(statements(browser, each)) for each in (*LISTS, *MORE)}
    fill(policy, 50, "many")

    many = {each: len(statements(browser, each)) for each in (*LISTS, *MORE)}

    assert many == few
    assert max(many.values()) <= MOST_STATEMENTS, many


def test_no_list_counts_beyond_the_bound(browser: Browser, policy: PolicyVersion) -> None:
    fill(policy, 1, "few")
    bound = f"LIMIT {COUNTED_AT_MOST + 1}"
    for address in (*LISTS, *MORE):
        counts = [each for each in statements(browser, address) if "COUNT(" in each.upper()]

        assert counts, address
        assert all(bound in each for each in counts), (address, counts)


def test_a_long_list_says_that_there_are_more_and_leads_no_further(
    browser: Browser, policy: PolicyVersion, client_of_sender: Client
) -> None:
    fill_list(client_of_sender, policy, "pending", COUNTED_AT_MOST + 50)

    html = page(browser, "/admin/reports/item/")

    assert "10,000+ items" in html
    assert max(map(int, re.findall(r"\?p=(\d+)", html))) == 200
    assert page(browser, "/admin/reports/item/?p=200").count("field-about") == 50
    assert browser.get("/admin/reports/item/?p=201").status_code == 302


@pytest.mark.parametrize(
    ("address", "index"),
    [
        ("/admin/reports/item/", "item_open_in_list_order"),
        ("/admin/reports/item/?list=resolved", "item_resolved_latest"),
        ("/admin/reports/report/", "report_in_list_order"),
        ("/admin/reports/pendingreport/", "report_in_list_order"),
        ("/admin/reports/judgedsafereport/", "report_in_list_order"),
        ("/admin/classifier/classification/", "classifier_classification_pkey"),
        ("/admin/classifier/job/", "classifier_job_pkey"),
        ("/admin/reports/auditentry/", "reports_auditentry_pkey"),
    ],
)
def test_a_list_is_read_in_the_order_of_an_index(
    browser: Browser, policy: PolicyVersion, address: str, index: str
) -> None:
    fill(policy, 5, "few")

    nodes = nodes_of(rows_of(browser, address), sorts=False)

    assert any(str(node.get("Index Name")).startswith(index) for node in nodes), nodes
    assert "Sort" not in [node["Node Type"] for node in nodes]


@pytest.mark.parametrize(
    ("address", "index"),
    [
        ("/admin/reports/auditentry/?q=12", "audit_by_object"),
        ("/admin/reports/item/?q=bulk-1", "item_by_external_id"),
        ("/admin/reports/report/?q=bulk-1", "item_by_external_id"),
        ("/admin/reports/apikey/?q=0123456789ab.secret", "reports_apikey_prefix_"),
        (f"/admin/reports/report/?q={NOBODYS}", "reports_report_public_id_key"),
        (f"/admin/classifier/job/?q={NOBODYS}", "reports_report_public_id_key"),
    ],
)
def test_a_search_finds_a_whole_id_by_an_index(
    browser: Browser, policy: PolicyVersion, address: str, index: str
) -> None:
    fill(policy, 200, "many")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    nodes = nodes_of(rows_of(browser, address))

    assert any(str(node.get("Index Name")).startswith(index) for node in nodes), nodes


def rows_of(browser: Browser, address: str) -> str:
    """The statement that reads the list's rows: the longest about them that counts nothing."""
    app, model = address.split("/")[2:4]
    table = apps.get_model(app, model)._meta.db_table
    asked = statements(browser, address)
    read = [each for each in asked if f'FROM "{table}"' in each and "ORDER BY" in each]
    return max((each for each in read if "COUNT(" not in each), key=len)
