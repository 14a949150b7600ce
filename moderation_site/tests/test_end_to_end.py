"""The whole path with real processes: gunicorn, a Celery worker, the sweep, a model over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db.models import Count, Q

from classifier.models import Classification, Job
from dev import programs
from dev.standin.client import Standin
from moderation_site.tests.installation import Installation, installation, until
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying

pytestmark = [
    pytest.mark.long,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("policy"),
]


@pytest.fixture
def site(tmp_path: Path, standin: Standin, transactional_db: None) -> Iterator[Installation]:  # noqa: ARG001
    with installation(tmp_path, standin.base_url) as made:
        yield made


def wait_until_none_is_pending() -> None:
    until(lambda: not Report.objects.pending().exists(), what="reports are still pending")


def assert_one_current_classification_each(count: int) -> None:
    """Every report was sent once, has exactly one current verdict and stands where it says."""
    assert Report.objects.count() == count
    current = Count("classifications", filter=Q(classifications__superseded=False))
    wrong = Report.objects.annotate(current=current, all=Count("classifications")).exclude(
        current=1, all=1
    )
    assert not wrong.exists()
    assert not Job.objects.filter(done=False).exists()


def test_a_report_sent_over_http_is_classified_by_a_worker_and_stands_in_its_list(
    site: Installation, client_of_sender: Client, standin: Standin
) -> None:
    site.start_web()
    site.start_worker()
    sent = {
        text: site.post(body_saying(text), api_key=client_of_sender.key)
        for text in ("Lunch at noon?", "I will kill you tomorrow", "سأقتلك غدا")
    }
    assert {status for status, _ in sent.values()} == {202}

    wait_until_none_is_pending()

    statuses = {}
    for text, (_status, body) in sent.items():
        status, now = site.get(f"/api/v1/reports/{body['id']}/", api_key=client_of_sender.key)
        assert status == 200
        statuses[text] = (now["status"], now["classification"]["category"])
    assert statuses == {
        "Lunch at noon?": ("judged_safe", "none"),
        "I will kill you tomorrow": ("needs_review", "credible_threat"),
        "سأقتلك غدا": ("needs_review", "credible_threat"),
    }
    assert_one_current_classification_each(3)
    assert len(standin.calls()) == 3
    assert "MaxConnectionsError" not in site.log_of("worker-live")


def test_a_worker_killed_in_the_middle_leaves_one_current_classification_for_each_report(
    site: Installation, client_of_sender: Client, standin: Standin
) -> None:
    count, threads = 40, programs.LANES["live"]
    standin.script({"kind": "delay", "seconds": 0.3}, times=threads)
    standin.script({"kind": "delay", "seconds": 6}, times=threads)
    site.start_web()
    site.start_worker()
    for number in range(count):
        status, _ = site.post(body_saying(f"Text {number}"), api_key=client_of_sender.key)
        assert status == 202
    held = Job.objects.filter(done=False, lease_until__isnull=False)
    until(
        lambda: Classification.objects.count() == threads == held.count(),
        what="the worker is not in the middle of what comes after the first answers",
    )

    site.kill("worker-live")

    assert Report.objects.pending().exists()
    # The leases run out: time is moved by writing rows.
    taken = held.count()
    held.update(lease_until="2020-01-01T00:00:00Z")
    site.start_worker()
    site.start_sweep()
    wait_until_none_is_pending()

    assert_one_current_classification_each(count)
    calls = standin.calls()
    assert count <= len(calls) <= count + taken


def test_what_was_sent_while_nothing_but_the_web_ran_is_classified_when_the_rest_starts(
    site: Installation, client_of_sender: Client
) -> None:
    site.start_web()
    _, spam = site.post(body_saying("Buy cheap watches"), api_key=client_of_sender.key)
    _, threat = site.post(
        body_saying("I will kill you tomorrow", reason="spam"), api_key=client_of_sender.key
    )
    assert {spam["status"], threat["status"]} == {"pending"}
    top = Item.objects.filter(list=Item.List.PENDING).order_by("-rank", "since", "id").first()
    assert top is not None
    assert str(top.reports.get().public_id) == threat["id"]

    site.start_sweep()
    site.start_worker()
    wait_until_none_is_pending()

    assert_one_current_classification_each(2)


def test_readiness_says_what_is_missing_and_then_that_it_is_ready(site: Installation) -> None:
    site.start_web()
    status, body = site.get("/readyz")
    assert status == 503
    assert "has never run" in body["wrong"]["sweep"]

    site.start_sweep()
    until(lambda: site.get("/readyz")[0] == 200, what="it never became ready")


def test_a_stopped_worker_ends_by_itself_and_says_nothing_went_wrong(
    site: Installation, client_of_sender: Client
) -> None:
    site.start_web()
    site.start_worker()
    site.post(body_saying("Lunch at noon?"), api_key=client_of_sender.key)
    wait_until_none_is_pending()
    worker = site.running["worker-live"]

    worker.terminate()

    assert worker.wait(15) == 0
    assert "Traceback" not in site.log_of("worker-live")
