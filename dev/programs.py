"""The product's processes and one-off steps, as a run of the demo starts them.

Always `python -m`, never a console script: their first line cannot hold a path with spaces.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dev.processes import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
MANAGE = str(ROOT / "manage.py")
STANDIN_MODEL = "stand-in-not-a-model"
LANES = {"live": 8, "batch": 2}
"""Threads of each worker; each may hold one database connection."""


def environment(*, database_url: str, redis_url: str) -> dict[str, str]:
    """Return our own environment, completed for the product in development."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "moderation_site.settings",
        "ENVIRONMENT": "development",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
    }


def write_environment(path: Path, env: Mapping[str, str]) -> None:
    """Keep what `manage.py` needs to speak to this run, for `set -a; . FILE` in a shell."""
    keys = (
        "ENVIRONMENT",
        "DATABASE_URL",
        "REDIS_URL",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "MODEL",
    )
    lines = [f"{key}={shlex.quote(env[key])}" for key in keys if key in env]
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def standin_environment(port: int) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "OPENAI_API_KEY": "stand-in",
        "MODEL": STANDIN_MODEL,
    }


def step(name: str, *arguments: str, env: Mapping[str, str]) -> Program:
    """Name a management command that runs to its end."""
    return Program(name, (sys.executable, MANAGE, *arguments), env, restart=False)


def accounts(file: Path, *, env: Mapping[str, str]) -> Program:
    return Program("accounts", (sys.executable, "-m", "dev.accounts", str(file)), env)


def looked_again(*, env: Mapping[str, str]) -> Program:
    return Program("looked-again", (sys.executable, "-m", "dev.looked_again"), env)


def standin(port: int, *, env: Mapping[str, str]) -> Program:
    return Program("model", (sys.executable, "-m", "dev.standin", "--port", str(port)), env)


def web(port: int, *, env: Mapping[str, str]) -> Program:
    options = ("--workers", "2", "--threads", "4", "--worker-class", "gthread")
    return Program(
        "web",
        (
            *(sys.executable, "-m", "gunicorn", "moderation_site.wsgi"),
            *("--bind", f"127.0.0.1:{port}", *options),
            "--no-control-socket",  # it would lie in the home directory, one for all runs
        ),
        env,
    )


def worker(lane: str, *, env: Mapping[str, str]) -> Program:
    threads = str(LANES[lane])
    return Program(
        f"worker-{lane}",
        (
            *(sys.executable, "-m", "celery", "-A", "moderation_site", "worker"),
            *("-Q", lane, "-P", "threads", "-c", threads, "-n", f"{lane}@%h"),
            *("--without-gossip", "--without-mingle", "-l", "INFO"),
        ),
        {**env, "DATABASE_POOL_SIZE": threads},
    )


def sweep(*, env: Mapping[str, str]) -> Program:
    return Program("sweep", (sys.executable, MANAGE, "sweep"), env)


def reconcile(*, env: Mapping[str, str]) -> Program:
    return Program("reconcile", (sys.executable, MANAGE, "reconcile", "--follow"), env)
