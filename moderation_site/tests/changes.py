"""Every change that a person or a command can make: how it is made, and the audit rows it leaves.

A name is an address (made by a POST), `action <model> <action>` of the admin, or `command <name>`; what
follows `: ` tells several ways apart. To add one: its name, the actions of its audit rows in their
order (one, unless two things come to be), and how to make it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db.models.functions import Now
from django.utils import timezone

from classifier.models import Batch, PolicyVersion, ProviderModel
from classifier.policies.versions import make_candidate
from classifier.tests.resting import put_to_rest
from moderation_site.tests.addresses import every_route
from moderation_site.tests.everything import PASSWORD, Installation
from reports.models import InvalidatedReport, Invalidation, Item, Report
from reports.tests.sending import body_saying
from reports.tests.unguarded import unguarded
from reviews.claims import claim_item
from reviews.models import BlindAudit, Claim, Decision, DoubleReview, Preferences, SavedView
from reviews.tests.forms import form_values
from reviews.tests.misses import find_missed, send_safe
from reviews.tests.people import form_of
from reviews.tests.sampling import judge_safe

Make = Callable[[Installation], object]


@dataclass(frozen=True)
class Change:
    """`audited`: the actions of the rows it leaves. `is_once`: the same again is no change.

    `is_record`: the audit row is all that there is of it.
    """

    audited: tuple[str, ...]
    make: Make
    prepare: Make = lambda _everything: None
    is_once: bool = False
    is_record: bool = False


def post(pattern: str, **data: Any) -> Make:
    """A superuser's POST that must be accepted; a value that depends on the rows is a function."""

    def make(everything: Installation) -> None:
        address = every_route()[pattern].filled(everything.values_for(pattern))
        sent = {name: value() if callable(value) else value for name, value in data.items()}
        answer = everything.visit_as("superuser").post(address, sent)
        said = answer.content.decode()
        assert answer.status_code in {200, 302}, (address, answer.status_code, said)
        assert "errornote" not in said, said

    return make


def act(model: str, action: str) -> Make:
    """An action of the admin on the first row that its list shows."""

    def make(everything: Installation) -> None:
        browser, address = everything.visit_as("superuser"), f"/admin/{model}/"
        row = re.search(r'name="_selected_action" value="(\d+)"', str(browser.get(address).content))
        assert row, f"{address} shows no row"
        data = {"action": action, "_selected_action": [row[1]], "index": 0}
        answer = browser.post(address, data)
        assert answer.status_code == 302, answer.content.decode()

    return make


def run(name: str, *arguments: str) -> Make:
    def make(_everything: Installation) -> None:
        call_command(name, *arguments, stdout=StringIO(), stderr=StringIO())

    return make


def first_group() -> list[int]:
    return [Group.objects.earliest("pk").pk]


def first_permission() -> list[int]:
    return [Permission.objects.earliest("pk").pk]


def judge_some_safe(everything: Installation) -> None:
    """Since the last draw, which was longer ago."""
    with unguarded() as cursor:
        cursor.execute(
            "UPDATE reviews_draw SET since = since - interval '3 hours',"
            " until = until - interval '3 hours';"
            "UPDATE classifier_classification SET created_at = created_at - interval '3 hours'"
        )
    judge_safe(everything.sender.sender.pk, 10)


def submit(pattern: str, **changes: Any) -> Make:
    """The form of a page as it stands, with these values in place of some."""

    def make(everything: Installation) -> None:
        address = every_route()[pattern].filled(everything.values_for(pattern))
        values = form_values(everything.visit_as("superuser").get(address).content.decode())
        post(pattern, **{**values, **changes})(everything)

    return make


def open_an_item(everything: Installation) -> None:
    """One that nobody has: on the way to it, whoever may decide takes it."""
    item = Item.objects.filter(list=Item.List.JUDGED_SAFE).earliest("pk")
    everything.values["item_id"] = item.pk
    everything.visit_as("superuser").get(f"/review/items/{item.pk}/")


def name_the_safe_list(everything: Installation) -> None:
    everything.values["slug"] = "safe"


def hand_it_to_dana(everything: Installation) -> None:
    dana = User.objects.get(username="dana")
    post("review/items/<item_id>/hand-over/", to=dana.pk)(everything)


def save_a_view(everything: Installation) -> None:
    post("review/views/", name="mine", list="pending")(everything)
    everything.values["view_id"] = SavedView.objects.get(name="mine").pk


