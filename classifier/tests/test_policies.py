"""Policy versions as files: stored once, activated one at a time; a wrong file is one sentence."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from classifier import prompt, rules
from classifier.models import PolicyVersion
from classifier.policies import (
    FIRST_POLICY,
    PolicyFileError,
    code_revisions,
    load_policy,
    read_policy_file,
)
from classifier.tests.situations import at_once, load_version
from reports import spelling, triage
from reports.models import AuditEntry

State = PolicyVersion.State


def load_command(*arguments: str) -> str:
    said = StringIO()
    call_command("load_policy", *arguments, stdout=said)
    return said.getvalue().strip()


def states() -> dict[int, str]:
    return dict(PolicyVersion.objects.order_by("number").values_list("number", "state"))


def audited() -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(object_type="policyversion").order_by("pk")
    return list(rows.values_list("action", "object_id"))


# --- The line of versions


@pytest.mark.django_db
def test_the_first_policy_becomes_version_one() -> None:
    assert load_command("--model", "m", "--activate") == "policy version 1 for m is active"

    version = PolicyVersion.objects.active()
    assert version is not None
    assert (version.number, version.model) == (1, "m")
    assert version.activated_at is not None
    assert [each["id"] for each in version.categories] == [
        "minors", "credible_threat", "self_harm", "hate", "violence", "harassment", "sexual",
        "scam", "spam", "other", "none",
    ]  # fmt: skip
    assert [each["id"] for each in version.categories if each["safe"]] == ["none"]
    assert audited() == [("policy_loaded", "1"), ("policy_activated", "1")]


@pytest.mark.django_db
def test_without_activate_it_waits_as_a_draft() -> None:
    assert load_command("--model", "m") == "policy version 1 for m is draft"

    assert PolicyVersion.objects.active() is None
    assert load_command("--model", "m", "--activate") == "policy version 1 for m is active"
    assert states() == {1: State.ACTIVE}
    assert audited() == [("policy_loaded", "1"), ("policy_activated", "1")]


@pytest.mark.django_db
def test_the_same_content_again_changes_nothing() -> None:
    load_command("--model", "m", "--activate")
    before = PolicyVersion.objects.values().get()

    said = load_command("--model", "m", "--activate")

    assert said == "policy version 1 for m is already active"
    assert PolicyVersion.objects.values().get() == before
    assert len(audited()) == 2


@pytest.mark.django_db
def test_another_model_is_another_version_and_retires_the_active_one() -> None:
    load_command("--model", "m", "--activate")

    assert load_command("--model", "n", "--activate") == "policy version 2 for n is active"

    assert states() == {1: State.RETIRED, 2: State.ACTIVE}
    assert audited()[2:] == [("policy_loaded", "2"), ("policy_activated", "2")]


@pytest.mark.django_db
def test_content_that_was_retired_comes_back_as_a_new_version() -> None:
    for model in ("m", "n", "m"):
        load_command("--model", model, "--activate")

    assert states() == {1: State.RETIRED, 2: State.RETIRED, 3: State.ACTIVE}


@pytest.mark.django_db
def test_it_says_which_versions_had_the_same_content() -> None:
    for model in ("m", "n", "m", "n"):
        said = load_command("--model", model, "--activate")

    assert said == "policy version 4 for n is active; the same content as version 2"


@pytest.mark.django_db
def test_a_draft_in_the_admin_makes_no_new_version_at_the_next_deployment() -> None:
    load_command("--model", "m", "--activate")
    load_version(prompt="Half a thought.", activate=False)

    said = load_command("--model", "m", "--activate")

    assert said == "policy version 1 for m is already active"
    assert states() == {1: State.ACTIVE, 2: State.DRAFT}


@pytest.mark.django_db
def test_without_a_file_it_keeps_what_people_made_active() -> None:
    load_command("--model", "m", "--activate")
    load_version(prompt="What people agreed on.")
    PolicyVersion.objects.create(
        number=9, title="A draft", prompt="", categories=[], safe_threshold=1
    )

    said = load_command("--model", "stand-in-not-a-model", "--activate")
    other = load_command("--model", "n", "--activate")

    assert said == "policy version 2 for stand-in-not-a-model is already active"
    assert other == "policy version 10 for n is active"
    assert PolicyVersion.objects.get(pk=10).prompt == "What people agreed on."


def test_every_part_of_the_content_counts_and_the_title_does_not(tmp_path: Path) -> None:
    _title, content = read_policy_file(FIRST_POLICY, model="m")
    others = [
        replace(content, model="n"),
        replace(content, prompt=content.prompt + "."),
        replace(content, categories=content.categories[::-1]),
        replace(content, safe_threshold=0.9),
        replace(content, revisions={**content.revisions, "floor": 99}),
    ]
    retitled = tmp_path / "retitled.toml"
    retitled.write_text(FIRST_POLICY.read_text("utf-8").replace("First policy", "Same"), "utf-8")

    assert len({content.hash(), *(each.hash() for each in others)}) == 6
    assert read_policy_file(retitled, model="m") == ("Same", content)


def test_the_revisions_are_of_all_that_decides_and_of_what_the_rules_are_shown() -> None:
    revisions = code_revisions()

    assert revisions["prompt"] == prompt.REVISION
    assert revisions["intake.spelling"] == spelling.REVISION
    assert len(revisions) == 2 + len(triage.every_rule()) + len(rules.RULES)


@pytest.mark.django_db(transaction=True)
def test_loaded_eight_times_at_once_it_is_one_version() -> None:
    title, content = read_policy_file(FIRST_POLICY, model="m")

    def load() -> bool:
        _version, changed = load_policy(
            title=title, content=content, activate=True, actor_name="test"
        )
        return changed

    assert sorted(at_once([load] * 8)) == [False] * 7 + [True]
    assert states() == {1: State.ACTIVE}


# --- Files

RIGHT = """
title = "Small"
safe_threshold = 0.8
prompt = "Judge."
[[categories]]
id = "spam"
name = "Spam"
severity = "low"
guidance = "Adverts."
[[categories]]
id = "none"
name = "None"
severity = "none"
safe = true
guidance = "All else."
"""


def test_a_small_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(RIGHT)

    title, content = read_policy_file(file, model="m")

    assert (title, content.prompt, content.safe_threshold) == ("Small", "Judge.", 0.8)
    assert [each["severity"] for each in content.categories] == [1, 0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\xff\xfe", "not TOML: 'utf-8' codec can't decode byte 0xff in position 0"),
        (b"title = ", "not TOML: Invalid value"),
        (b"", "title: Field required"),
        (RIGHT.replace('title = "Small"', ""), "title: Field required"),
        (RIGHT.replace('"Small"', '""'), "title: String should have at least 1 character"),
        (RIGHT.replace("Small", "x" * 201), "title: String should have at most 200 characters"),
        (RIGHT.replace("0.8", "1.5"), "safe_threshold: Input should be less than or equal to 1"),
        (RIGHT.replace("0.8", "nan"), "safe_threshold: Input should be"),
        (RIGHT.replace("0.8", '"0.8"'), "safe_threshold: Input should be a valid number"),
        (RIGHT.replace("title", "colour = 1\ntitle"), "colour: Extra inputs are not permitted"),
        (RIGHT.replace("safe = true", "safe = 1"), "categories.1.safe: Input should be a valid bo"),
        (RIGHT.replace("safe = true", ""), "no category is marked safe"),
        (RIGHT.replace('"low"', '"mild"'), "spam: severity 'mild' is not known"),
        (RIGHT.replace('"none"\nsafe', '"low"\nsafe'), "none: a safe category has severity none"),
        (RIGHT.replace('"spam"', '"none"'), "a category id stands twice"),
        (RIGHT.replace('"spam"', '"Spam!"'), "categories.0.id: String should match pattern"),
        (RIGHT.rsplit("[[categories]]", 1)[0], "categories: List should have at least 2 items"),
    ],
)
def test_a_wrong_file_is_refused_with_one_sentence(
    content: bytes | str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(CommandError) as refused:
        load_command(str(file), "--model", "m")

    assert refused.value.returncode == 2
    assert str(refused.value).startswith(f"{file}: {complaint}")
    assert "\n" not in str(refused.value)
    with pytest.raises(PolicyFileError):
        read_policy_file(file, model="m")


def test_a_file_that_cannot_be_read_is_refused_with_one_sentence(tmp_path: Path) -> None:
    for path, complaint in (
        (tmp_path / "none.toml", "No such file or directory"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(PolicyFileError, match=f"cannot be read: {complaint}"):
            read_policy_file(path, model="m")
