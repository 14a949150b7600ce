"""The sentences about who has an item, for places that hold no markup."""

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.formats import time_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.foreign_text import isolated
from reports.models import Item, Report
from reviews.blind import BlindWorkError, read_blindness
from reviews.claims import HeldByAnotherError, claim_in_force
from reviews.handing import WaitsForAnotherError
from reviews.models import Claim, Decision

SHOWN_NEW = 100


def why_refused(refusal: Exception) -> str:
    """Why a move did not happen, and what to do."""
    if isinstance(refusal, HeldByAnotherError):
        return _("%(who)s has this item until %(until)s. Nothing was changed.") % _named(
            refusal.claim
        )
    if isinstance(refusal, WaitsForAnotherError):
        said = _("Nothing was changed: the item is held (%(kind)s) by %(who)s.")
        hold = refusal.hold
        who = isolated(hold.placed_by.get_username())
        return said % {"kind": hold.get_kind_display(), "who": who}
    if isinstance(refusal, BlindWorkError):
        return _("Nothing was changed: decide about this item, skip it or release it.")
    return _("Nothing was changed: this item is resolved.")


def how_it_stands(item_id: int, reviewer: User, *, newest: int | None) -> dict[str, int | str]:
    """`seconds` that the reviewer has left, and what their page should say, if anything."""
    claim = claim_in_force(item_id)
    if claim is not None and claim.reviewer_id == reviewer.pk:
        left = claim.expires_at - timezone.now()
        return {"seconds": int(left.total_seconds()), "says": new_reports(item_id, newest)}
    return {"seconds": 0, "says": _why_lost(item_id, claim, reviewer)}


def new_reports(item_id: int, newest: int | None) -> str:
    """What came in beyond the report with the highest id that a page knows; blank for nothing."""
    if newest is None:
        return ""
    came = Report.objects.filter(item=item_id, pk__gt=newest)[:SHOWN_NEW].count()
    if not came:
        return ""
    said = ngettext(
        "%(count)s new report came in about this item. A decision from this page leaves it alone.",
        "%(count)s new reports came in about this item. A decision from this page leaves them alone.",
        came,
    )
    return said % {"count": came}


def left_open(proposal: Decision) -> str:
    """What an approval of it leaves open, for the proposal was not about it; blank for nothing."""
    others = Report.objects.filter(item=proposal.item_id).exclude(decisions=proposal)
    left = others.exclude(status__in=[Report.Status.JUDGED_SAFE, Report.Status.RESOLVED])
    count = left[:SHOWN_NEW].count()
    if not count:
        return ""
    said = ngettext(
        "%(count)s report about this item was not part of the proposal. It stays open.",
        "%(count)s reports about this item were not part of the proposal. They stay open.",
        count,
    )
    return said % {"count": count}


def _why_lost(item_id: int, claim: Claim | None, reviewer: User) -> str:
    if claim is not None:
        said = _("%(who)s has this item now, until %(until)s. What you typed stays on this page.")
        return said % _named(claim)
    # What was handed out for a second review was resolved all along, which its page does not tell.
    blind = read_blindness(item_id=item_id, reader=reviewer) is not None
    if not blind and Item.objects.filter(pk=item_id, list=Item.List.RESOLVED).exists():
        return _("This item was decided meanwhile. What you typed stays on this page.")
    return _(
        "Your time for this item ran out. What you typed stays on this page, and your decision"
        " counts unless somebody else takes the item first."
    )


def _named(claim: Claim) -> dict[str, str]:
    until = time_format(timezone.localtime(claim.expires_at), "TIME_FORMAT")
    return {"who": isolated(claim.reviewer.get_username()), "until": until}
