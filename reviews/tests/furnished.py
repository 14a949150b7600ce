"""An installation with something on every page: items in every list and state, batches, policies."""

from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import Batch, Classification, Job, PolicyVersion, WaitingReason
from classifier.policies import versions
from classifier.tests import history
from classifier.tests.batches import add_flow, add_jobs, add_provider_batch, end_jobs, make_batch
from classifier.tests.situations import load_version
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Claim, Draw, SamplingRate
from reviews.quality.draw import draw
from reviews.tests.differing import differing, hold_a_case
from reviews.tests.misses import find_harmless, find_missed, look_twice, send_safe
from reviews.tests.people import classify, decide, judge_threat, log_in, page
from reviews.tests.quality import drawn_audit
from reviews.tests.sampling import judge_safe


def furnish(policy: PolicyVersion) -> dict[str, str]:
    """Items in every list; the addresses of the pages to look at."""
    client = make_sender("chat-app")
    pending = client.send(body_saying("I know where you park. \u202e"))
    Job.objects.create(
        report=pending, policy_version=policy, reason=WaitingReason.MODEL_REFUSED, parked=True
    )
    late = make_sender("slow-app", budget_seconds=0.001).send(
        body_saying("ربحت جائزة!", language="ar")
    )
    threat = client.send(body_saying("I will kill you tomorrow"))
    judge_threat(threat, policy, quotes=["kill you"])
    safe = client.send(body_saying("Lunch at noon?"))
    classify(safe, policy)
    decided = client.send(body_saying("decided"))
    dana = log_in("dana", "reviewer")
    disputed = history.judged_safe(client, policy)
    history.ask_again(
        disputed,
        make_batch(history.next_version()),
        category="hate",
        summary="A group is insulted.",
    )
    waiting = {}
    for name, wish in (("proposed", "suspend"), ("escalated", "escalate")):
        report = client.send(body_saying(f"{name} by dana"))
        judge_threat(report, policy)
        waiting[name] = f"/review/items/{report.item_id}/"
        html = page(dana, waiting[name])
        decide(dana, report.item, html, action=wish, category="hate", note="beyond me")
    brigade = client.send(body_saying("settled by dana"))
    resolve(brigade, action="no_violation")
    item = {"type": "message", "id": brigade.item.external_id}
    for number in range(3):
        client.send(body_saying("an outrage", item=item, reporter={"id": f"brigadier-{number}"}))
    discounted = client.send(body_saying("bad faith", reporter={"id": "u-bad"}))
    classify(discounted, policy)
    invalidate(discounted)
    # In somebody else's hands, and put aside.
    page(dana, f"/review/items/{disputed.item_id}/")
    aside = {"hours": "4", "note": "until the lawyers answer"}
    dana.post(f"/review/items/{pending.item_id}/put-aside/", aside)
    html = page(dana, f"/review/items/{decided.item_id}/")
    decide(dana, decided.item, html, action="remove", category="hate", note="a note", reason="why")
    drafts = [load_version(prompt=f"Judge {how}.", activate=False) for how in ("anew", "mildly")]
    versions.make_candidate(number=drafts[0].number, actor=User.objects.get(username="dana"))
    for name in ("a list", "another"):
        sent = {"name": name, "list": "pending", "query": "language=en", "shared": "on"}
        dana.post("/review/views/", sent)
    case = hold_a_case(differing(client, policy))
    return {
        "to settle": "/review/quality/to-settle/",
        "differences": "/review/quality/differences/",
        "differences of a kind": "/review/quality/differences/?machine=credible_threat&people=hate",
        "evaluation sets": "/review/quality/evaluation/",
        "an evaluation set": f"/review/quality/evaluation/{case.set.name}/",
        "cases in the admin": "/admin/classifier/evaluationcase/",
        "second reviews in the admin": "/admin/reviews/doublereview/",
        "search": "/review/search/",
        "found by text": "/review/search/?q=lunch&language=en",
        "found by id": f"/review/search/?q={threat.public_id}",
        "search refused": f"/review/search/?q={'x' * 300}",
        "filters in force": "/review/pending/?language=en&newer_than=1d&assignee=nobody",
        "saved views": "/review/views/",
        "decisions": "/review/decisions/?reviewer=dana",
        **furnish_quality(policy, dana),
        "a reporter": f"/review/reporters/{threat.public_id}/",
        "an invalidated reporter": f"/review/reporters/{discounted.public_id}/",
        "brought back by a brigade": f"/review/items/{brigade.item_id}/",
        "returns in the admin": "/admin/reports/return/",
        "invalidations in the admin": "/admin/reports/invalidation/",
        "an author": f"/review/authors/{decided.public_id}/",
        "pending": "/review/pending/",
        "needs review": "/review/needs-review/",
        "judged safe": "/review/safe/",
        "resolved": "/review/resolved/",
        "disagreements": "/review/disagreements/",
        "preferences": "/review/preferences/",
        "pause": "/review/pause/",
        "disputed item": f"/review/items/{disputed.item_id}/",
        "disagreements in the admin": "/admin/classifier/disagreement/",
        "history in the admin": f"/admin/reports/judgedsafereport/{disputed.pk}/change/",
        "nothing found": "/review/safe/?language=tlh",
        "pending item": f"/review/items/{late.item_id}/",
        "item in review": f"/review/items/{threat.item_id}/",
        "proposed item": waiting["proposed"],
        "escalated item": waiting["escalated"],
        "hand over": f"/review/items/{threat.item_id}/hand-over/",
        "safe item": f"/review/items/{safe.item_id}/",
        "decided item": f"/review/items/{decided.item_id}/",
        "no such page": "/review/items/999999/",
        "front page of the admin": "/admin/",
        "pending in the admin": "/admin/reports/pendingreport/",
        "safe in the admin": "/admin/reports/judgedsafereport/",
        "reports in the admin": "/admin/reports/report/?status=all",
        "items in the admin": "/admin/reports/item/?list=all",
        "senders": "/admin/reports/sender/",
        "a sender": f"/admin/reports/sender/{client.sender.pk}/change/",
        "a key to issue": f"/admin/reports/sender/{client.sender.pk}/issue-key/",
        "verdicts": "/admin/classifier/classification/",
        "a verdict": f"/admin/classifier/classification/{Classification.objects.latest('pk').pk}/change/",
        "rules": "/admin/classifier/classification/rules/",
        "jobs": "/admin/classifier/job/",
        "the audit": "/admin/reports/auditentry/",
        "claims in the admin": "/admin/reviews/claim/?standing=all",
        "rates in the admin": "/admin/reviews/samplingrate/",
        "a rate": f"/admin/reviews/samplingrate/{SamplingRate.objects.earliest('pk').pk}/change/",
        "draws in the admin": "/admin/reviews/draw/",
        "a draw": f"/admin/reviews/draw/{draw_some(client).pk}/change/",
        "batches": "/admin/classifier/batch/",
        "a batch": f"/admin/classifier/batch/{furnish_batch(policy).pk}/change/",
        "report in the admin": f"/admin/reports/pendingreport/{pending.pk}/change/",
        "policy versions": "/admin/classifier/policyversion/",
        "candidate": f"/admin/classifier/policyversion/{drafts[0].number}/change/",
        "activation": f"/admin/classifier/policyversion/{drafts[0].number}/activate/",
        "draft": f"/admin/classifier/policyversion/{drafts[1].number}/edit/",
        "two versions": f"/admin/classifier/policyversion/compare/?old=1&new={drafts[1].number}",
    }


