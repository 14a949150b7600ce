"""`draw_samples`: its plan, its act, its record and its manners."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from classifier.models import PolicyVersion
from classifier.tests.situations import other_connection
from reports.models import AuditEntry, Sender
from reports.tests.sending import Client
from reviews.models import BlindAudit, Draw
from reviews.tests.sampling import judge_safe, rate_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender(client_of_sender: Client, policy: PolicyVersion) -> Sender:  # noqa: ARG001
    rate_of("audits", 0.02, at_least=3)
    return Sender.objects.get()


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("draw_samples", *arguments, stdout=out)
    return out.getvalue()


def test_without_execute_it_tells_the_plan_and_draws_nothing(sender: Sender) -> None:
    judge_safe(sender.pk, 200)
    judge_safe(sender.pk, 50, language="ar")

    said = run().splitlines()

    assert said[0].startswith(
        "7 of 250 items that were judged safe, to be audited, of 2 kinds, from "
    )
    assert said[1:] == [
        "         3 of 50 in ar",
        "         4 of 200 in en",
        "Nothing was changed. Add --execute to do it.",
    ]
    assert not Draw.objects.exists()
    assert not AuditEntry.objects.filter(action="samples_drawn").exists()


def test_with_execute_it_draws_and_says_so_in_the_audit(sender: Sender) -> None:
    judge_safe(sender.pk, 200)

    said = run("--execute").splitlines()

    assert said[-1] == "Drawn: 1 draws."
    assert BlindAudit.objects.count() == 4
    assert AuditEntry.objects.get(action="samples_drawn").actor_name == "command draw_samples"


def test_again_there_is_nothing_to_draw_from(sender: Sender) -> None:
    judge_safe(sender.pk, 200)
    run("--execute")

    assert run("--execute") == "There is nothing to draw from.\nNothing was drawn.\n"
    assert AuditEntry.objects.filter(action="samples_drawn").count() == 1


def test_for_a_program_it_tells_one_object_a_line(sender: Sender) -> None:
    judge_safe(sender.pk, 200)

    plan, done = map(json.loads, run("--execute", "--json").splitlines())

    (told,) = plan["draws"]
    row = Draw.objects.get()
    assert plan["event"] == "plan"
    assert (told["of"], told["population"], told["drawn"]) == ("audits", 200, 4)
    assert (told["since"], told["until"]) == (row.since.isoformat(), row.until.isoformat())
    assert told["strata"] == [
        {
            "sender_id": sender.pk,
            "language": "en",
            "category": "none",
            "band": "0.95-0.99",
            "policy_version": 1,
            "population": 200,
            "drawn": 4,
        }
    ]
    assert done == {"event": "done", "draws": [row.pk], "settled": 0}


def test_a_second_one_beside_it_is_refused(sender: Sender) -> None:
    judge_safe(sender.pk, 200)
    with other_connection() as other:
        other.execute("SELECT pg_advisory_lock(hashtext('command draw_samples'))")

        with pytest.raises(CommandError, match=r"Another draw_samples is running\.") as refused:
            run("--execute")

    assert refused.value.returncode == 5
    assert not Draw.objects.exists()
