"""What every bench begins with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dev import programs

if TYPE_CHECKING:
    from dev.processes import Interruption, Supervisor
    from dev.services import Services


def prepared(
    services: Services, supervisor: Supervisor, interruption: Interruption
) -> dict[str, str]:
    """Tables and the policy are there; returns the environment of the product's processes."""
    env = programs.environment(database_url=services.database_url, redis_url=services.redis_url) | {
        "INTAKE_RATE": "100000000/min"
    }
    for name, *arguments in (("migrate", "--noinput"), ("load_policy", "--activate")):
        supervisor.run_step(
            programs.step(name, name, *arguments, env=env), check=interruption.check
        )
    return env


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
