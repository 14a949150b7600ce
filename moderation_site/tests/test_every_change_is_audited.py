"""Each change that a person or a command makes leaves exactly one audit row; reading changes nothing.

All addresses, actions of the admin and commands are walked. A new one fails here until it stands in
`changes.py` with what it leaves, or below as one that reads or need not be audited.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import get_commands
from django.db import connection
from django.http import HttpRequest

from classifier.models import PolicyVersion
from conftest import undone
from dev.standin.client import Standin
from moderation_site.tests.addresses import (
    OF_A_MODEL,
    every_route,
    models_in_the_admin,
    standard_routes,
)
from moderation_site.tests.changes import CHANGES, Change
from moderation_site.tests.everything import Installation, furnish
from reports.models import AuditEntry

pytestmark = pytest.mark.django_db

# What changes rows and leaves no audit row, each for its reason.
NOT_AUDITED = {
    "api/v1/reports/": "a sender's report is its own record, with its time and its sender",
    "review/items/<item_id>/claim/": "a claim that goes on is no other; taking and ending it are",
    "review/items/<item_id>/draft/": "what is typed and not said yet; it goes with the decision",
    "login/": "the session's; the account keeps when it was last used",
    "admin/login/": "likewise",
    "logout/": "the session's",
    "admin/logout/": "likewise",
    "command sweep": "no person's act: it finds what is due and tells who has the turn",
    "command reconcile": "no person's act: it does the work of batches, whose start is audited",
}

# Whose GET and POST change no row.
READS = {
    *("", "admin/", "admin/<app_label>/", "admin/<url>", "admin/autocomplete/", "admin/jsi18n/"),
    "admin/classifier/batch/<batch_id>/now/",
    "admin/classifier/classification/rules/",
    "admin/classifier/policyversion/compare/",
    "admin/password_change/done/",
    "admin/r/<content_type_id>/<object_id>/",
    *("api/<rest>", "api/docs/", "api/schema/", "api/v1/reports/<public_id>/"),
    "language/",
    *("review/", "review/<slug>/", "review/disagreements/", "review/search/", "review/decisions/"),
    *("review/authors/<public_id>/", "review/quality/"),
    "review/quality/differences/",
    "review/quality/to-settle/",
    "review/quality/evaluation/<set_name>/",
    "review/quality/evaluation/<set_name>/cases.jsonl",
    "command check_invariants",
    "command export_evaluation_set",
}

# Sessions, Django's own log, and the audit itself.
BESIDE = {"django_session", "django_admin_log", "reports_auditentry"}


@pytest.fixture
def everything(policy: PolicyVersion, standin: Standin) -> Installation:  # noqa: ARG001
    return furnish(policy)


class Seen:
    """What was written: the tables that changed, and the actions of the new audit rows."""

    tables: set[str]
    audited: list[str]


@contextmanager
def watched() -> Iterator[Seen]:
    seen, before = Seen(), written()
    last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    yield seen
    after = written()
    seen.tables = {name for name in after if after[name] != before.get(name, 0)} - BESIDE
    seen.audited = list(
        AuditEntry.objects.filter(pk__gt=last).order_by("pk").values_list("action", flat=True)
    )


def written() -> dict[str, int]:
    """Rows that this transaction has written so far, by table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
        )
        return dict(cursor.fetchall())


# --- Nothing is forgotten


def everything_that_may_change() -> set[str]:
    """Addresses, actions of the admin, and commands, by the names that the tables here use."""
    shown = models_in_the_admin()
    names = set(every_route()) - standard_routes(shown)
    request = HttpRequest()
    request.user = User(is_superuser=True, is_active=True)
    for name, model in shown.items():
        of_model: admin.ModelAdmin[Any] = admin.site.get_model_admin(model)
        may = {
            "add": of_model.has_add_permission(request),
            "change": of_model.has_change_permission(request),
            "delete": of_model.has_delete_permission(request),
        }
        names |= {OF_A_MODEL[kind].format(name) for kind, allowed in may.items() if allowed}
        names |= {f"action {name} {action}" for action in of_model.get_actions(request)}
    ours = {config.name for config in apps.get_app_configs()} & {"reports", "classifier", "reviews"}
    return names | {f"command {name}" for name, app in get_commands().items() if app in ours}


def test_everything_that_may_change_something_stands_in_exactly_one_table() -> None:
    walked = everything_that_may_change()
    changes = {name.partition(": ")[0] for name in CHANGES}

    tables = (changes, set(NOT_AUDITED), READS)
    named = set().union(*tables)
    new, gone = sorted(walked - named), sorted(named - walked)
    assert not new, (
        f"say in changes.py what these leave, or in READS that they leave nothing: {new}"
    )
    assert not gone, f"these are named, and do not exist any more: {gone}"
    assert len(named) == sum(map(len, tables)), "something stands in two tables"


# --- What changes, and what does not


def test_each_change_leaves_exactly_its_audit_rows(everything: Installation) -> None:
    wrong: list[str] = []
    for name, change in CHANGES.items():
        own = replace(everything, values=dict(everything.values))
        with undone():
            try:
                faults = list(faults_of(change, own))
            except Exception as error:  # noqa: BLE001 - it is told beside the others
                faults = [f"could not be made: {error!r}"]
        wrong += [f"{name}: {fault}" for fault in faults]

    assert not wrong, "\n".join(wrong)


def faults_of(change: Change, everything: Installation) -> Iterator[str]:
    """What is wrong with it: made once, and made again where that is to be no change."""
    change.prepare(everything)
    with watched() as seen:
        change.make(everything)
    if not seen.tables and not change.is_record:
        yield "changed nothing, so that this shows nothing"
    if seen.audited != list(change.audited):
        yield f"left the audit rows {seen.audited}, not {list(change.audited)}"
    if change.is_once:
        with watched() as seen:
            change.make(everything)
        if seen.tables or seen.audited:
            yield f"made again it changed {sorted(seen.tables)} and left {seen.audited}"


def test_reading_changes_nothing_and_leaves_no_audit_row(everything: Installation) -> None:
    wrong = []
    for pattern, route in every_route().items():
        visitor = everything.visit_as("key" if pattern.startswith("api/") else "superuser")
        address = route.filled(everything.values_for(pattern))
        asks: list[Callable[..., object]] = [visitor.get]
        if pattern in READS:
            asks.append(visitor.post)
        for ask in asks:
            with undone(), watched() as seen:
                ask(address)
            if seen.tables or seen.audited:
                wrong.append(f"{ask.__name__} {address}: {seen.tables} {seen.audited}")

    assert not wrong, "\n".join(wrong)
