"""A report longer than its model reads is asked in parts: all of it is read, or nothing is decided."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from classifier.catalogue import sync_model
from classifier.cooldown import FREE, note_fault
from classifier.jobs import claim_job
from classifier.models import Classification, PolicyVersion, ProviderModel, WaitingReason
from classifier.pipeline import Outcome, classify_report
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from classifier.tests.situations import (
    NO_LIMIT,
    at_once,
    end_lease,
    end_rest,
    end_wait,
    job_of,
    wait_until,
)
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client, report_body

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = 2_048
BANTER = {
    "en": ("ha ha, see you at five then", "did you watch the match?", "no way", "bring some tea"),
    "ar": ("ههه نشوفك الساعة خمسة", "شفت المباراة امبارح؟", "مستحيل والله", "جيب معك شاي"),
}
THREAT = {"en": "I will kill you tomorrow at the school gate.", "ar": "سأقتلك غداً عند باب المدرسة"}


@pytest.fixture
def policy(db: None) -> PolicyVersion:  # noqa: ARG001
    """A policy short enough for a small model."""
    title, content = read_policy_file(FIRST_POLICY, model="stand-in-not-a-model")
    short = [{**each, "guidance": each["name"]} for each in content.categories]
    version, _changed = load_policy(
        title=title,
        content=replace(content, prompt="Judge the evidence.", categories=short),  # type: ignore[arg-type]
        activate=True,
        actor_name="test",
    )
    return version


@pytest.fixture
def model(standin: Standin, policy: PolicyVersion) -> ProviderModel:  # noqa: ARG001
    """A model of 2,048 tokens."""
    standin.behave(context=SMALL)
    ProviderModel.objects.update(context_limit=SMALL)
    return ProviderModel.objects.get(base_url=standin.base_url)


def talk(
    language: str, count: int = 500, *, at: dict[int, str] | None = None
) -> list[dict[str, Any]]:
    """So much banter; `at` puts other texts in some places, from 0."""
    said = [BANTER[language][number % 4] for number in range(count)]
    for place, text in (at or {}).items():
        said[place] = text
    return [{"text": text, "author_id": f"u-{number % 3}"} for number, text in enumerate(said)]


def send(client: Client, messages: list[dict[str, Any]], **changes: Any) -> Report:
    body = report_body(messages=messages, reason=None, comment=None, language=None, **changes)
    return client.send({name: value for name, value in body.items() if value is not None})


def classify(report: Report) -> Outcome:
    return classify_report(report_id=report.pk, lane=Lane.LIVE)


def covered(verdict: Classification) -> set[int]:
    """The messages, numbered from 1, that the recorded calls were about."""
    runs = [run for call in verdict.calls for run in call["messages"]]
    return {number for first, last in runs for number in range(first, last + 1)}


def refused(standin: Standin) -> list[Any]:
    """The calls that were above the server's limit."""
    return [call for call in standin.calls() if call["status"] == 400]


# --- All of it


@pytest.mark.usefixtures("model")
def test_what_fits_is_asked_at_once(standin: Standin, client_of_sender: Client) -> None:
    report = send(client_of_sender, talk("en", 3))

    assert classify(report) is Outcome.RECORDED

    (call,) = Classification.objects.get(report=report).calls
    assert (call["messages"], call["parts"], call["part"]) == ([[1, 3]], {}, None)
    assert call["prompt_tokens"] > 100
    assert len(standin.calls()) == 1


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.usefixtures("model")
def test_safe_needs_every_part_and_what_each_covered_is_on_record(
    language: str, standin: Standin, client_of_sender: Client
) -> None:
    report = send(client_of_sender, talk(language))

    assert classify(report) is Outcome.RECORDED

    verdict = Classification.objects.get(report=report)
    assert (verdict.safe, verdict.superseded) == (True, False)
    assert covered(verdict) == set(range(1, 501))
    assert len(verdict.calls) == len(standin.calls()) > 5
    assert verdict.prompt_tokens == sum(call["prompt_tokens"] for call in verdict.calls)
    assert max(call["prompt_tokens"] for call in verdict.calls) <= SMALL
    assert refused(standin) == []


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.usefixtures("model")
def test_a_threat_is_found_wherever_it_stands(language: str, client_of_sender: Client) -> None:
    somewhere = random.Random(language).sample(range(2, 498), 5)  # noqa: S311
    for place in (0, 1, 250, 498, 499, *somewhere):
        messages = talk(language, at={place: THREAT[language]})
        report = send(client_of_sender, messages, item={"type": "chat", "id": f"c-{place}"})

        assert classify(report) is Outcome.RECORDED

        verdict = Classification.objects.get(report=report)
        assert (verdict.category, verdict.safe) == ("credible_threat", False), place
        assert verdict.quotes, place
        # It decided at once: the last call is the one that found it.
        assert verdict.calls[-1]["category"] == "credible_threat"
        assert place + 1 in covered(verdict)


