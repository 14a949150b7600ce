"""Taking a decision back, and saying what was decided beside the offer to do so."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from reports.foreign_text import isolated
from reviews.decisions import StaleDecisionError, waits_after
from reviews.held import nobody_for
from reviews.models import Decision, Hold
from reviews.undo import NotTheirsError, TooLateError, undo_decision
from reviews.undo_offer import undo_tag
from reviews.views.access import decider, may_review
from reviews.views.navigation import open_item_anew
from reviews.words import decided_action, decided_sentence


@require_POST
@never_cache
@login_required
@may_review
def undo(request: HttpRequest, decision_id: int) -> HttpResponse:
    """Takes a decision back and opens its item again, with what had been typed."""
    reviewer = decider(request)
    decision = Decision.objects.select_related("item", "action").filter(pk=decision_id).first()
    if reviewer is None:
        return render(request, "403.html", status=403)
    if decision is None:
        raise Http404
    named = _named(decision)
    try:
        undo_decision(decision_id=decision_id, reviewer=reviewer)
    except Decision.DoesNotExist:
        raise Http404 from None
    except NotTheirsError:
        return render(request, "403.html", status=403)
    except TooLateError:
        said = _("Too late to undo: %(action)s is in effect. Decide again to change it. %(item)s")
        messages.warning(request, said % named)
    except StaleDecisionError as stale:
        said = _("Not undone. Since then: {since} Decide again to change it. {item}")
        since = decided_sentence(stale.standing)
        messages.warning(request, format_html(said, since=since, item=named["item"]))
    else:
        messages.success(request, _("Taken back: %(action)s. %(item)s") % named)
    return open_item_anew(request, decision.item_id)


def say_decided(request: HttpRequest, decision: Decision) -> None:
    """The line above the next page: what was decided about which item, and the way back."""
    decision = Decision.objects.select_related("item", "action", "reviewer").get(pk=decision.pk)
    said = (
        _("Proposed: %(action)s. A different person must approve it. %(item)s")
        if decision.kind == Decision.Kind.PROPOSAL
        else _("Decided: %(action)s. %(item)s")
    )
    messages.success(request, said % _named(decision), extra_tags=undo_tag(decision))
    waits = waits_after(decision)
    if waits and nobody_for(waits, but=decision.reviewer):
        messages.warning(request, _nobody(waits))


def _nobody(waits: Hold.Kind) -> str:
    if waits == Hold.Kind.ESCALATED:
        return _("Nobody has the permission yet; an administrator can give the role “lead”.")
    return _(
        "Nobody but you may decide, so nobody can approve what you proposed; an administrator can"
        " add a reviewer."
    )


def _named(decision: Decision) -> dict[str, str]:
    return {"action": decided_action(decision), "item": isolated(str(decision.item))}
