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
# Digits, signs and Cyrillic letters that stand for Latin letters in a disguised word.
_LOOKALIKES = str.maketrans("013457@$!аеорсухіѕј", "oieastasiaeopcyxisj")


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
    trips: Callable[[Submission, set[str]], bool]


def _text_has(*patterns: str) -> Callable[[Submission, set[str]], bool]:
    """True where a pattern stands in one of the spellings of the reported text."""
    found = re.compile("|".join(patterns)).search
    return lambda _submission, spellings: any(found(text) for text in spellings)


def _words(*patterns: str) -> str:
    """Patterns that begin a word: one shared test of that, which keeps a long text cheap."""
    return rf"\b(?:{'|'.join(patterns)})"


def _reason_is(*reasons: Reason) -> Callable[[Submission, set[str]], bool]:
    return lambda submission, _spellings: submission.reason in reasons


_HARM = r"(?:kill|murder|shoot|stab|strangle|behead|rape|hurt|beat|burn|bomb|slaughter|destroy|end)"
_RELATIVE = (
    r"(?:family|kids?|child(?:ren)?|wife|husband|parents?|m[ou]m|mother|dad|father|brother|sister"
    r"|son|daughter|baby|(?:boy|girl)?friends?|dog|cat|house|home|car|ass|face|head|throat|life|lives)"
)
# "shoot you an email", "burn you a CD", "beat you to it" are no threats.
_VICTIM = (
    r"(?:(?:you|u|ya|her|him|them)\b(?! (?:an?|the|some|to it)\b)"
    rf"|(?:your|his|her|their) (?:\w+ )?{_RELATIVE}\b|everyone\b|all of\b)"
)
_PEOPLE = (
    r"(?:people|persons?|m[ae]n|wom[ae]n|girls?|boys?|gays?|jews?|muslims?|christians?|arabs?|blacks?"
    r"|immigrants?|migrants?|refugees?|foreigners?|cops?|students?|teachers?|neighbou?rs?)\b"
)
_INTENT = r"(?:will|'ll|gonna|going to|wanna|want to|am going to|'?m going to|'?m gonna|swear i'll)"
_SEXUAL = r"(?:nudes?|naked|sexy?|undress(?:ed)?)"
_MINOR = (
    r"(?:child|kid|minor|underage|1[0-7] ?(?:yo|years? old)"
    r"|(?:i'?m|i am|s?he'?s|s?he is|aged?) 1[0-7]\b)"
)
_AR_WILL = r"(?:سوف |راح |رح |غادي |حا?|ه|س|ب|لا?|د)?"
_AR_YOU = r"(?:كم|كي|كن|ك)\b"
_AR_ANYBODY = r"(?:كم|كي|كن|ك|و?ه|و?هم|و?ها)\b"
_AR_YOURS = (
    r"(?:بيت|دار|راس|وجه|رقبت|سيارت|عايلت|اهل|اولاد|عيال|ابن|بنت|ام|ابو|اخو|اخت)\w?(?:ك|كم)\b"
)
# جنس alone is also "gender", and جنسية "nationality".
_AR_SEXUAL = (
    r"(?:عاري|بدون ملابس|اباحي|(?:صور|صوره|افلام|فيلم|مقطع|فيديو) جنس|جنس مع|يمارس\w{0,3} الجنس)"
)
_AR_MINOR = r"(?:طفل|قاصر|عمره?ا? 1[0-7])"

