"""Reclassify starts a batch of what an older version judged: as a migration, nightly or as a retry."""

import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from classifier.models import Batch, PolicyVersion, ProviderModel
from classifier.tests.history import next_version, send_judged, start, write_all_jobs
from classifier.tests.situations import know_model, load_version, send_text
from reports.models import Report
from reports.tests.outcomes import judge
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db


def reclassify(*arguments: str) -> str:
    said = StringIO()
    call_command("reclassify", *arguments, stdout=said)
    return said.getvalue()


def planned(*arguments: str) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(reclassify("--json", *arguments))
    return plan


@dataclass
class History:
    reports: list[Report]
    newer: PolicyVersion


@pytest.fixture
def history(client_of_sender: Client, policy: PolicyVersion) -> History:
    """Three reports that the first version judged, and the second one active."""
    return History(send_judged(client_of_sender, 3, policy=policy), next_version())


def know_price(**fields: Any) -> ProviderModel:
    return know_model(
        settings.OPENAI_BASE_URL,
        price_prompt=Decimal(2),
        price_completion=Decimal(8),
        price_batch_share=Decimal("0.5"),
        price_evidence="https://provider.example/prices",
        price_until=date(2999, 1, 1),
        **fields,
    )


def end(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.DONE, ended_at=timezone.now())


# --- The plan


def test_the_plan_says_how_many_which_how_and_at_what_cost(history: History) -> None:
    know_price(takes_batches=True)

    *lines, dry = reclassify().splitlines()

    first, last = history.reports[0], history.reports[-1]
    assert lines[:5] == [
        "3 reports to ask under policy version 2, model stand-in-not-a-model",
        f"received from {first.received_at} to {last.received_at}",
        "  by language: en 3",
        "  by status:   judged_safe 3",
        "  through:     the provider's batches",
    ]
    assert dry == "Nothing was changed. Add --execute to do it."
    counts, cost = lines[5:]
    assert re.fullmatch(r"  tokens:      [\d,]+ to [\d,]+ read, [\d,]+ to [\d,]+ written", counts)
    assert re.fullmatch(r"  cost:        0\.\d{4} to 0\.\d{4}", cost)


def test_json_tells_the_same_plan(history: History) -> None:
    assert history
    know_price(takes_batches=False)

    plan = planned()

    assert (plan["reports"], plan["version"], plan["through"]) == (3, 2, "calls")
    assert plan["by_status"] == {"judged_safe": 3}
    assert 0 < plan["tokens"]["prompt_low"] <= plan["tokens"]["prompt_high"]
    assert 0 < Decimal(plan["cost_low"]) < Decimal(plan["cost_high"])


@pytest.mark.usefixtures("history")
def test_what_is_not_known_is_said_with_what_to_do() -> None:
    said = reclassify()

    assert "  through:     not known yet: the provider is asked" in said
    assert "  tokens:      not known, for the model's limit is not: manage.py sync_models\n" in said
    assert "  cost:        not known: manage.py record_price\n" in said


def test_a_roll_back_needs_no_call(history: History, policy: PolicyVersion) -> None:
    assert history
    back = load_version(prompt=policy.prompt)
    assert back.content_hash == policy.content_hash

    said = reclassify()

    assert said.startswith("0 reports to ask under policy version 3")
    assert "\n3 more need no call: a version of the same content has judged them" in said


@pytest.mark.usefixtures("history")
def test_it_narrows_by_category_too(client_of_sender: Client, policy: PolicyVersion) -> None:
    for _report in range(2):
        judge(send_text(client_of_sender), policy, safe=False, category="spam")

    assert planned("--where", "category=spam")["reports"] == 2
    assert planned("--where", "category=none")["reports"] == 3
    assert planned("--where", "category=spam", "--limit", "1")["reports"] == 1


# --- The execution


@pytest.mark.parametrize(
    ("arguments", "purpose"), [([], "policy_migration"), (["--nightly"], "nightly")]
)
def test_it_starts_one_batch_of_its_purpose_once(
    history: History, arguments: list[str], purpose: str
) -> None:
    assert "is started" in reclassify("--execute", *arguments)
    assert "asks the same already" in reclassify("--execute", *arguments)

    batch = Batch.objects.get()
    assert (batch.purpose, batch.policy_version) == (purpose, history.newer)
    assert batch.reopen_at_most is None


@pytest.mark.usefixtures("history")
def test_limits_are_of_the_batch() -> None:
    know_price()

    reclassify("--execute", "--max-cost", "12.50", "--reopen", "0")

    batch = Batch.objects.get()
    assert (batch.max_cost, batch.reopen_at_most) == (Decimal("12.5"), 0)
    assert (batch.estimated_cost or 0) > 0


def test_a_retry_is_of_what_the_batch_could_not_get_judged(history: History) -> None:
    first = start(history.newer)
    write_all_jobs(first)
    first.jobs.filter(report=history.reports[0]).update(
        parked=True, reason="provider_unavailable", ended_at=timezone.now()
    )
    end(first)

    said = reclassify("--retry", str(first), "--execute")

    assert said.startswith("1 reports to ask under policy version 2")
    retry = Batch.objects.exclude(pk=first.pk).get()
    assert (retry.purpose, retry.selection) == ("retry", {"retry_of": first.pk})


# --- Refusals


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("price", "sentence"), [(True, "It would cost"), (False, "no price of .* is recorded")]
)
def test_a_limit_below_the_estimate_or_without_a_price_exits_with_3_and_starts_nothing(
    sentence: str,
    price: bool,  # noqa: FBT001
) -> None:
    if price:
        know_price()

    with pytest.raises(CommandError, match=sentence) as refused:
        reclassify("--execute", "--max-cost", "0.0001")

    assert refused.value.returncode == 3
    assert not Batch.objects.exists()


def test_a_retry_of_no_batch_exits_with_2(history: History) -> None:
    assert history
    with pytest.raises(CommandError, match=r"There is no batch 12345\.") as refused:
        reclassify("--retry", "12345")

    assert refused.value.returncode == 2


def test_a_retry_of_a_batch_at_work_or_of_another_version_exits_with_3(history: History) -> None:
    batch = start(history.newer)
    with pytest.raises(CommandError, match="has not ended: planning") as at_work:
        reclassify("--retry", str(batch))
    end(batch)
    next_version()
    with pytest.raises(CommandError, match="asked under policy version 2, but 3 is active") as old:
        reclassify("--retry", str(batch))

    assert (at_work.value.returncode, old.value.returncode) == (3, 3)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("pair", ["category=nonsense", "color=red"])
def test_a_wrong_condition_exits_with_2_and_is_named(pair: str) -> None:
    with pytest.raises(CommandError, match=f"--where {pair}: ") as refused:
        reclassify("--where", pair)

    assert refused.value.returncode == 2
