"""The plain rules at intake: text and reporter signals, no model.

They set the severity floor, so a threat rises even when every worker is down. They are meant to
find too much rather than too little: a floor only ever raises, it decides nothing.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from reports.models.severity import Severity
from reports.submission import Reason, Submission

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

REVISION = 1

# Arabic letters that writers use for one another, brought to one form.
_ONE_FORM = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي"}
)
_MARKS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")  # diacritics and tatweel
_LOOKALIKES = str.maketrans("013457@$", "oieastas")


def normalize(text: str) -> str:
    """Text as the rules compare it: compatibility forms folded, marks and invisible signs gone."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return " ".join(_MARKS.sub("", visible).translate(_ONE_FORM).replace("’", "'").split())


@dataclass(frozen=True)
class Rule:
    """One named rule: what it looks at, what it raises the floor to, what a reviewer reads."""

    name: str
    floor: Severity
    sentence: "StrOrPromise"
    trips: Callable[[Submission, str], bool]


def _text_has(*patterns: str) -> Callable[[Submission, str], bool]:
    """True where a pattern stands in the normalized reported text, or in its lookalike spelling."""
    found = re.compile("|".join(patterns)).search

    def trips(_submission: Submission, text: str) -> bool:
        return bool(found(text) or found(text.translate(_LOOKALIKES)))

    return trips


def _reason_is(*reasons: Reason) -> Callable[[Submission, str], bool]:
    return lambda submission, _text: submission.reason in reasons


_HARM = r"(?:kill|murder|shoot|stab|strangle|behead|hurt|beat|burn|bomb|slaughter|destroy|end)"
_VICTIM = r"(?:you|u|ya|her|him|them|your \w+|his \w+|their \w+|everyone|all of)\b"
_INTENT = r"(?:will|'ll|gonna|going to|wanna|want to|am going to|'m going to|'m gonna|swear i'll)"
_SEXUAL = r"(?:nudes?|naked|sexy?|undress(?:ed)?)"
_MINOR = r"(?:child|kid|minor|underage|1[0-7] ?(?:yo|years? old))"
_AR_START = r"(?:^|(?<=[\s،.!؟\"'(]))[وف]?"
_AR_WILL = r"(?:سوف |راح |رح |غادي |حا?|ه|س|ب|لا|د)?"

RULES: tuple[Rule, ...] = (
    Rule(
        "threat_en",
        Severity.CRITICAL,
        _("The text holds an explicit threat (English)."),
        _text_has(
            rf"\b(?:i|we) ?{_INTENT} (?:\w+ ){{0,3}}?{_HARM} {_VICTIM}",
            r"\b(?:i|we) know where (?:you|u|your|ya|she|he|they)\b.{0,20}\b(?:live|work|sleep|park|go)",
            r"\b(?:you|u|ur|you're|you are) (?:are |re )?(?:gonna|going to|will) (?:die|bleed|regret)",
            r"\b(?:you're|you are|ur|you will be) (?:a )?dead\b",
            rf"\b(?:i'm|i am|we're|we are) coming (?:for|to) (?:{_HARM} )?(?:you|u|your)\b",
            r"\bwatch your back\b",
        ),
    ),
    Rule(
        "threat_ar",
        Severity.CRITICAL,
        _("The text holds an explicit threat (Arabic)."),
        _text_has(
            rf"{_AR_START}{_AR_WILL}[اني](?:قتل|ذبح|طعن|حرق|فجر|دبح|صفي|كسر|شنق)(?:ك|كم|كي|كن|ه|هم|ها)\b",
            r"(?:اعرف|بعرف|عارف|نعرف) (?:وين|فين|اين|مكان) (?:\w+ )?(?:ساكن|تسكن|بيت|عايش|تعيش|شغل)",
            r"س(?:ا|ن)نتظرك|(?:راح|رح|س)(?:تموت| تموت)|(?:نهايتك|موتك) (?:قريب|علي يدي)",
        ),
    ),
    Rule(
        "self_harm_en",
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (English)."),
        _text_has(
            r"\bkill(?:ing)? (?:my|your|him|her|them)sel(?:f|ves)\b|\bkys\b|\bsuicid",
            r"\b(?:end|ending|take|taking) my (?:own )?life\b|\bwant to die\b|\bcut(?:ting)? myself\b",
        ),
    ),
    Rule(
        "self_harm_ar",
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (Arabic)."),
        _text_has(r"انتحر|انتحار|اقتل نفس|انهي حيات|اذي نفسي|اريد ان اموت|بدي اموت|عايز اموت"),
    ),
    Rule(
        "minors_en",
        Severity.CRITICAL,
        _("The text may sexualise a minor (English)."),
        _text_has(
            rf"\b{_SEXUAL}\b.{{0,60}}\b{_MINOR}",
            rf"\b{_MINOR}.{{0,60}}\b{_SEXUAL}\b",
        ),
    ),
    Rule(
        "minors_ar",
        Severity.CRITICAL,
        _("The text may sexualise a minor (Arabic)."),
        _text_has(
            r"(?:عاري|عاريه|جنس|بدون ملابس).{0,60}(?:طفل|قاصر|عمره?ا? 1[0-7])",
            r"(?:طفل|قاصر|عمره?ا? 1[0-7]).{0,60}(?:عاري|جنس|بدون ملابس)",
        ),
    ),
    Rule(
        "reporter_says_danger",
        Severity.HIGH,
        _("The reporter chose threat, self-harm or child safety."),
        _reason_is(Reason.THREAT, Reason.SELF_HARM, Reason.CHILD_SAFETY),
    ),
)


@dataclass(frozen=True)
class Floor:
    """What the rules found: the highest severity, and the names of the rules that tripped."""

    severity: Severity
    rules: tuple[str, ...]


def find_floor(submission: Submission) -> Floor:
    """Run every rule over the reported messages (all messages where none is marked)."""
    text = normalize("\n".join(message.text for message in submission.reported_messages()))
    tripped = [rule for rule in RULES if rule.trips(submission, text)]
    return Floor(
        severity=max((rule.floor for rule in tripped), default=Severity.NONE),
        rules=tuple(rule.name for rule in tripped),
    )
