"""Pictures with whiskers: each point stands within its interval, on an axis that holds them all."""

from itertools import pairwise

import pytest

from reviews.quality.whiskers import (
    COLUMNS,
    Measured,
    OverTime,
    Whiskers,
    draw_over_time,
    draw_whiskers,
    round_maximum,
)
from reviews.templatetags.quality_words import interval, on_axis, percent, value_of

ENGLISH = Measured("en", 0.004, 0.001, 0.012, 900)
ARABIC = Measured("ar", 0.02, 0.01, 0.04, 400)
NOBODY = Measured("tlh", None, None, None, 0)


def draw(*measured: Measured, mirrored: bool = False) -> Whiskers:
    picture = draw_whiskers(measured, mirrored=mirrored)
    assert picture is not None
    return picture


def over_time(*shares: float | None, mirrored: bool = False) -> OverTime:
    months = [
        Measured(f"month {number}", share, share and share / 2, share and share * 2, 10)
        for number, share in enumerate(shares)
    ]
    picture = draw_over_time(months, mirrored=mirrored)
    assert picture is not None
    return picture


def number(position: str) -> float:
    return float(position.removesuffix("%"))


def test_nothing_was_measured_so_nothing_is_drawn() -> None:
    assert draw_whiskers([], mirrored=False) is None
    assert draw_whiskers([NOBODY], mirrored=False) is None
    assert draw_over_time([NOBODY, NOBODY], mirrored=False) is None


@pytest.mark.parametrize(
    ("highest", "end"),
    [(0, 1), (0.004, 0.005), (0.012, 0.02), (0.02, 0.02), (0.021, 0.05), (0.06, 0.1), (0.3, 0.5)],
)
def test_the_axis_ends_at_the_next_round_number(highest: float, end: float) -> None:
    assert round_maximum([0, highest]) == pytest.approx(end)


@pytest.mark.parametrize("highest", [0.51, 1, 1.7])
def test_the_axis_of_a_share_never_ends_beyond_all(highest: float) -> None:
    assert round_maximum([highest]) == 1


def test_each_point_stands_at_its_share_of_the_axis_within_its_whisker() -> None:
    english, arabic = draw(ENGLISH, ARABIC).rows

    assert [number(each) for each in (english.low, english.at, english.high)] == [2, 8, 24]
    assert [number(each) for each in (arabic.low, arabic.at, arabic.high)] == [20, 40, 80]


def test_what_nobody_answered_has_its_row_and_no_point() -> None:
    _english, nobody = draw(ENGLISH, NOBODY).rows

    assert (nobody.name, nobody.at, nobody.low, nobody.high) == ("tlh", "", "", "")


def test_rows_stand_below_each_other_and_the_axis_below_them() -> None:
    picture = draw(ENGLISH, ARABIC, NOBODY)

    places = [float(place) for row in picture.rows for place in (row.words, row.middle)]
    assert places == sorted(places)
    assert places[-1] < picture.bottom < picture.height


def test_ticks_are_the_ends_and_the_middle_of_the_axis() -> None:
    ticks = draw(ENGLISH, ARABIC).ticks

    assert [(each.value, each.at) for each in ticks] == [
        (0, "0.00%"),
        (0.025, "50.00%"),
        (0.05, "100.00%"),
    ]


def test_mirrored_it_begins_at_the_right() -> None:
    plain, mirrored = draw(ENGLISH, ARABIC), draw(ENGLISH, ARABIC, mirrored=True)

    assert (mirrored.start, mirrored.end) == (plain.end, plain.start) == ("100.00%", "0.00%")
    for one, other in zip(plain.rows, mirrored.rows, strict=True):
        assert number(one.at) + number(other.at) == 100
        assert number(one.low) + number(other.low) == 100
    for one_tick, other_tick in zip(plain.ticks, mirrored.ticks, strict=True):
        assert number(one_tick.at) + number(other_tick.at) == 100


def test_an_axis_of_its_own_cuts_what_lies_beyond() -> None:
    picture = draw_whiskers([Measured("pair", 0.2, -1.3, 0.9, 8)], start=-1, end=1, mirrored=False)

    assert picture is not None
    (row,) = picture.rows
    assert (row.low, row.at, row.high) == ("0.00%", "60.00%", "95.00%")
    assert [tick.value for tick in picture.ticks] == [-1, 0, 1]


