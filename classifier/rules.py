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
from reports.foreign_text import name_controls
from reports.models import Severity
from reports.spelling import spellings

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class Rule:
    """One named rule, and what a reviewer reads where it fired.

    The revision is raised when the rule comes to mean another thing.
    """

    name: str
    revision: int
    sentence: "StrOrPromise"


RULES = (
    Rule("unsafe_category", 1, _("The model found a violation.")),
    Rule("below_threshold", 1, _("The model was not sure enough for safe.")),
    Rule("floor", 1, _("The rules at intake found something.")),
    Rule("critical", 1, _("A critical category or floor always goes to people.")),
    Rule("speaks_to_the_model", 3, _("The content tries to give the model instructions.")),
    Rule("hides_text", 1, _("The content hides a text in signs that nobody can see.")),
    Rule("summary_gives_orders", 2, _("The model's summary reads like an instruction to it.")),
)
SENTENCES = {rule.name: rule.sentence for rule in RULES}

# Tags, selectors, invisible operators and overrides: no language needs them, and models read them.
# So many in one text are no accident. Marks of direction and zero-width spaces are spelling.
_SMUGGLES = re.compile(r"\[U\+(?:202[DE]|206[0-4]|FE0[0-9A-F]|E0[01][0-9A-F]{2})\]")
SMUGGLED_SIGNS = 4

_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the )?(?:previous|prior|above|your)"
    r" (?:instructions?|rules?|prompts?)"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the )?(?:ai|model|classifier|assistant)\b"
    r"|\b(?:system|developer) prompt\b|\byou are now\b.{0,40}\b(?:ai|model|assistant)\b"
    r"|[\"']?(?:category|verdict|decision|confidence)[\"']?\s*[:=]\s*[\"']?(?:none|safe|no_violation|0\.|1)"
    r"|-----(?:begin|end) evidence"
    r"|(?:تجاهل|انس) (?:كل )?(?:التعليمات|الاوامر|القواعد)"
)

# No order is shorter, in whatever spelling: most names of items are, and empty comments.
_SHORTEST_ORDER = 8


@dataclass(frozen=True)
class Judgement:
    """Does it pass as safe, how severe is it, and which rules fired (names in `RULES`)."""

    safe: bool
    severity: Severity
    rules: tuple[str, ...]


def judge(
    *,
    verdict: Verdict,
    policy: PolicyVersion,
    floor: Severity,
    texts: Sequence[str],
    summaries: Sequence[str] = (),
) -> Judgement:
    """Combine a checked verdict with the floor and the texts of all messages that the model read.

    `summaries` are those of all answers, where the report was read in parts.
    """
    category = policy.category(verdict.category)
    severity = max(Severity(category["severity"]), floor)
    fired = {
        "unsafe_category": not category["safe"],
        "below_threshold": category["safe"] and verdict.confidence < policy.safe_threshold,
        "floor": floor > Severity.NONE,
        "critical": severity >= Severity.CRITICAL,
        "speaks_to_the_model": any(_speaks_to_the_model(text) for text in texts),
        "hides_text": any(_hides_text(text) for text in texts),
        "summary_gives_orders": any(
            _speaks_to_the_model(summary) for summary in (verdict.summary, *summaries)
        ),
    }
    names = tuple(rule.name for rule in RULES if fired[rule.name])
    return Judgement(safe=not names, severity=severity, rules=names)


def _hides_text(text: str) -> bool:
    named = name_controls(text)
    return "[U+" in named and len(_SMUGGLES.findall(named)) >= SMUGGLED_SIGNS


def _speaks_to_the_model(text: str) -> bool:
    if len(text) < _SHORTEST_ORDER:
        return False
    return any(_INJECTION.search(each) for each in spellings(text))
