"""PostgreSQL on a socket in a private directory: no port that could clash, no password."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING, Literal

import psycopg

from dev import binaries, unprivileged
from dev.errors import DevError
from dev.servers import Server, tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dev.home import Home

DATABASE = "moderation"
ROLE = "app"
BUILTIN_LOCALE_FROM = 17
STOP_MODES = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class Postgres(Server):
    title = "PostgreSQL"
    name = "postgres"
    stage = 2
    stop_signal = signal.SIGINT  # SIGTERM would wait for every client to go by itself

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._bin = binaries.postgres_bin()
        self.version = binaries.version_of(self._bin / "postgres")
        way = unprivileged.for_program(self._bin / "postgres")
        if way is None:
            raise DevError(
                "PostgreSQL does not run as root, and neither a user namespace nor the user "
                f"nobody may run {self._bin / 'postgres'}: run as an ordinary user, or set "
                "DATABASE_URL to a running server"
            )
        self._run_as = way
        self._sockets = home.sockets / "pg"  # its own, since another user may have to own it

    @property
    def url(self) -> str:
        # The socket stands in the query, where libpq and django-environ both read it;
        # django-environ does not decode a socket path in the place of the host.
        return f"postgres://{ROLE}@/{DATABASE}?host={self._sockets}"

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "fast") -> None:
        self._end(STOP_MODES[mode])

    def _prepare(self) -> None:
        self._sockets.mkdir(mode=0o700, exist_ok=True)
        if self._run_as.user is not None:
            self._let_in(self._run_as.user.pw_uid)
        marker = self.data / "PG_VERSION"
        if not marker.exists():
            self._initdb()
        made_by, have = marker.read_text(encoding="ascii").strip(), self.version.split(".")[0]
        if made_by != have:
            raise DevError(
                f"{self.data} was made by PostgreSQL {made_by}, but the program found is "
                f"PostgreSQL {have}: use that version again (EMBEDDED=wheels or EMBEDDED=system), "
                "or carry the data over with pg_dump, or delete it (`make clean`)"
            )

    def _initdb(self) -> None:
        # Under another name until complete: an interrupted initdb leaves nothing to trip over.
        draft = self.data.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        if self._run_as.user is not None:
            draft.mkdir(mode=0o700)
            os.chown(draft, self._run_as.user.pw_uid, -1)
        if int(self.version.split(".")[0]) >= BUILTIN_LOCALE_FROM:
            locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        else:  # plain C would make upper('é') and ILIKE blind for everything outside ASCII
            locale = ["--locale=C.UTF-8"]
        done = subprocess.run(
            [
                *self._run_as.prefix,
                str(self._bin / "initdb"),
                *("-D", str(draft), "-U", ROLE, "--auth=trust", "-E", "UTF8"),
                *locale,
                *(["--no-sync"] if self._home.throwaway else []),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            start_new_session=True,
            **self._run_as.options,
        )
        if done.returncode != 0:
            raise DevError(f"initdb failed in {draft}:\n{(done.stderr or done.stdout).strip()}")
        draft.rename(self.data)

    def _predecessor_lingers(self) -> bool:
        # A killed postmaster is not reaped yet, or its children hold the shared memory for a
        # moment more. Nobody else's: this directory's lock is ours.
        end = tail(self.log, lines=5)
        return "still in use" in end or '"postmaster.pid" already exists' in end

    def _let_in(self, uid: int) -> None:
        # The parents stay ours and unreadable; the other user may only pass through them.
        self._home.directory.chmod(0o711)
        self._home.sockets.chmod(0o711)
        os.chown(self._sockets, uid, -1)

    def _command(self) -> Sequence[str]:
        settings = {"listen_addresses": "", "max_connections": "200"}
        if self._home.throwaway:
            # Only what a crash of the machine needs is off: a killed server loses nothing.
            settings |= {"fsync": "off", "full_page_writes": "off"}
            # In the data directory, which goes with the run, instead of segments named in /dev/shm.
            settings["dynamic_shared_memory_type"] = "mmap"
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return [
            str(self._bin / "postgres"),
            *("-D", str(self.data), "-k", str(self._sockets)),
            *options,
        ]

    def _way(self) -> unprivileged.RunAs:
        return self._run_as

    def _answers(self) -> bool:
        try:
            with psycopg.connect(
                host=str(self._sockets),
                user=ROLE,
                dbname="postgres",
                connect_timeout=5,
                autocommit=True,
            ) as connection:
                # In the same breath, so that the address is good as soon as the server is ready.
                if not connection.execute(
                    "SELECT FROM pg_database WHERE datname = %s", [DATABASE]
                ).fetchall():
                    connection.execute(f"CREATE DATABASE {DATABASE}")  # a constant of this file
        except psycopg.OperationalError:
            return False
        return True
