"""What a plan says of tokens rests on a sample from all of the selection, and is cheap to take."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from classifier.batches.plan import Plan, plan_batch
from classifier.batches.selection import Selection
from classifier.models import Batch, PolicyVersion
from classifier.tests.explaining import nodes_of
from classifier.tests.situations import know_model, make_many, send_text
from reports.models import Report
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db

REPORTS = 300
PROVIDER = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _history(settings: Settings, policy: PolicyVersion) -> Iterator[None]:  # noqa: ARG001 - it asks
    """Reports that no model has judged, and a model whose limit is known."""
    settings.OPENAI_BASE_URL = PROVIDER
    know_model(PROVIDER)
    # Nothing is committed: a report that is judged safe would need its verdict.
    with transaction.atomic():
        make_many("history", REPORTS)
        Report.objects.update(status=Report.Status.JUDGED_SAFE)
        yield
        transaction.set_rollback(True)


def planned(policy: PolicyVersion, selection: Selection) -> Plan:
    return plan_batch(purpose=Batch.Purpose.BACKFILL, policy=policy, selection=selection)


def test_of_a_few_reports_each_is_counted(client_of_sender: Client, policy: PolicyVersion) -> None:
    long = send_text(client_of_sender, "much " * 2_000)
    first = Report.objects.earliest("id")
    Report.objects.filter(pk__in=[first.pk, long.pk]).update(
        status=Report.Status.JUDGED_SAFE, language="fr"
    )

    of_first = planned(policy, Selection(language="fr", limit=1)).tokens
    of_both = planned(policy, Selection(language="fr")).tokens

    assert of_first is not None
    assert of_both is not None
    assert of_both.prompt_high > of_first.prompt_high + 1_000


@pytest.mark.parametrize("selection", [Selection(), Selection(language="fr")])
def test_however_few_are_selected_no_report_is_read_twice_for_the_sample(
    policy: PolicyVersion, selection: Selection
) -> None:
    ends = [Report.objects.earliest("id").pk, Report.objects.latest("id").pk]
    Report.objects.filter(pk__in=ends).update(language="fr")

    with CaptureQueriesContext(connection) as asked:
        planned(policy, selection)

    (sampling,) = [query["sql"] for query in asked if "generate_series" in query["sql"]]
    read = [
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes_of(sampling, analyze=True)
        if node.get("Relation Name") == "reports_report"
    ]
    assert 0 < sum(read) <= REPORTS
