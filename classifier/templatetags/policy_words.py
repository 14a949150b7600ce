from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from classifier.models import Category
from classifier.policies.comparison import CategoryPair, Change, Text
from reports.foreign_text import show_controls
from reports.models import Severity

register = template.Library()

_WORDS = {
    Change.SAME: "",
    Change.CHANGED: _("changed"),
    Change.ADDED: _("added"),
    Change.REMOVED: _("removed"),
    Change.MOVED: _("moved"),
}


@register.filter
def severity_label(severity: int) -> str:
    return str(Severity(severity).label)


@register.filter
def change_word(change: Change) -> str:
    """What happened to a line or a category, in a word; nothing where it is the same."""
    return str(_WORDS[change])


@register.filter
def deleted(text: Text | None) -> SafeString:
    """The old side: what the new one lacks is marked."""
    return _marked(text, "<del>{}</del>")


@register.filter
def inserted(text: Text | None) -> SafeString:
    """The new side: what the old one lacked is marked."""
    return _marked(text, "<ins>{}</ins>")


@register.filter
def old_category(pair: CategoryPair) -> SafeString:
    """Name, severity and whether it may pass as safe, on the old side."""
    return _category(pair.old, pair.new, "<del>{}</del>")


@register.filter
def new_category(pair: CategoryPair) -> SafeString:
    """The same on the new side."""
    return _category(pair.new, pair.old, "<ins>{}</ins>")


def _category(each: Category | None, other: Category | None, mark: str) -> SafeString:
    facts = zip(_facts(each), _facts(other) or (None, None, None), strict=False)
    shown = (format_html(mark, fact) if fact != else_ else fact for fact, else_ in facts if fact)
    return format_html_join(" · ", "{}", ((each,) for each in shown))


def _facts(category: Category | None) -> tuple[SafeString, ...]:
    if category is None:
        return ()
    return (
        format_html('<bdi dir="auto">{}</bdi>', show_controls(category["name"])),
        format_html(
            '<span class="severity rank-{}">{}</span>',
            category["severity"],
            severity_label(category["severity"]),
        ),
        format_html("{}", gettext("may pass as safe") if category["safe"] else ""),
    )


def _marked(text: Text | None, mark: str) -> SafeString:
    shown = (
        format_html(mark, show_controls(piece.text)) if piece.differs else show_controls(piece.text)
        for piece in text or ()
    )
    return mark_safe("".join(shown))  # noqa: S308 - each piece was escaped
