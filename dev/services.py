"""Starts the PostgreSQL and Valkey that the demo and the tests run on.

DATABASE_URL and REDIS_URL in the environment win: what they name is used and not started.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dev.home import Home, open_home, open_throwaway_home
from dev.postgres import Postgres
from dev.valkey import Valkey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dev.servers import Server


def silent(_: str) -> None:
    """Say nothing."""


@dataclass
class Services:
    """Two addresses, and the servers behind them where they are ours (None: given to us).

    `postgres` and `valkey` can be stopped, killed and started again one by one; the addresses stay.
    """

    database_url: str
    redis_url: str
    postgres: Postgres | None
    valkey: Valkey | None
    home: Home

    def ended(self) -> Server | None:
        """Return a server of ours that is not running, if there is one."""
        ours: list[Server] = [one for one in (self.postgres, self.valkey) if one is not None]
        return next((one for one in ours if not one.is_running()), None)

    def stop(self) -> None:
        """Stop the broker, then the database, and give the directory back. May be repeated."""
        if self.valkey is not None:
            self.valkey.stop()
        if self.postgres is not None:
            self.postgres.stop()
        self.home.close()


def start_services(
    *, data_dir: Path | None = None, throwaway: bool = False, say: Callable[[str], None] = silent
) -> Services:
    """Start what the environment does not name, in a directory that is kept or thrown away.

    A throw-away run makes its own directory. DevError with a sentence when something is missing.
    """
    if throwaway == (data_dir is not None):
        raise ValueError("give a data_dir, or throwaway=True")
    home = open_throwaway_home() if data_dir is None else open_home(data_dir)
    return start_services_in(home, say=say)


def start_services_in(home: Home, *, say: Callable[[str], None] = silent) -> Services:
    """Start them in a home opened before; it is closed again when that fails."""
    services = Services(
        database_url=os.environ.get("DATABASE_URL", ""),
        redis_url=os.environ.get("REDIS_URL", ""),
        postgres=None,
        valkey=None,
        home=home,
    )
    try:
        if services.database_url:
            say("PostgreSQL given by DATABASE_URL")
        else:
            services.postgres = Postgres(home)
            services.database_url = services.postgres.url
        if services.redis_url:
            say("Redis given by REDIS_URL")
        else:
            services.valkey = Valkey(home)
            services.redis_url = services.valkey.url
        for server in (services.postgres, services.valkey):
            if server is not None:
                started = time.monotonic()
                server.start()
                say(f"{server.title} {server.version} ready {time.monotonic() - started:.1f} s")
    except BaseException:
        services.stop()
        raise
    return services
