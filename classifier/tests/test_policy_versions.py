"""The life of a policy version: forward only, its content fixed from candidate on, back by a new one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from classifier.models import PolicyVersion
from classifier.policies import PolicyContent, code_revisions, versions
from classifier.policies.content import content_today
from classifier.tests.situations import at_once, load_version
from reports.models import AuditEntry

State = PolicyVersion.State


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    return User.objects.create(username="dana")


def states() -> dict[int, str]:
    return dict(PolicyVersion.objects.order_by("number").values_list("number", "state"))


def audited() -> list[tuple[str, str, str]]:
    rows = AuditEntry.objects.filter(object_type="policyversion", actor__isnull=False)
    return list(rows.order_by("pk").values_list("action", "object_id", "actor_name"))


def edit(draft: PolicyVersion, actor: User, *, seen: str = "", **changes: Any) -> PolicyVersion:
    return versions.edit_draft(
        number=draft.number,
        title=draft.title,
        content=replace(content_today(draft), **changes),
        seen_hash=seen or draft.content_hash,
        actor=actor,
    )


def version_in(state: str, actor: User) -> PolicyVersion:
    """A version beside the active one that came to its state by the steps."""
    if state == State.DRAFT:
        return load_version(prompt="Judge anew.", activate=False)
    if state == State.CANDIDATE:
        return versions.make_candidate(number=version_in(State.DRAFT, actor).number, actor=actor)
    active = versions.activate(number=version_in(State.CANDIDATE, actor).number, actor=actor)
    if state == State.RETIRED:
        load_version(prompt="Judge once more.")
    active.refresh_from_db()
    return active


# --- Forward only


def test_a_copy_is_edited_frozen_and_activated_and_each_step_is_audited(
    policy: PolicyVersion, dana: User
) -> None:
    draft = versions.copy_to_draft(number=1, actor=dana)
    assert (draft.number, draft.state, draft.title) == (2, State.DRAFT, policy.title)
    assert draft.content_hash == policy.content_hash

    edited = edit(draft, dana, prompt="Judge mildly.", safe_threshold=0.9)
    assert (edited.prompt, edited.safe_threshold) == ("Judge mildly.", 0.9)
    assert edited.content_hash == content_today(edited).hash() != policy.content_hash
    versions.make_candidate(number=2, actor=dana)
    assert states() == {1: State.ACTIVE, 2: State.CANDIDATE}
    active = versions.activate(number=2, actor=dana)

    assert states() == {1: State.RETIRED, 2: State.ACTIVE}
    assert active.activated_at is not None
    assert audited() == [
        ("policy_copied", "2", "dana"),
        ("policy_edited", "2", "dana"),
        ("policy_made_candidate", "2", "dana"),
        ("policy_activated", "2", "dana"),
    ]


@pytest.mark.parametrize(
    ("step", "allowed"),
    [
        (versions.make_candidate, State.DRAFT),
        (versions.activate, State.CANDIDATE),
        (versions.roll_back, State.RETIRED),
        (lambda *, number, actor: edit(PolicyVersion.objects.get(pk=number), actor), State.DRAFT),
    ],
)
@pytest.mark.parametrize("state", State)
@pytest.mark.usefixtures("policy")
def test_each_step_leads_on_from_one_state(
    step: Callable[..., PolicyVersion], allowed: State, state: State, dana: User
) -> None:
    version = version_in(state, dana)
    before = PolicyVersion.objects.order_by("number").values()
    rows, written = list(before), AuditEntry.objects.count()

    if state == allowed:
        step(number=version.number, actor=dana)
        assert AuditEntry.objects.count() == written + 1
        return
    with pytest.raises(versions.WrongStateError, match=f"^Version 2 is {state}: only "):
        step(number=version.number, actor=dana)
    assert list(before.all()) == rows
    assert AuditEntry.objects.count() == written


@pytest.mark.parametrize("state", State)
@pytest.mark.usefixtures("policy")
def test_a_version_of_any_state_is_copied_and_numbers_only_grow(state: State, dana: User) -> None:
    version = version_in(state, dana)
    highest = max(states())

    copies = [versions.copy_to_draft(number=version.number, actor=dana) for _ in range(2)]

    assert [copy.number for copy in copies] == [highest + 1, highest + 2]
    assert {copy.content_hash for copy in copies} == {version.content_hash}


def test_a_number_that_there_is_not_is_one_sentence(dana: User) -> None:
    for step in (versions.copy_to_draft, versions.make_candidate, versions.activate):
        with pytest.raises(versions.NoSuchVersionError, match=r"^There is no version 7\.$"):
            step(number=7, actor=dana)


def test_what_is_older_than_the_active_version_never_becomes_active(
    policy: PolicyVersion, dana: User
) -> None:
    late = version_in(State.CANDIDATE, dana)
    load_version(prompt="Judge once more.")

    with pytest.raises(versions.OlderThanActiveError, match=r"^Version 2 is older than version 3"):
        versions.activate(number=late.number, actor=dana)
    assert states() == {policy.number: State.RETIRED, 2: State.CANDIDATE, 3: State.ACTIVE}


def test_a_draft_that_somebody_saved_meanwhile_is_not_overwritten(
    policy: PolicyVersion, dana: User
) -> None:
    draft = versions.copy_to_draft(number=policy.number, actor=dana)
    edit(draft, dana, prompt="The first to save.")

    with pytest.raises(versions.ChangedMeanwhileError, match=r"^Version 2 was saved by somebody"):
        edit(draft, dana, seen=policy.content_hash, prompt="The second.")
    assert PolicyVersion.objects.get(pk=2).prompt == "The first to save."


@pytest.mark.django_db(transaction=True)
def test_copied_eight_times_at_once_each_copy_has_a_number(
    policy: PolicyVersion, dana: User
) -> None:
    copies = at_once([lambda: versions.copy_to_draft(number=policy.number, actor=dana)] * 8)

    assert sorted(copy.number for copy in copies) == list(range(2, 10))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_two_candidates_activated_at_once_leave_the_higher_one_active(dana: User) -> None:
    numbers = [versions.copy_to_draft(number=1, actor=dana).number for _ in range(2)]
    for number in numbers:
        versions.make_candidate(number=number, actor=dana)

    def start(number: int) -> None:
        try:
            versions.activate(number=number, actor=dana)
        except versions.OlderThanActiveError:
            assert number == numbers[0]

    at_once([lambda number=number: start(number) for number in numbers])  # type: ignore[misc]

    assert PolicyVersion.objects.get(state=State.ACTIVE).number == numbers[1]


# --- The rules of the application


def list_other_rules(version: PolicyVersion) -> str:
    """The version says what it says, made under an older revision of one rule; its hash."""
    content = PolicyContent(
        model=version.model,
        prompt=version.prompt,
        categories=version.categories,
        safe_threshold=version.safe_threshold,
        revisions={**code_revisions(), "floor": 0},
    )
    PolicyVersion.objects.filter(pk=version.pk).update(
        revisions=content.revisions, content_hash=content.hash()
    )
    return content.hash()


def test_a_candidate_lists_the_rules_of_the_day_it_became_one(
    policy: PolicyVersion, dana: User
) -> None:
    draft = versions.copy_to_draft(number=policy.number, actor=dana)
    older = list_other_rules(draft)

    candidate = versions.make_candidate(number=2, actor=dana)

    assert candidate.revisions == code_revisions()
    assert candidate.content_hash == policy.content_hash != older


@pytest.mark.usefixtures("policy")
def test_a_candidate_whose_rules_have_changed_is_not_activated(dana: User) -> None:
    draft = load_version(prompt="Judge anew.", activate=False)
    list_other_rules(draft)
    PolicyVersion.objects.filter(pk=draft.pk).update(state=State.CANDIDATE)

    with pytest.raises(versions.RulesChangedError, match=r"decide by now \(floor\)"):
        versions.activate(number=draft.number, actor=dana)
    assert states()[draft.number] == State.CANDIDATE


# --- Back


def test_a_roll_back_is_a_new_candidate_with_the_hash_of_the_old_version(
    policy: PolicyVersion, dana: User
) -> None:
    load_version(prompt="A mistake.")

    back = versions.roll_back(number=policy.number, actor=dana)

    assert (back.number, back.state) == (3, State.CANDIDATE)
    assert back.content_hash == policy.content_hash
    assert [each.number for each in PolicyVersion.objects.saying_the_same(back)] == [1]
    versions.activate(number=3, actor=dana)
    assert states() == {1: State.RETIRED, 2: State.RETIRED, 3: State.ACTIVE}
    entry = AuditEntry.objects.get(action="policy_rolled_back")
    assert (entry.object_id, entry.detail) == ("3", {"to": 1})


def test_rolled_back_twice_is_once(policy: PolicyVersion, dana: User) -> None:
    load_version(prompt="A mistake.")

    first = versions.roll_back(number=policy.number, actor=dana)
    assert versions.roll_back(number=policy.number, actor=dana) == first
    versions.activate(number=first.number, actor=dana)
    assert versions.roll_back(number=policy.number, actor=dana) == first

    assert len(states()) == 3


@pytest.mark.usefixtures("policy")
def test_no_roll_back_pretends_that_the_rules_are_still_the_old_ones(dana: User) -> None:
    old = load_version(prompt="Judge anew.", activate=False)
    list_other_rules(old)
    PolicyVersion.objects.filter(pk=old.pk).update(state=State.RETIRED)

    with pytest.raises(versions.RulesChangedError, match=r"since version 2 \(floor\)"):
        versions.roll_back(number=old.number, actor=dana)
    assert len(states()) == 2
