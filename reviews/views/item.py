"""One item's page, and the decision that is taken on it."""

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from classifier.models import PolicyVersion, active_policy_with_rest
from reports.models import Item
from reviews.blind import second_review_by
from reviews.claims import HOLDS, HeldByAnotherError, claim_item
from reviews.decision_form import ApprovalForm, DecisionForm
from reviews.decisions import (
    EscalatedError,
    NothingToDecideError,
    StaleDecisionError,
    ToSettleError,
    approval_of,
    decide_item,
)
from reviews.drafts import Typed
from reviews.forms import read_id
from reviews.held import leads
from reviews.holds import waits_for_another
from reviews.in_hand import InHand
from reviews.item import ItemPage, read_item
from reviews.lists import BY_NAME
from reviews.models import Action, Decision, Hold
from reviews.quality.second import answer_double_review
from reviews.roles import DECIDE_ESCALATED
from reviews.veil import reveal_item
from reviews.views.access import decider, may_review, person
from reviews.views.drafts import keep_typed
from reviews.views.navigation import (
    address_of,
    back_of,
    chosen_of,
    filters_of,
    list_of,
    open_next,
    with_navigation,
)
from reviews.views.scripts import tells_where_to_go
from reviews.views.second import say_reviewed
from reviews.views.undo import say_decided
from reviews.wellbeing import read_desk
from reviews.words_of_moving import left_open, new_reports

NAMED_AT_MOST = 10
# Opening the page again gives its reader more time, yet not with every look.
RENEWED_AFTER = timedelta(minutes=1)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
@tells_where_to_go
def show_item(request: HttpRequest, item_id: int) -> HttpResponse:
    """An item's page, and the decision that is taken on it. Who may decide takes it by opening it."""
    reviewer = decider(request)
    try:
        page = read_item(item_id, reader=person(request))
    except Item.DoesNotExist:
        raise Http404 from None
    is_open = page.item.list != Item.List.RESOLVED
    answered = page.blind is not None and page.blind.answered
    if reviewer and request.method == "GET" and (is_open or page.blind) and not answered:
        page = _taken(page, reviewer)
    policy = active_policy_with_rest()
    if request.method == "POST":
        if reviewer is None:
            return render(request, "403.html", status=403)
        answer = _decide(request, reviewer, page, policy)
        # The button of a proposal sends none of what is typed for a decision of one's own.
        if answer.status_code in {403, 409, 422} and "approve" not in request.POST:
            keep_typed(request.POST, item_id=item_id, reviewer=reviewer)
        return answer
    return _render_item(request, page, _as_left(request, page, policy), policy)


def _taken(page: ItemPage, reviewer: User) -> ItemPage:
    """The page once its reader has taken the item, or has it for longer; as it was where they cannot."""
    mine = page.in_hand or InHand(reviewer.pk, reviewer.get_username(), timezone.now())
    until = timezone.now() + HOLDS
    if mine.reviewer_id != reviewer.pk or until - mine.until < RENEWED_AFTER:
        return page
    if page.waits and waits_for_another(page.waits, reviewer):
        return page
    taken = claim_item(
        item_id=page.item.pk,
        reviewer=reviewer,
        blind=page.blind is not None,
        double_review=page.blind.double_review if page.blind else None,
    )
    return replace(page, in_hand=replace(mine, until=until)) if taken else page


