import os
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import InterfaceError, OperationalError, connection

from classifier.batches.between import BetweenPieces
from classifier.batches.drive import drive
from classifier.batches.strays import delete_strays
from classifier.management.operation import Exit, Telling, alone, ends_by_signal
from classifier.models import Batch, ProviderBatch

BETWEEN_ROUNDS_SECONDS = 1.0
STAND_BY_SECONDS = 5.0
NICENESS = 19
STRAYS_EVERY_SECONDS = 3600.0


class Command(Telling):
    help = (
        "Carry batches on: write their jobs, send files to the provider, collect its answers, record "
        "them. One round, or with --follow for ever as a process of its own. One works at a time; it "
        "may be killed at any moment, and the next one goes on where it stood."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--follow", action="store_true", help="Round after round, for ever.")
        parser.add_argument(
            "--until-done",
            action="store_true",
            help="Round after round, until no batch has anything left to do.",
        )
        parser.add_argument(
            "--nice",
            type=int,
            default=NICENESS,
            help=f"How far it steps back for others on its machine; default {NICENESS}, 0: not.",
        )
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        self.as_json = options["json"]
        # Arrivals go first: on a busy machine this process waits, not their workers.
        os.nice(options["nice"])
        self._strays_due = time.monotonic()
        self._pause = threading.Event()
        self._between = BetweenPieces(wait=self._pause.wait)
        with ends_by_signal("What was done stands; the next one goes on from there."):
            while True:
                if not options["follow"]:
                    with alone(self.name) as check:
                        self._rounds(check, once=not options["until_done"])
                    return
                self._follow()

    def _follow(self) -> None:
        """Until the database goes away or another one is at work; then after a while again."""
        try:
            with alone(self.name) as check:
                self._rounds(check, forever=True)
        except (OperationalError, InterfaceError) as error:
            connection.close()
            self.stderr.write(f"the database does not answer ({type(error).__name__})")
        except CommandError as error:
            if error.returncode != Exit.LOCKED:
                raise
        self._pause.wait(STAND_BY_SECONDS)

    def _rounds(
        self, check: Callable[[], None], *, once: bool = False, forever: bool = False
    ) -> None:
        worked = False
        while True:
            check()
            self._between.beat()
            before = _states()
            did = drive(between=self._between)
            self._tell_changes(before)
            over = once or not (forever or _anything_left())
            worked |= did
            # A second run that finds nothing to do asks nothing either.
            if not once and (over or not did) and (forever or worked):
                self._delete_strays_when_due()
            if over:
                return
            if not did:
                self._pause.wait(BETWEEN_ROUNDS_SECONDS)

    def _delete_strays_when_due(self) -> None:
        if time.monotonic() >= self._strays_due:
            delete_strays(between=self._between)
            self._strays_due = time.monotonic() + STRAYS_EVERY_SECONDS

    def _tell_changes(self, before: dict[int, str]) -> None:
        for batch, state in _states().items():
            if before.get(batch) != state:
                self.tell("batch", {"batch": batch, "state": state}, [f"batch {batch}: {state}"])


def _anything_left() -> bool:
    """A batch that no person has to let go on, or a file at a provider."""
    waiting = Batch.objects.unfinished().exclude(state=Batch.State.STOPPED)
    files = ProviderBatch.objects.unfinished().exclude(batch__state=Batch.State.STOPPED)
    return waiting.exists() or files.exists()


def _states() -> dict[int, str]:
    return dict(Batch.objects.order_by("-id").values_list("id", "state")[:100])
