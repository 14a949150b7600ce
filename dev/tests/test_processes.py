"""Child processes: stopped in order, restarted, and gone after a kill -9 of their owner."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev.errors import DevError
from dev.guardian import Watched, identity, read_ledger, stop_in_order
from dev.home import Home, open_home
from dev.processes import (
    Interrupted,
    Program,
    Supervisor,
    check_port,
    describe_exit,
    free_port,
    wait_until,
)

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
PARENT = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}])
print(child.pid, flush=True)
time.sleep(60)
"""
OWNER = """
import json, sys, time
from pathlib import Path
from dev.home import open_home
from dev.processes import Interruption, Program, Supervisor
from dev.services import start_services_in
sleeper, stubborn, witness = sys.argv[2:5]
interruption = Interruption()
home = open_home(Path(sys.argv[1]))
services = start_services_in(home)
supervisor = Supervisor(home, say=lambda text: None)
def program(name, code, grace=15.0):
    return Program(name, (sys.executable, "-c", code), {"KV": services.redis_url}, grace=grace)
pids = [supervisor.start(program("web", sleeper)),
        supervisor.start(program("stubborn", stubborn, grace=0.5)),
        supervisor.start(program("worker", witness))]
pids += [services.postgres.pid, services.valkey.pid, home.guardian.pid]
while (home.directory / "witness").read_text() != "started":
    time.sleep(0.01)
print(json.dumps(pids), flush=True)
while not interruption.asked:
    supervisor.check()
    time.sleep(0.01)
supervisor.stop()
services.stop()
"""
# On SIGTERM it asks the broker for an answer, slowly: a broker stopped before it would not give it.
WITNESS = """
import os, signal, socket, sys, time
from pathlib import Path
note = Path({note!r})
def stop(number, frame):
    time.sleep(0.3)
    with socket.socket(socket.AF_UNIX) as broker:
        broker.connect(os.environ["KV"].removeprefix("redis+socket://"))
        broker.sendall(b"PING\\r\\n")
        note.write_text(broker.recv(64).decode())
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
note.write_text("started")
time.sleep(60)
"""


def python(name: str, code: str, *, restart: bool = True, grace: float = 5.0) -> Program:
    return Program(
        name, (sys.executable, "-c", textwrap.dedent(code)), dict(os.environ), restart, grace
    )


def eventually(condition: Callable[[], bool], *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def none_run(pids: list[int]) -> bool:
    return all(identity(pid) is None for pid in pids)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    opened = open_home(tmp_path / "with spaces" / ".local")
    yield opened
    opened.close()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(home: Home, said: list[str]) -> Iterator[Supervisor]:
    one = Supervisor(home, say=said.append)
    yield one
    one.stop(hurry=lambda: True)


@pytest.fixture
def owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[str], list[int], Path]]:
    """A supervisor in a process of its own, with servers and three children; its pids."""
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)
    data_dir = tmp_path / "with spaces" / ".local"
    data_dir.mkdir(parents=True)
    note = data_dir / "witness"
    note.write_text("")
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", OWNER, str(data_dir)),
            *(SLEEPER, STUBBORN, WITNESS.format(note=str(note))),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    pids = json.loads(process.stdout.readline())
    process.stdout.close()
    yield process, pids, data_dir
    process.kill()
    process.wait()
    open_home(data_dir).close()


def test_kill_9_of_the_supervisor_leaves_nothing_running(
    owner: tuple[subprocess.Popen[str], list[int], Path],
) -> None:
    process, pids, data_dir = owner
    process.kill()
    process.wait()
    assert eventually(lambda: none_run(pids))
    assert (data_dir / "witness").read_text().strip() == "+PONG"  # the same order as a clean stop
    assert not (data_dir / "postgres" / "postmaster.pid").exists()


def test_a_start_right_after_a_kill_9_waits_for_the_guardian(
    owner: tuple[subprocess.Popen[str], list[int], Path],
) -> None:
    process, pids, data_dir = owner
    process.kill()
    process.wait()
    open_home(data_dir).close()
    assert none_run(pids[:-1])