def draw_some(client: Client) -> Draw:
    """A draw of strata in several languages."""
    for language in ("en", "ar", "fr"):
        judge_safe(client.sender.pk, 4, language=language)
    return draw(actor_name="test")[-1]


def furnish_quality(policy: PolicyVersion, dana: Browser) -> dict[str, str]:
    """Audits and second reviews, some answered; a found miss with its like."""
    forum = make_sender("forum")
    missed = send_safe(forum, policy, "I will find you. \u202e", language="ar")
    send_safe(forum, policy, "I will find you. \u202e")
    find_missed(dana, missed, category="credible_threat", population=40)
    find_harmless(dana, drawn_audit(send_safe(forum, policy, "Good morning"), population=60))
    drawn_audit(send_safe(forum, policy, "Good night"))
    for category, said in (("hate", "hate"), ("spam", "spam"), ("spam", "hate")):
        look_twice(dana, forum, policy, category=category, said=said)
    return {
        "quality": "/review/quality/?within=all",
        "quality of an empty time": "/review/quality/?within=30d",
        "missed": "/review/quality/missed/",
    }


def blind_item(policy: PolicyVersion, name: str) -> str:
    """The address of an item that this person, who is there, has in hand blind."""
    report = make_sender("blind-app").send(body_saying("Dinner at eight?"))
    classify(report, policy)
    reviewer = User.objects.get(username=name)
    until = Now() + timedelta(minutes=10)
    Claim.objects.create(item=report.item, reviewer=reviewer, blind=True, expires_at=until)
    return f"/review/items/{report.item_id}/?from=needs-review"


def furnish_batch(policy: PolicyVersion) -> Batch:
    """A stopped batch with everything that its page may show."""
    batch = make_batch(policy, state="stopped", max_cost=Decimal(10), note="The limit is reached.")
    jobs = add_jobs(batch, 4)
    end_jobs(jobs[:2], reason=WaitingReason.TOO_LONG, ago=timedelta(minutes=1))
    for before, after in (("none", "spam"), ("hate", "credible_threat"), ("", "none")):
        add_flow(batch, before, after, 100)
    add_provider_batch(batch, "submitted", 5, submitted_at=Now(), error="expired")
    return batch
