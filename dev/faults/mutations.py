"""Take one protection away at a time, and show that the bench turns red for it.

    python -m dev.faults.mutations

Each mutation changes one place in a copy of the tree and runs the cases that depend on it. They
must be green on the copy as it is, or red would prove nothing. One line a mutation; the last line
is `{"mutations", "caught"}`. Exit: 0 when every one is caught, else 1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dev.errors import DevError
from dev.programs import ROOT

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".local", "__pycache__", ".*_cache", "docs")
SEED = "1"


@dataclass(frozen=True)
class Mutation:
    """What is taken away: pairs of a text and what stands instead, in one file of the product."""

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]
    case: str


MUTATIONS = (
    Mutation(
        "no row lock",
        "reports/lifecycle.py",
        ((".select_for_update(no_key=True)", ""),),
        "a new policy version, old answers late at record.after_insert",
    ),
    Mutation(
        "untargeted conflict",
        "classifier/recording.py",
        (
            ("= max(versions, default=0) > row.policy_version_id", "= False"),
            ("    supersede([row.report_id for row in current])\n", ""),
            ("RETURNING report_id, id", "ON CONFLICT DO NOTHING RETURNING report_id, id"),
            ("ids[row.report_id]", "ids.get(row.report_id)"),
        ),
        "a new policy version, old answers late at task.after_model",
    ),
    Mutation(
        "no sweep",
        "classifier/sweep.py",
        (("        nudged = _top_up(Lane.LIVE)\n", "        nudged = 0\n"),),
        "redis flushed while asking",
    ),
    Mutation(
        "no claim",
        "classifier/jobs.py",
        (
            (
                "WHERE job.batch_id IS NULL AND {READY}\nRETURNING",
                "RETURNING",
            ),
        ),
        "each report nudged five times while asking",
    ),
    Mutation(
        "acknowledge first",
        "moderation_site/settings.py",
        (("CELERY_TASK_ACKS_LATE = True", "CELERY_TASK_ACKS_LATE = False"),),
        "worker kill at task.after_claim, no sweep",
    ),
    Mutation(
        "provider faults counted as attempts",
        "classifier/jobs.py",
        (("spends = reason in SPENDS_ATTEMPT", "spends = True"),),
        "model in a storm of 429",
    ),
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="moderation-mutations-") as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        green, said = run_bench(tree, "|".join(sorted({each.case for each in MUTATIONS})))
        if not green:
            sys.stderr.write(f"the cases are broken without a mutation too:\n{said}\n")
            return 1
        caught = 0
        for mutation in MUTATIONS:
            try:
                green, said = run_mutated(tree, mutation)
            except DevError as error:
                sys.stderr.write(f"{error}\n")
                continue
            caught += not green
            print(f"{mutation.name}: {'NOT CAUGHT' if green else 'caught'} by {said}", flush=True)
    print(json.dumps({"mutations": len(MUTATIONS), "caught": caught}))
    return 0 if caught == len(MUTATIONS) else 1


def run_mutated(tree: Path, mutation: Mutation) -> tuple[bool, str]:
    """Whether its case is green although the tree is changed; the tree is as before afterwards."""
    file = tree / mutation.file
    before = file.read_text(encoding="utf-8")
    try:
        file.write_text(mutated(before, mutation), encoding="utf-8")
        return run_bench(tree, mutation.case)
    finally:
        file.write_text(before, encoding="utf-8")


def mutated(source: str, mutation: Mutation) -> str:
    """The source with the protection gone; `DevError` where the text to change stands elsewhere now."""
    for before, after in mutation.changes:
        if before not in source:
            raise DevError(
                f"{mutation.name}: {mutation.file} no longer holds what the mutation changes: "
                "bring the mutation up to date"
            )
        source = source.replace(before, after)
    return source


def run_bench(tree: Path, cases: str) -> tuple[bool, str]:
    """Run the named cases of a tree: are they all green, and the lines that they said.

    `DevError` when the bench itself did not come to its end.
    """
    done = subprocess.run(
        [sys.executable, "-m", "dev.faults"],
        cwd=tree,
        env={**os.environ, "CASES": cases, "SEED": SEED, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise DevError(f"the bench ended with {done.returncode} and without a summary")
    summary = json.loads(lines[-1])
    if not summary["cases"]:
        raise DevError(f"the bench ran no case for {cases!r}")
    return done.returncode == 0, "\n".join(lines[:-1])


if __name__ == "__main__":
    sys.exit(main())
