"""What a reviewer opted out of is not handed to them, and what nobody takes is said aloud."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.tests import history
from reports.models import Item, Severity
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Claim, Preferences
from reviews.opting_out import is_taken, nobody_takes, not_opted_out
from reviews.queue import LOOKED_THROUGH
from reviews.tests.people import classify, fill_list, log_in, page, unveil

LIST = "/review/needs-review/"


def opt_out(name: str, *categories: str) -> User:
    user = User.objects.get(username=name)
    Preferences.objects.update_or_create(user=user, defaults={"opted_out": [*categories]})
    return User.objects.get(pk=user.pk)


def handed_to(user: User) -> list[Item]:
    return list(not_opted_out(Item.objects.order_by("pk"), user))


@pytest.fixture
def reviewers(policy: PolicyVersion) -> tuple[Browser, Browser]:  # noqa: ARG001
    return log_in("dana", "reviewer"), log_in("omar", "reviewer")


def test_an_item_is_kept_from_who_opted_out_of_any_of_its_reports_categories(
    client_of_sender: Client,
    policy: PolicyVersion,
    reviewers: tuple[Browser, Browser],  # noqa: ARG001
) -> None:
    hateful = client_of_sender.send(body_saying("first"))
    classify(hateful, policy, category="hate", safe=False)
    body = body_saying("second")
    mixed = [client_of_sender.send(body) for _report in range(2)]
    for report, category in zip(mixed, ("spam", "hate"), strict=True):
        classify(report, policy, category=category, safe=False)
    assert mixed[0].item_id == mixed[1].item_id
    spam = client_of_sender.send(body_saying("third"))
    classify(spam, policy, category="spam", safe=False)
    pending = client_of_sender.send(body_saying("fourth"))
    every = [hateful.item, mixed[0].item, spam.item, pending.item]

    assert handed_to(User.objects.get(username="omar")) == every
    assert handed_to(opt_out("dana", "hate")) == [spam.item, pending.item]

    resolve(mixed[1])
    assert handed_to(opt_out("dana", "hate")) == [mixed[0].item, spam.item, pending.item]
    hateful.classifications.update(superseded=True)
    classify(hateful, history.next_version(), category="spam", safe=False)
    assert handed_to(opt_out("dana", "hate")) == every
    assert handed_to(opt_out("dana")) == every


def test_it_can_still_be_opened_and_decided_its_text_hidden_whatever_else_is(
    client_of_sender: Client, policy: PolicyVersion, reviewers: tuple[Browser, Browser]
) -> None:
    report = client_of_sender.send(body_saying("the text itself"))
    classify(report, policy, category="hate", safe=False, severity=Severity.LOW)
    opt_out("dana", "hate")

    for browser, hidden in zip(reviewers, (True, False), strict=True):
        item = page(browser, f"/review/items/{report.item_id}/")
        assert ('name="action"' in item) is hidden  # whoever opens it first has it
        for html in (item, page(browser, LIST)):
            assert ("the text itself" not in html) is hidden


def test_who_opted_out_of_all_that_stands_on_top_is_handed_nothing_from_far_below(
    client_of_sender: Client, policy: PolicyVersion, reviewers: tuple[Browser, Browser]
) -> None:
    fill_list(client_of_sender, policy, "needs_review", LOOKED_THROUGH)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does
    last = make_sender("other-app").send(body_saying("far below"))
    classify(last, policy, category="spam", safe=False)
    opt_out("dana", "none")

    told = reviewers[0].post(f"{LIST}start/", follow=True).content.decode()

    assert "The top of this list has nothing that matches." in told
    assert not Claim.objects.exists()
    opt_out("omar", "hate")
    reviewers[1].post(f"{LIST}start/")
    assert Claim.objects.exists()


def test_who_leaves_a_category_to_nobody_is_told_when_saving(
    reviewers: tuple[Browser, Browser],
) -> None:
    def save(browser: Browser) -> str:
        values = {"veil_from": "2", "pause_after": "20", "opted_out": ["minors"]}
        return browser.post("/review/preferences/", values, follow=True).content.decode()

    assert "Nobody is handed any more" not in save(reviewers[0])
    told = save(reviewers[1])
    assert "Nobody is handed any more: \u2068Sexual content involving minors\u2069." in told


def test_who_leads_sees_on_the_list_what_nobody_is_handed(
    policy: PolicyVersion,
    reviewers: tuple[Browser, Browser],
) -> None:
    root = User.objects.create_superuser("root")  # leads, and is no reviewer
    unveil(root)
    lead = Browser()
    lead.force_login(root)
    assert nobody_takes(policy) == []

    opt_out("dana", "hate", "minors")
    opt_out("omar", "minors", "spam")

    assert nobody_takes(policy) == ["minors"]
    assert is_taken(policy)["hate"]
    assert not is_taken(policy)["minors"]
    assert "none" not in is_taken(policy)
    assert "<bdi>Sexual content involving minors</bdi>." in page(lead, LIST)
    assert "so nobody is handed them" not in page(reviewers[0], LIST)
    assert "so nobody is handed them" not in page(lead, "/review/pending/")

    User.objects.filter(username="omar").update(is_active=False)
    assert nobody_takes(policy) == ["minors", "hate"]


def test_without_any_reviewer_nobody_opted_out(policy: PolicyVersion) -> None:
    log_in("olga", "operator")
    opt_out("olga", "minors")

    assert nobody_takes(policy) == []


def test_operations_see_whether_anybody_is_handed_a_category_and_not_how_many(
    reviewers: tuple[Browser, Browser],  # noqa: ARG001
) -> None:
    opt_out("dana", "minors")
    opt_out("omar", "minors", "hate")

    figures = Browser().get("/metrics").content.decode()

    assert 'moderation_category_taken{category="minors"} 0.0' in figures
    assert 'moderation_category_taken{category="hate"} 1.0' in figures
    assert 'moderation_category_taken{category="spam"} 1.0' in figures


def test_an_item_that_one_opt_out_and_another_keep_from_everybody_is_shown_to_who_leads(
    client_of_sender: Client,
    policy: PolicyVersion,
    reviewers: tuple[Browser, Browser],
    django_assert_max_num_queries: object,
) -> None:
    alone = client_of_sender.send(body_saying("one report"))
    classify(alone, policy, category="minors", safe=False)
    body = body_saying("two reports")
    mixed = [client_of_sender.send(body) for _report in range(2)]
    for report, category in zip(mixed, ("minors", "hate"), strict=True):
        classify(report, policy, category=category, safe=False)
    lead = log_in("lina", "lead")
    told = "handed to nobody, for every reviewer has opted out of a category of it"

    opt_out("dana", "minors")
    opt_out("omar", "hate")
    assert told not in page(lead, LIST)  # the lead takes both

    opt_out("lina", "minors", "spam")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        html = page(lead, LIST)
    assert told in html
    assert f'<a href="/review/items/{mixed[0].item_id}/?from=needs-review">Open it</a>' in html
    assert nobody_takes(policy) == []
    assert told not in page(reviewers[0], LIST)

    resolve(mixed[1])
    assert told not in page(lead, LIST)
