"""Break everything on purpose and check that nothing is lost, doubled or reordered.

    python -m dev.faults [--quick] [--lanes N] [--list]    with SEED and CASES in the environment

CASES names cases by parts of their names, several with `|` between; the same SEED gives the same
order and choices. Each lane is a process with servers of its own that runs its share of the cases,
one after the other. One line a case; the last line is one JSON object: `cases`, `broken`, `seed`,
`paid_calls_max` (calls of the model for one report and version), `slowest_recovery_s`. Logs of
broken cases stay in .local/faults/. Exit: 0 all hold, 1 something is broken, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from dev.faults import timing
from dev.faults.cases import Case, all_cases
from dev.faults.lane import Result, run_cases
from dev.processes import Interrupted, Interruption

if TYPE_CHECKING:
    from collections.abc import Sequence

LANES = 3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.faults")
    parser.add_argument("--quick", action="store_true", help="only the dozen of the tests")
    parser.add_argument("--lanes", type=int, default=LANES, help=f"stacks at once, default {LANES}")
    parser.add_argument("--lane", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="only name the cases")
    options = parser.parse_args(arguments)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    wanted = os.environ.get("CASES", "").split("|")
    chosen = [
        case
        for case in all_cases()
        if any(part in case.name for part in wanted) and (case.quick or not options.quick)
    ]
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if not chosen:
        sys.stderr.write(f"no case is named like CASES={'|'.join(wanted)}; --list names them all\n")
        return 2
    lanes = max(1, min(options.lanes, len(chosen)))
    shares = share_out(chosen, lanes=lanes, seed=seed)
    if options.lane is not None:
        slack = timing.SLACK_OF_TESTS if options.quick else 1.0
        return _run_lane(shares[options.lane], seed=seed, slack=slack)
    return _run_all(sys.argv[1:] if arguments is None else list(arguments), lanes=lanes, seed=seed)


def share_out(cases: Sequence[Case], *, lanes: int, seed: int) -> list[list[Case]]:
    """Each lane's cases. Those with one layout stay together, so that few processes start anew."""
    order = random.Random(seed)  # noqa: S311  no secret
    groups: dict[Any, list[Case]] = {}
    for case in order.sample(cases, len(cases)):
        groups.setdefault(case.layout, []).append(case)
    lined_up = [case for group in groups.values() for case in group]
    size = -(-len(lined_up) // lanes)
    return [lined_up[number * size : (number + 1) * size] for number in range(lanes)]


def _run_lane(cases: Sequence[Case], *, seed: int, slack: float) -> int:
    """What a lane's process does: one JSON line a case, for the process that started it."""
    interruption = Interruption(with_parent=True)
    results = run_cases(cases, seed=seed, slack=slack, check=interruption.check)
    try:
        for result in results:
            print(json.dumps(result.as_json()), flush=True)
    except Interrupted:
        return 130
    finally:
        results.close()  # type: ignore[attr-defined]  # of a generator: ends the stack
    return 0


def _run_all(arguments: list[str], *, lanes: int, seed: int) -> int:
    results: list[Result] = []
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "dev.faults", *arguments, "--lane", str(number)],
            env={**os.environ, "SEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(lanes)
    ]
    readers = [threading.Thread(target=_read, args=(one, results)) for one in processes]
    for reader in readers:
        reader.start()
    try:
        for reader in readers:
            reader.join()
    except KeyboardInterrupt:  # the lanes had the signal too, and end by themselves
        for reader in readers:
            reader.join()
        return 130
    failed = [number for number, one in enumerate(processes) if one.wait() != 0]
    if failed:
        sys.stderr.write(f"lanes {failed} ended before their cases were done\n")
    broken = [result.name for result in results if result.broken]
    summary = {
        "cases": len(results),
        "broken": len(broken),
        "seed": seed,
        "paid_calls_max": max((result.paid_calls for result in results), default=0),
        "slowest_recovery_s": max((result.recovery for result in results), default=0.0),
    }
    print(json.dumps(summary), flush=True)
    return 1 if broken or failed else 0


def _read(lane: subprocess.Popen[str], results: list[Result]) -> None:
    assert lane.stdout is not None  # noqa: S101  it is a pipe
    for line in lane.stdout:
        result = Result(**json.loads(line))
        results.append(result)
        sys.stdout.write(f"{result.line()}\n")  # in one piece: the lanes speak at once
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
