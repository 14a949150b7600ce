"""Mutated replies through the reader that judges every answer of a model.

    python -m dev.fuzz [--count 100000] [--seed N] [--processes 2] [--broken]

Each reply is a whole HTTP body. It must be accepted with the verdict that a strict reading finds in
it (`strict_reading`), or be refused with one of the reader's own two errors. `--broken` puts a lax
reader in its place, which must be found out; a short run of that precedes every other run.
Findings are printed with the body in base64. The last line is one JSON object. Exit: 0 nothing
found, 1 something found, or the lax reader not found out.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from dev.fuzz.run import Tally

BATCH = 1_000
SELF_TEST = 1_000


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, which is told")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--broken", action="store_true", help="a lax reader; it must be found out")
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    prepare()
    caught = accepted_wrongly(batch(f"{seed} self-test", SELF_TEST, broken=True))
    say(f"seed {seed}; of {SELF_TEST:,} replies a lax reader accepts {caught:,} wrongly")
    began = time.monotonic()
    tally = fuzz(seed=seed, count=options.count, processes=options.processes, broken=options.broken)
    seconds = time.monotonic() - began
    for outcome, number in tally.outcomes.most_common():
        print(f"{number:>9,}  {outcome}")
    for finding in tally.findings:
        told = f"FINDING: {finding.what}{', of a known thinker' if finding.thinks else ''}"
        print(told, base64.b64encode(finding.body).decode())
    print(
        json.dumps(
            {
                "seed": seed,
                "replies": options.count,
                "accepted": tally.outcomes["accepted"],
                "refused": options.count - tally.outcomes["accepted"],
                "findings": dict(tally.found),
                "a_lax_reader_accepts_wrongly": caught,
                "seconds": round(seconds, 1),
                "per_second": round(options.count / max(seconds, 0.001)),
            }
        )
    )
    return 1 if tally.found or not caught else 0


def fuzz(*, seed: int, count: int, processes: int, broken: bool) -> Tally:
    """All replies, in batches that do not depend on how many processes read them."""
    from dev.fuzz.run import Tally  # noqa: PLC0415 - after the settings are there

    tally, done, told = Tally(), 0, 0.0
    began = time.monotonic()
    with ProcessPoolExecutor(processes, initializer=prepare) as pool:
        sizes = [min(BATCH, count - start) for start in range(0, count, BATCH)]
        waiting = {
            pool.submit(batch, f"{seed} {number}", size, broken=broken): size
            for number, size in enumerate(sizes)
        }
        for future in as_completed(waiting):
            tally.add(future.result())
            done += waiting[future]
            now = time.monotonic()
            if now - told > (0.5 if sys.stderr.isatty() else 10) or done == count:
                told = now
                rate = done / (now - began)
                progress(
                    f"{done:,} of {count:,}, {rate:,.0f} a second, {tally.found.total()} findings"
                )
    if sys.stderr.isatty():
        say("")
    return tally


def batch(seed: str, count: int, *, broken: bool) -> Tally:
    from dev.fuzz.run import a_lax_reader, read_many, the_reader  # noqa: PLC0415 - as above

    return read_many(seed=seed, count=count, reader=a_lax_reader if broken else the_reader)


def accepted_wrongly(tally: Tally) -> int:
    from dev.fuzz.run import ACCEPTED_WRONGLY, ANOTHER_VERDICT  # noqa: PLC0415 - as above

    return tally.found[ACCEPTED_WRONGLY] + tally.found[ANOTHER_VERDICT]


def prepare() -> None:
    """The product's modules can be imported; nothing is connected to."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")
    os.environ.setdefault("ENVIRONMENT", "development")
    django.setup()


def progress(text: str) -> None:
    sys.stderr.write(f"\r{text:<70}" if sys.stderr.isatty() else f"{text}\n")
    sys.stderr.flush()


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
