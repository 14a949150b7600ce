"""What the figures tell of quality: audits by what they found, the share missed, how far people agree."""

from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.utils import timezone

from classifier.models import PolicyVersion
from reports.tests.sending import Client
from reviews.models import BlindAudit, Draw, Stratum
from reviews.tests.misses import look_twice, send_safe
from reviews.tests.people import decide, log_in, page


def figures(name: str) -> dict[str, float]:
    """By the figure's one label, or by nothing."""
    lines = Browser().get("/metrics").content.decode().splitlines()
    found = (line.rpartition(" ") for line in lines if line.startswith((f"{name}{{", f"{name} ")))
    return {key.partition('"')[2].rstrip('"}'): float(value) for key, _space, value in found}


def audit(client: Client, policy: PolicyVersion, *, hours_ago: int, **wish: str) -> None:
    """A verdict of safe, drawn from an hour that began so long ago, and what dana decided, if she did."""
    report = send_safe(client, policy, "text")
    since = timezone.now() - timedelta(hours=hours_ago)
    draw = Draw.objects.create(
        of="audits",
        since=since,
        until=since + timedelta(hours=1),
        seed="s",
        actor_name="t",
    )
    stratum = Stratum.objects.create(
        draw=draw,
        sender=report.sender,
        language="en",
        category="none",
        policy_version=policy,
        population=1,
        drawn=1,
    )
    verdict = report.classifications.get()
    BlindAudit.objects.create(stratum=stratum, classification=verdict, report=report)
    if wish:
        dana = log_in("dana", "reviewer")
        decide(dana, report.item, page(dana, f"/review/items/{report.item_id}/"), **wish)


@pytest.mark.usefixtures("policy")
def test_of_what_nobody_answered_no_share_and_no_agreement_is_told() -> None:
    assert figures("moderation_blindspot_audit_items") == {
        "ok": 0,
        "missed": 0,
        "missed_severe": 0,
        "open": 0,
    }
    assert figures("moderation_missed_share") == {}
    assert figures("moderation_reviewer_agreement_kappa") == {}
    assert figures("moderation_reviewer_agreement_answers") == {"all": 0}
    assert figures("moderation_samples_to_settle") == {"": 0}


def test_audits_are_told_by_what_they_found(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    audit(client_of_sender, policy, hours_ago=2, action="no_violation")
    audit(client_of_sender, policy, hours_ago=3, action="remove", category="spam")
    audit(client_of_sender, policy, hours_ago=4, action="remove", category="credible_threat")
    audit(client_of_sender, policy, hours_ago=5)
    audit(client_of_sender, policy, hours_ago=24 * 91, action="remove", category="spam")

    assert figures("moderation_blindspot_audit_items") == {
        "ok": 1,
        "missed": 1,
        "missed_severe": 1,
        "open": 1,
    }
    share = figures("moderation_missed_share")
    assert share["estimate"] == pytest.approx(2 / 3)
    assert 0 < share["low"] < share["estimate"] < share["high"] < 1


def test_agreement_is_told_overall_and_by_category_with_what_it_rests_on(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    for first, second in [("hate", "hate")] * 3 + [("spam", "spam")] * 3 + [("spam", "hate")]:
        look_twice(
            log_in("dana", "reviewer"), client_of_sender, policy, category=first, said=second
        )

    kappas = figures("moderation_reviewer_agreement_kappa")
    assert kappas == {name: pytest.approx(0.72) for name in ("all", "hate", "spam")}
    assert figures("moderation_reviewer_agreement_answers") == {"all": 7, "hate": 4, "spam": 4}
    assert figures("moderation_samples_to_settle") == {"": 1}


def test_one_answer_throughout_has_no_kappa(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    look_twice(log_in("dana", "reviewer"), client_of_sender, policy, category="hate", said="hate")

    assert figures("moderation_reviewer_agreement_kappa") == {}
    assert figures("moderation_reviewer_agreement_answers") == {"all": 1, "hate": 1}
