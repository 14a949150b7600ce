"""What the application makes of a verdict: the model answers a question, these rules decide.

They may raise, never lower. A report passes as safe only where the category is safe, the confidence
reaches the version's threshold and no other rule tripped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from classifier.verdict import Verdict
from reports.models import Severity
from reports.triage import normalize

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

REVISION = 1

# rule -> what a reviewer reads where it fired
SENTENCES: "dict[str, StrOrPromise]" = {
    "unsafe_category": _("The model found a violation."),
    "below_threshold": _("The model was not sure enough for safe."),
    "floor": _("The rules at intake found something."),
    "critical": _("A critical category or floor always goes to people."),
    "speaks_to_the_model": _("The content tries to give the model instructions."),
}

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the )?(?:previous|prior|above|your)"
    r" (?:instructions?|rules?|prompts?)"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the )?(?:ai|model|classifier|assistant)\b"
    r"|\b(?:system|developer) prompt\b|\byou are now\b.{0,40}\b(?:ai|model|assistant)\b"
    r"|[\"']?(?:category|verdict|decision|confidence)[\"']?\s*[:=]\s*[\"']?(?:none|safe|no_violation|0\.|1)"
    r"|-----(?:begin|end) evidence"
    r"|(?:تجاهل|انس) (?:كل )?(?:التعليمات|الاوامر|القواعد)"
)


@dataclass(frozen=True)
class Judgement:
    """Does it pass as safe, how severe is it, and which rules fired (names in `SENTENCES`)."""

    safe: bool
    severity: Severity
    rules: tuple[str, ...]


def judge(
    *, verdict: Verdict, policy: PolicyVersion, floor: Severity, texts: Sequence[str]
) -> Judgement:
    """Combine a checked verdict with the floor and the texts of all messages that the model read."""
    category = policy.category(verdict.category)
    severity = max(Severity(category["severity"]), floor)
    fired = {
        "unsafe_category": not category["safe"],
        "below_threshold": category["safe"] and verdict.confidence < policy.safe_threshold,
        "floor": floor > Severity.NONE,
        "critical": severity >= Severity.CRITICAL,
        "speaks_to_the_model": any(_INJECTION.search(normalize(text)) for text in texts),
    }
    rules = tuple(name for name, tripped in fired.items() if tripped)
    return Judgement(safe=not rules, severity=severity, rules=rules)
