"""`make interop` as far as it goes without downloads: another server, what is missing, the tally."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.interop.answering import mixed_samples, too_long_body
from dev.interop.packages import MissingError, find_node
from dev.interop.tally import Tally
from dev.programs import ROOT, STANDIN_MODEL
from dev.standin.server import running_standin

pytestmark = pytest.mark.long

INTEROP = ROOT / "dev" / "interop"


def run_interop(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dev.interop", *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def done() -> Iterator[subprocess.CompletedProcess[str]]:
    """A run against the stand-in, as if it were anybody's server, of a model that reads little."""
    with running_standin() as standin:
        standin.behave(context=8_192)
        yield run_interop(
            "--reports",
            "6",
            OPENAI_BASE_URL=standin.base_url,
            MODEL=STANDIN_MODEL,
            OPENAI_API_KEY="",
        )


def test_any_server_is_tried_with_reports_the_schema_and_one_of_too_many_parts(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    checks = [line for line in lines if line.startswith("passed")]
    assert len(checks) == 4
    assert "6 reports in English and Arabic: 6 recorded" in checks[0]
    assert "structured output: asked as json_schema, 6 of 6" in checks[1]
    assert "more than 2 parts" in checks[2]
    assert "too_long, parked, pending" in checks[2]
    assert checks[2].endswith(", 0 calls")
    assert "the stored limit is 8,192 tokens by max_model_len" in lines[0]
    assert any("p50" in line and "p95" in line for line in lines)


def test_any_server_of_a_small_limit_is_shown_to_read_all_of_a_report_in_parts(
    done: subprocess.CompletedProcess[str],
) -> None:
    (told,) = [line for line in done.stdout.splitlines() if "4 times over the limit" in line]
    assert told.startswith("passed")
    found = re.search(r"(\d+) parts, (\d+) of (\d+) messages on record and (\d+) on the wire", told)
    assert found is not None, told
    parts, recorded, everything, sent = map(int, found.groups())
    assert parts > 4
    assert recorded == everything == sent > 50
    assert "0 refused as too long" in told
    assert "one current classification of 1" in told


def test_a_report_in_so_many_parts_is_left_out_where_the_model_reads_much() -> None:
    with running_standin() as standin:
        standin.behave(context=128_000)
        done = run_interop("--reports", "1", OPENAI_BASE_URL=standin.base_url, MODEL=STANDIN_MODEL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "four times over the limit: the limit is above 40,000." in done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["skipped"] == 1


def test_a_server_that_tells_no_limit_is_asked_once_a_person_gives_one() -> None:
    with running_standin() as standin:
        standin.behave(models={"data": [{"id": STANDIN_MODEL}]})
        base_url = standin.base_url
        without = run_interop("--reports", "1", OPENAI_BASE_URL=base_url, MODEL=STANDIN_MODEL)
        given = run_interop(
            *("--reports", "1", "--recorded-limit", "32768"),
            OPENAI_BASE_URL=base_url,
            MODEL=STANDIN_MODEL,
        )
    assert without.returncode == 1
    assert "so it is not asked; give it with --recorded-limit" in without.stdout
    assert "unknown_limit" in without.stdout
    assert given.returncode == 0, given.stdout + given.stderr
    assert "the stored limit is 32,768 tokens by record" in given.stdout


def test_the_last_line_is_one_object_for_programs(done: subprocess.CompletedProcess[str]) -> None:
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "tried": 4,
        "passed": 4,
        "failed": 0,
        "skipped": 0,
    }


def test_nothing_but_lines_where_there_is_no_terminal(
    done: subprocess.CompletedProcess[str],
) -> None:
    assert "\r" not in done.stdout
    assert done.stderr == ""


def test_a_server_that_is_not_there_fails_and_says_what_came() -> None:
    done = run_interop(
        "--reports", "1", "--seconds", "1", OPENAI_BASE_URL="http://127.0.0.1:9/v1", MODEL="any"
    )
    assert done.returncode == 1
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["passed"] == 0
    assert told["failed"] == told["tried"] >= 2
    assert "provider_unavailable" in done.stdout


def test_an_address_without_a_model_is_a_usage_error() -> None:
    done = run_interop(OPENAI_BASE_URL="http://127.0.0.1:9/v1", MODEL="")
    assert done.returncode == 2
    assert "MODEL is not" in done.stderr
    assert done.stdout == ""


def test_skipped_is_neither_tried_nor_passed() -> None:
    said: list[str] = []
    tally = Tally(said.append)
    tally.record("one", passed=True, came="an answer")
    tally.record("two", passed=False, came="nothing")
    tally.skip("three", why="Node is not installed.", count=17)
    assert json.loads(tally.last_line()) == {"tried": 2, "passed": 1, "failed": 1, "skipped": 17}
    assert said == [
        "passed  one: an answer",
        "FAILED  two: nothing",
        "skipped three (17 checks): Node is not installed.",
    ]


def test_a_missing_node_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match=r"Node is not installed; aimock needs 20\.15 or later"):
        find_node()


def pretend_node(place: Path, monkeypatch: pytest.MonkeyPatch, told: str) -> Path:
    """A `node` that tells this version, and no other one."""
    node = place / "node"
    node.write_text(f"#!/bin/sh\necho '{told}'\n", "utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(place))
    return node


@pytest.mark.parametrize("told", ["v18.20.4", "v20.14.0", ""])
def test_an_old_node_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    pretend_node(tmp_path, monkeypatch, told)
    with pytest.raises(MissingError, match=f"Node here is {told or 'broken'}; aimock needs"):
        find_node()


@pytest.mark.parametrize("told", ["v20.15.0", "v22.1.0"])
def test_a_node_that_is_new_enough_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    node = pretend_node(tmp_path, monkeypatch, told)
    assert find_node() == str(node)


def test_samples_come_in_both_languages_each_about_an_item_of_its_own() -> None:
    samples = list(mixed_samples(40))
    assert [each["language"] for each in samples[:4]] == ["en", "ar", "en", "ar"]
    assert len({each["item"]["id"] for each in samples}) == 40


@pytest.mark.parametrize("context", [2048, 128_000, None])
def test_a_body_too_long_for_a_model_is_within_the_limits_of_the_api(context: int | None) -> None:
    body = too_long_body(context)
    assert len(json.dumps(body).encode()) < 1024 * 1024
    assert len(body["messages"]) <= 500
    assert all(len(message["text"]) <= 20_000 for message in body["messages"])


def test_what_is_installed_is_pinned_by_hash_and_names_no_registry() -> None:
    lock = json.loads((INTEROP / "package-lock.json").read_text("utf-8"))
    packages = [each for path, each in lock["packages"].items() if path]
    assert all("integrity" in each and "resolved" not in each for each in packages)
    requirements = (INTEROP / "requirements.txt").read_text("utf-8")
    assert "--hash=sha256:" in requirements
    assert "://" not in requirements
