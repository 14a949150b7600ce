import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.invariants import (
    GRACE_SECONDS,
    INVARIANTS,
    Broken,
    broken_invariants,
    overlong_queues,
)

EXIT_BROKEN, EXIT_INTERRUPTED = 6, 130
NAMED = 5
NO_CONTENT = "not checked, by --skip-content"


class Command(BaseCommand):
    help = (
        "Check that nothing is lost, doubled or contradictory: V1 to V11 on the database as it "
        "stands, and the lengths of the queues. Reads only, from one snapshot; safe at any time. "
        "Exit 0: all hold; 6: something is broken, with its ids."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="One JSON object a line, all ids.")
        parser.add_argument(
            "--skip-content",
            action="store_true",
            help="Leave out V8, which reads every stored body (some thousand a second).",
        )
        parser.add_argument(
            "--grace",
            type=_seconds,
            default=GRACE_SECONDS,
            metavar="SECONDS",
            help="How long the sweep may take to find a dead worker's lease (default %(default)g).",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        bar = sys.stderr.isatty()
        not_checked = {"V8": NO_CONTENT} if options["skip_content"] else {}
        try:
            broken = broken_invariants(
                grace_seconds=options["grace"],
                content=not options["skip_content"],
                on_read=_draw if bar else lambda _count: None,
            )
            try:
                broken += overlong_queues()
            except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
                not_checked["V11"] = (
                    "the rows agree; the queues were not measured, because the broker does not"
                    f" answer ({type(error).__name__})"
                )
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=EXIT_INTERRUPTED) from None
        finally:
            if bar:
                sys.stderr.write("\r\033[K")
        for invariant, sentence in INVARIANTS.items():
            mine = [each for each in broken if each.invariant == invariant]
            gap = not_checked.get(invariant)
            line = _object if options["json"] else _line
            self.stdout.write(line(invariant, sentence, mine, gap))
        if broken:
            names = sorted({each.invariant for each in broken}, key=list(INVARIANTS).index)
            raise CommandError(f"Broken: {', '.join(names)}.", returncode=EXIT_BROKEN)


def _line(invariant: str, sentence: str, broken: list[Broken], gap: str | None) -> str:
    if broken:
        return f"{invariant:<4} BROKEN  " + "; ".join(map(_said, broken))
    return f"{invariant:<4} -       {gap}" if gap else f"{invariant:<4} ok      {sentence}"


def _said(broken: Broken) -> str:
    named = ", ".join(broken.ids[:NAMED]) + (", …" if broken.count > NAMED else "")
    count = broken.count if broken.count == len(broken.ids) else f"more than {len(broken.ids)}"
    return f"{count} {broken.sentence}: {named}"


def _object(invariant: str, sentence: str, broken: list[Broken], gap: str | None) -> str:
    return json.dumps(
        {
            "invariant": invariant,
            "sentence": sentence,
            "holds": False if broken else None if gap else True,
            "not_checked": gap,
            "broken": [
                {"sentence": each.sentence, "count": each.count, "ids": each.ids} for each in broken
            ],
        }
    )


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0 <= seconds <= 1e9:
        raise ValueError(value)  # argparse names the option and the value
    return seconds


def _draw(count: int) -> None:
    sys.stderr.write(f"\rV8: {count} bodies read")
    sys.stderr.flush()
