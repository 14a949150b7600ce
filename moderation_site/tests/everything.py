"""An installation with one row of every kind that an address may name."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.db.models.functions import Now
from django.http import HttpRequest
from django.test import Client as Browser

from classifier.models import Job, PolicyVersion, ProviderModel, WaitingReason
from classifier.tests import history
from classifier.tests.batches import make_batch
from classifier.tests.situations import know_model, load_version
from moderation_site.tests.addresses import models_in_the_admin
from reports.models import Report
from reports.reporters import trust_reporter
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Claim, Hold, SavedView
from reviews.quality.draw import draw
from reviews.tests.differing import differing, hold_a_case
from reviews.tests.misses import find_missed, send_safe
from reviews.tests.people import classify, decide, log_in, page
from reviews.tests.quality import drawn_double_review
from reviews.tests.sampling import judge_safe

PASSWORD = "a long enough word of mine"
STAFF = {"operator", "admin"}


@dataclass(frozen=True)
class Installation:
    """What stands in it, and who is there."""

    report: Report
    sender: Client
    other: Client
    sessions: dict[str, str]
    """Of each person who is there: one of each role, `nobody` (no role) and `superuser`."""
    values: dict[str, object]
    """What an address takes, by its name."""

    def visit_as(self, name: str) -> Browser:
        """A browser of its own in which this person is logged in, or that sends a sender's key.

        `anonymous`, a person's name, `key` or `other_key`.
        """
        senders = {"key": self.sender, "other_key": self.other}
        if name in senders:
            key = senders[name].key
            return Browser(
                raise_request_exception=False, headers={"Authorization": f"Bearer {key}"}
            )
        browser = Browser(raise_request_exception=False)
        if name != "anonymous":
            browser.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[name]
        return browser

    def key_of(self, model: type[Model]) -> object:
        """The key of a row that the admin shows."""
        shown = admin.site.get_model_admin(model)
        row: Any = shown.get_queryset(_AS_ANYBODY).first()
        assert row is not None, f"everything.furnish makes no row of {model._meta.label}: add one"
        return row.pk

    def values_for(self, pattern: str) -> dict[str, object]:
        """What this address takes; the key of an object of the admin's model among them."""
        for name, model in models_in_the_admin().items():
            if pattern.startswith(f"admin/{name}/"):
                return {**self.values, "object_id": self.key_of(model)}
        return self.values


def furnish(policy: PolicyVersion) -> Installation:
    """Two senders; a report in each list; a person of each role; a row of all that the admin shows."""
    sender, other = make_sender("chat-app"), make_sender("forum")
    report = sender.send(body_saying("A secret of the first sender."))
    Job.objects.create(
        report=report, policy_version=policy, reason=WaitingReason.PROVIDER_TIMEOUT, parked=True
    )
    classify(sender.send(body_saying("judged")), policy)
    decided = sender.send(body_saying("decided"))
    roles = Group.objects.order_by("name").values_list("name", flat=True)
    User.objects.create_superuser("superuser", password=PASSWORD)
    people = {name: log_in(name, name) for name in (*roles, "nobody", "superuser")}
    User.objects.filter(username__in=STAFF).update(is_staff=True)
    reviewer = User.objects.get(username="reviewer")
    dana = log_in("dana", "reviewer")
    html = page(dana, f"/review/items/{decided.item_id}/")
    decide(dana, decided.item, html, action="no_violation")
    Claim.objects.get_or_create(
        item=report.item,
        released_at=None,
        defaults={"reviewer": reviewer, "expires_at": Now() + timedelta(minutes=10)},
    )
    SavedView.objects.create(owner=reviewer, name="hers", list="pending", shared=True)
    Hold.objects.create(item=report.item, kind=Hold.Kind.ESCALATED, placed_by=reviewer)
    trust_reporter(
        sender=sender.sender, reporter_id="u-1", name="Help line", reasons=[], actor_name="test"
    )
    come_back(sender)
    invalidate(sender.send(body_saying("bad faith", reporter={"id": "u-bad"})))
    if not ProviderModel.objects.exists():
        know_model(settings.OPENAI_BASE_URL)
    disputed = history.judged_safe(sender, policy)
    batch = make_batch(history.next_version(), state="stopped")
    history.ask_again(disputed, batch, category="hate")
    judge_safe(sender.sender.pk, 3)
    draw(actor_name="test")
    find_missed(dana, send_safe(sender, policy, "missed"))
    draft = load_version(prompt="Judge mildly.", activate=False)
    review = differing(sender, policy)
    case = hold_a_case(review)
    return Installation(
        report=report,
        sender=sender,
        other=other,
        sessions={
            name: browser.cookies[settings.SESSION_COOKIE_NAME].value
            for name, browser in people.items()
        },
        values={
            "slug": "pending",
            "item_id": report.item_id,
            "public_id": report.public_id,
            "number": draft.number,
            "batch_id": batch.pk,
            "sender_id": sender.sender.pk,
            "view_id": SavedView.objects.get().pk,
            "decision_id": decided.item.decisions.get().pk,
            "review_id": review.pk,
            "case_id": case.pk,
            "set_name": case.set.name,
            "decided": case.report.public_id,
            "second_id": drawn_double_review(decided.item.decisions.get()).pk,
            "id": reviewer.pk,
            "app_label": "reports",
            "url": "nowhere",
            "rest": "nowhere",
            "content_type_id": 1,
            "object_id": 1,
        },
    )


def come_back(client: Client) -> None:
    """What was resolved is brought back by three people."""
    resolved = client.send(body_saying("settled"))
    resolve(resolved, action="no_violation")
    item = {"type": "message", "id": resolved.item.external_id}
    for number in range(3):
        client.send(body_saying("settled", item=item, reporter={"id": f"again-{number}"}))


_AS_ANYBODY = HttpRequest()
