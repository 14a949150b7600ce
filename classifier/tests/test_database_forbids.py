"""What the database itself refuses about jobs, verdicts and policy versions, by the rule's name."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from classifier.models import Classification, Job, PolicyVersion
from classifier.tests.situations import NO_LIMIT, know_model, load_version, send_text, violated
from reports.models import Report
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db
State = PolicyVersion.State
STATES = [State.DRAFT, State.CANDIDATE, State.ACTIVE, State.RETIRED]


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return send_text(client_of_sender)


@pytest.fixture
def verdict(report: Report, policy: PolicyVersion) -> Classification:
    row = make_verdict(report, policy)
    row.save()
    set_status(report, Report.Status.JUDGED_SAFE)
    return row


def set_status(report: Report, status: str) -> None:
    """What agrees with the verdicts, for the check at the end of the test."""
    Report.objects.filter(pk=report.pk).update(status=status)


def make_verdict(report: Report, policy: PolicyVersion, **changes: Any) -> Classification:
    values: dict[str, Any] = {
        "category": "none",
        "confidence": 0.93,
        "summary": "They meet.",
        "quotes": [],
        "severity": 0,
        "safe": True,
        "served_model": policy.model,
        "model_seconds": 0.5,
        "answer_hash": "0" * 64,
        **changes,
    }
    return Classification(report=report, policy_version=policy, **values)


def refused_by(write: Callable[[], object]) -> str | None:
    """The name of the rule that refuses the write."""
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        write()
    return violated(refused.value)


def change(rows: Any, **values: Any) -> Callable[[], object]:
    return lambda: type(rows).objects.filter(pk=rows.pk).update(**values)


# --- Jobs


def test_two_jobs_with_one_report_and_version(report: Report, policy: PolicyVersion) -> None:
    Job.objects.create(report=report, policy_version=policy)

    second = Job(report=report, policy_version=policy, lane="batch")

    assert refused_by(second.save) == "one_job_per_report_and_version"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"lane": "night"}, "job_lane_is_known"),
        ({"lane": ""}, "job_lane_is_known"),
        ({"reason": "bored"}, "job_reason_is_known"),
        ({"attempts": Job.MAX_ATTEMPTS + 1}, "job_attempts_are_bounded"),
        ({"attempts": -1}, "classifier_job_attempts_check"),  # of the column's type
        ({"parked": True}, "job_parked_needs_a_reason"),
        ({"done": True, "lease_until": Now()}, "job_that_ended_has_no_lease"),
        (
            {"parked": True, "reason": "too_long", "lease_until": Now()},
            "job_that_ended_has_no_lease",
        ),
        ({"parked": True, "reason": "too_long", "done": True}, "job_that_ended_has_no_lease"),
    ],
)
def test_a_job_that_cannot_be(
    changes: dict[str, Any], rule: str, report: Report, policy: PolicyVersion
) -> None:
    job = Job.objects.create(report=report, policy_version=policy)

    assert refused_by(change(job, **changes)) == rule


def test_the_bound_of_the_database_is_the_codes() -> None:
    (bound,) = (each for each in Job._meta.constraints if each.name == "job_attempts_are_bounded")
    assert f"(0, {Job.MAX_ATTEMPTS})" in str(bound)


# --- Verdicts


def test_two_verdicts_with_one_report_and_version(
    verdict: Classification, policy: PolicyVersion
) -> None:
    second = make_verdict(verdict.report, policy, superseded=True)

    assert refused_by(second.save) == "one_classification_per_report_and_version"


def test_two_current_verdicts_of_a_report(verdict: Classification) -> None:
    second = make_verdict(verdict.report, load_version(prompt="Judge anew."))

    assert refused_by(second.save) == "one_current_classification_per_report"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"confidence": 1.01}, "classification_confidence_is_a_probability"),
        ({"confidence": -0.01}, "classification_confidence_is_a_probability"),
        ({"confidence": 95.0}, "classification_confidence_is_a_probability"),
        ({"confidence": float("nan")}, "classification_confidence_is_a_probability"),
        ({"confidence": float("inf")}, "classification_confidence_is_a_probability"),
        ({"severity": 5}, "classification_severity_is_known"),
        ({"severity": -1}, "classification_severity_is_known"),
        ({"summary": None}, "classification_text_is_whole_or_purged"),
        ({"quotes": None}, "classification_text_is_whole_or_purged"),
        ({"purged_at": Now()}, "classification_text_is_whole_or_purged"),
    ],
)
def test_a_verdict_that_cannot_be(
    changes: dict[str, Any], rule: str, report: Report, policy: PolicyVersion
) -> None:
    assert refused_by(make_verdict(report, policy, **changes).save) == rule


@pytest.mark.parametrize(
    "changes",
    [
        {"category": "spam"},
        {"confidence": 0.5},
        {"summary": "Otherwise."},
        {"quotes": ["lunch"]},
        {"severity": 4},
        {"safe": False},
        {"rules": ["floor"]},
        {"served_model": "another"},
        {"prompt_tokens": 1},
        {"model_seconds": 9.0},
        {"answer_hash": "1" * 64},
        {"created_at": Now()},
        {"superseded": True, "category": "spam"},
        {"purged_at": Now()},
        {"purged_at": Now(), "summary": None, "quotes": None, "category": "spam"},
        {"summary": None, "quotes": None},
    ],
)
def test_a_verdict_does_not_change(changes: dict[str, Any], verdict: Classification) -> None:
    assert refused_by(change(verdict, **changes)) == "verdict_stands"


def test_a_verdict_is_not_deleted(verdict: Classification) -> None:
    assert refused_by(verdict.delete) == "verdict_stands"


def test_a_verdict_does_not_move_to_another_report(
    verdict: Classification, client_of_sender: Client
) -> None:
    other = send_text(client_of_sender)

    assert refused_by(change(verdict, report=other)) == "verdict_stands"


def test_a_verdict_may_be_superseded_and_not_brought_back(verdict: Classification) -> None:
    change(verdict, superseded=True)()
    set_status(verdict.report, Report.Status.PENDING)

    assert refused_by(change(verdict, superseded=False)) == "verdict_stands"
    verdict.refresh_from_db()
    assert verdict.superseded


def test_the_text_of_a_verdict_may_be_purged_once(verdict: Classification) -> None:
    change(verdict, purged_at=Now(), summary=None, quotes=None)()

    verdict.refresh_from_db()
    assert (verdict.summary, verdict.quotes, verdict.category) == (None, None, "none")
    assert refused_by(change(verdict, summary="Back.", quotes=[], purged_at=None)) == (
        "verdict_stands"
    )
    assert refused_by(change(verdict, purged_at=Now())) == "verdict_stands"


# --- Policy versions


def make_version(number: int, state: str) -> PolicyVersion:
    version = PolicyVersion(
        number=number,
        state=state,
        title="t",
        model="m",
        prompt="p",
        categories=[],
        safe_threshold=0.8,
    )
    version.save(force_insert=True)
    return version


def test_two_active_versions() -> None:
    make_version(1, State.ACTIVE)

    assert refused_by(lambda: make_version(2, State.ACTIVE)) == "one_active_policy_version"
    second = make_version(2, State.CANDIDATE)
    assert refused_by(change(second, state=State.ACTIVE)) == "one_active_policy_version"


@pytest.mark.parametrize("old", STATES)
@pytest.mark.parametrize("new", [*STATES, "abolished"])
def test_a_state_moves_forward_only(old: str, new: str) -> None:
    version = make_version(1, old)
    step = change(version, state=new)

    if old == new or (new in STATES and STATES.index(State(new)) > STATES.index(State(old))):
        step()
    elif new == "abolished" and old == State.DRAFT:
        assert refused_by(step) == "policy_state_is_known"
    else:
        assert refused_by(step) == "policy_version_stands"


@pytest.mark.parametrize("state", STATES[1:])
@pytest.mark.parametrize(
    "changes",
    [
        {"number": 9},
        {"title": "T"},
        {"model": "n"},
        {"prompt": "q"},
        {"categories": [{"id": "none"}]},
        {"safe_threshold": 0.1},
        {"revisions": {"floor": 2}},
        {"content_hash": "0"},
        {"created_at": Now()},
        {"activated_at": Now()},
        {"prompt": "q", "state": State.RETIRED},
    ],
)
def test_a_version_from_candidate_on_keeps_its_content(state: str, changes: dict[str, Any]) -> None:
    version = make_version(1, state)

    assert refused_by(change(version, **changes)) == "policy_version_stands"


@pytest.mark.parametrize("state", STATES)
def test_no_version_is_deleted_for_its_number_would_be_given_out_again(state: str) -> None:
    assert refused_by(make_version(1, state).delete) == "policy_version_stands"


def test_numbers_only_grow() -> None:
    make_version(3, State.DRAFT)

    assert refused_by(lambda: make_version(2, State.DRAFT)) == "policy_numbers_grow"
    assert refused_by(lambda: make_version(3, State.DRAFT)) == "policy_numbers_grow"
    make_version(4, State.DRAFT)


def test_no_version_becomes_active_below_one_that_was() -> None:
    older, newer = make_version(1, State.CANDIDATE), make_version(2, State.CANDIDATE)
    change(newer, state=State.ACTIVE, activated_at=Now())()
    change(newer, state=State.RETIRED)()

    assert refused_by(change(older, state=State.ACTIVE, activated_at=Now())) == (
        "policy_numbers_grow"
    )


def test_a_draft_may_be_rewritten_and_keeps_its_number() -> None:
    draft = make_version(1, State.DRAFT)
    change(draft, prompt="q", model="n")()

    assert refused_by(change(draft, number=2)) == "policy_version_stands"


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    draft = make_version(1, State.DRAFT)

    assert refused_by(change(draft, safe_threshold=threshold)) == (
        "policy_safe_threshold_is_a_probability"
    )


# --- Models at providers

RECORD = {
    "recorded_limit": 8192,
    "recorded_evidence": "https://a.example",
    "recorded_until": "2027-01-31",
}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"context_limit": 8192}, "provider_model_limit_has_a_source"),
        ({"context_source": "max_model_len"}, "provider_model_limit_has_a_source"),
        (
            {"context_limit": 255, "context_source": "max_model_len"},
            "provider_model_limit_has_a_source",
        ),
        (RECORD | {"recorded_limit": None}, "provider_model_record_has_evidence_and_an_end"),
        (RECORD | {"recorded_limit": 255}, "provider_model_record_has_evidence_and_an_end"),
        (RECORD | {"recorded_evidence": ""}, "provider_model_record_has_evidence_and_an_end"),
        (RECORD | {"recorded_until": None}, "provider_model_record_has_evidence_and_an_end"),
    ],
)
def test_a_limit_without_a_source_and_a_record_without_evidence_or_end(
    changes: dict[str, Any], rule: str
) -> None:
    model = know_model("http://127.0.0.1:9/v1", **NO_LIMIT)

    assert refused_by(change(model, **changes)) == rule


def test_a_limit_with_a_source_and_a_whole_record_may_stand() -> None:
    model = know_model("http://127.0.0.1:9/v1", **NO_LIMIT)

    change(model, context_limit=8192, context_source="max_model_len", **RECORD)()
