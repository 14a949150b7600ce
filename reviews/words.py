"""The sentences that reviewers read: why an item stands where it stands."""

from typing import TYPE_CHECKING, Any

from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from classifier import rules
from classifier.models import Category, PolicyVersion, WaitingReason
from reports import triage
from reports.foreign_text import show_controls
from reports.models import Item, Report, Return
from reports.peoples_hands import LIKE_A_MISS
from reports.waiting import waiting_sentence, waits_for_a_person
from reviews.models import Action, Decision

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CATEGORY_NAMES: "dict[str, StrOrPromise]" = {
    "minors": gettext_lazy("Sexual content involving minors"),
    "credible_threat": gettext_lazy("Credible threat"),
    "self_harm": gettext_lazy("Self-harm"),
    "hate": gettext_lazy("Hate"),
    "violence": gettext_lazy("Violence"),
    "harassment": gettext_lazy("Harassment"),
    "sexual": gettext_lazy("Sexual content"),
    "scam": gettext_lazy("Scam"),
    "spam": gettext_lazy("Spam"),
    "other": gettext_lazy("Other violation"),
    "none": gettext_lazy("No violation"),
}
FLOOR: "dict[str, StrOrPromise]" = {
    **{rule.name: rule.sentence for rule in triage.every_rule()},
    **dict(WaitingReason.choices),
    LIKE_A_MISS: gettext_lazy("It is like something that an audit found to be missed."),
}


def category_name(category_id: str, policy: PolicyVersion | None = None) -> str:
    """The category in the reader's language; one of an installation's own by its policy's name."""
    if category_id in CATEGORY_NAMES:
        return str(CATEGORY_NAMES[category_id])
    categories: list[Category] = policy.categories if policy else []
    return next((each["name"] for each in categories if each["id"] == category_id), category_id)


def why_here(
    name: str, report: Report, decision: Decision | None, returned: Return | None = None
) -> list[str]:
    """Sentences, some with markup: why an item stands in this list.

    `report` is the one that put it there, `decision` the item's newest and `returned` the open
    return, if there is one.
    """
    verdict = report.current_classification()
    if name == Item.List.RESOLVED and decision is not None:
        return [decided_sentence(decision)]
    if name == Item.List.JUDGED_SAFE and verdict is not None and not verdict.safe:
        said = _("An older policy version judged it safe; version %(version)s does not.")
        return [said % {"version": verdict.policy_version_id}]
    if name == Item.List.JUDGED_SAFE and verdict is not None:
        said = _("Policy version %(version)s: safe with confidence %(confidence)s.")
        confidence = number_format(verdict.confidence, 2)
        return [said % {"version": verdict.policy_version_id, "confidence": confidence}]
    if name == Item.List.RESOLVED and report.invalidated_at:
        return [_("Closed, because who reported it acted in bad faith.")]
    sentences = [] if decision is None else [earlier_sentence(decision)]
    if returned is not None:
        sentences += returned_sentences(returned)
    if name == Item.List.PENDING:
        sentences.append(waiting_sentence(report))
        if waits_for_a_person(report):
            sentences.append(_("No worker tries it again by itself: it waits for a person."))
    return sentences + floor_sentences(report) + (rule_sentences(verdict) if verdict else [])


def returned_sentences(returned: Return) -> list[str]:
    """Who brought an item back, and what looks like a brigade in it."""
    since = date_format(localtime(returned.since), "SHORT_DATETIME_FORMAT")
    said = ngettext(
        "Brought back by reports: %(many)s person has reported it since %(since)s.",
        "Brought back by reports: %(many)s different people have reported it since %(since)s.",
        returned.reporters,
    )
    sentences = [said % {"many": number_format(returned.reporters), "since": since}]
    if not returned.looks_like_a_brigade:
        return sentences
    if 2 * returned.fresh >= returned.reporters:
        said = ngettext(
            "%(some)s of the %(many)s people had never reported anything before.",
            "%(some)s of the %(many)s people had never reported anything before.",
            returned.fresh,
        )
        sentences.append(said % _counts(returned.fresh, returned.reporters))
    if 2 * returned.unreliable >= returned.reporters:
        said = ngettext(
            "%(some)s of the %(many)s people has seldom been right or acted in bad faith before.",
            "%(some)s of the %(many)s people have seldom been right or acted in bad faith before.",
            returned.unreliable,
        )
        sentences.append(said % _counts(returned.unreliable, returned.reporters))
    return [*sentences, _("It may be a brigade; the content decides.")]


def _counts(some: int, many: int) -> dict[str, str]:
    return {"some": number_format(some), "many": number_format(many)}


def decided_sentence(decision: Decision, policy: PolicyVersion | None = None) -> str:
    """Who decided, proposed, approved or took back what, under which category."""
    said = format_html(
        _did(decision), who=decision.reviewer.get_username(), what=decided_action(decision)
    )
    if decision.category:
        said = format_html("{} {}.", said, category_name(decision.category, policy))
    return said


def decided_action(decision: Decision) -> str:
    """What it says is to be done, in the reader's language; an undo: of what it takes back."""
    if decision.action is None:
        return decided_action(decision.overrides) if decision.overrides else ""
    return decision.action.name


def _did(decision: Decision) -> str:
    if decision.kind == Decision.Kind.UNDO:
        return _("<bdi>{who}</bdi> took back: {what}.")
    if decision.kind == Decision.Kind.PROPOSAL:
        return _("<bdi>{who}</bdi> proposed: {what}. A different person must approve it.")
    if decision.approves_id:
        return _("<bdi>{who}</bdi> approved what was proposed: {what}.")
    return _("<bdi>{who}</bdi> decided: {what}.")


def earlier_sentence(decision: Decision) -> str:
    """What a person did before the item came to stand where it stands now."""
    if decision.kind == Decision.Kind.PROPOSAL:
        said = decided_sentence(decision)
    elif decision.action is not None and decision.action.resolves:
        return format_html(
            _("Before that <bdi>{who}</bdi> had decided: {what}."),
            who=decision.reviewer.get_username(),
            what=decision.action.name,
        )
    else:
        escalates = decision.action and decision.action.outcome == Action.Outcome.ESCALATES
        said = format_html(
            _("<bdi>{who}</bdi> escalated it.")
            if escalates
            else _("<bdi>{who}</bdi> sent it back to review."),
            who=decision.reviewer.get_username(),
        )
    if decision.note:
        said = format_html('{} <q dir="auto">{}</q>', said, show_controls(decision.note))
    return said


def rule_sentences(verdict: Any) -> list[str]:
    """What the application's rules made of a verdict; a rule of another revision by its name."""
    return [str(rules.SENTENCES.get(name, name)) for name in verdict.rules or [] if name != "floor"]


def floor_sentences(report: Report) -> list[str]:
    """What raised the severity floor."""
    return [str(FLOOR.get(name, name)) for name in report.floor_rules or []]
