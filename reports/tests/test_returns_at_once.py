"""32 people report one judged-safe item at one moment: it comes back exactly once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from reports.models import Item, Report, Return
from reports.tests.reporting_again import judged_safe_by, report_by
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 32


def test_it_comes_back_exactly_once(client_of_sender: Client, policy: Any) -> None:
    settled = judged_safe_by(client_of_sender, policy, "u-0")

    def report_it(number: int) -> None:
        try:
            report_by(client_of_sender, f"u-{number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(PEOPLE) as threads:
        list(threads.map(report_it, range(1, PEOPLE + 1)))

    returned = Return.objects.get()
    assert (returned.report, returned.reporters, returned.fresh) == (settled, 3, 3)
    assert list(Report.objects.filter(status="needs_review")) == [settled]
    assert Report.objects.filter(status="pending").count() == PEOPLE
    assert Item.objects.get().list == Item.List.NEEDS_REVIEW