@pytest.mark.usefixtures("model")
def test_a_part_around_what_was_reported_is_asked_first(
    standin: Standin, client_of_sender: Client
) -> None:
    messages = talk("en", at={400: THREAT["en"]})
    messages[400]["reported"] = True

    report = send(client_of_sender, messages)
    assert classify(report) is Outcome.RECORDED

    assert len(standin.calls()) == 1
    assert 401 in covered(Classification.objects.get(report=report))


@pytest.mark.usefixtures("model")
def test_one_message_longer_than_the_model_reads_is_cut_and_a_threat_in_it_found(
    client_of_sender: Client,
) -> None:
    words = " ".join(BANTER["en"] * 150)
    middle = len(words) // 2
    text = f"{words[:middle]} {THREAT['en']} {words[middle:]}"

    report = send(client_of_sender, [{"text": text}])
    assert classify(report) is Outcome.RECORDED

    verdict = Classification.objects.get(report=report)
    assert verdict.category == "credible_threat"
    assert all(
        call["parts"]["1"].endswith(f"/{total}")
        for call in verdict.calls
        for total in [call["parts"]["1"].split("/")[1]]
    )


@pytest.mark.usefixtures("model")
def test_a_long_comment_takes_no_room_from_the_messages(client_of_sender: Client) -> None:
    report = send(client_of_sender, talk("en", 40))
    body = report_body(messages=talk("en", 40), reason=None, comment="he said so. " * 400)
    long = client_of_sender.send({**body, "item": {"type": "chat", "id": "long"}})

    assert classify(report) is Outcome.RECORDED
    assert classify(long) is Outcome.RECORDED

    assert covered(Classification.objects.get(report=long)) >= set(range(1, 41))


# --- Not all of it


