"""Run a management command again and again, each time in a forked process, until one ends with 0.

    python -m classifier.tests.forked_commands MOST COMMAND [ARGUMENT ...]

Prints how each ended, as JSON: a signal's number is negative. What takes long to import is there
before the first fork.
"""

import json
import os
import sys

import django
from django.core.management import call_command


def main() -> None:
    most, arguments = int(sys.argv[1]), sys.argv[2:]
    django.setup()
    from classifier import provider  # noqa: PLC0415 - after the set-up
    from classifier.management.commands import reconcile  # noqa: F401, PLC0415

    provider.load()
    ends: list[int] = []
    while len(ends) < most and (not ends or ends[-1]):
        ends.append(_run(arguments))
    sys.stdout.write(f"{json.dumps(ends)}\n")


def _run(arguments: list[str]) -> int:
    child = os.fork()
    if child == 0:
        try:
            call_command(*arguments)
        except BaseException as error:  # noqa: BLE001 - told, and the process ends here
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main()
