"""`make demo`: the whole product on this machine, with reports going through it.

Environment: HEADLESS=1 (no table: wait, stop, print one JSON line), COUNT (reports to send,
default 200), PORT (default 8000), REPORTS (a JSON Lines file of request bodies instead of the
samples), OPENAI_BASE_URL with OPENAI_API_KEY and MODEL (that server instead of the stand-in),
DATABASE_URL, REDIS_URL, EMBEDDED.

Exit: 0 done; 1 something is wrong, stayed pending or was not accepted; 2 usage; 130 interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dev import programs
from dev.board import Board, Counts, CountsReader
from dev.deliver import Delivery, deliver, read_bodies
from dev.errors import DevError
from dev.home import open_home
from dev.processes import Interrupted, Interruption, Supervisor, check_port
from dev.product import Product, start_product
from dev.samples import sample_reports
from dev.services import Services, start_services_in

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_COUNT = 200
DEFAULT_PORT = 8000
STUCK_SECONDS = 150.0
"""Without any movement for so long nothing will come: longer than the lease of a killed worker
(90 s, unless MODEL_DEADLINE_SECONDS says otherwise) and than the patience of the delivery."""
POLL_SECONDS = 0.2
HIGHEST_PORT = 65535


@dataclass(frozen=True)
class Options:
    headless: bool
    count: int | None
    port: int
    reports: Path | None
    data_dir: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def bodies(self) -> Iterable[bytes]:
        if self.reports is not None:
            return itertools.islice(read_bodies(self.reports), self.count)
        samples = sample_reports(DEFAULT_COUNT if self.count is None else self.count)
        return (json.dumps(body).encode() for body in samples)


@dataclass
class Run:
    """Everything one run holds; `elapsed` in seconds, from the first report sent."""

    options: Options
    board: Board
    interruption: Interruption
    services: Services
    supervisor: Supervisor
    product: Product
    reader: CountsReader
    delivery: Delivery = field(default_factory=Delivery)
    delivered: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    failure: str = ""

    def check(self) -> None:
        self.interruption.check()
        ended = self.services.ended()
        if ended is not None:
            raise DevError(f"{ended.title} has ended; the end of its log is in {ended.log}")
        self.supervisor.check()
        if self.failure:
            raise DevError(self.failure)

    def deliver(self) -> None:
        """Send the reports; for a thread of its own."""
        try:
            deliver(
                self.options.bodies(),
                url=self.options.url,
                key=self.product.accounts["key"],
                result=self.delivery,
                stopping=self.stopping,
            )
        except Exception as error:  # noqa: BLE001  shown by the main thread
            self.failure = str(error)
        self.delivered.set()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data-dir", type=Path, default=programs.ROOT / ".local")
    parser.add_argument(
        "--stop-with-parent", action="store_true", help="stop when the starting program ends"
    )
    arguments = parser.parse_args()
    interruption = Interruption(with_parent=arguments.stop_with_parent)
    board = Board(sys.stdout)
    result = ""
    try:
        options = read_options(arguments.data_dir)
        code, result = run(options, interruption, board)
    except Interrupted:
        code = 130
    except DevError as error:
        sys.stdout.flush()
        sys.stderr.write(f"demo: {error}\n")
        code = 1
    if result:
        print(result, flush=True)
    return code


def read_options(data_dir: Path) -> Options:
    """Read the environment; an empty value counts as unset. DevError names the key."""
    headless = os.environ.get("HEADLESS", "")
    if headless not in ("", "0", "1"):
        raise DevError(f"HEADLESS={headless} is not known: use HEADLESS=1 or leave it out")
    reports = os.environ.get("REPORTS")
    if reports and not Path(reports).is_file():
        raise DevError(f"REPORTS={reports} is not a file: name one with a request body a line")
    port = _number("PORT") or DEFAULT_PORT
    if port > HIGHEST_PORT:
        raise DevError(f"PORT={port} is not a port: use a number from 1 to {HIGHEST_PORT}")
    return Options(
        headless=headless == "1",
        count=_number("COUNT"),
        port=port,
        reports=Path(reports) if reports else None,
        data_dir=data_dir,
    )


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    if text and not (text.isascii() and text.isdigit()):
        raise DevError(f"{name}={text} is not a number")
    return int(text) if text else None


def run(options: Options, interruption: Interruption, board: Board) -> tuple[int, str]:
    """Start everything, show it, stop everything; return the exit code and the last line."""
    home = open_home(options.data_dir, check=interruption.check)
    try:
        # Before anything is started: another program would answer in our place.
        check_port(options.port)
        interruption.check()
        services = start_services_in(home, say=board.say)
        supervisor = Supervisor(home, say=board.say)
        stopping = threading.Event()
        try:
            product = start_product(
                services, supervisor, port=options.port, say=board.say, check=interruption.check
            )
            # Made before the first report is sent: it counts what is received from now on.
            reader = CountsReader(services.database_url)
            started = Run(options, board, interruption, services, supervisor, product, reader)
            stopping = started.stopping
            threading.Thread(target=started.deliver, name="deliver", daemon=True).start()
            return headless(started) if options.headless else live(started)
        finally:
            stopping.set()
            board.leave()
            board.say("stopping ...")
            supervisor.stop(hurry=lambda: interruption.hurry)
            services.stop()
    finally:
        home.close()


def headless(run: Run) -> tuple[int, str]:
    """Wait until nothing of this run is pending, or nothing moved for STUCK_SECONDS."""
    reader, began = run.reader, time.monotonic()
    counts, moved_at = Counts(), began
    seen: object = None
    while time.monotonic() - moved_at < STUCK_SECONDS:
        run.check()
        finished = run.delivered.is_set()  # asked before the counts: they may only be newer
        counts = reader.read() or counts
        if finished and not counts.pending:
            break
        now = (counts, run.delivery.settled)
        if now != seen:
            seen, moved_at = now, time.monotonic()
        time.sleep(POLL_SECONDS)
    elapsed = time.monotonic() - began
    reader.close()
    if counts.pending or not run.delivered.is_set():
        run.board.say(
            f"nothing moved for {STUCK_SECONDS:.0f} s: {counts.pending} pending, "
            f"{run.delivery.settled} delivered, {run.delivery.retries} retries "
            f"(last: {run.delivery.trouble or 'none'}); the logs are in {run.services.home.logs}"
        )
    for complaint in run.delivery.complaints():
        run.board.say(complaint)
    lost = len(run.delivery.refused) + len(run.delivery.undelivered)
    failed = counts.pending or lost or not run.delivered.is_set()
    return 1 if failed else 0, counts.as_json(elapsed_s=elapsed)


def live(run: Run) -> tuple[int, str]:
    """Show the table until somebody asks to stop."""
    reader = run.reader
    below = addresses(run)
    told = False
    counts = Counts()
    try:
        while True:
            run.check()
            delivered = run.delivered.is_set()
            counts = reader.read() or counts
            above = f"Reports sent to {run.options.url}: {run.delivery.settled}"
            if not delivered:
                trouble = run.delivery.trouble
                above += f" ... trying again after {trouble}" if trouble else " ..."
            run.board.show(counts, above=above, below=below)
            if delivered and not told:
                told = True
                for complaint in run.delivery.complaints():
                    run.board.say(complaint)
                if not sys.stdout.isatty():
                    for line in below:
                        run.board.say(line)
            time.sleep(POLL_SECONDS)
    except Interrupted:
        return 0, ""
    finally:
        reader.close()


def addresses(run: Run) -> list[str]:
    url, accounts, home = run.options.url, run.product.accounts, run.options.data_dir
    passwords = accounts["passwords"]
    return [
        "",
        f"  pending        {url}/review/pending/",
        f"  needs review   {url}/review/needs-review/",
        f"  judged safe    {url}/review/safe/",
        f"  resolved       {url}/review/resolved/",
        f"  administration {url}/admin/",
        f"  API            {url}/api/docs/",
        *(f"  account        {name} / {word}" for name, word in passwords.items()),
        f"  API key        {accounts['key']}",
        f"  model          {run.product.model}",
        "",
        f"  also in        {_short(home / 'accounts.json')}",
        f"  manage.py      set -a; . {_short(home / 'env')}; .venv/bin/python manage.py replay",
        "",
        "The table counts reports, the pages items: several reports may be about one.",
        f"Ctrl-C stops everything; the data stays in {_short(home)}",
    ]


def _short(path: Path) -> str:
    """The path as one would type it from here, quoted for a shell where it needs to be."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


if __name__ == "__main__":
    sys.exit(main())
