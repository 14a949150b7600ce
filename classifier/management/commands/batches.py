import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from classifier.batches.control import BatchStateError, cancel_batch, resume_batch
from classifier.batches.progress import Progress, read_progress
from classifier.batches.reopen import reopen_more
from classifier.management.bar import Bar
from classifier.management.batch_operation import cost
from classifier.management.batch_words import (
    all_facts,
    all_in_words,
    moving_facts,
    moving_in_words,
    pace_in_short,
    row_facts,
    row_in_words,
)
from classifier.management.operation import Exit, Telling, count, ends_by_signal
from classifier.models import Batch, Disagreement

State = Batch.State
ACTOR = "command batches"
LISTED = 20


class Command(Telling):
    help = (
        "List the batches of history, look at one, watch it to its end, cancel it, or let it go on "
        "after it was stopped, or bring more of what it found to people. `reconcile` does their work."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        some = actions.add_parser("list", help="The newest ones.")
        some.add_argument(
            "--limit", type=count, default=LISTED, help="So many; default %(default)s."
        )
        some.add_argument("--unfinished", action="store_true", help="Only those.")
        show = actions.add_parser("show", help="All that is known of one.")
        watch = actions.add_parser(
            "watch",
            help="Until it ends or stops: a bar on a terminal, else a line a change. Exit 0: every "
            "report has its answer, 6: some have none, 4: stopped, and its note says why.",
        )
        watch.add_argument(
            "--every", type=_seconds, default=5.0, metavar="SECONDS", help="Default %(default)g."
        )
        cancel = actions.add_parser(
            "cancel", help="Ask nothing more. What is answered by then is recorded all the same."
        )
        resume = actions.add_parser("resume", help="Let a stopped one go on.")
        resume.add_argument(
            "--max-cost",
            type=cost,
            metavar="COST",
            help="The new limit of the whole batch. Without it there is no limit any more.",
        )
        reopen = actions.add_parser(
            "reopen",
            help="Put more disagreements of one that ended before people, the most severe first.",
        )
        reopen.add_argument(
            "--at-most",
            type=count,
            metavar="N",
            required=True,
            help="So many beyond those that were reopened already.",
        )
        for action in (show, watch, cancel, resume, reopen):
            action.add_argument("id", type=count)
        for action in (some, show, watch, cancel, resume, reopen):
            action.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        self.as_json = options["json"]
        act = {
            "list": self._list,
            "show": self._show,
            "watch": self._watch,
            "cancel": self._cancel,
            "resume": self._resume,
            "reopen": self._reopen,
        }[options["action"]]
        try:
            act(options)
        except Batch.DoesNotExist:
            raise CommandError(
                f"There is no batch {options['id']}; see `batches list`.", returncode=Exit.USAGE
            ) from None
        except BatchStateError as refusal:
            raise CommandError(str(refusal), returncode=Exit.NOT_ELIGIBLE) from None

    def _list(self, options: Mapping[str, Any]) -> None:
        batches = Batch.objects.unfinished() if options["unfinished"] else Batch.objects.all()
        for batch in batches.order_by("-pk")[: options["limit"]]:
            self.tell("batch", row_facts(batch), [row_in_words(batch)])

    def _show(self, options: Mapping[str, Any]) -> None:
        progress = _read(options["id"])
        self.tell("batch", all_facts(progress), all_in_words(progress))

    def _watch(self, options: Mapping[str, Any]) -> None:
        with ends_by_signal("The batch goes on."), Bar() as bar:
            told: dict[str, Any] = {}
            while True:
                progress = _read(options["id"])
                facts = moving_facts(progress)
                bar.draw(
                    progress.ended,
                    progress.ended + progress.left,
                    pace_in_short(progress, now=timezone.now()),
                )
                if _counts(facts) != _counts(told) and (self.as_json or not bar.is_shown):
                    line = f"{timezone.now():%Y-%m-%d %H:%M:%S} {moving_in_words(progress)}"
                    self.tell("progress", facts, [line])
                    told = facts
                if progress.batch.ended_at or progress.batch.state == State.STOPPED:
                    break
                time.sleep(options["every"])
        _exit(progress)

    def _cancel(self, options: Mapping[str, Any]) -> None:
        changed = cancel_batch(batch_id=options["id"], actor_name=ACTOR)
        said = "is being cancelled" if changed else "was cancelled already"
        self._tell_change("cancelled", options["id"], changed=changed, said=said)

    def _resume(self, options: Mapping[str, Any]) -> None:
        limit = options["max_cost"]
        changed = resume_batch(batch_id=options["id"], actor_name=ACTOR, max_cost=limit)
        said = "goes on" if changed else "goes on already"
        bound = f"at most {limit:,} in all" if limit else "without a cost limit"
        self._tell_change("resumed", options["id"], changed=changed, said=f"{said}, {bound}")

    def _reopen(self, options: Mapping[str, Any]) -> None:
        with ends_by_signal("What was reopened stands."):
            reopened = reopen_more(
                batch_id=options["id"], at_most=options["at_most"], actor_name=ACTOR
            )
        batch = Batch.objects.get(pk=options["id"])
        left = batch.disagreements.filter(state=Disagreement.State.OPEN).count()
        facts = {"batch": batch.pk, "reopened": reopened, "in_all": batch.reopened, "open": left}
        said = f"reopened {reopened:,}, in all {batch.reopened:,}; still open: {left:,}"
        self.tell("reopened", facts, [f"Batch {batch}: {said}."])

    def _tell_change(self, event: str, batch_id: int, *, changed: bool, said: str) -> None:
        self.tell(event, {"batch": batch_id, "changed": changed}, [f"Batch {batch_id} {said}."])


def _read(batch_id: int) -> Progress:
    return read_progress(Batch.objects.select_related("policy_version").get(pk=batch_id))


def _counts(facts: Mapping[str, Any]) -> list[Any]:
    """What a line is worth; the pace changes all the time."""
    return [facts.get(name) for name in ("state", "done", "parked", "left", "at_provider")]


def _exit(progress: Progress) -> None:
    batch = progress.batch
    if batch.state == State.STOPPED:
        raise CommandError(
            f"Batch {batch} is stopped: {batch.note}; to let it go on: "
            f"manage.py batches resume {batch} --max-cost COST",
            returncode=Exit.STOPPED_BY_LIMIT,
        )
    if progress.parked_in_all:
        raise CommandError(
            f"Batch {batch} is {batch.get_state_display()}; {progress.parked_in_all:,} reports have "
            f"no answer: manage.py batches show {batch}",
            returncode=Exit.SOME_FAILED,
        )


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0.01 <= seconds <= 3600:
        raise ValueError(value)  # argparse names the option and the value
    return seconds
