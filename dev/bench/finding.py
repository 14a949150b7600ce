"""Search, filters, saved views and histories over many reports: milliseconds to the whole page."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import psycopg

from dev.bench.history import write_history
from dev.bench.prepared import say

if TYPE_CHECKING:
    from dev.processes import Interruption, Supervisor
    from dev.services import Services

# Every fourth report is Arabic, and each of four texts stands in a quarter of all: the widest words.
PAGES = {
    "a word of a quarter of all": "/review/search/?q=kettle",
    "three words": "/review/search/?q=van+keys+morning",
    "words in a row": "/review/search/?q=%22beside+the+kettle%22",
    "an Arabic word, folded": "/review/search/?q=%D8%A7%D9%84%D9%85%D9%83%D8%AA%D8%A8%D9%87",
    "words that never meet": "/review/search/?q=kettle+lunch",
    "a word of none": "/review/search/?q=marmalade",
    "an exact id": "/review/search/?q=p-77",
    "a list": "/review/safe/",
    "a filter that most pass": "/review/safe/?language=en&confidence_from=0.5",
    "a filter that none passes": "/review/safe/?rule=hides_text&language=ar",
    "in nobody's hands": "/review/safe/?assignee=nobody",
    "in my hands": "/review/safe/?assignee=me",
    "saved views": "/review/views/",
    "a reviewer's decisions": "/review/decisions/?reviewer=root",
}
TIMES = 20


def bench_finding(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """p50 and p95 of each page in milliseconds, in this process, without the network."""
    write_history(services, supervisor, interruption, rows=rows)
    import django  # noqa: PLC0415

    django.setup()
    from django.conf import settings  # noqa: PLC0415
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from reports.models import Item  # noqa: PLC0415
    from reviews.filters import Filters  # noqa: PLC0415
    from reviews.saved_views import VIEWS_AT_MOST, save_view  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["testserver"]
    root = User.objects.create_superuser("root")
    for number in range(VIEWS_AT_MOST):
        filters = Filters(language="ar", rule="hides_text" if number % 2 else "")
        save_view(
            owner=root, name=f"view {number}", list_name=Item.List.JUDGED_SAFE, filters=filters
        )
    with psycopg.connect(services.database_url, autocommit=True) as database:
        database.execute("VACUUM ANALYZE")
    browser = Client()
    browser.force_login(root)
    found: dict[str, Any] = {"rows": rows}
    say(f"{'p50 ms':>8} {'p95 ms':>8}  page, over {rows:,} reports")
    for name, address in PAGES.items():
        times = []
        for _ in range(TIMES):
            began = time.perf_counter()
            answer = browser.get(address)
            times.append((time.perf_counter() - began) * 1000)
            if answer.status_code not in {200, 503}:
                raise RuntimeError(f"{address} answered {answer.status_code}")
            interruption.check()
        cuts = statistics.quantiles(times, n=20)
        figures = {"p50_ms": round(cuts[9], 1), "p95_ms": round(cuts[18], 1)}
        found[name] = {**figures, "stopped": answer.status_code == 503}
        say(f"{figures['p50_ms']:>8} {figures['p95_ms']:>8}  {name}")
    return found