def test_ctrl_c_stops_workers_before_the_broker_and_leaves_nothing(
    owner: tuple[subprocess.Popen[str], list[int], Path],
) -> None:
    process, pids, data_dir = owner
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert none_run(pids)
    assert (data_dir / "witness").read_text().strip() == "+PONG"
    assert read_ledger(data_dir / "processes.json") == []


def test_a_second_supervisor_in_the_same_directory_is_refused(home: Home) -> None:
    with pytest.raises(DevError, match=f"already uses .*process {os.getpid()}"):
        open_home(home.directory)


def test_a_process_that_dies_is_started_again(
    supervisor: Supervisor, said: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "runs"
    supervisor.start(python("web", f"open({str(log)!r}, 'a').write('x'); raise SystemExit(3)"))

    def three_runs() -> bool:
        supervisor.check()
        return log.exists() and len(log.read_text()) >= 3

    began = time.monotonic()
    assert eventually(three_runs)
    assert time.monotonic() - began >= 1.5  # 0.5 s, then 1 s
    assert said[:2] == [
        "web ended (exit 3), starts again in 0.5 s",
        "web ended (exit 3), starts again in 1.0 s",
    ]


def test_a_process_without_restart_or_while_starting_ends_the_run_with_its_log(
    supervisor: Supervisor,
) -> None:
    supervisor.start(python("web", "raise SystemExit('no such settings')"))
    with pytest.raises(DevError, match=r"(?s)web ended \(exit 1\).*web\.log.*no such settings"):
        wait_until(
            lambda: False,
            seconds=10,
            what="never",
            check=lambda: supervisor.check(starting=True),
        )


def test_kill_at_the_end_of_the_grace_takes_the_children_too(
    supervisor: Supervisor, home: Home
) -> None:
    pid = supervisor.start(
        python("web", "import signal; signal.signal(15, signal.SIG_IGN)\n" + PARENT, grace=0.3)
    )
    log = home.logs / "web.log"
    assert eventually(lambda: log.exists() and log.read_text().endswith("\n"))
    child = int(log.read_text())
    supervisor.stop()
    assert eventually(lambda: none_run([pid, child]), seconds=5)


def test_children_of_a_killed_process_go_before_it_starts_again(
    supervisor: Supervisor, home: Home
) -> None:
    pid = supervisor.start(python("web", PARENT))
    log = home.logs / "web.log"
    assert eventually(lambda: log.exists() and log.read_text().endswith("\n"))
    child = int(log.read_text())
    os.kill(pid, signal.SIGKILL)

    def started_again() -> bool:
        supervisor.check()
        return supervisor.pid("web") not in (None, pid)

    assert eventually(started_again)
    assert identity(child) is None


def test_a_failed_step_shows_the_end_of_its_log(supervisor: Supervisor) -> None:
    supervisor.run_step(python("fine", "pass"), check=lambda: None)
    with pytest.raises(DevError, match=r"(?s)migrate ended \(exit 1\).*table is missing"):
        supervisor.run_step(
            python("migrate", "raise SystemExit('table is missing')"), check=lambda: None
        )


def test_a_step_that_is_interrupted_does_not_go_on(supervisor: Supervisor, home: Home) -> None:
    def ask_to_stop() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        supervisor.run_step(python("migrate", SLEEPER), check=ask_to_stop)
    assert home.guardian.watched == []


def test_a_reused_pid_is_not_signalled() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER]) as process:
        stop_in_order([Watched("web", process.pid, "another time", signal.SIGKILL, 1.0, 0)])
        assert process.poll() is None
        process.kill()
    assert identity(process.pid) is None


def test_a_taken_port_is_a_sentence_that_names_port() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(DevError, match=f"port {port} is taken .* PORT={port + 1}"):
            check_port(port)
    check_port(free_port())


def test_a_condition_that_never_comes_is_a_sentence() -> None:
    with pytest.raises(DevError, match=r"^the model did not answer in 0 s$"):
        wait_until(lambda: False, seconds=0.1, what="the model did not answer", check=lambda: None)


def test_exits_are_described_by_number_or_signal() -> None:
    assert describe_exit(-9) == "SIGKILL"
    assert describe_exit(2) == "exit 2"