def _decide(
    request: HttpRequest, reviewer: User, page: ItemPage, policy: PolicyVersion | None
) -> HttpResponse:
    proposal = _approved(request, page)
    approval = ApprovalForm(request.POST) if proposal else None
    form: Any = approval or _form(page, policy, data=request.POST)
    if not form.is_valid():
        again = _again(request, page, policy)
        if not approval and (again.is_valid() or "reports" in form.errors):
            again.add_error(None, _("The form is broken. Open the item again."))
        return _render_item(request, page, again, policy, status=422)
    try:
        _submit(request, reviewer, page, form, proposal)
    except StaleDecisionError as stale:
        # What was typed stays; a second try overrides knowingly. Blind, it had shown nothing of this.
        page = read_item(page.item.pk, reader=reviewer) if page.blind else page
        again = _again(request, page, policy)
        if page.blind:
            again.add_error(None, _("You have answered already. Take that back to answer anew."))
        stands = None if page.blind else stale.standing
        return _render_item(request, page, again, policy, stale=stands, status=409)
    except HeldByAnotherError as held:
        again = _again(request, page, policy)
        return _render_item(
            request, page, again, policy, refused_for=InHand.by(held.claim), status=409
        )
    except (EscalatedError, ToSettleError):
        again = _again(request, page, policy)
        return _render_item(request, page, again, policy, status=403)
    except NothingToDecideError:
        raise Http404 from None
    left = left_open(proposal) if proposal else ""
    if late := left or new_reports(page.item.pk, read_id(request.POST.get("newest", ""))):
        messages.info(request, late)
    if "next" in request.POST:
        listed = list_of(request, page.item, blind=page.blind is not None)
        return open_next(request, listed, reviewer=reviewer, beside=page.item.pk)
    return redirect(request.get_full_path())


def _submit(
    request: HttpRequest, reviewer: User, page: ItemPage, form: Any, proposal: Decision | None
) -> None:
    """Decide, approve what was proposed, or give a second review; and say which."""
    seen = form.cleaned_data["reports"]
    wish = approval_of(proposal, note=form.cleaned_data["note"]) if proposal else form.wish()
    last = form.cleaned_data["last"]
    review_id = page.blind.double_review if page.blind else None
    if page.last_decision and last is None:
        # Sent once more, for its answer was lost on the way.
        review_id = second_review_by(reviewer, item_id=page.item.pk)
    if review_id is not None:
        review = answer_double_review(review_id=review_id, reviewer=reviewer, wish=wish)
        say_reviewed(request, review)
        return
    decision = decide_item(
        item_id=page.item.pk,
        reviewer=reviewer,
        wish=wish,
        report_ids=proposal.reports.values_list("pk", flat=True) if proposal else seen,
        last_decision_id=page.blind.stood if page.blind else last,
        keeps_draft=proposal is not None,
    )
    say_decided(request, decision)


def _as_left(request: HttpRequest, page: ItemPage, policy: PolicyVersion | None) -> DecisionForm:
    """The form as its reader left it: with their draft, or with what they took back."""
    draft = page.draft
    typed = model_to_dict(draft, fields=vars(Typed())) if draft else _taken_back(request, page)
    return _form(page, policy, initial={**typed, "reports": _ids(page), "last": _last(page)})


def _again(request: HttpRequest, page: ItemPage, policy: PolicyVersion | None) -> DecisionForm:
    """The form of the page that says what was refused.

    The page shows what there is now, and so the form says: not what it was sent with.
    """
    if "approve" in request.POST:
        return _as_left(request, page, policy)
    return _form(page, policy, data=_as_shown(request.POST, page))


def _approved(request: HttpRequest, page: ItemPage) -> Decision | None:
    """The proposal that the reviewer pressed the button of, though another row may stand by now."""
    if "approve" not in request.POST or page.blind:
        return None
    proposals = Decision.objects.filter(item=page.item, kind=Decision.Kind.PROPOSAL)
    wanted = read_id(request.POST["approve"])
    found = None if wanted is None else proposals.filter(pk=wanted).first()
    if found is None:
        raise Http404
    return found


def _taken_back(request: HttpRequest, page: ItemPage) -> dict[str, Any]:
    """What the reviewer had chosen and typed before they took it back, to go on from."""
    newest = page.last_decision
    if page.blind and page.blind.stood:
        newest = Decision.objects.select_related("overrides").get(pk=page.blind.stood)
    undone = newest.overrides if newest and newest.kind == Decision.Kind.UNDO else None
    if undone is None or undone.reviewer_id != request.user.pk:
        return {}
    return {
        "action": undone.action_id,
        "category": undone.category,
        "note": undone.note,
        "reason": undone.reason,
    }


