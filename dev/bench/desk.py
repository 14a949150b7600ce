"""The review desk at ten thousand items and at a million: first bytes, statements, plans."""

from __future__ import annotations

import http.client
import os
import statistics
import time
from dataclasses import dataclass, replace
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg

from dev import programs
from dev.accounts import read_accounts
from dev.bench.desk_rows import write_desk
from dev.bench.plans import plans_of
from dev.bench.prepared import prepared, say
from dev.errors import DevError
from dev.processes import free_port, wait_until
from dev.product import answers_ok

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.processes import Interruption, Supervisor
    from dev.services import Services

SMALL = 10_000
ASKED = 60  # for each page, after three that warm it
GOAL_RATIO = 1.5
MOST_STATEMENTS = 12


LET_GO = "UPDATE reviews_claim SET released_at = clock_timestamp() WHERE released_at IS NULL"


@dataclass(frozen=True)
class HotPage:
    """A page, and the start of the name of an index that it cannot do without, if it is a hot one."""

    name: str
    address: str
    index: str = ""
    user: str = "reviewer"
    post: bool = False


# Of the rows that `write_desk` makes, 4001 is in review and 4006 resolved; `{report}` is one of 4001's.
PAGES = (
    HotPage("needs review", "/review/needs-review/", "item_open_in_list_order"),
    HotPage("pending", "/review/pending/", "item_open_in_list_order"),
    HotPage("judged safe", "/review/safe/", "item_open_in_list_order"),
    HotPage("resolved", "/review/resolved/", "item_resolved_latest"),
    HotPage(
        "narrowed", "/review/needs-review/?language=ar&category=spam", "item_open_in_list_order"
    ),
    HotPage("start reviewing", "/review/needs-review/start/", "item_open_in_list_order", post=True),
    HotPage("item in review", "/review/items/4001/", "reports_report_item_id"),
    HotPage("item resolved", "/review/items/4006/", "reports_report_item_id"),
    HotPage("search: a rare word", "/review/search/?q=p-4001"),
    HotPage("search: common words", "/review/search/?q=train+late", "content_searched"),
    HotPage("saved views", "/review/views/"),
    HotPage("decisions of one", "/review/decisions/?reviewer=reviewer", "decision_of_reviewer"),
    HotPage("author", "/review/authors/{report}/"),
    HotPage("preferences", "/review/preferences/"),
    HotPage("disagreements", "/review/disagreements/"),
    HotPage("admin: pending reports", "/admin/reports/pendingreport/", user="admin"),
    HotPage("admin: reports", "/admin/reports/report/", user="admin"),
    HotPage("admin: items", "/admin/reports/item/", user="admin"),
    HotPage("admin: verdicts", "/admin/classifier/classification/", user="admin"),
    HotPage("admin: jobs", "/admin/classifier/job/", user="admin"),
    HotPage("admin: decisions", "/admin/reviews/decision/", user="admin"),
)