@pytest.mark.usefixtures("model")
def test_a_part_without_an_answer_leaves_all_of_it_pending(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send(client_of_sender, talk("en", at={300: "wombat"}))
    standin.script({"kind": "content", "content": "no idea"}, match="wombat", times=None)

    assert classify(report) is Outcome.PUT_OFF

    assert not Classification.objects.exists()
    assert (job_of(report).reason, job_of(report).attempts) == ("answer_invalid", 1)


@pytest.mark.usefixtures("model")
def test_more_parts_than_allowed_are_for_a_person(
    standin: Standin, client_of_sender: Client, settings: Settings
) -> None:
    settings.MAX_WINDOWS = 3
    report = send(client_of_sender, talk("en"))

    assert classify(report) is Outcome.PUT_OFF

    assert (job_of(report).reason, job_of(report).parked) == (WaitingReason.TOO_LONG, True)
    assert standin.calls() == []


@pytest.mark.usefixtures("model")
def test_more_room_for_a_cut_answer_is_given_up_where_it_would_take_too_many_parts(
    standin: Standin, client_of_sender: Client, settings: Settings
) -> None:
    standin.behave(context=2 * SMALL)
    ProviderModel.objects.update(context_limit=2 * SMALL)
    twin = send(client_of_sender, talk("en", 200))
    assert classify(twin) is Outcome.RECORDED
    settings.MAX_WINDOWS = parts = len(standin.calls())
    report = send(client_of_sender, talk("en", 200), item={"type": "chat", "id": "cut"})
    standin.script({"kind": "finish", "finish_reason": "length"})
    assert classify(report) is Outcome.PUT_OFF
    assert job_of(report).reason == WaitingReason.ANSWER_CUT
    end_wait(report)

    assert classify(report) is Outcome.RECORDED

    assert covered(Classification.objects.get(report=report)) == set(range(1, 201))
    assert len(standin.calls()) == parts + 1 + parts > 3
    assert len({call["max_tokens"] for call in standin.calls()}) == 1


@pytest.mark.usefixtures("model")
def test_an_answer_that_was_cut_has_more_room_in_more_parts_where_they_are_allowed(
    standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(context=2 * SMALL)
    ProviderModel.objects.update(context_limit=2 * SMALL)
    report = send(client_of_sender, talk("en", 200))
    standin.script({"kind": "finish", "finish_reason": "length"})
    assert classify(report) is Outcome.PUT_OFF
    end_wait(report)

    assert classify(report) is Outcome.RECORDED

    first, *later = standin.calls()
    assert {call["max_tokens"] for call in later} == {2 * first["max_tokens"]}
    assert refused(standin) == []


def test_without_a_known_limit_nothing_is_sent(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    ProviderModel.objects.update(**NO_LIMIT)
    report = send(client_of_sender, talk("en", 1))

    for _nudge in range(2):
        assert classify(report) in {Outcome.PUT_OFF, Outcome.HELD_BACK}
        end_wait(report)

    model.refresh_from_db()
    assert model.rest_reason == WaitingReason.UNKNOWN_LIMIT
    assert (job_of(report).reason, job_of(report).attempts) == ("unknown_limit", 0)
    assert standin.calls() == []
    ProviderModel.objects.update(
        recorded_limit=SMALL,
        recorded_evidence="https://example.org/model",
        recorded_until=timezone.now() + timedelta(days=1),
    )
    end_rest()
    assert classify(report) is Outcome.RECORDED


def test_a_policy_that_leaves_no_room_rests_the_model(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    ProviderModel.objects.update(context_limit=300)
    report = send(client_of_sender, talk("en", 1))

    assert classify(report) is Outcome.PUT_OFF

    model.refresh_from_db()
    assert model.rest_reason == job_of(report).reason == WaitingReason.POLICY_TOO_LONG
    assert (job_of(report).parked, standin.calls()) == (False, [])


def test_who_lost_the_claim_between_two_calls_records_nothing(
    model: ProviderModel, policy: PolicyVersion, standin: Standin, client_of_sender: Client
) -> None:
    report = send(client_of_sender, talk("en"))
    standin.script({"kind": "delay", "seconds": 0.3})

    def take_over() -> None:
        wait_until(lambda: bool(standin.calls()))
        end_lease(report)
        assert claim_job(report_id=report.pk, policy=policy, lane=Lane.LIVE) is not None

    outcome, _taken = at_once([lambda: classify(report), take_over])

    assert outcome is Outcome.SPENT
    assert len(standin.calls()) == 1
    assert not Classification.objects.exists()
    assert model.mode


def test_a_rest_that_begins_between_two_calls_is_kept_to(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    report = send(client_of_sender, talk("en"))
    standin.script({"kind": "delay", "seconds": 0.3})

    def rest() -> None:
        wait_until(lambda: bool(standin.calls()))
        reason = WaitingReason.PROVIDER_RATE_LIMITED
        note_fault(model=model, turn=FREE, reason=reason, retry_after=30)

    outcome, _rested = at_once([lambda: classify(report), rest])

    assert outcome is Outcome.HELD_BACK
    assert len(standin.calls()) == 1
    assert (job_of(report).reason, job_of(report).attempts) == ("provider_rate_limited", 0)
    assert not Classification.objects.exists()


# --- Limits that are not what they were


def test_after_a_sync_no_call_is_above_the_new_limit(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(context=8_192)
    sync_model(ProviderModel.objects.get(pk=model.pk))
    assert classify(send(client_of_sender, talk("en", 300))) is Outcome.RECORDED
    before = len(standin.calls())

    standin.behave(context=SMALL)
    sync_model(ProviderModel.objects.get(pk=model.pk))
    later = send(client_of_sender, talk("en", 300), item={"type": "chat", "id": "later"})
    assert classify(later) is Outcome.RECORDED

    verdict = Classification.objects.get(report=later)
    assert len(verdict.calls) == len(standin.calls()) - before > before
    assert max(call["prompt_tokens"] for call in verdict.calls) <= SMALL
    assert refused(standin) == []


def test_a_server_that_takes_less_than_it_says_is_believed_and_asked_again_in_smaller_parts(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    ProviderModel.objects.update(context_limit=8_192)
    report = send(client_of_sender, talk("en", 300))

    assert classify(report) is Outcome.RECORDED

    model.refresh_from_db()
    assert (model.context_limit, model.context_source) == (SMALL, "error")
    assert len(refused(standin)) == 1
    assert covered(Classification.objects.get(report=report)) == set(range(1, 301))


@pytest.mark.usefixtures("model")
def test_what_is_too_long_twice_is_for_a_person(standin: Standin, client_of_sender: Client) -> None:
    standin.script({"kind": "error", "status": 400, "code": "context_length_exceeded"}, times=None)
    report = send(client_of_sender, talk("en", 30))

    assert classify(report) is Outcome.PUT_OFF

    assert (job_of(report).reason, job_of(report).parked) == (WaitingReason.TOO_LONG, True)
    assert len(standin.calls()) == 2


def test_what_a_server_cuts_in_silence_is_noticed_and_asked_in_smaller_parts(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(context=SMALL, truncates=True)
    ProviderModel.objects.update(context_limit=32_768)
    report = send(client_of_sender, talk("en", 400))

    assert classify(report) is Outcome.RECORDED

    model.refresh_from_db()
    assert model.context_limit == SMALL
    assert covered(Classification.objects.get(report=report)) == set(range(1, 401))
