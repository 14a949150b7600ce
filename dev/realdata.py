"""Public test texts through the whole product, each outcome held against the stand-in's rules.

    python -m dev.realdata DATA_DIR [--kill] [--count N]

Starts its own installation (real web, workers, sweep, stand-in) on its own data, sends HateCheck in
English and Arabic through the API, waits until nothing is pending and checks every report: exactly
one classification, and the category that the rules give its text. `--kill` kills the live worker
with -9 when half is classified; the supervisor starts it again. The last line is one JSON object.
Exit: 0 all as expected, 1 otherwise. Needs one minute, with --kill as long as a lease more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from dev.deliver import Delivery, deliver
from dev.errors import DevError
from dev.hatecheck import hatecheck_reports
from dev.processes import Interrupted, Interruption, Supervisor, free_port
from dev.product import start_product, throwaway_services
from dev.standin.words import judge

SAFE_THRESHOLD = 0.8  # of the first policy version
STUCK_SECONDS = 180.0  # longer than a lease and a round of the sweep

OUTCOMES = """
SELECT item.external_id, report.status, verdict.category, verdict.rules,
    (SELECT count(*) FROM classifier_classification AS every WHERE every.report_id = report.id)
FROM reports_report AS report JOIN reports_item AS item ON item.id = report.item_id
LEFT JOIN classifier_classification AS verdict
    ON verdict.report_id = report.id AND NOT verdict.superseded
"""
PROGRESS = """
SELECT count(*), count(*) FILTER (WHERE status <> 'pending'),
    (SELECT coalesce(sum(claims), 0) FROM classifier_job) FROM reports_report
"""
HELD = "SELECT count(*) FROM classifier_job WHERE NOT done AND lease_until > clock_timestamp()"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "data", type=Path, help="the folder that holds hatecheck/ and its Arabic kin"
    )
    parser.add_argument("--kill", action="store_true", help="kill -9 the live worker half-way")
    parser.add_argument("--count", type=int, help="only so many reports")
    options = parser.parse_args()
    try:
        bodies = list(itertools.islice(hatecheck_reports(options.data), options.count))
        return check_outcomes(bodies, kill=options.kill)
    except (DevError, FileNotFoundError) as error:
        sys.stderr.write(f"realdata: {error}\n")
        return 1
    except Interrupted:
        return 130


def check_outcomes(bodies: list[dict[str, Any]], *, kill: bool) -> int:
    """Run the bodies through a fresh installation; print the findings; 0 when all is as expected."""
    interruption = Interruption()
    with throwaway_services(say=say) as (services, supervisor):
        port = free_port()
        product = start_product(services, supervisor, port=port, say=say, check=interruption.check)
        result = Delivery()
        sender = threading.Thread(
            target=deliver,
            args=((json.dumps(body).encode() for body in bodies),),
            kwargs={
                "url": f"http://127.0.0.1:{port}",
                "key": product.accounts["key"],
                "result": result,
            },
            daemon=True,
        )
        began = time.monotonic()
        sender.start()
        with psycopg.connect(services.database_url, autocommit=True) as database:
            claims = watch(database, supervisor, interruption, count=len(bodies), kill=kill)
            elapsed = time.monotonic() - began
            rows = database.execute(OUTCOMES).fetchall()
    found = compare(rows, bodies)
    told = {
        "sent": len(bodies),
        "accepted": len(rows),
        "refused": len(result.refused),
        **found,
        "model_calls_at_most": claims,
        "elapsed_s": round(elapsed, 1),
    }
    print(json.dumps(told, ensure_ascii=False))
    complete = len(rows) == len(bodies) and not result.refused
    return 0 if complete and not found["wrong"] else 1


def watch(
    database: psycopg.Connection,
    supervisor: Supervisor,
    interruption: Interruption,
    *,
    count: int,
    kill: bool,
) -> int:
    """Wait until `count` reports are there and none is pending; returns the claims of all jobs."""
    seen, moved_at, told = (0, 0), time.monotonic(), 0.0
    to_kill = kill
    while time.monotonic() - moved_at < STUCK_SECONDS:
        interruption.check()
        supervisor.check()
        received, classified, claims = database.execute(PROGRESS).fetchall()[0]
        if to_kill and classified > count / 2:
            pid = supervisor.pid("worker-live")
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                held = database.execute(HELD).fetchall()[0][0]
                say(f"killed the live worker with -9 at {classified} classified, {held} in hand")
                to_kill = False
        if received == count and classified == count:
            return int(claims)
        if (received, classified) != seen:
            seen, moved_at = (received, classified), time.monotonic()
        if time.monotonic() - told > 5:
            told = time.monotonic()
            say(f"received {received}, classified {classified} of {count}")
        time.sleep(0.2)
    raise DevError(f"nothing moved for {STUCK_SECONDS:.0f} s at {seen[1]} of {count} classified")


def compare(rows: list[tuple[Any, ...]], bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """Hold every report against the rules: `wrong` counts those that are not where they belong."""
    texts = {body["item"]["id"]: body["messages"][0]["text"] for body in bodies}
    lists: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    wrong: list[str] = []
    for item_id, status, category, rules, verdicts in rows:
        expected = judge([texts[item_id]])
        language = item_id.split("-")[1]
        lists[f"{language} {status}"] += 1
        safe = expected.category == "none" and expected.confidence >= SAFE_THRESHOLD
        # The product's own rules may raise what the stand-in let pass, and say which did.
        own = sorted(set(rules or []) & {"floor", "critical", "speaks_to_the_model"})
        if safe and own:
            raised.update(own)
        belongs = "judged_safe" if safe and not own else "needs_review"
        if (verdicts, category, status) != (1, expected.category, belongs):
            wrong.append(item_id)
            say(f"{item_id}: {verdicts} verdicts, {category}, {status}; expected "
                f"{expected.category}, {belongs}")  # fmt: skip
    return {
        "lists": dict(sorted(lists.items())),
        "raised_by_own_rules": dict(sorted(raised.items())),
        "wrong": len(wrong),
    }


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
