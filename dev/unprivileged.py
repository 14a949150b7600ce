"""Runs PostgreSQL for root: its programs refuse uid 0.

As a script (`python -I -S unprivileged.py PROGRAM ARGUMENT...`) it enters a user namespace of its
own, in which root's files are owned by "nobody", and becomes the program: the pid stays, nothing
on disk changes its owner, and the data may live below a directory that only root may enter.
Where namespaces are forbidden (some containers), the user "nobody" runs it instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOBODY = 65534
CLONE_NEWUSER = 0x10000000


@dataclass(frozen=True)
class RunAs:
    """How to start a program: words before it, and a user for Popen (None: our own)."""

    prefix: tuple[str, ...] = ()
    user: pwd.struct_passwd | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments for subprocess.Popen."""
        if self.user is None:
            return {}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}


def for_program(program: Path) -> RunAs | None:
    """Find a way to run the program without uid 0; None when there is none."""
    if os.geteuid() != 0:
        return RunAs()
    ways = [RunAs(prefix=(sys.executable, "-I", "-S", str(Path(__file__).resolve())))]
    with contextlib.suppress(KeyError):
        ways.append(RunAs(user=pwd.getpwnam("nobody")))
    return next((way for way in ways if _works(way, program)), None)


def _works(way: RunAs, program: Path) -> bool:
    try:
        tried = subprocess.run(
            [*way.prefix, str(program), "--version"],
            capture_output=True,
            check=False,
            cwd="/",
            **way.options,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0


def enter_user_namespace() -> None:
    """Map our uid and gid to "nobody" in a new namespace; OSError where that is forbidden."""
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)  # os.unshare exists from Python 3.12 on
    if libc.unshare(CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    # The kernel takes a gid_map of one's own only after setgroups is given up.
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {uid} 1"),
        ("gid_map", f"{NOBODY} {gid} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    enter_user_namespace()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606  becoming it is the point
