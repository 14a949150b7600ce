"""What the page about quality shows: what is estimated, in words, pictures and tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from django.utils.dateformat import format as format_date
from django.utils.translation import get_language_bidi, gettext

from classifier.models import PolicyVersion
from reviews.quality.agreement import Agreement, read_agreement
from reviews.quality.estimates import Share, named_languages, read_estimates
from reviews.quality.whiskers import (
    Measured,
    OverTime,
    Whiskers,
    draw_over_time,
    draw_whiskers,
)
from reviews.words import category_name

DRAWN_AT_MOST = 20
"""So many rows has a picture; its table has all."""
MONTHS_AT_MOST = 24


class ShareRow(NamedTuple):
    measured: Measured
    share: Share


class AgreementRow(NamedTuple):
    measured: Measured
    agreement: Agreement


@dataclass(frozen=True)
class Section:
    """One part of the page: what it is about in a sentence, a picture, and a table of the same.

    `of` is what its rows are: the head of the table's first column. `cut`: the picture has no place
    for all rows.
    """

    id: str
    title: str
    says: str
    of: str
    rows: Sequence[ShareRow] | Sequence[AgreementRow]
    picture: Whiskers | OverTime | None
    is_over_time: bool = False
    cut: bool = False


class QualityPage:
    """Of what was drawn since, or of all time; audits of one policy version, or of all.

    `versions` name the categories. Three statements.
    """

    def __init__(
        self,
        versions: Sequence[PolicyVersion],
        *,
        since: datetime | None = None,
        version: int | None = None,
    ) -> None:
        self._versions = versions
        self.estimates = read_estimates(since=since, version=version)
        self.agreements = read_agreement(since=since)
        self.named = named_languages(self.estimates.by_language)

    @property
    def overall(self) -> Measured:
        """The share missed of everything."""
        return _measured("", self.estimates.overall)

    @property
    def overturned(self) -> Measured:
        """The share of first decisions that were settled against."""
        over = self.agreements.overturned
        return Measured("", over.share, over.low, over.high, over.of)

    @property
    def is_empty(self) -> bool:
        """Nothing was drawn at all."""
        drawn_twice = self.agreements.open + self.agreements.overall.agreed.of
        return not (self.estimates.overall.drawn or drawn_twice)

    @cached_property
    def missed(self) -> list[Section]:
        """By what the draws tell apart; the newest months are those that are drawn."""
        estimates = self.estimates
        months = estimates.by_month[-MONTHS_AT_MOST:]
        return [
            self._shares(
                "missed-by-month",
                gettext("Over time"),
                gettext("The share missed, by the month in which the machine judged."),
                gettext("month"),
                [ShareRow(_measured(_month(each.label), each), each) for each in months],
                over_time=True,
            ),
            self._shares(
                "missed-by-language",
                gettext("By language"),
                gettext("A language that stands out is one that the machine reads worse."),
                gettext("language"),
                _worst_first(estimates.by_language, lambda label: label),
            ),
            self._shares(
                "missed-by-category",
                gettext("By the machine's category"),
                gettext("What the machine had called it when it judged it safe."),
                gettext("category"),
                _worst_first(estimates.by_category, self._category),
            ),
            self._shares(
                "missed-by-sender",
                gettext("By sender"),
                gettext("Where the reports came from."),
                gettext("sender"),
                _worst_first(estimates.by_sender, lambda label: label),
            ),
            self._shares(
                "missed-by-band",
                gettext("By confidence"),
                gettext("If confidence means something, less is missed where it is high."),
                gettext("confidence"),
                [ShareRow(_measured(each.label, each), each) for each in estimates.by_band],
            ),
            self._shares(
                "missed-by-version",
                gettext("By policy version"),
                gettext("Whether a newer version misses less than the one before."),
                gettext("policy version"),
                [ShareRow(_measured(each.label, each), each) for each in estimates.by_version],
            ),
        ]

    @cached_property
    def agreed(self) -> list[Section]:
        """By what can be told apart of second reviews, the least agreement first."""
        agreements = self.agreements
        return [
            self._agreements(
                "agreed-by-category",
                gettext("By category"),
                gettext("One category against all others: where people see its border elsewhere."),
                gettext("category"),
                _kappas(agreements.by_category, lambda each: self._category(each.label or "none")),
            ),
            self._agreements(
                "agreed-by-language",
                gettext("By language"),
                gettext("Where colleagues who read the same language differ."),
                gettext("language"),
                _kappas(agreements.by_language, lambda each: each.label),
            ),
            self._agreements(
                "agreed-by-pair",
                gettext("By pair of reviewers"),
                gettext(
                    "Who should talk with whom about the rules. It says nothing of who is right."
                ),
                gettext("reviewers"),
                _kappas(agreements.by_pair, lambda each: f"{each.label} + {each.other}"),
            ),
        ]

    def _shares(  # noqa: PLR0913 - a section has so many sides
        self,
        name: str,
        title: str,
        says: str,
        of: str,
        rows: Sequence[ShareRow],
        *,
        over_time: bool = False,
    ) -> Section:
        measured = [row.measured for row in rows]
        mirrored = get_language_bidi()
        picture = (
            draw_over_time(measured, mirrored=mirrored)
            if over_time
            else draw_whiskers(measured[:DRAWN_AT_MOST], mirrored=mirrored)
        )
        cut = not over_time and len(rows) > DRAWN_AT_MOST
        return Section(name, title, says, of, rows, picture, over_time, cut)

    def _agreements(
        self, name: str, title: str, says: str, of: str, rows: Sequence[AgreementRow]
    ) -> Section:
        # Below nought people agree less than chance would have it: the axis begins there if any may.
        lows = [row.measured.low for row in rows if row.measured.low is not None]
        picture = draw_whiskers(
            [row.measured for row in rows[:DRAWN_AT_MOST]],
            start=-1 if min(lows, default=0) < 0 else 0,
            end=1,
            mirrored=get_language_bidi(),
        )
        return Section(name, title, says, of, rows, picture, cut=len(rows) > DRAWN_AT_MOST)

    def _category(self, label: str) -> str:
        names = (category_name(label, version) for version in self._versions)
        return next((name for name in names if name != label), label)


def _worst_first(shares: Iterable[Share], name: Callable[[str], str]) -> list[ShareRow]:
    """What nobody answered stands last."""
    rows = [ShareRow(_measured(name(each.label), each), each) for each in shares]
    return sorted(rows, key=lambda row: (row.share.share is None, -(row.share.share or 0)))


def _kappas(
    agreements: Iterable[Agreement], name: Callable[[Agreement], str]
) -> list[AgreementRow]:
    """The least agreement first, and last where there is none to tell."""
    rows = [AgreementRow(_kappa_of(name(each), each), each) for each in agreements]
    return sorted(rows, key=lambda row: (row.measured.value is None, row.measured.value or 0))


def _measured(label: str, share: Share) -> Measured:
    return Measured(label, share.share, share.low, share.high, share.answered)


def _kappa_of(label: str, agreement: Agreement) -> Measured:
    kappa = agreement.kappa
    return Measured(label, kappa.value, kappa.low, kappa.high, agreement.agreed.of)


def _month(label: str) -> str:
    """“2026-11” as people write it, short."""
    year, month = (int(part) for part in label.split("-"))
    return format_date(datetime(year, month, 1, tzinfo=UTC), "M Y")
