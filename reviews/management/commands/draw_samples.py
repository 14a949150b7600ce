from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from classifier.management.operation import Telling, alone, ends_by_signal
from reviews.models import Draw
from reviews.quality.draw import PlannedDraw, draw, plan_draw
from reviews.quality.settle import settle_what_was_overridden

_WORDS = {
    Draw.Of.AUDITS: "items that were judged safe, to be audited",
    Draw.Of.DOUBLE_REVIEWS: "decisions, to be reviewed a second time",
}


class Command(Telling):
    help = (
        "Draw samples of what was judged safe and of what people decided, from the end of the last "
        "draw until an hour ago, by the sampling rates; and settle the second reviews whose items "
        "a third person decided about anew. For every night. Without --execute it prints the plan "
        "and changes nothing. Twice draws nothing again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--execute", action="store_true", help="Act; otherwise print the plan.")
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        self.as_json = options["json"]
        with ends_by_signal("Nothing was drawn."), alone(self.name):
            planned = plan_draw()
            self.tell("plan", {"draws": [_facts(each) for each in planned]}, _words(planned))
            if not options["execute"]:
                if not self.as_json:
                    self.stdout.write("Nothing was changed. Add --execute to do it.")
                return
            # First: a signal that comes meanwhile has truly drawn nothing.
            settled = settle_what_was_overridden()
            drawn = draw(actor_name=f"command {self.name}")
            self.tell(
                "done",
                {"draws": [row.pk for row in drawn], "settled": settled},
                [
                    f"Drawn: {len(drawn)} draws." if drawn else "Nothing was drawn.",
                    *([f"Settled by a later decision: {settled}."] if settled else []),
                ],
            )


def _facts(planned: PlannedDraw) -> dict[str, Any]:
    return {
        "of": planned.of.value,
        "since": planned.since,
        "until": planned.until,
        "population": planned.population,
        "drawn": planned.drawn,
        "strata": [stratum._asdict() for stratum in planned.strata],
    }


def _words(planned: list[PlannedDraw]) -> Iterator[str]:
    for each in planned:
        yield (
            f"{each.drawn:,} of {each.population:,} {_WORDS[each.of]}, of {len(each.strata)} kinds,"
            f" from {each.since.isoformat()} to {each.until.isoformat()}"
        )
        for language in sorted({stratum.language for stratum in each.strata}):
            strata = [stratum for stratum in each.strata if stratum.language == language]
            drawn, there = (sum(s.drawn for s in strata), sum(s.population for s in strata))
            yield f"  {drawn:>8,} of {there:,} in {language}"
    if not planned:
        yield "There is nothing to draw from."
