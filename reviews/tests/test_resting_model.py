"""A model that is left alone shows on the pages of those who wait for it, and can be asked again."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser

from classifier.cooldown import Turn, note_fault
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from reports.models import AuditEntry
from reviews.tests.people import log_in, page

pytestmark = pytest.mark.django_db
Reason = WaitingReason
MODEL = "/admin/classifier/providermodel/"


@pytest.fixture
def model(policy: PolicyVersion) -> ProviderModel:
    model = ProviderModel.objects.of_policy(policy)
    ProviderModel.objects.filter(pk=model.pk).update(mode="json_schema", takes_temperature=False)
    model.refresh_from_db()
    return model


def rest(model: ProviderModel, reason: Reason, *, since_seconds: float = 0) -> None:
    """The model has been left alone for so long."""
    note_fault(model=model, turn=Turn(granted=True), reason=reason, retry_after=600)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE classifier_providermodel SET rests_since = rests_since - make_interval(secs => %s)",
            [since_seconds],
        )


def log_in_staff(role: str) -> Browser:
    browser = log_in("omar", role)
    User.objects.filter(username="omar").update(is_staff=True)
    return browser


def notice(browser: Browser, address: str = "/review/pending/") -> str:
    return page(browser, address)


@pytest.mark.parametrize(
    "reason",
    [Reason.PROVIDER_QUOTA, Reason.PROVIDER_CREDENTIALS, Reason.UNKNOWN_MODEL, Reason.WRONG_MODEL],
)
def test_what_people_have_to_mend_shows_at_once(model: ProviderModel, reason: Reason) -> None:
    browser = log_in("dana", "reviewer")
    assert "No report has been read by the model" not in notice(browser)

    rest(model, reason)

    for address in ("pending", "needs-review", "safe", "resolved"):
        html = notice(browser, f"/review/{address}/")
        assert str(reason.label).replace("'", "&#x27;") in html
        assert "No report has been read by the model since" in html
        assert reason.for_operations not in html  # not a reviewer's business


@pytest.mark.parametrize("reason", [Reason.PROVIDER_RATE_LIMITED, Reason.PROVIDER_UNAVAILABLE])
def test_a_short_rest_is_not_worth_a_word_and_a_long_one_is(
    model: ProviderModel, reason: Reason
) -> None:
    browser = log_in("dana", "reviewer")

    rest(model, reason)
    assert "No report has been read by the model" not in notice(browser)

    rest(model, reason, since_seconds=61)
    assert "No report has been read by the model since" in notice(browser)


@pytest.mark.parametrize("role", ["admin", "operator"])
def test_operations_read_what_to_do_and_end_the_rest(model: ProviderModel, role: str) -> None:
    browser = log_in_staff(role)
    rest(model, Reason.PROVIDER_QUOTA)

    assert Reason.PROVIDER_QUOTA.for_operations in notice(browser, "/admin/")
    assert Reason.PROVIDER_QUOTA.for_operations in notice(browser, MODEL)
    answer = browser.post(MODEL, {"action": "ask_again", "_selected_action": [model.pk]})

    assert answer.status_code == 302
    model.refresh_from_db()
    assert (model.rest_reason, model.rests_until, model.rests) == ("", None, 0)
    assert "No report has been read by the model" not in notice(browser)
    assert AuditEntry.objects.filter(action="rest_ended", actor_name="omar").count() == 1


def test_a_model_is_probed_again_and_its_switches_set_with_one_audit_row_each(
    model: ProviderModel,
) -> None:
    browser = log_in_staff("operator")

    browser.post(MODEL, {"action": "probe_again", "_selected_action": [model.pk]})
    model.refresh_from_db()
    assert (model.mode, model.takes_temperature) == ("", True)
    browser.post(f"{MODEL}{model.pk}/change/", {"thinks": "on"})
    model.refresh_from_db()
    assert (model.thinks, model.echoes_ref) == (True, False)
    rows = AuditEntry.objects.order_by("id").values_list("action", "detail")
    changes = [row for row in rows if row[0] in {"probe_wanted", "model_changed"}]
    assert changes == [
        ("probe_wanted", {}),
        ("model_changed", {"thinks": True, "echoes_ref": False}),
    ]


def test_every_reason_has_a_sentence_for_the_reviewer_and_one_for_operations() -> None:
    for reason in WaitingReason:
        assert reason.label
        assert reason.for_operations
        assert str(reason.label) != reason.for_operations


def test_the_figures_tell_of_the_rest(model: ProviderModel) -> None:
    def figures() -> str:
        return Browser().get("/metrics").content.decode()

    assert "moderation_model_rests_seconds{" not in figures()
    rest(model, Reason.PROVIDER_QUOTA, since_seconds=100)

    line = next(line for line in figures().splitlines() if "model_rests_seconds{" in line)
    assert 'reason="provider_quota"' in line
    assert 100 <= float(line.split()[-1]) < 110


def test_the_figures_tell_that_the_code_judges_by_other_rules_than_the_policy_lists(
    policy: PolicyVersion,
) -> None:
    def told() -> str:
        lines = Browser().get("/metrics").content.decode().splitlines()
        return next(x for x in lines if x.startswith("moderation_policy_lists_other")).split()[-1]

    assert told() == "0.0"
    PolicyVersion.objects.filter(pk=policy.pk).update(state="retired")
    other = PolicyVersion.objects.create(
        number=99,
        title="Old",
        model="m",
        prompt="p",
        categories=policy.categories,
        safe_threshold=1,
        revisions={**policy.revisions, "floor": 0},
    )
    PolicyVersion.objects.filter(pk=other.pk).update(state="active")
    assert told() == "1.0"
