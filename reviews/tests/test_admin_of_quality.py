"""Draws, audits, returns and invalidations in the admin: named in words, with a way to the desk."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import Return
from reports.tests.invalidating import invalidate
from reports.tests.reporting_again import judged_safe_by, report_by, report_by_each
from reports.tests.sending import Client
from reviews.models import Draw, SamplingRate
from reviews.tests.misses import find_missed, send_safe
from reviews.tests.people import log_in, page
from reviews.tests.quality import drawn_audit
from reviews.tests.sampling import hours_ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Browser:
    browser = log_in("ada", "admin")
    User.objects.filter(username="ada").update(is_staff=True)
    return browser


def brought_back(client: Client, policy: PolicyVersion) -> Return:
    judged_safe_by(client, policy, "u-1")
    report_by_each(client, "u-2", "u-3")
    return Return.objects.get()


def change(row: Any) -> str:
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"


def test_rates_draws_and_returns_are_named_in_words(
    admin: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    rate = SamplingRate.objects.get(of="mixed_in")
    row = Draw.objects.create(
        of="double_reviews", since=hours_ago(9), until=hours_ago(8), seed="5eed"
    )
    returned = brought_back(client_of_sender, policy)

    audits = "audits and second reviews among what is handed out"
    assert f"<h2>{audits}: {rate.rate:g}</h2>" in page(admin, change(rate))
    day = f"{row.until:%Y-%m-%d}"
    assert f"<h2>second reviews of decisions, {day}</h2>" in page(admin, change(row))
    at = f"{returned.returned_at:%Y-%m-%d %H:%M}"
    assert f"<h2>message m-1, {at}</h2>" in page(admin, change(returned))


def test_a_field_that_is_blank_in_a_rate_says_that_it_means_any(admin: Browser) -> None:
    html = page(admin, "/admin/reviews/samplingrate/?of=audits")

    assert '<td class="field-category">any</td>' in html
    assert '<td class="field-sender nowrap">any</td>' in html


def test_returns_are_narrowed_to_those_since_which_nobody_has_decided(
    admin: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    brought_back(client_of_sender, policy)
    listed = "/admin/reports/return/"

    assert "1 item brought back" in page(admin, f"{listed}?standing=open")
    assert "0 items brought back" in page(admin, f"{listed}?standing=ended")
    assert "Not empty" not in page(admin, listed)


def test_an_invalidation_says_how_many_reports_it_names_and_leads_to_the_reporter(
    admin: Browser, client_of_sender: Client
) -> None:
    report = report_by_each(client_of_sender, "bad", "bad")[0]
    report_by(client_of_sender, "u-1")
    invalidation = invalidate(report)

    html = page(admin, change(invalidation))

    assert '<div class="readonly">2</div>' in html
    assert f'<a href="/review/reporters/{report.public_id}/">' in html
    assert page(admin, "/admin/reports/invalidation/?standing=ended").count("a campaign") == 0


def test_of_audits_only_those_that_were_answered_are_listed(
    admin: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    missed, drawn = (send_safe(client_of_sender, policy, "text") for _each in range(2))
    answered = find_missed(log_in("dana", "reviewer"), missed)
    unanswered = drawn_audit(drawn)

    html = page(admin, "/admin/reviews/blindaudit/")

    assert missed.item.external_id in html
    assert "decided: remove. Hate." in html
    assert drawn.item.external_id not in html
    assert page(admin, change(answered))
    assert admin.get(change(unanswered)).status_code == 302
