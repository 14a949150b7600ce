"""`check_invariants`: a line for each invariant, exit 6 with the offending ids."""

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from classifier.models import PolicyVersion
from classifier.tests.situations import claim, empty_queue, record, send_text
from classifier.tests.test_broker_down import start_manage
from reports.nudge import Lane, publish
from reports.tests.sending import Client
from reviews.invariants import INVARIANTS
from reviews.tests.harms import lose_content

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_queues() -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


def check(*arguments: str) -> list[str]:
    said = StringIO()
    try:
        call_command("check_invariants", *arguments, stdout=said)
    except CommandError as error:
        said.write(f"{error} exit {error.returncode}\n")
    return said.getvalue().splitlines()


def test_the_command_has_a_line_for_each_and_exits_with_0(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    record(claim(send_text(client_of_sender), policy))

    lines = check()

    assert [line.split()[:2] for line in lines] == [[name, "ok"] for name in INVARIANTS]
    assert check("--skip-content")[7].split()[:3] == ["V8", "-", "not"]


def test_the_command_names_what_is_broken_and_exits_with_6() -> None:
    lose_content()

    lines = check()

    assert lines[0].startswith("V1   BROKEN  more than 100 reports without their content: ")
    assert lines[0].count(",") == 5
    assert lines[0].endswith(", …")
    assert [line.split()[1] for line in lines[1:11]] == ["ok"] * 10
    assert lines[11] == "Broken: V1. exit 6"


def test_json_is_one_object_a_line() -> None:
    lose_content()

    *lines, last = check("--json", "--skip-content")

    told = {each["invariant"]: each for each in map(json.loads, lines)}
    assert list(told) == list(INVARIANTS)
    assert told["V2"]["holds"] is True
    assert (told["V8"]["holds"], told["V8"]["not_checked"]) == (
        None,
        "not checked, by --skip-content",
    )
    assert told["V1"]["holds"] is False
    (broken,) = told["V1"]["broken"]
    assert (broken["count"], len(broken["ids"])) == (101, 100)
    assert last == "Broken: V1. exit 6"


def test_a_queue_beyond_its_bound_is_broken() -> None:
    for _nudge in range(2):
        publish(report_id=0, lane=Lane.LIVE)

    with override_settings(QUEUE_BOUND=1):
        line = check()[10]

    assert line == "V11  BROKEN  1 queues that hold more nudges than their bound: live"


@pytest.mark.parametrize("grace", ["-1", "nan", "soon"])
def test_a_grace_that_is_no_time_is_a_usage_error(grace: str) -> None:
    (said,) = check(f"--grace={grace}")

    assert "argument --grace: invalid" in said


@pytest.mark.django_db(transaction=True)
def test_with_the_broker_away_the_queues_are_not_checked_and_the_rest_is() -> None:
    process = start_manage("check_invariants", "--json")
    said, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    told = [json.loads(line) for line in said.splitlines()]
    assert [each["holds"] for each in told] == [True] * 10 + [None]
    assert "the broker does not answer" in told[10]["not_checked"]
