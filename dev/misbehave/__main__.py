"""Thousands of calls against a server that misbehaves at random: what they cost a worker.

    python -m dev.misbehave [--calls 10000] [--seed N] [--threads 8] [--deadline 0.5]

The stand-in runs in another process with every fault it knows (faults on the wire, drips of headers
and bodies, floods, gzip bombs, resets, malformed contents, 429 and 5xx). Threads of this process ask
it with the product's `provider.ask` and read with its `read_answer`, as a worker does.

A call's time is taken around `provider.ask`, which is how long it holds its slot; reading comes on
top and is told by itself. Limits: the longest call is at most 0.25 s over the deadline; memory grows
by less than 10 MB between 20 % and 100 % of the calls; at the end no more connections are open than
the pool keeps, and with the pool closed there are as many sockets and threads as before the first
call; no accepted verdict is another than the one that the stand-in's rules give the text. The last
line is one JSON object. Exit: 0 within all limits, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import django

from dev import programs
from dev.errors import DevError
from dev.home import open_throwaway_home
from dev.misbehave.asking import RAISED, Seen, close_client, the_policy, work
from dev.misbehave.watching import count_sockets, count_threads, say, watch
from dev.processes import Interrupted, Interruption, Supervisor, free_port, wait_until
from dev.product import answers_ok
from dev.standin.client import Standin

if TYPE_CHECKING:
    from collections.abc import Callable

OVER_DEADLINE_SECONDS = 0.25
GROWTH_MB = 10.0
KEPT_CONNECTIONS = 16
SHARE = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.misbehave",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, which is told")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--deadline", type=float, default=0.5, help="seconds for a whole call")
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    interruption = Interruption()
    home = open_throwaway_home()
    supervisor = Supervisor(home, say=say)
    try:
        standin = start_standin(supervisor, interruption)
        # Waits up to twice the deadline: half of the slow answers come in time.
        standin.behave(misbehave={"seed": seed, "share": SHARE, "slow": 2 * options.deadline})
        prepare(standin, deadline=options.deadline)
        found = run(standin, calls=options.calls, threads=options.threads, check=interruption.check)
    except DevError as error:
        say(f"misbehave: {error}")
        return 1
    except Interrupted:
        return 130
    finally:
        supervisor.stop()
        home.close()
    broken = broken_limits(found, deadline=options.deadline)
    for limit in broken:
        say(f"BROKEN: {limit}")
    print(json.dumps({"seed": seed, "deadline_s": options.deadline, **found, "broken": broken}))
    return 1 if broken else 0


def start_standin(supervisor: Supervisor, interruption: Interruption) -> Standin:
    port = free_port()
    supervisor.start(programs.standin(port, env=os.environ | {"PYTHONPATH": str(programs.ROOT)}))
    wait_until(
        lambda: answers_ok(f"http://127.0.0.1:{port}/v1/models"),
        seconds=30,
        what="the stand-in did not answer",
        check=interruption.check,
    )
    return Standin(f"http://127.0.0.1:{port}/v1")


def prepare(standin: Standin, *, deadline: float) -> None:
    """The product's settings, for this server and this deadline; nothing else is connected to."""
    os.environ.update(
        DJANGO_SETTINGS_MODULE="moderation_site.settings",
        ENVIRONMENT="development",
        OPENAI_BASE_URL=standin.base_url,
        OPENAI_API_KEY="stand-in",
        MODEL_DEADLINE_SECONDS=str(deadline),
        LOG_LEVEL="ERROR",
    )
    django.setup()
    from classifier import provider  # noqa: PLC0415 - after the settings are there

    provider.load()


def run(standin: Standin, *, calls: int, threads: int, check: Callable[[], None]) -> dict[str, Any]:
    """All calls, their table on standard error; the figures that the limits are about."""
    policy = the_policy()
    seen = Seen()
    before = {"threads": count_threads(), "sockets": count_sockets()}
    began = time.monotonic()
    workers = [
        threading.Thread(target=work, args=(seen, policy, calls), daemon=True)
        for _thread in range(threads)
    ]
    for worker in workers:
        worker.start()
    memory = watch(workers, seen, calls=calls, began=began, check=check)
    seconds = time.monotonic() - began
    kept = count_sockets() - before["sockets"]
    close_client()
    # Look-ups run in threads of their own, which end when the resolver has answered.
    patience = time.monotonic() + 5
    while count_threads() > before["threads"] and time.monotonic() < patience:
        check()
        time.sleep(0.02)
    tell_table(standin, seen)
    return {
        "calls": calls,
        "threads": threads,
        "seconds": round(seconds, 1),
        "accepted": sum(outcome == "accepted" for outcome in seen.refs.values()),
        "raised": sum(outcome.startswith(RAISED) for outcome in seen.refs.values()),
        "wrong_verdicts": seen.wrong,
        "longest_call_s": round(seen.longest, 3),
        "longest_reading_s": round(seen.longest_reading, 3),
        "memory_mb": [round(each, 1) for each in memory],
        "growth_mb": round(memory[-1] - memory[1], 1),
        "connections_kept": kept,
        "sockets": [before["sockets"], count_sockets()],
        "threads_of_the_process": [before["threads"], count_threads()],
    }


def broken_limits(found: dict[str, Any], *, deadline: float) -> list[str]:
    """A sentence for each limit that was not kept."""
    limits = {
        f"a call took longer than the deadline and {OVER_DEADLINE_SECONDS} s": (
            found["longest_call_s"] > deadline + OVER_DEADLINE_SECONDS
        ),
        f"memory grew by {GROWTH_MB:g} MB or more": found["growth_mb"] >= GROWTH_MB,
        "more connections were open than the pool keeps": (
            found["connections_kept"] > KEPT_CONNECTIONS
        ),
        "sockets were left open": found["sockets"][1] > found["sockets"][0],
        "threads were left over": (
            found["threads_of_the_process"][1] > found["threads_of_the_process"][0]
        ),
        "a verdict was not the text's own": found["wrong_verdicts"] > 0,
        "no answer was accepted at all": found["accepted"] == 0,
        "a call raised something else than the two steps' own errors": found["raised"] > 0,
    }
    return [sentence for sentence, is_broken in limits.items() if is_broken]


def tell_table(standin: Standin, seen: Seen) -> None:
    """For each fault of the stand-in what the product made of it."""
    table: dict[str, Counter[str]] = {}
    unseen = dict(seen.refs)
    for call in standin.calls():
        outcome = unseen.pop(call["ref"], None)
        if outcome is not None:
            table.setdefault(call["step"] or "(none)", Counter())[outcome] += 1
    for outcome in unseen.values():
        table.setdefault("(not in the log)", Counter())[outcome] += 1
    for kind, outcomes in sorted(table.items()):
        say(f"{kind:<18} " + ", ".join(f"{name} {n:,}" for name, n in outcomes.most_common()))
    total = Counter(seen.refs.values())
    say(f"{'all':<18} " + ", ".join(f"{name} {n:,}" for name, n in total.most_common()))


if __name__ == "__main__":
    sys.exit(main())
