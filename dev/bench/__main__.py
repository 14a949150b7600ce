"""Figures that claims in docs/benchmarks.md rest on. Run them on a quiet machine.

    python -m dev.bench intake [--seconds 8]       POST latency with Redis up, down, paused, half-open
    python -m dev.bench sweep [--rows 1000000]     one round of the sweep's choice over a backlog
    python -m dev.bench planning [--rows 1000000]  a batch's jobs written, rows a second and memory
    python -m dev.bench recording [--rows 50000]   a provider's output recorded, beside a bare INSERT
    python -m dev.bench desk [--rows 1000000]      first bytes of the desk's pages, and their plans
    python -m dev.bench migration [--rows 100000]  a policy migration while live reports arrive
    python -m dev.bench claims [--rounds 1000]     16 reviewers at once over 10 items; the next of 1,000,000
    python -m dev.bench audits [--runs 200]        samples of 100,000 reports with known truth
    python -m dev.bench finding [--rows 1000000]   search, filters, saved views, who decided what

All start their own PostgreSQL and Valkey and end by themselves. The last line is one JSON object.
"""

import argparse
import json
import sys

from dev.bench.audits import bench_audits
from dev.bench.claims import bench_claims
from dev.bench.desk import bench_desk
from dev.bench.finding import bench_finding
from dev.bench.intake import bench_intake
from dev.bench.migration import bench_migration
from dev.bench.planning import bench_planning
from dev.bench.prepared import say
from dev.bench.recording import bench_recording
from dev.bench.sweep import bench_sweep
from dev.errors import DevError
from dev.processes import Interrupted, Interruption
from dev.product import throwaway_services


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    intake = commands.add_parser("intake")
    intake.add_argument("--seconds", type=float, default=8.0, help="for each state of Redis")
    intake.set_defaults(run=lambda options, *given: bench_intake(*given, seconds=options.seconds))
    for name, rows, bench in (
        ("desk", 1_000_000, bench_desk),
        ("sweep", 1_000_000, bench_sweep),
        ("planning", 1_000_000, bench_planning),
        ("recording", 50_000, bench_recording),
        ("migration", 100_000, bench_migration),
        ("finding", 1_000_000, bench_finding),
    ):
        command = commands.add_parser(name)
        command.add_argument("--rows", type=int, default=rows)
        command.set_defaults(
            run=lambda options, *given, bench=bench: bench(*given, rows=options.rows)
        )
    claims = commands.add_parser("claims")
    claims.add_argument("--rounds", type=int, default=1_000)
    claims.add_argument("--rows", type=int, default=1_000_000)
    claims.set_defaults(
        run=lambda options, *given: bench_claims(*given, rows=options.rows, rounds=options.rounds)
    )
    audits = commands.add_parser("audits")
    audits.add_argument("--rows", type=int, default=100_000)
    audits.add_argument("--runs", type=int, default=200)
    audits.add_argument("--rate", type=float, default=0.05, help="so much of each stratum is drawn")
    audits.set_defaults(
        run=lambda options, *given: bench_audits(
            *given, rows=options.rows, runs=options.runs, rate=options.rate
        )
    )
    options = parser.parse_args()
    interruption = Interruption()
    try:
        with throwaway_services(say=say) as (services, supervisor):
            found = options.run(options, services, supervisor, interruption)
    except DevError as error:
        say(f"bench: {error}")
        return 1
    except Interrupted:
        return 130
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