def test_what_has_no_interval_is_a_point_without_a_whisker() -> None:
    (row,) = draw(Measured("en", 0.5, None, None, 3)).rows

    assert (row.at, row.low, row.high) == ("50.00%", "", "")


def test_a_long_name_is_cut_in_the_picture() -> None:
    (row,) = draw(Measured("A" * 60, 0.5, 0.4, 0.6, 3)).rows

    assert row.name == "A" * 31 + " …"


def test_months_stand_beside_each_other_the_higher_the_more() -> None:
    picture = over_time(0.1, 0.2, 0.05)

    assert [number(each.x) for each in picture.columns] == [28.33, 57, 85.67]
    assert [number(each.at) for each in picture.columns] == [
        COLUMNS * 0.8,
        COLUMNS * 0.6,
        COLUMNS * 0.9,
    ]
    for column in picture.columns:
        assert number(column.high) < number(column.at) < number(column.low)


def test_a_line_leads_from_each_month_to_the_next_that_was_measured() -> None:
    picture = over_time(0.1, None, 0.2)

    first, _second, third = picture.columns
    assert picture.lines == [(first.x, first.at, third.x, third.at)]


def test_the_oldest_and_the_newest_month_are_named_inwards_from_their_places() -> None:
    anchors = [each.anchor for each in over_time(0.1, 0.1, 0.1, 0.1).columns]

    assert anchors == ["start", "", "", "end"]
    assert [each.anchor for each in over_time(0.1).columns] == ["middle"]


def test_mirrored_the_oldest_month_stands_at_the_right() -> None:
    plain, mirrored = over_time(0.1, 0.2, 0.05), over_time(0.1, 0.2, 0.05, mirrored=True)

    for one, other in zip(plain.columns, mirrored.columns, strict=True):
        assert number(one.x) + number(other.x) == 100
        assert (one.at, one.of, one.anchor) == (other.at, other.of, other.anchor)
    for picture, goes in ((plain, 1), (mirrored, -1)):
        assert all((number(b.x) - number(a.x)) * goes > 0 for a, b in pairwise(picture.columns))


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.857143, "86%"),
        (0.0323, "3.2%"),
        (0.0046, "0.46%"),
        (0.00004, "0.004%"),
    ],
)
def test_a_share_is_rounded_and_has_more_digits_the_smaller_it_is(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.1523, 0.1012, 0.63, 22), "15% (10% to 63%)"),
        ((0.1523, 0.0028, 0.63, 22), "15.2% (0.3% to 63.0%)"),
        ((0.1523, 0.1012, 0.2, 1000), "15.2% (10.1% to 20.0%)"),
        ((0.0046, 0.0012, 0.012, 900), "0.46% (0.12% to 1.20%)"),
        ((0, 0, 0.0371, 100), "0% (0% to 3.7%)"),
        ((1, 0.158, 1, 1), "100% (16% to 100%)"),
    ],
)
def test_a_share_and_its_interval_have_the_same_number_of_digits(
    numbers: tuple[float, float, float, int], said: str
) -> None:
    of = Measured("en", *numbers)

    assert interval(of, "share") == said
    assert value_of(of, "share") == said.partition(" ")[0]


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (0.5, "share", "50%"),
        (0.025, "share", "2.5%"),
        (0.05, "share", "5%"),
        (0.00005, "share", "0.005%"),
        (1, "kappa", "1"),
        (0.5, "kappa", "0.5"),
        (-1, "kappa", "\u2068-1\u2069"),
    ],
)
def test_an_axis_has_no_digits_but_those_that_its_numbers_have(
    value: float, kind: str, said: str
) -> None:
    assert on_axis(value, kind) == said


def test_a_kappa_is_rounded_and_not_cut() -> None:
    assert interval(Measured("pair", 0.7199999, 0.1, 0.999, 7), "kappa") == "0.72 (0.10 to 1.00)"


def test_the_sign_of_a_kappa_stays_before_it_in_a_line_that_is_read_leftwards() -> None:
    said = interval(Measured("pair", -0.2, -0.5, 0.1, 7), "kappa")

    assert said == "\u2068-0.20\u2069 (\u2068-0.50\u2069 to 0.10)"


def test_what_has_no_number_says_why() -> None:
    assert interval(NOBODY, "share") == "not enough"
    assert interval(Measured("pair", None, None, None, 7), "kappa") == "all said the same"
    assert interval(Measured("pair", 1, None, None, 7), "kappa") == "1.00 (too few for an interval)"
