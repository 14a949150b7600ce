"""A model that calls violations of one language safe: reports over HTTP to it, and audits that find it."""

import pytest
from django.db import transaction

from classifier.models import PolicyVersion
from classifier.pipeline import Outcome, classify_report
from dev.standin.client import Standin
from dev.standin.words import judge
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client, body_saying
from reports.tests.unguarded import unguarded
from reviews.quality.draw import draw
from reviews.quality.estimates import named_languages, read_estimates
from reviews.tests.sampling import decide, rate_of

pytestmark = pytest.mark.django_db(transaction=True)

# What no rule at intake knows, so that the model alone decides.
TEXTS = {
    "en": ("See you at lunch, {}.", 18),
    "ar": ("نلتقي غدا في المكتبة {}", 12),
    "en-GB": ("Buy cheap watches, limited offer {}", 3),
    "ar-EG": ("عرض محدود خصم ٧٠٪ على كل العطور، اطلب الآن {}", 6),
}


def send_all(client: Client) -> dict[int, str]:
    """Every text so often, and its category by the rules that the model knows, by report."""
    truth = {}
    for language, (text, times) in TEXTS.items():
        for number in range(times):
            said = text.format(number)
            report = client.send(body_saying(said, language=language, reason=None))
            assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.RECORDED
            truth[report.pk] = judge([said]).category
    return truth


def two_hours_pass() -> None:
    with transaction.atomic(), unguarded() as cursor:
        cursor.execute(
            "UPDATE classifier_classification SET created_at = created_at - interval '2 hours'"
        )


def test_the_audit_finds_the_language_whose_violations_are_called_safe(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    assert policy
    standin.behave(buries={"language": "ar"})
    truth = send_all(client_of_sender)
    two_hours_pass()
    rate_of("audits", 1)

    draw(actor_name="test")
    for report in Report.objects.filter(audits__isnull=False):
        violates = truth[report.pk] != "none"
        decide(report, "remove" if violates else "no_violation", "spam" if violates else "")

    estimates = read_estimates()
    languages = {share.label: share for share in estimates.by_language}
    # English violations were found by the model, so nobody audits them; the Arabic ones are among 18.
    english, arabic = languages["en"], languages["ar"]
    assert (english.population, english.answered, english.found) == (18, 18, 0)
    assert (arabic.population, arabic.answered, arabic.found) == (18, 18, 6)
    assert arabic.share == pytest.approx(6 / 18)
    assert named_languages(estimates.by_language) == ["ar"]
