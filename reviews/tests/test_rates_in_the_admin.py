"""Sampling rates in the admin: what may be narrowed by what, and how a draw shows what it drew."""

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from reports.models import AuditEntry
from reports.tests.sending import Client
from reviews.models import Draw, SamplingRate, Stratum
from reviews.quality_admin import SHOWN_AT_MOST
from reviews.tests.people import log_in
from reviews.tests.sampling import hours_ago

pytestmark = pytest.mark.django_db
ADD = "/admin/reviews/samplingrate/add/"


@pytest.fixture
def admin() -> Browser:
    browser = log_in("ada", "admin")
    User.objects.filter(username="ada").update(is_staff=True)
    return browser


def add(browser: Browser, **values: object) -> str:
    """What the admin says to it; blank where it was taken."""
    answer = browser.post(ADD, {"at_least": 0, **values})
    return "" if answer.status_code == 302 else answer.content.decode()


@pytest.mark.usefixtures("policy")
def test_a_rate_of_audits_may_be_as_narrow_as_a_stratum(
    admin: Browser, client_of_sender: Client
) -> None:
    sender = client_of_sender.sender
    narrow = {"sender": sender.pk, "language": "AR", "category": "none", "band": "0.90-0.95"}

    assert add(admin, of="audits", rate="0.25", **narrow | {"at_least": 7}) == ""

    rate = SamplingRate.objects.get(sender=sender)
    # As the strata write it.
    assert (rate.language, rate.band, rate.rate, rate.at_least) == ("ar", "0.90-0.95", 0.25, 7)


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("of", "narrowed"),
    [
        ("double_reviews", {"band": "0.90-0.95"}),
        ("double_reviews", {"at_least": 3}),
        ("blind", {"language": "ar"}),
        ("mixed_in", {"category": "none"}),
    ],
)
def test_what_a_rate_cannot_be_narrowed_by_is_refused(
    admin: Browser, of: str, narrowed: dict[str, object]
) -> None:
    before = SamplingRate.objects.count()

    said = add(admin, of=of, rate="0.5", **narrowed)

    assert said.count("A rate of this kind cannot be narrowed by it.") == 1
    assert SamplingRate.objects.count() == before


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"of": "audits", "category": "hatee"}, "hatee is not one of the available choices."),
        ({"of": "audits", "category": "hate"}, "Nothing in this category is judged safe"),
        (
            {"of": "double_reviews", "category": "none"},
            "A decision of no violation has no category",
        ),
        ({"of": "audits", "language": "Arabic"}, "Two or three letters"),
        ({"of": "audits", "language": "ar-EG"}, "Two or three letters"),
    ],
)
def test_what_would_match_nothing_is_refused(
    admin: Browser, wish: dict[str, object], says: str
) -> None:
    before = SamplingRate.objects.count()

    assert says in add(admin, rate="0.5", **wish)

    assert SamplingRate.objects.count() == before


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    "wish",
    [
        {"of": "audits", "category": "none", "language": "und-Arab"},
        {"of": "double_reviews", "category": "hate", "language": "AR"},
    ],
)
def test_what_can_be_drawn_from_is_taken(admin: Browser, wish: dict[str, str]) -> None:
    assert add(admin, rate="0.5", **wish) == ""

    rate = SamplingRate.objects.latest("pk")
    assert (rate.category, rate.language) == (wish["category"], wish["language"].lower())


def test_a_rate_of_a_category_that_no_policy_has_any_more_can_still_be_changed(
    admin: Browser,
) -> None:
    rate = SamplingRate.objects.create(of="audits", category="gone", rate=0.1)
    sent = {"of": "audits", "category": "gone", "rate": "0.2", "at_least": 0}

    answer = admin.post(f"/admin/reviews/samplingrate/{rate.pk}/change/", sent)

    assert answer.status_code == 302
    rate.refresh_from_db()
    assert rate.rate == 0.2


@pytest.mark.parametrize("rate", ["-0.1", "1.01", "nan", "x", ""])
def test_a_share_is_between_nothing_and_all(admin: Browser, rate: str) -> None:
    assert add(admin, of="audits", language="ar", rate=rate) != ""


def test_a_second_rate_of_the_same_is_refused(admin: Browser) -> None:
    assert SamplingRate.objects.filter(of="audits").count() == 1

    assert add(admin, of="audits", rate="0.5") != ""


def test_a_narrower_rate_may_go_again(admin: Browser) -> None:
    add(admin, of="audits", language="ar", rate="0.5")
    rate = SamplingRate.objects.get(language="ar")

    admin.post(f"/admin/reviews/samplingrate/{rate.pk}/delete/", {"post": "yes"})

    assert not SamplingRate.objects.filter(language="ar").exists()
    entry = AuditEntry.objects.get(action="rate_deleted")
    assert (entry.object_id, entry.actor_name) == (str(rate.pk), "ada")
    assert (entry.detail["language"], entry.detail["rate"]) == ("ar", 0.5)


@pytest.mark.usefixtures("policy")
def test_a_draw_shows_its_strata_up_to_a_bound(admin: Browser, client_of_sender: Client) -> None:
    row = Draw.objects.create(of="audits", since=hours_ago(9), until=hours_ago(8), seed="5eed")
    Stratum.objects.bulk_create(
        Stratum(
            draw=row,
            sender=client_of_sender.sender,
            language="en",
            category=f"kind-{number}",
            population=3,
            drawn=2,
        )
        for number in range(SHOWN_AT_MOST + 7)
    )

    html = admin.get(f"/admin/reviews/draw/{row.pk}/change/").content.decode()

    assert html.count('<bdi dir="ltr">kind-') == SHOWN_AT_MOST
    assert "7 more are not shown." in html
    assert "5eed" in html
