"""The sender against a small HTTP server that answers by script."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dev import deliver as module
from dev.deliver import Delivery, deliver, main, read_bodies
from dev.errors import DevError


@dataclass
class Platform:
    """Answers the first requests by `script` (status, headers; 0 hangs up), then 202 or replays."""

    url: str = ""
    script: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    seen: list[tuple[str, bytes, str]] = field(default_factory=list)
    stored: dict[str, str] = field(default_factory=dict)
    connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def platform() -> Iterator[Platform]:
    state = Platform()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            state.connections += 1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            key = self.headers["Idempotency-Key"]
            with state.lock:
                state.seen.append((key, body, self.headers["Authorization"]))
                status, headers = state.script.pop(0) if state.script else (202, {})
                if status == 202:
                    status = 200 if key in state.stored else 202
                    state.stored.setdefault(key, f"id-{len(state.stored)}")
                if status == -1:  # stored, but the answer is lost
                    state.stored[key] = f"id-{len(state.stored)}"
            if status <= 0:
                self.close_connection = True
                return
            answer = json.dumps({"id": state.stored.get(key), "path": self.path}).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def bodies(count: int) -> list[bytes]:
    return [json.dumps({"n": number}).encode() for number in range(count)]


def test_every_body_is_sent_once_with_a_key_of_its_own_over_few_connections(
    platform: Platform,
) -> None:
    result = deliver(bodies(40), url=platform.url, key="k")
    assert (result.accepted, result.replayed, result.retries) == (40, 0, 0)
    assert sorted(result.ids) == sorted(platform.stored.values())
    assert len({key for key, _, _ in platform.seen}) == 40
    assert {body for _, body, _ in platform.seen} == set(bodies(40))
    assert {authorization for _, _, authorization in platform.seen} == {"Bearer k"}
    assert platform.connections <= module.THREADS


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_passing_fault_is_retried_with_the_same_key(platform: Platform, status: int) -> None:
    platform.script = [(status, {}), (status, {})]
    result = deliver(bodies(1), url=platform.url, key="k")
    assert (result.accepted, result.retries, result.refused) == (1, 2, [])
    assert len(platform.seen) == 3
    assert len({(key, body) for key, body, _ in platform.seen}) == 1


def test_a_lost_answer_is_asked_for_again_and_counts_as_replayed(platform: Platform) -> None:
    platform.script = [(-1, {})]
    result = deliver(bodies(1), url=platform.url, key="k")
    assert (result.accepted, result.replayed, result.ids) == (0, 1, ["id-0"])
    assert len(platform.stored) == 1


def test_retry_after_is_honoured(platform: Platform) -> None:
    platform.script = [(503, {"Retry-After": "1"})]
    began = time.monotonic()
    assert deliver(bodies(1), url=platform.url, key="k").accepted == 1
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize("status", [400, 401, 413, 422])
def test_a_refusal_is_recorded_and_not_retried(platform: Platform, status: int) -> None:
    platform.script = [(status, {})]
    result = deliver(bodies(2), url=platform.url, key="k", threads=1)
    assert len(platform.seen) == 2
    assert (result.accepted, result.retries) == (1, 0)
    assert [(one.line, one.status) for one in result.refused] == [(1, status)]
    assert result.settled == 2


def test_only_the_first_refusals_are_shown_and_the_rest_counted(platform: Platform) -> None:
    platform.script = [(400, {})] * 8
    complaints = list(deliver(bodies(8), url=platform.url, key="k").complaints())
    assert len(complaints) == 6
    assert complaints[-1] == "refused: 3 more"


def test_what_never_gets_an_answer_is_counted_as_undelivered() -> None:
    result = deliver(bodies(1), url="http://127.0.0.1:9", key="k", patience=0.5)
    assert result.accepted == 0
    assert [(one.line, one.status) for one in result.undelivered] == [(1, 0)]
    assert "not delivered: line 1, no answer" in next(result.complaints())


def test_it_stops_in_the_middle_when_asked(platform: Platform) -> None:
    stopping = threading.Event()
    platform.script = [(503, {"Retry-After": "30"})] * 4
    result = Delivery()
    thread = threading.Thread(
        target=deliver,
        args=(bodies(100),),
        kwargs={"url": platform.url, "key": "k", "result": result, "stopping": stopping},
    )
    thread.start()
    while len(platform.seen) < 4:
        time.sleep(0.01)
    stopping.set()
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert result.settled <= 4


def test_a_fault_while_reading_the_bodies_is_raised(platform: Platform, tmp_path: Path) -> None:
    with pytest.raises(DevError, match=r"cannot read .*none\.jsonl"):
        deliver(read_bodies(tmp_path / "none.jsonl"), url=platform.url, key="k")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(DevError, match="not an address"):
        deliver([], url="localhost:8000", key="k")


def test_the_command_sends_a_file_and_tells_what_was_refused(
    platform: Platform,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "a file.jsonl"
    file.write_bytes(b'{"n": 1}\n\n{"n": 2}\n')
    command = ["deliver", str(file), "--url", platform.url + "/", "--key", "k"]
    monkeypatch.setattr("sys.argv", command)
    assert main() == 0
    platform.script = [(400, {})]
    assert main() == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "accepted 2, replayed 0, refused 0, not delivered 0, retries 0",
        "accepted 1, replayed 0, refused 1, not delivered 0, retries 0",
    ]
    assert err.startswith("refused: line ")
    assert '"path": "/api/v1/reports/"' in err