RULES: tuple[Rule, ...] = (
    Rule(
        "threat_en",
        Severity.CRITICAL,
        _("The text holds an explicit threat (English)."),
        _text_has(
            _words(
                rf"(?:i|we) ?{_INTENT} (?:\w+ ){{0,3}}?{_HARM} {_VICTIM}",
                rf"(?:i|we) ?{_INTENT} (?:\w+ ){{0,3}}?(?:kill|murder|shoot|stab|behead|rape|slaughter"
                rf"|torture) (?:\w+ ){{1,4}}?{_PEOPLE}",
                r"death to all\b",
                rf"(?:ill|(?:gonna|going to)(?: \w+)?) (?:kill|murder|stab|shoot|rape) {_VICTIM}",
                rf"(?:i|we) ?{_INTENT} (?:\w+ ){{0,2}}?(?:(?:slit|cut) your throat"
                r"|(?:blow|shoot) up (?:the|your|this|that)\b|make you (?:bleed|suffer))",
                r"put a bullet in (?:you|her|him|them)",
                r"(?:i|we) know where (?:you|u|your|ya|she|he|they)\b(?! can)(?: \w+){0,4}?"
                r" (?:live|work|sleep)",
                r"(?:you|u|ur|you're|you are) (?:are |re )?(?:gonna|going to|will)"
                r" (?:die\b(?! laughing| of )|bleed|regret (?:this|it|that))",
                r"(?:you're|you are|ur|you will be) (?:a )?dead\b"
                r"(?! (?:to me|wrong|right|serious|set|on|sure|certain|tired|inside)\b)",
                rf"(?:i'?m|i am|we're|we are) coming (?:for (?:you|u|your)\b|to {_HARM} {_VICTIM})",
                r"watch your back\b",
            )
        ),
    ),
    Rule(
        "threat_ar",
        Severity.CRITICAL,
        _("The text holds an explicit threat (Arabic)."),
        _text_has(
            _words(
                rf"[وف]?{_AR_WILL}[اني](?:قتل|ذبح|طعن|فجر|دبح|صفي|شنق){_AR_ANYBODY}",
                # The speaker's alef is swallowed in speech: هقتلك, بقتلك.
                rf"[وف]?(?:ه|ح|ب|غا?ن)(?:قتل|ذبح|دبح|طعن|شنق){_AR_YOU}",
                # What is burnt or broken is mostly a thing: only "you" and what is yours count.
                rf"[وف]?{_AR_WILL}[اني](?:حرق|كسر|غتصب){_AR_YOU}",
                rf"[وف]?(?:{_AR_WILL}[اني]|ه|ح|غا?ن)(?:قتل|ذبح|دبح|حرق|كسر|فجر|قطع|هدم) {_AR_YOURS}",
                r"(?:عاوز|عايز|بدي|اريد|ابغي|ودي|سوف|راح|رح) (?:ان )?ا(?:قتل|ذبح|دبح) (?:كل|جميع)\b",
                rf"[وف]?(?:يجب|لازم) (?:ان )?[نيت]?قتل{_AR_ANYBODY}",
                r"[وف]?(?:اعرف|بعرف|عارف|نعرف) (?:وين|فين|اين|مكان) (?:\w+ )?"
                r"(?:ساكن|تسكن|سكنك|بيت|عايش|تعيش|شغل)",
                r"[وف]?(?:اعرف|بعرف|عارف|نعرف) (?:\w+ )?(?:ساكن|عايش|بيتك) (?:وين|فين|اين)",
                r"[وف]?(?:راح |رح |سوف |[سحه])تموت|(?:نهايتك|موتك) (?:قريب|علي يدي)",
            )
        ),
    ),
    Rule(
        "self_harm_en",
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (English)."),
        _text_has(
            _words(
                r"kill(?:ing)? (?:my|your|him|her|them)sel(?:f|ves)\b|kys\b|suicid",
                r"(?:end|ending|take|taking) my (?:own )?life\b|want to die\b(?! laughing)",
                r"cut(?:ting)? myself\b",
            )
        ),
    ),
    Rule(
        "self_harm_ar",
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (Arabic)."),
        _text_has(r"انتحر|انتحار|اقتل نفس|انهي حيات|اذي نفسي|اريد ان اموت|بدي ا?موت|عايز اموت"),
    ),
    Rule(
        "minors_en",
        Severity.CRITICAL,
        _("The text may sexualise a minor (English)."),
        _text_has(
            _words(rf"{_SEXUAL}\b.{{0,60}}\b{_MINOR}", rf"{_MINOR}.{{0,60}}\b{_SEXUAL}\b"),
        ),
    ),
    Rule(
        "minors_ar",
        Severity.CRITICAL,
        _("The text may sexualise a minor (Arabic)."),
        _text_has(
            rf"{_AR_SEXUAL}.{{0,60}}{_AR_MINOR}",
            rf"{_AR_MINOR}.{{0,60}}{_AR_SEXUAL}",
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
    spellings = {text, text.translate(_LOOKALIKES)}
    tripped = [rule for rule in RULES if rule.trips(submission, spellings)]
    return Floor(
        severity=max((rule.floor for rule in tripped), default=Severity.NONE),
        rules=tuple(rule.name for rule in tripped),
    )