def decide_it(everything: Installation) -> None:
    address = f"/review/items/{everything.values['item_id']}/"
    browser = everything.visit_as("superuser")
    seen = form_of(" ".join(browser.get(address).content.decode().split()))
    answer = browser.post(address, {**seen, "action": "no_violation"})
    assert answer.status_code == 302, answer.content.decode()


def add_a_case(everything: Installation) -> None:
    """What was decided an hour ago, to a set that it is not in."""
    wanted = {"report": everything.values["decided"], "set": "empty", "source": "disagreement"}
    post("review/quality/evaluation/cases/add/", **wanted)(everything)


def review_it_a_second_time(everything: Installation) -> None:
    """What dana decided, by who is given it blind."""
    root = User.objects.get(username="superuser")
    sample = DoubleReview.objects.get(pk=str(everything.values["second_id"]))
    item = everything.values["item_id"] = sample.decision.item_id
    claim_item(item_id=item, reviewer=root, blind=True, double_review=sample.pk)


def answer_a_second_time(everything: Installation) -> None:
    review_it_a_second_time(everything)
    decide_it(everything)


def decide_and_name_it(everything: Installation) -> None:
    open_an_item(everything)
    decide_it(everything)
    everything.values["decision_id"] = Decision.objects.latest("pk").pk


def decide_by_the_list(everything: Installation) -> None:
    """The first item of the list of those judged safe, chosen in it."""
    browser = everything.visit_as("superuser")
    chosen = re.search(
        r'name="item"[^>]* value="([^"]+)"', browser.get("/review/safe/").content.decode()
    )
    assert chosen
    answer = browser.post("/review/safe/bulk/", {"item": chosen[1], "action": "no_violation"})
    assert answer.status_code == 200, answer.content.decode()


def find_a_miss(everything: Installation) -> None:
    """A violation that a machine had judged safe, and another report of the same text."""
    policy = PolicyVersion.objects.active()
    assert policy is not None
    texts = ["the very same words"] * 2
    missed, _like = (send_safe(everything.sender, policy, each) for each in texts)
    find_missed(everything.visit_as("reviewer"), missed)


def invalidate(everything: Installation) -> None:
    """What the reporter of the first report sent, by the plan that the page shows."""
    address = f"/review/reporters/{everything.report.public_id}/"
    browser = everything.visit_as("superuser")
    planned = browser.post(address, {"reason": "bad faith"}).content.decode()
    plan = re.search(r'name="confirm" value="([^"]+)"', planned)
    browser.post(address, {"reason": "bad faith", "confirm": plan[1] if plan else ""})


def newest_invalidation() -> int:
    return Invalidation.objects.latest("pk").pk


def name_an_invalidated_report(everything: Installation) -> None:
    named = InvalidatedReport.objects.select_related("report").latest("pk")
    everything.values["public_id"] = named.report.public_id


def revoke(everything: Installation) -> None:
    number = str(newest_invalidation())
    run("invalidate_reports", "--revoke", number, "--execute")(everything)


def see_severe_items(everything: Installation) -> None:
    """So many that a pause is proposed."""
    root = User.objects.get(username="superuser")
    Preferences.objects.filter(user=root).update(pause_after=1)
    threat = everything.sender.send(body_saying("I will kill you tomorrow"))
    Claim.objects.create(
        item=threat.item, reviewer=root, expires_at=timezone.now() + timedelta(minutes=5)
    )


def rest(_everything: Installation) -> None:
    put_to_rest(ProviderModel.objects.get(base_url=settings.OPENAI_BASE_URL))


def freeze(everything: Installation) -> None:
    root = User.objects.get(username="superuser")
    make_candidate(number=int(str(everything.values["number"])), actor=root)


def name_a_retired_version(everything: Installation) -> None:
    retired = PolicyVersion.objects.filter(state=PolicyVersion.State.RETIRED).first()
    assert retired is not None
    everything.values["number"] = retired.number


def end_the_batch(_everything: Installation) -> None:
    Batch.objects.update(state=Batch.State.DONE, ended_at=Now())


def of_the_batch(*arguments: str) -> Make:
    """`manage.py batches`, about the one batch."""

    def make(_everything: Installation) -> None:
        run("batches", arguments[0], str(Batch.objects.get().pk), *arguments[1:])(_everything)

    return make