@require_POST
@login_required
@may_review
def reveal(request: HttpRequest, item_id: int) -> HttpResponse:
    """The item's page again, with the text that the veil hid."""
    try:
        reveal_item(item_id=item_id, user=person(request))
    except Item.DoesNotExist:
        raise Http404 from None
    query = request.GET.urlencode()
    return redirect(f"{address_of('review-item', item_id, query=query)}#shown")


def _form(
    page: ItemPage, policy: PolicyVersion | None, *, data: Any = None, initial: Any = None
) -> DecisionForm:
    return DecisionForm(
        data=data,
        initial=initial,
        policy=policy,
        actions=[each for each in Action.objects.offered() if page.offers(each)],
    )


def _render_item(  # noqa: PLR0913 - what a page needs
    request: HttpRequest,
    page: ItemPage,
    form: DecisionForm,
    policy: PolicyVersion | None,
    *,
    status: int = 200,
    stale: Any = None,
    refused_for: InHand | None = None,
) -> HttpResponse:
    in_hand = refused_for or page.in_hand
    theirs = in_hand is not None and in_hand.reviewer_id != request.user.pk
    blind = page.blind is not None
    came_from = list_of(request, page.item, blind=blind)
    chosen = chosen_of(filters_of(request))
    desk = read_desk(person(request), item_id=page.item.pk)
    veils = desk.veils_blindly if blind else any(desk.veils(each.report) for each in page.shown)
    escalated = page.waits is not None and page.waits.kind == Hold.Kind.ESCALATED
    closed = escalated and not request.user.has_perm(DECIDE_ESCALATED)
    kept = page.to_settle or (page.blind is not None and page.blind.answered)
    tried = status != HTTPStatus.OK
    sent = _as_shown(request.POST, page) if tried and "approve" in request.POST else None
    seen = {"reports": _ids(page), "last": _last(page)}
    context = {
        "page": page,
        "desk": desk,
        # The summary stays first once the text is shown: nothing moves under the reader's eyes.
        "summary_first": veils and not blind,
        "veiled": veils and not desk.has_revealed,
        "form": form,
        "approval": ApprovalForm(sent, initial=seen, auto_id="approval-%s"),
        "stale": stale,
        "draft": None if form.is_bound else page.draft,
        "policy": policy,
        "came_from": came_from,
        "back": back_of(request, came_from, query=urlencode(chosen)),
        # What the addresses of the next steps carry on.
        "onward": urlencode({**chosen, "from": came_from.slug}),
        "in_hand": in_hand,
        "theirs": theirs,
        "refused": refused_for is not None,
        "tried": tried,
        "may_free": theirs and request.user.has_perm(DECIDE_ESCALATED),
        # What was typed is never taken off the page.
        "offers_form": tried or not (theirs or closed or kept),
        "listed": BY_NAME[Item.List.NEEDS_REVIEW if blind else Item.List(page.item.list)],
        "may_decide": decider(request) is not None,
        "closed": closed,
        "who_may": leads().values_list("username", flat=True)[:NAMED_AT_MOST] if closed else [],
    }
    return render(request, "reviews/item.html", with_navigation(request, context), status=status)


def _as_shown(typed: QueryDict, page: ItemPage) -> QueryDict:
    """The typed values beside what the page shows now."""
    values = typed.copy()
    values["reports"], values["last"] = _ids(page), str(_last(page) or "")
    return values


def _ids(page: ItemPage) -> str:
    """The reports whose content the page shows; an unreadable one only where there is no other."""
    shown = [each for each in page.shown if each.submission] or page.shown
    return ",".join(str(each.report.pk) for each in shown)


def _last(page: ItemPage) -> int | None:
    return page.last_decision.pk if page.last_decision else None
