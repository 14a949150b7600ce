"""What is audited are items: however many reports an item has, it is drawn from once."""

from typing import Any

import pytest
from django.db import transaction

from classifier.models import PolicyVersion
from reports.models import Sender
from reports.tests.sending import Client
from reviews.models import BlindAudit, Stratum
from reviews.quality.draw import draw, plan_draw
from reviews.tests.sampling import judge_safe, rate_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender(client_of_sender: Client, policy: PolicyVersion) -> Sender:  # noqa: ARG001
    rate_of("audits", 1)
    return Sender.objects.get()


def counts(*fields: str) -> set[tuple[Any, ...]]:
    return set(Stratum.objects.values_list(*fields, "population", "drawn"))


def test_of_an_item_that_many_reported_one_verdict_is_drawn_from(sender: Sender) -> None:
    (first,) = judge_safe(sender.pk, 1)
    judge_safe(sender.pk, 14, item=first.item_id)
    judge_safe(sender.pk, 2)

    (planned,) = plan_draw()
    draw(actor_name="test")

    assert (planned.population, planned.drawn) == (3, 3)
    assert counts() == {(3, 3)}
    assert BlindAudit.objects.filter(report__item=first.item_id).count() == 1


def test_an_item_that_many_reported_is_no_likelier_to_be_drawn(sender: Sender) -> None:
    """160 draws of ten from forty: an item of fifty reports is drawn in about forty of them.

    By chance, as which ids there are is another each time: above 8 and below half of them but once in
    ten thousand million times.
    """
    rate_of("audits", 0.25)
    (first,) = judge_safe(sender.pk, 1)
    judge_safe(sender.pk, 49, item=first.item_id)
    judge_safe(sender.pk, 39)
    times = 0
    for seed in range(160):
        with transaction.atomic():
            draw(actor_name="test", seed=str(seed))
            times += BlindAudit.objects.filter(report__item=first.item_id).count()
            transaction.set_rollback(True)

    assert 8 < times < 80


def test_an_item_is_of_the_kind_of_the_verdict_that_stands_for_it(sender: Sender) -> None:
    (first,) = judge_safe(sender.pk, 1, language="ar")
    judge_safe(sender.pk, 1, language="en", item=first.item_id)

    draw(actor_name="test")

    audit = BlindAudit.objects.get()
    assert counts("language") == {(audit.report.language, 1, 1)}
