"""The plain rules at intake: text and reporter signals, no model.

They set the severity floor, so a threat rises even when every worker is down. They are meant to
find too much rather than too little: a floor only ever raises, it decides nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from reports import threats_arabic, threats_english
from reports.models.severity import Severity
from reports.patterns import Piece, any_of, anywhere, at_word
from reports.signals import Signals
from reports.spelling import spellings
from reports.submission import Reason, Submission

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class NamedRule:
    """A rule: what it raises the floor to, and what a reviewer reads where it tripped.

    `revision` counts the meanings that the name has had: a rule that comes to find something else
    gets the next.
    """

    name: str
    revision: int
    floor: Severity
    sentence: "StrOrPromise"


@dataclass(frozen=True)
class Rule(NamedRule):
    """About the report itself; `trips` looks at it and at the spellings of its reported text."""

    trips: Callable[[Submission, set[str]], bool]


def _text_has(*pieces: Iterable[Piece]) -> Callable[[Submission, set[str]], bool]:
    """True where a pattern stands in one of the spellings of the reported text."""
    found = any_of(*pieces).search
    return lambda _submission, spellings: any(found(text) for text in spellings)


def _reason_is(*reasons: Reason) -> Callable[[Submission, set[str]], bool]:
    return lambda submission, _spellings: submission.reason in reasons


_SEXUAL = "nudes?|naked|sexy?|undress|undressed"
_MINORS = "child|kid|minor|underage"
_AGED = "i'?m|i am|she'?s|he'?s|she is|he is|aged?"
_MINOR = rf"(?:{_MINORS}|1[0-7] ?(?:yo|years? old)|(?:{_AGED}) 1[0-7]\b)"
# جنس alone is also "gender", and جنسية "nationality".
_AR_SEXUAL = (
    r"عاري|بدون ملابس|اباحي|صور جنس|صوره جنس|افلام جنس|فيلم جنس|مقطع جنس|فيديو جنس|جنس مع"
    r"|يمارس\w{0,3} الجنس"
)
_AR_MINOR = r"طفل|قاصر|عمره?ا? 1[0-7]"

RULES: tuple[Rule, ...] = (
    Rule(
        "threat_en",
        3,
        Severity.CRITICAL,
        _("The text holds an explicit threat (English)."),
        _text_has(*threats_english.THREATS),
    ),
    Rule(
        "threat_ar",
        2,
        Severity.CRITICAL,
        _("The text holds an explicit threat (Arabic)."),
        _text_has(*threats_arabic.THREATS, *threats_arabic.LATIN_THREATS),
    ),
    Rule(
        "violence_call_en",
        1,
        Severity.HIGH,
        _("The text calls for violence against people (English)."),
        _text_has(*threats_english.CALLS_TO_VIOLENCE),
    ),
    Rule(
        "violence_call_ar",
        1,
        Severity.HIGH,
        _("The text calls for violence against people (Arabic)."),
        _text_has(*threats_arabic.CALLS_TO_VIOLENCE),
    ),
    Rule(
        "self_harm_en",
        1,
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (English)."),
        _text_has(
            at_word("kill|killing", r" (?:my|your|him|her|them)sel(?:f|ves)\b"),
            at_word("kys", r"\b"),
            at_word("suicid"),
            at_word("end|ending|take|taking", r" my (?:own )?life\b"),
            at_word("want to die", r"\b(?! laughing)"),
            at_word("cut|cutting", r" myself\b"),
        ),
    ),
    Rule(
        "self_harm_ar",
        1,
        Severity.CRITICAL,
        _("The text speaks of suicide or self-harm (Arabic)."),
        _text_has(
            anywhere("انتحر|انتحار|اقتل نفس|انهي حيات|اذي نفسي|اريد ان اموت|بدي ا?موت|عايز اموت")
        ),
    ),
    Rule(
        "minors_en",
        1,
        Severity.CRITICAL,
        _("The text may sexualise a minor (English)."),
        _text_has(
            at_word(_SEXUAL, rf"\b.{{0,60}}\b{_MINOR}"),
            at_word(_MINORS, rf".{{0,60}}\b(?:{_SEXUAL})\b"),
            at_word("1", rf"[0-7] ?(?:yo|years? old).{{0,60}}\b(?:{_SEXUAL})\b"),
            at_word(_AGED, rf" 1[0-7]\b.{{0,60}}\b(?:{_SEXUAL})\b"),
        ),
    ),
    Rule(
        "minors_ar",
        1,
        Severity.CRITICAL,
        _("The text may sexualise a minor (Arabic)."),
        _text_has(
            anywhere(_AR_SEXUAL, rf".{{0,60}}(?:{_AR_MINOR})"),
            anywhere(_AR_MINOR, rf".{{0,60}}(?:{_AR_SEXUAL})"),
        ),
    ),
    Rule(
        "reporter_says_danger",
        1,
        Severity.HIGH,
        _("The reporter chose threat, self-harm or child safety."),
        _reason_is(Reason.THREAT, Reason.SELF_HARM, Reason.CHILD_SAFETY),
    ),
)


@dataclass(frozen=True)
class SignalRule(NamedRule):
    """About who reports whom; see `reports.signals`."""

    trips: Callable[[Signals], bool]


SIGNAL_RULES: tuple[SignalRule, ...] = (
    SignalRule(
        "several_reporters",
        2,
        Severity.MEDIUM,
        _("Several different people reported this item within an hour."),
        lambda signals: signals.several_reporters,
    ),
    SignalRule(
        "trusted_flagger",
        1,
        Severity.HIGH,
        _("A trusted flagger reported it, within their field."),
        lambda signals: signals.trusted_flagger,
    ),
    SignalRule(
        "item_upheld_before",
        1,
        Severity.MEDIUM,
        _("People found a violation in this item before."),
        lambda signals: signals.item_upheld,
    ),
    SignalRule(
        "author_upheld_before",
        1,
        Severity.LOW,
        _("People found violations of this author before."),
        lambda signals: signals.author_upheld,
    ),
    SignalRule(
        "reliable_reporter",
        1,
        Severity.LOW,
        _("Most of what this reporter reports is upheld."),
        lambda signals: signals.reliable_reporter,
    ),
)


@dataclass(frozen=True)
class Floor:
    """What the rules found: the highest severity, and the names of the rules that tripped."""

    severity: Severity
    rules: tuple[str, ...]


def every_rule() -> tuple[NamedRule, ...]:
    """All rules of intake, for whoever lists them."""
    return (*RULES, *SIGNAL_RULES)


def read_text(submission: Submission) -> tuple[Rule, ...]:
    """The rules that trip on the reported messages (all where none is marked) or on the reason."""
    texts = spellings("\n".join(message.text for message in submission.reported_messages()))
    return tuple(rule for rule in RULES if rule.trips(submission, texts))


def find_floor(submission: Submission) -> Floor:
    """What the rules find in the report as it was sent, with nothing known of who sent it."""
    return combine(read_text(submission), Signals())


def combine(by_text: tuple[Rule, ...], signals: Signals) -> Floor:
    """The floor by what the text says and by what is known of its reporters and its author."""
    tripped: list[NamedRule] = [*by_text, *(rule for rule in SIGNAL_RULES if rule.trips(signals))]
    return Floor(
        severity=max((rule.floor for rule in tripped), default=Severity.NONE),
        rules=tuple(rule.name for rule in tripped),
    )