def bench_desk(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """p95 of the first byte in milliseconds for each page, few and many rows, and their ratio.

    At `rows` no statement of a hot page may read a large table whole, it uses the index that is
    named for it, and no page makes more than 12 statements: `DevError` otherwise.
    """
    env = prepared(services, supervisor, interruption)
    accounts_file = services.home.directory / "accounts.json"
    supervisor.run_step(programs.accounts(accounts_file, env=env), check=interruption.check)
    accounts = read_accounts(accounts_file)
    if accounts is None:
        raise DevError("no accounts were made")
    port = free_port()
    supervisor.start(programs.web(port, env=env))
    url = f"http://127.0.0.1:{port}/healthz"
    wait_until(lambda: answers_ok(url), seconds=30, what="no web process", check=interruption.check)
    cookies = {
        name: log_in(port, name, accounts["passwords"][name]) for name in ("admin", "reviewer")
    }

    found: dict[str, Any] = {"rows": [SMALL, rows], "pages": {}}
    written = 0
    for size in (SMALL, rows):
        say(f"writing {size - written:,} items")
        with psycopg.connect(services.database_url, autocommit=True) as database:
            write_desk(database, interruption, first=written + 1, last=size)
            first = "SELECT min(public_id::text) FROM reports_report WHERE item_id = 4001"
            (report,) = database.execute(first).fetchone() or ("",)
        written = size
        pages = [replace(page, address=page.address.format(report=report)) for page in PAGES]
        for page in pages:
            p95 = _first_byte_p95(
                port, page, cookies[page.user], database_url=services.database_url
            )
            interruption.check()
            found["pages"].setdefault(page.name, {})[f"p95_ms_{size}"] = round(p95 * 1000, 1)
    os.environ.update(env)
    with psycopg.connect(services.database_url, autocommit=True) as database:
        _explain(found, pages, rows, before_each=lambda: database.execute(LET_GO))
    return found


def _explain(
    found: dict[str, Any], pages: list[HotPage], rows: int, *, before_each: Callable[[], object]
) -> None:
    import django  # noqa: PLC0415  after the environment is set

    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    wrong = []
    say(f"{'page':>26} {'p95 ms':>8} {f'{SMALL:,}':>8} {'ratio':>6} {'statements':>11}")
    for page in pages:
        browser = Client(headers={"host": "localhost"})
        browser.force_login(User.objects.get(username=page.user))
        before_each()
        plans = plans_of(browser, page.address, post=page.post)
        figures = found["pages"][page.name]
        small, large = figures[f"p95_ms_{SMALL}"], figures[f"p95_ms_{rows}"]
        figures |= {"ratio": round(large / small, 2), "statements": plans.statements}
        say(
            f"{page.name:>26} {large:>8} {small:>8} {figures['ratio']:>6} {plans.statements:>11}"
            + ("" if figures["ratio"] <= GOAL_RATIO else f"  above the goal of {GOAL_RATIO}")
        )
        if plans.whole_tables and not page.index:
            say(f"{'':>26} reads {', '.join(sorted(plans.whole_tables))} whole")
        elif plans.whole_tables:
            wrong.append(f"{page.name} reads {', '.join(sorted(plans.whole_tables))} whole")
        if not any(each.startswith(page.index) for each in plans.indexes):
            used = ", ".join(sorted(plans.indexes))
            wrong.append(f"{page.name} does not use {page.index}, but {used}")
        if plans.statements > MOST_STATEMENTS:
            wrong.append(f"{page.name} makes {plans.statements} statements")
    if wrong:
        raise DevError("; ".join(wrong))


def log_in(port: int, name: str, password: str) -> str:
    """The Cookie header of somebody who logged in through the form."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/login/")
    answer = connection.getresponse()
    answer.read()
    jar = SimpleCookie(answer.headers["Set-Cookie"])
    token = jar["csrftoken"].value
    connection.request(
        "POST",
        "/login/",
        urlencode({"username": name, "password": password, "csrfmiddlewaretoken": token}),
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"csrftoken={token}",
        },
    )
    answer = connection.getresponse()
    answer.read()
    session = SimpleCookie()
    for value in answer.headers.get_all("Set-Cookie", []):
        session.load(value)
    connection.close()
    if "sessionid" not in session:
        raise DevError(f"{name} could not log in: {answer.status}")
    return "; ".join(f"{key}={each.value}" for key, each in session.items())


def _first_byte_p95(port: int, page: HotPage, cookie: str, *, database_url: str) -> float:
    """Seconds from the request to the first byte of its answer, one request after another.

    What is posted finds nobody with an item in hand.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    token = SimpleCookie(cookie)["csrftoken"].value
    headers = {"Cookie": cookie, "X-CSRFToken": token, "Content-Length": "0"}
    taken = []
    database = psycopg.connect(database_url, autocommit=True)
    for nth in range(ASKED + 3):
        if page.post:
            database.execute(LET_GO)
        began = time.perf_counter()
        method = "POST" if page.post else "GET"
        connection.request(method, page.address, headers=headers)
        answer = connection.getresponse()
        first = time.perf_counter() - began
        answer.read()
        if answer.status not in {200, 302}:
            raise DevError(f"{page.address} answers {answer.status}")
        if nth >= 3:
            taken.append(first)
    connection.close()
    database.close()
    return statistics.quantiles(taken, n=20)[18]
