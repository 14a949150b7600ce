"""The four lists as pages: their addresses, names and what each says of itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from reports.models import Item

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class ListPage:
    """One list. `slug` stands in the address, `tone` is the style sheet's word for its colour."""

    name: Item.List
    slug: str
    title: "StrOrPromise"
    says: "StrOrPromise"
    order: "StrOrPromise"
    of_one: "StrOrPromise"
    """What the page of one item says of its list; blank where its reasons say it."""
    empty: "StrOrPromise"
    tone: str


SEVERE_FIRST = _("Most severe first, then oldest.")
LISTS = (
    ListPage(
        Item.List.PENDING,
        "pending",
        _("Pending"),
        _("Nothing has judged these yet. None of them counts as safe."),
        SEVERE_FIRST,
        _("Nothing has judged it yet. It does not count as safe."),
        _("Nothing is pending: every report has its verdict."),
        "pending",
    ),
    ListPage(
        Item.List.NEEDS_REVIEW,
        "needs-review",
        _("Needs review"),
        _("A model has answered and the rules want a person."),
        SEVERE_FIRST,
        "",
        _("Nothing needs review."),
        "critical",
    ),
    ListPage(
        Item.List.JUDGED_SAFE,
        "safe",
        _("Judged safe"),
        _("A machine judged these safe. No person has looked at them."),
        SEVERE_FIRST,
        _("A machine judged it safe. No person has looked at it."),
        _("No report was judged safe."),
        "safe",
    ),
    ListPage(
        Item.List.RESOLVED,
        "resolved",
        _("Resolved"),
        _("People have decided these."),
        _("The latest first."),
        "",
        _("Nothing is resolved yet."),
        "",
    ),
)
BY_SLUG = {each.slug: each for each in LISTS}
BY_NAME = {each.name: each for each in LISTS}
