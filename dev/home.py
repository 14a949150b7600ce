"""The directory a run lives in: private, locked, with short socket paths and a guardian.

    <directory>/lock            held while anything of the run is alive; names the owner's pid
    <directory>/processes.json  what runs, for the start after a crash of everything
    <directory>/postgres/ valkey/ logs/ logs.previous/
    /tmp/moderation-<uid>-<hash of the directory>/   the sockets

Sockets have a directory of their own because a socket's path may not exceed about 100 bytes and
PostgreSQL splits its list of socket directories at commas.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dev.errors import DevError
from dev.guardian import Guardian, identity, read_ledger, stop_in_order

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_PATIENCE = 60.0
"""Seconds to wait for the guardian of a killed run, which still stops what that run left."""
THROWAWAY_PREFIX = "moderation-test-"
MEMORY_DISK = Path("/dev/shm")  # noqa: S108  the names below it are random and made with mode 0700
MEMORY_DISK_BYTES = 1 << 30
"""Free space below which the memory disk is not used: a container's default has only 64 MiB."""


@dataclass
class Home:
    directory: Path
    sockets: Path
    guardian: Guardian
    throwaway: bool
    lock: int

    @property
    def logs(self) -> Path:
        return self.directory / "logs"

    def close(self) -> None:
        """Give the directory back; what still runs is stopped in order. May be repeated."""
        if self.lock < 0:
            return
        self.guardian.close()
        if self.throwaway:
            shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)
        os.close(self.lock)
        self.lock = -1


def open_home(directory: Path, *, check: Callable[[], None] = lambda: None) -> Home:
    """Lock the directory for this process and stop what a crashed run left in it.

    DevError when another run holds it. `check` is asked while waiting and may raise.
    """
    directory = directory.absolute()  # the servers have other working directories than we
    private_directory(directory)
    try:
        descriptor = _lock(directory, check)
        return _settle(directory, descriptor, throwaway=False)
    except PermissionError as error:
        raise _of_another_user(Path(error.filename)) from None


def open_throwaway_home() -> Home:
    """Make a directory that is deleted at the end, in memory where there is room.

    What killed runs left behind is deleted first.
    """
    parent = _parent_of_throwaways()
    prefix = f"{THROWAWAY_PREFIX}{os.geteuid()}-"
    for stale in parent.glob(f"{prefix}*"):
        _remove_if_stale(stale)
    while True:
        directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            descriptor = _lock(directory, lambda: None)
        except FileNotFoundError:
            continue  # another run took it, still empty, for the rest of a deletion
        return _settle(directory, descriptor, throwaway=True)


def private_directory(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DevError(f"cannot make the directory {directory}: {error.strerror}") from None
    try:
        directory.chmod(0o700)
    except PermissionError:
        raise _of_another_user(directory) from None


def _of_another_user(path: Path) -> DevError:
    return DevError(f"{path} belongs to another user: run as that user, or delete it")


def socket_directory(directory: Path) -> Path:
    """Make the short private directory for the sockets of a run in `directory`."""
    digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:12]
    sockets = Path("/tmp") / f"moderation-{os.geteuid()}-{digest}"  # noqa: S108  checked below
    with contextlib.suppress(FileExistsError):
        sockets.mkdir(mode=0o700)
    found = sockets.lstat()
    # /tmp is everybody's: a directory or link put there by another user must not get our sockets.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise DevError(f"{sockets} is in the way and not ours: delete it, or have its owner do so")
    sockets.chmod(0o700)
    return sockets


def _settle(directory: Path, descriptor: int, *, throwaway: bool) -> Home:
    ledger = directory / "processes.json"
    stop_in_order(read_ledger(ledger))
    ledger.unlink(missing_ok=True)
    logs = directory / "logs"
    if logs.exists():
        shutil.rmtree(directory / "logs.previous", ignore_errors=True)
        logs.rename(directory / "logs.previous")
    logs.mkdir(mode=0o700)
    sockets = socket_directory(directory)
    guardian = Guardian(ledger=ledger, hold=(descriptor,))
    guardian.remove_at_end(sockets)
    if throwaway:
        guardian.remove_at_end(directory)
    return Home(directory, sockets, guardian, throwaway, descriptor)


def _lock(directory: Path, check: Callable[[], None]) -> int:
    path = directory / "lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LOCK_PATIENCE
    while not _try_lock(descriptor):
        owner = os.pread(descriptor, 200, 0).decode().strip()
        pid, _, known_as = owner.partition(" ")
        alive = pid.isdigit() and identity(int(pid)) == known_as
        if alive or time.monotonic() > deadline:
            os.close(descriptor)
            raise DevError(
                f"another run already uses {directory} (process {pid or 'unknown'}): "
                "stop that one first, with Ctrl-C where it runs"
            )
        check()
        time.sleep(0.05)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {identity(os.getpid())}\n".encode(), 0)
    return descriptor


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _parent_of_throwaways() -> Path:
    if os.access(MEMORY_DISK, os.W_OK | os.X_OK):
        space = os.statvfs(MEMORY_DISK)
        if space.f_bavail * space.f_frsize >= MEMORY_DISK_BYTES:
            return MEMORY_DISK
    return Path(tempfile.gettempdir())


def _remove_if_stale(directory: Path) -> None:
    try:
        descriptor = os.open(directory / "lock", os.O_RDWR)
    except OSError:
        # No lock yet: either just being made by a test run beside us, or the rest of a deletion.
        with contextlib.suppress(OSError):
            directory.rmdir()
        return
    if _try_lock(descriptor):
        stop_in_order(read_ledger(directory / "processes.json"))
        shutil.rmtree(socket_directory(directory), ignore_errors=True)
        shutil.rmtree(directory, ignore_errors=True)
    os.close(descriptor)
