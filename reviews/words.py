"""The sentences that reviewers read: why an item stands where it stands."""

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from classifier import rules
from classifier.models import Category, PolicyVersion, WaitingReason
from reports import triage
from reports.api.presentation import Waiting, waiting_reason
from reports.models import Item, Report

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
WAITING: "dict[str, StrOrPromise]" = {
    **dict(Waiting.choices),
    **dict(WaitingReason.choices),
}
FLOOR: "dict[str, StrOrPromise]" = {
    **{rule.name: rule.sentence for rule in triage.RULES},
    **dict(WaitingReason.choices),
}


def category_name(category_id: str, policy: PolicyVersion | None = None) -> str:
    """The category in the reader's language; one of an installation's own by its policy's name."""
    if category_id in CATEGORY_NAMES:
        return str(CATEGORY_NAMES[category_id])
    categories: list[Category] = policy.categories if policy else []
    return next((each["name"] for each in categories if each["id"] == category_id), category_id)


def why_here(name: str, report: Report, verdicts: list[Any]) -> list[str]:
    """Sentences: why the report stands in this list."""
    if name == Item.List.PENDING:
        reason = waiting_reason(report)
        return [str(WAITING[reason])] if reason else []
    if name == Item.List.JUDGED_SAFE:
        return [
            _("Policy version %(version)s: safe with confidence %(confidence).2f.")
            % {"version": verdict.policy_version_id, "confidence": verdict.confidence}
            for verdict in verdicts
        ]
    return floor_sentences(report) + [
        sentence for verdict in verdicts for sentence in rule_sentences(verdict)
    ]


def rule_sentences(verdict: Any) -> list[str]:
    """What the application's rules made of a verdict; a rule of another revision by its name."""
    return [str(rules.SENTENCES.get(name, name)) for name in verdict.rules or [] if name != "floor"]


def floor_sentences(report: Report) -> list[str]:
    """What raised the severity floor."""
    return [str(FLOOR.get(name, name)) for name in report.floor_rules or []]