def in_turn(*makes: Make) -> Make:
    def make(everything: Installation) -> None:
        for each in makes:
            each(everything)

    return make


MODEL = "stand-in-not-a-model"
SOURCED = ("--evidence", "https://provider.example/limits", "--until", "2999-01-01")
NEW_PASSWORD = "an even longer word of mine"

POLICY = "admin/classifier/policyversion/<number>/"
OF_U9 = ("invalidate_reports", "--sender", "chat-app", "--reporter", "u-9")
TRUST = ("trust_reporter", "chat-app", "u-2")

CHANGES: dict[str, Change] = {
    # The desk
    "review/items/<item_id>/": Change(("decided",), decide_it, open_an_item),
    "review/items/<item_id>/: opened": Change(("claimed",), open_an_item),
    "review/<slug>/start/": Change(("claimed",), post("review/<slug>/start/"), name_the_safe_list),
    # Who lets go of one item is given the next.
    "review/items/<item_id>/skip/": Change(
        ("skipped", "claimed"), post("review/items/<item_id>/skip/"), open_an_item
    ),
    "review/items/<item_id>/put-aside/": Change(
        ("put_aside", "claimed"), post("review/items/<item_id>/put-aside/", hours=1), open_an_item
    ),
    "review/items/<item_id>/hand-over/": Change(
        ("handed_over", "claimed"), hand_it_to_dana, open_an_item
    ),
    "review/items/<item_id>/release/": Change(
        ("released",), post("review/items/<item_id>/release/"), open_an_item, is_once=True
    ),
    "review/views/": Change(("view_saved",), post("review/views/", name="mine", list="pending")),
    "review/views/<view_id>/": Change(
        ("view_removed",), post("review/views/<view_id>/", do="remove"), save_a_view
    ),
    "review/views/<view_id>/: share": Change(
        ("view_shared",), post("review/views/<view_id>/", do="share"), save_a_view, is_once=True
    ),
    "review/<slug>/bulk/": Change(("decided",), decide_by_the_list),
    "review/decisions/<decision_id>/undo/": Change(
        ("undone",),
        post("review/decisions/<decision_id>/undo/"),
        decide_and_name_it,
        is_once=True,
    ),
    "review/quality/missed/": Change(
        ("sent_back",),
        post(
            "review/quality/missed/",
            audit=lambda: BlindAudit.objects.latest("pk").pk,
            report=lambda: Report.objects.latest("pk").pk,
        ),
        find_a_miss,
        is_once=True,
    ),
    "review/items/<item_id>/: a second review": Change(
        ("second_reviewed",), decide_it, review_it_a_second_time
    ),
    "review/second-reviews/<second_id>/undo/": Change(
        ("second_review_undone",),
        post("review/second-reviews/<second_id>/undo/"),
        answer_a_second_time,
        is_once=True,
    ),
    "review/items/<item_id>/reveal/": Change(
        ("revealed",), post("review/items/<item_id>/reveal/"), is_once=True, is_record=True
    ),
    "review/pause/": Change(("went_on",), post("review/pause/"), see_severe_items, is_once=True),
    "review/pause/: rest": Change(
        ("paused",), post("review/pause/", rest=""), see_severe_items, is_once=True
    ),
    "review/preferences/": Change(
        ("preferences_changed",), submit("review/preferences/", pause_after="7"), is_once=True
    ),
    "review/preferences/keys/": Change(
        ("preferences_changed",), post("review/preferences/keys/"), is_once=True
    ),
    # Second reviews and evaluation sets
    "review/quality/to-settle/<review_id>/": Change(
        ("settled",), post("review/quality/to-settle/<review_id>/", side="first"), is_once=True
    ),
    # The lead decides in the second person's words; that settles it once it is in effect.
    "review/quality/to-settle/<review_id>/: second": Change(
        ("decided",),
        post("review/quality/to-settle/<review_id>/", side="second"),
        is_once=True,
    ),
    "review/quality/evaluation/": Change(
        ("evaluation_set_created",), post("review/quality/evaluation/", name="silver")
    ),
    "review/quality/evaluation/cases/add/": Change(("case_added",), add_a_case, is_once=True),
    "review/quality/evaluation/cases/<case_id>/take-out/": Change(
        ("case_removed",), post("review/quality/evaluation/cases/<case_id>/take-out/")
    ),
    "admin/classifier/evaluationset/add/": Change(
        ("evaluation_set_created",), post("admin/classifier/evaluationset/add/", name="silver")
    ),
    "admin/classifier/evaluationset/<object_id>/change/": Change(
        ("evaluation_set_changed",),
        submit("admin/classifier/evaluationset/<object_id>/change/", description="Of our own."),
        is_once=True,
    ),
    "review/reporters/<public_id>/": Change(("reports_invalidated",), invalidate, is_once=True),
    "review/reporters/<public_id>/: revoke": Change(
        ("invalidation_revoked",),
        post("review/reporters/<public_id>/", revoke=newest_invalidation),
        name_an_invalidated_report,
        is_once=True,
    ),
    "command invalidate_reports": Change(
        ("reports_invalidated",), run(*OF_U9, "--execute", "--reason", "bad faith"), is_once=True
    ),
    "command invalidate_reports: --revoke": Change(("invalidation_revoked",), revoke, is_once=True),
    # What reviewers can choose
    "admin/reviews/action/add/": Change(
        ("action_created",),
        post(
            "admin/reviews/action/add/",
            slug="hide",
            name_en="hide",
            outcome="upholds",
            key="z",
            position=50,
            is_active="on",
        ),
    ),
    "admin/reviews/action/<object_id>/change/": Change(
        ("action_changed",),
        submit("admin/reviews/action/<object_id>/change/", key="z"),
        is_once=True,
    ),
    # How much is looked at again
    "admin/reviews/samplingrate/add/": Change(
        ("rate_created",),
        post("admin/reviews/samplingrate/add/", of="audits", language="ar", rate="0.1", at_least=5),
    ),
    "admin/reviews/samplingrate/<object_id>/change/": Change(
        ("rate_changed",),
        submit("admin/reviews/samplingrate/<object_id>/change/", rate="0.5"),
        is_once=True,
    ),
    "admin/reviews/samplingrate/<object_id>/delete/": Change(
        ("rate_deleted",), post("admin/reviews/samplingrate/<object_id>/delete/", post="yes")
    ),
    "command draw_samples": Change(
        ("samples_drawn",), run("draw_samples", "--execute"), judge_some_safe, is_once=True
    ),
    # Senders and keys
    "admin/reports/sender/add/": Change(
        ("sender_created",), submit("admin/reports/sender/add/", name="third")
    ),
    "admin/reports/sender/<object_id>/change/": Change(
        ("sender_changed",),
        submit("admin/reports/sender/<object_id>/change/", latency_budget="00:07:00"),
        is_once=True,
    ),
    "admin/reports/sender/<sender_id>/issue-key/": Change(
        ("key_issued",), post("admin/reports/sender/<sender_id>/issue-key/")
    ),
    "action reports/apikey revoke": Change(
        ("key_revoked",), act("reports/apikey", "revoke"), is_once=True
    ),
    # A sender and a key come to be.
    "command create_sender": Change(
        ("sender_created", "key_issued"), run("create_sender", "third")
    ),
    "command issue_key": Change(("key_issued",), run("issue_key", "chat-app")),
    "command trust_reporter": Change(("reporter_trusted",), run(*TRUST, "--name", "A name")),
    "command trust_reporter: --end": Change(
        ("reporter_trust_ended",), run(*TRUST, "--end"), run(*TRUST, "--name", "A name")
    ),
    # Accounts
    "admin/auth/user/add/": Change(
        ("user_added",),
        post(
            "admin/auth/user/add/",
            username="new",
            password1=NEW_PASSWORD,
            password2=NEW_PASSWORD,
            usable_password="true",
        ),
    ),
    "admin/auth/user/<object_id>/change/": Change(
        ("user_changed",),
        submit("admin/auth/user/<object_id>/change/", groups=first_group, first_name="Dana"),
        is_once=True,
    ),
    "admin/auth/user/<id>/password/": Change(
        ("user_changed",),
        post(
            "admin/auth/user/<id>/password/",
            password1=NEW_PASSWORD,
            password2=NEW_PASSWORD,
            usable_password="true",
            **{"set-password": "1"},
        ),
    ),
    "admin/password_change/": Change(
        ("password_changed",),
        post(
            "admin/password_change/",
            old_password=PASSWORD,
            new_password1=NEW_PASSWORD,
            new_password2=NEW_PASSWORD,
        ),
    ),
    "admin/auth/group/add/": Change(
        ("group_added",),
        post("admin/auth/group/add/", name="night shift", permissions=first_permission),
    ),
    "admin/auth/group/<object_id>/change/": Change(
        ("group_changed",),
        submit("admin/auth/group/<object_id>/change/", permissions=first_permission),
        is_once=True,
    ),
    "admin/auth/group/<object_id>/delete/": Change(
        ("group_deleted",), post("admin/auth/group/<object_id>/delete/", post="yes")
    ),
    # Policies
    f"{POLICY}copy/": Change(("policy_copied",), post(f"{POLICY}copy/")),
    f"{POLICY}edit/": Change(("policy_edited",), submit(f"{POLICY}edit/", title="Another")),
    f"{POLICY}freeze/": Change(("policy_made_candidate",), post(f"{POLICY}freeze/"), is_once=True),
    f"{POLICY}activate/": Change(
        ("policy_activated",), post(f"{POLICY}activate/"), freeze, is_once=True
    ),
    # One version becomes active, and one batch comes to be.
    f"{POLICY}activate/: start": Change(
        ("policy_activated", "batch_started"), post(f"{POLICY}activate/", start="on"), freeze
    ),
    f"{POLICY}roll-back/": Change(
        ("policy_rolled_back",), post(f"{POLICY}roll-back/"), name_a_retired_version, is_once=True
    ),
    "command load_policy": Change(
        ("policy_loaded",), run("load_policy", "--model", "another"), is_once=True
    ),
    "command load_policy: --activate": Change(
        ("policy_loaded", "policy_activated"),
        run("load_policy", "--model", "another", "--activate"),
        is_once=True,
    ),
    # Models
    "admin/classifier/providermodel/<object_id>/change/": Change(
        ("model_changed",),
        submit("admin/classifier/providermodel/<object_id>/change/", thinks="true"),
        is_once=True,
    ),
    "action classifier/providermodel read_list_now": Change(
        ("list_read",), act("classifier/providermodel", "read_list_now")
    ),
    "action classifier/providermodel ask_again": Change(
        ("rest_ended",), act("classifier/providermodel", "ask_again"), rest, is_once=True
    ),
    "action classifier/providermodel probe_again": Change(
        ("probe_wanted",), act("classifier/providermodel", "probe_again")
    ),
    "command sync_models": Change(("list_read",), run("sync_models")),
    "command models: --ask-again": Change(
        ("rest_ended",), run("models", "--ask-again", MODEL), rest, is_once=True
    ),
    "command models: --probe": Change(("probe_wanted",), run("models", "--probe", MODEL)),
    "command record_limit": Change(
        ("limit_recorded",), run("record_limit", MODEL, "9000", *SOURCED)
    ),
    "command record_limit: --drop": Change(
        ("limit_record_dropped",),
        run("record_limit", MODEL, "--drop"),
        run("record_limit", MODEL, "9000", *SOURCED),
        is_once=True,
    ),
    "command record_price": Change(
        ("price_recorded",),
        run("record_price", MODEL, "--read", "2", "--written", "8", *SOURCED),
        is_once=True,
    ),
    "command record_price: --drop": Change(
        ("price_record_dropped",),
        run("record_price", MODEL, "--drop"),
        run("record_price", MODEL, "--read", "2", "--written", "8", *SOURCED),
        is_once=True,
    ),
    # Work
    "action classifier/job renew": Change(("replay",), act("classifier/job", "renew")),
    "command replay": Change(("replay",), run("replay", "--execute")),
    "command backfill": Change(("batch_started",), run("backfill", "--execute"), is_once=True),
    "command reclassify": Change(
        ("batch_started",), run("reclassify", "--execute"), end_the_batch, is_once=True
    ),
    "admin/classifier/batch/<batch_id>/cancel/": Change(
        ("batch_cancelled",), post("admin/classifier/batch/<batch_id>/cancel/"), is_once=True
    ),
    "admin/classifier/batch/<batch_id>/resume/": Change(
        ("batch_resumed",), post("admin/classifier/batch/<batch_id>/resume/"), is_once=True
    ),
    "command batches: cancel": Change(("batch_cancelled",), of_the_batch("cancel"), is_once=True),
    "command batches: resume": Change(("batch_resumed",), of_the_batch("resume"), is_once=True),
    "command batches: reopen": Change(
        ("batch_reopens_more", "reopened_by_newer_verdict"),
        of_the_batch("reopen", "--at-most", "1"),
        end_the_batch,
    ),
}
