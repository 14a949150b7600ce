"""The manners of the commands that operations run on many reports: say the plan first, act once."""

import json
import signal
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from enum import IntEnum
from types import FrameType
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection
from django.utils import timezone

from classifier.management.bar import Bar
from classifier.models import PolicyVersion
from reports.foreign_text import name_controls


class Exit(IntEnum):
    """What a command's end means; 0 is done, 1 what nobody expected."""

    USAGE = 2
    NOT_ELIGIBLE = 3
    STOPPED_BY_LIMIT = 4  # and resumable
    LOCKED = 5
    SOME_FAILED = 6
    INTERRUPTED = 130
    TERMINATED = 143


class Telling(BaseCommand):
    """A command that tells facts, to people or with `--json` to a program."""

    as_json = False

    @property
    def name(self) -> str:
        """The command's name, which is its module's."""
        return type(self).__module__.rpartition(".")[2]

    def tell(self, event: str, facts: Mapping[str, Any], words: Iterable[str]) -> None:
        """One JSON object of the event and its facts, or the same as lines of words."""
        if self.as_json:
            self.stdout.write(json.dumps({"event": event, **facts}, default=_plain))
            return
        for each in words:
            # Some of it is other people's text, which must not steer the terminal.
            self.stdout.write(name_controls(each))


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


class Operation(Telling):
    """A command over a selection of reports. Without `--execute` it prints its plan.

    A second one beside it is refused. A signal ends it with 130 or 143, and the same command again
    does the rest. Nothing is done twice.
    """

    where: ClassVar[Mapping[str, Callable[[str], bool]]]
    """The keys of `--where`, each with what tells whether a value is known."""
    where_help: ClassVar[str] = ""

    def add_arguments(self, parser: CommandParser) -> None:
        moment = "ISO 8601 with a zone, such as 2026-11-01T00:00:00Z"
        parser.add_argument("--execute", action="store_true", help="Act; otherwise print the plan.")
        parser.add_argument("--since", type=_moment, help=f"Received at or after; {moment}.")
        parser.add_argument("--until", type=_moment, help=f"Received before; {moment}.")
        parser.add_argument(
            "--where",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=f"Narrow it; keys: {', '.join(self.where)}. {self.where_help}".rstrip(),
        )
        parser.add_argument(
            "--limit", type=count, help="So many reports at most, the oldest first."
        )
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        self.as_json = options["json"]
        narrowed = {
            "since": options["since"],
            "until": options["until"],
            "limit": options["limit"],
            **self._where(options["where"]),
        }
        if options["since"] and options["until"] and options["since"] >= options["until"]:
            raise CommandError("--since must be before --until.", returncode=Exit.USAGE)
        with ends_by_signal("Run the same command again for the rest."), alone(self.name):
            self.operate(narrowed, options)

    def operate(self, narrowed: dict[str, Any], options: dict[str, Any]) -> None:
        """Tell the plan for `narrowed` (since, until, limit, each key of `where`), maybe execute it."""
        raise NotImplementedError

    def is_dry_run(self, options: Mapping[str, Any]) -> bool:
        """Whether only the plan was asked for; then it is said that this was all."""
        if not options["execute"] and not self.as_json:
            self.stdout.write("Nothing was changed. Add --execute to do it.")
        return not options["execute"]

    def count(self, counts: Iterable[int], *, of: int) -> int:
        """The sum of what comes, drawn as it grows where a terminal looks on."""
        done = 0
        try:
            with Bar() as bar:
                for each in counts:
                    done += each
                    bar.draw(done, of)
        except KeyboardInterrupt:
            self.stderr.write(f"{done:,} of {of:,} are done.")
            raise
        return done

    def _where(self, pairs: list[str]) -> dict[str, str]:
        chosen: dict[str, str] = {}
        for pair in pairs:
            key, _, value = pair.partition("=")
            if key not in self.where or key in chosen or not value:
                raise CommandError(
                    f"--where {pair}: use KEY=VALUE with {' or '.join(self.where)}, each once.",
                    returncode=Exit.USAGE,
                )
            if not self.where[key](value):
                raise CommandError(f"--where {pair}: no such {key}.", returncode=Exit.USAGE)
            chosen[key] = value
        return chosen


def active_policy() -> PolicyVersion:
    """The active version; without one the command ends as not eligible."""
    policy = PolicyVersion.objects.active()
    if policy is None:
        raise CommandError(
            "No policy version is active. Run `manage.py load_policy --activate` first.",
            returncode=Exit.NOT_ELIGIBLE,
        )
    return policy


def count(value: str) -> int:
    """Argument type: a whole number above 0."""
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise ArgumentTypeError(f"{value!r} is not a number above 0")
    return int(value)


@contextmanager
def ends_by_signal(what_now: str) -> Iterator[None]:
    """SIGINT and SIGTERM undo what is not committed and end the command with 130 or 143."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt as stop:
        code = Exit.TERMINATED if isinstance(stop, _Terminated) else Exit.INTERRUPTED
        raise CommandError(f"Interrupted. {what_now}", returncode=code) from None
    finally:
        signal.signal(signal.SIGTERM, before)


class _Terminated(KeyboardInterrupt):
    """SIGTERM. The database's client cancels what it waits for at a KeyboardInterrupt only."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _moment(value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or timezone.is_naive(moment):
        raise ArgumentTypeError(
            f"{value!r} is not ISO 8601 with a zone, such as 2026-11-01T00:00:00Z"
        )
    return moment


@contextmanager
def alone(name: str) -> Iterator[Callable[[], None]]:
    """Refuse to run beside a second one.

    The lock goes with a connection of its own: the work's is closed before each call of a model.
    Gives what raises `OperationalError` once that connection, and the lock with it, is gone.
    """
    holder = connection.copy()
    try:
        with holder.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [f"command {name}"])
            if not cursor.fetchone()[0]:
                raise CommandError(f"Another {name} is running.", returncode=Exit.LOCKED)
            try:
                yield lambda: cursor.execute("SELECT 1")
            finally:
                # The server hears of a closed connection a moment later; the next one need not wait.
                with suppress(Error):
                    cursor.execute("SELECT pg_advisory_unlock_all()")
    finally:
        holder.close()
