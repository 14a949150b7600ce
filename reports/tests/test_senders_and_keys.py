"""Senders and keys as operations make them: a key is shown once, kept as a digest, audited."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from reports.models import ApiKey, AuditEntry, Sender
from reports.senders import create_sender, digest_secret, issue_key, revoke_key
from reports.tests.sending import Client, make_sender

pytestmark = pytest.mark.django_db


def said_by(capsys: pytest.CaptureFixture[str], command: str, *arguments: str) -> str:
    call_command(command, *arguments)
    return capsys.readouterr().out


def works(key: str) -> bool:
    sender = ApiKey.objects.get(prefix=key.partition(".")[0]).sender
    status: int = Client(sender, key).post().status_code
    return status == 202


def audited() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.order_by("id")
    return list(rows.values_list("actor_name", "action", "object_type"))


def test_create_sender_prints_a_key_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_by(capsys, "create_sender", "chat-app")

    assert "chat-app" in said
    assert works(said.split()[-1])


def test_create_sender_says_it_as_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    said = said_by(capsys, "create_sender", "chat-app", "--json", "--latency-budget", "90")

    answer = json.loads(said)
    assert answer.keys() == {"sender", "key"}
    assert answer["sender"] == "chat-app"
    assert works(answer["key"])
    assert Sender.objects.get().latency_budget.total_seconds() == 90


def test_issue_key_adds_a_key_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    first = make_sender("chat-app").key

    second = json.loads(said_by(capsys, "issue_key", "chat-app", "--json"))["key"]
    third = said_by(capsys, "issue_key", "chat-app").split()[-1]

    assert len({first, second, third}) == 3
    assert works(first)
    assert works(second)
    assert works(third)


def test_making_and_issuing_is_audited_without_the_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = [
        said_by(capsys, "create_sender", "chat-app").split()[-1],
        said_by(capsys, "issue_key", "chat-app").split()[-1],
    ]

    assert audited() == [
        ("command create_sender", "sender_created", "sender"),
        ("command create_sender", "key_issued", "apikey"),
        ("command issue_key", "key_issued", "apikey"),
    ]
    everything = str(list(AuditEntry.objects.values()))
    assert not any(key.partition(".")[2] in everything for key in keys)


def test_only_the_digest_of_a_key_is_stored() -> None:
    key = make_sender("chat-app").key

    prefix, _, secret = key.partition(".")
    row = ApiKey.objects.values().get()
    assert row["prefix"] == prefix
    assert row["digest"] == digest_secret(secret) != secret
    assert len(secret) >= 32
    assert secret not in str(row)


@pytest.mark.parametrize("name", ["", "two words", "a/b", "é", "x" * 65, "chat-app"])
def test_a_bad_or_taken_name_is_a_usage_error_and_makes_nothing(name: str) -> None:
    make_sender("chat-app")

    with pytest.raises(CommandError) as refusal:
        call_command("create_sender", name)

    assert refusal.value.returncode == 2
    assert (Sender.objects.count(), ApiKey.objects.count()) == (1, 1)


@pytest.mark.parametrize("budget", ["0", "-5"])
def test_a_budget_that_is_no_time_is_a_usage_error(budget: str) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("create_sender", "chat-app", f"--latency-budget={budget}")

    assert refusal.value.returncode == 2
    assert not Sender.objects.exists()


def test_a_key_for_nobody_is_a_usage_error() -> None:
    with pytest.raises(CommandError, match="no sender forum") as refusal:
        call_command("issue_key", "forum")

    assert refusal.value.returncode == 2


def test_a_revoked_key_is_refused_and_the_others_work() -> None:
    client = make_sender("chat-app")
    user = User.objects.create_user("dana")
    kept = issue_key(sender=client.sender, actor_name="test").key

    assert revoke_key(api_key=ApiKey.objects.order_by("id")[0], actor=user)

    assert client.get().status_code == 401
    assert works(kept)
    entry = AuditEntry.objects.latest("id")
    assert (entry.actor, entry.actor_name, entry.action) == (user, "dana", "key_revoked")


def test_revoking_twice_changes_and_records_nothing_more() -> None:
    user = User.objects.create_user("dana")
    api_key = create_sender(
        name="chat-app", latency_budget=Sender().latency_budget, actor_name="test"
    ).api_key
    revoke_key(api_key=api_key, actor=user)
    before = (ApiKey.objects.values().get(), AuditEntry.objects.count())

    assert revoke_key(api_key=api_key, actor=user) is False

    assert (ApiKey.objects.values().get(), AuditEntry.objects.count()) == before
