"""The picture of a flow: what is drawn is as thick as it holds reports, and nothing overlaps."""

import re

from classifier.batches.flow_picture import (
    BARS,
    LABELS,
    LEAST_BAND,
    REPORTS,
    WIDTH,
    Band,
    Bar,
    FlowPicture,
    Kind,
    draw_flows,
)

NONE, SPAM, THREAT = (
    Kind("none", "No violation", 0),
    Kind("spam", "Spam", 1),
    Kind("t", "Threat", 4),
)
NEW, GONE = Kind("", "not judged before"), Kind("gone", "gone")
FLOWS = [(NONE, NONE, 600), (NONE, THREAT, 100), (SPAM, NONE, 200), (NEW, SPAM, 100)]


def draw(flows: list[tuple[Kind, Kind, int]], *, mirrored: bool = False) -> FlowPicture:
    picture = draw_flows(flows, mirrored=mirrored)
    assert picture is not None
    return picture


def edges(band: Band) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Of a band's two ends: x, top and bottom."""
    numbers = [float(each) for each in re.findall(r"[\d.]+", band.path)]
    x0, y0 = numbers[0:2]
    x1, y1 = numbers[6:8]
    y2 = numbers[9]
    y3 = numbers[15]
    return (x0, y0, y3), (x1, y1, y2)


def spans(bars: list[Bar]) -> list[tuple[float, float]]:
    return [(float(bar.y), float(bar.y) + float(bar.height)) for bar in bars]


def test_nothing_flowed_so_nothing_is_drawn() -> None:
    assert draw_flows([]) is None
    assert draw_flows([(NONE, SPAM, 0)]) is None


def test_bars_hold_the_sums_the_most_severe_on_top_and_what_has_no_category_below() -> None:
    picture = draw([*FLOWS, (GONE, NONE, 1)])

    assert [(bar.kind.id, bar.reports) for bar in picture.before] == [
        ("spam", 200),
        ("none", 700),
        ("gone", 1),
        ("", 100),
    ]
    assert [(bar.kind.id, bar.reports) for bar in picture.after] == [
        ("t", 100),
        ("spam", 100),
        ("none", 801),
    ]


def test_a_band_is_as_thick_as_its_share_at_both_ends() -> None:
    for band in draw(FLOWS).bands:
        (_, top, bottom), (_, far_top, far_bottom) = edges(band)
        assert round(bottom - top, 1) == round(band.reports / 1_000 * REPORTS, 1)
        assert round(far_bottom - far_top, 1) == round(bottom - top, 1)


def test_bands_fill_their_bars_side_by_side() -> None:
    picture = draw(FLOWS)

    for bars, end in ((picture.before, 0), (picture.after, 1)):
        for bar, (top, bottom) in zip(bars, spans(bars), strict=True):
            meeting = sorted(
                edges(band)[end][1:]
                for band in picture.bands
                if (band.before, band.after)[end] == bar.kind
            )
            starts = [start for start, _stop in meeting]
            assert [round(each, 1) for each in [*starts, bottom]] == [
                round(each, 1) for each in [top, *(stop for _start, stop in meeting)]
            ]


def test_bars_do_not_overlap_and_stay_within_the_picture() -> None:
    picture = draw([(Kind(f"k{n}", "k", n % 5), NONE, 1 + 99 * (n == 0)) for n in range(20)])

    for bars in (picture.before, picture.after):
        ends = [0.0, *(edge for span in spans(bars) for edge in span), float(picture.height)]
        assert ends == sorted(ends)


def test_one_report_among_a_million_can_still_be_seen() -> None:
    (thin,) = (
        b for b in draw([(NONE, NONE, 1_000_000), (NONE, THREAT, 1)]).bands if b.reports == 1
    )

    (_, top, bottom), _far = edges(thin)
    assert round(bottom - top, 2) == LEAST_BAND


def test_mirrored_it_begins_at_the_right() -> None:
    plain, mirrored = draw(FLOWS), draw(FLOWS, mirrored=True)

    assert float(plain.before[0].x) == LABELS
    for one, other in zip(
        [*plain.before, *plain.after], [*mirrored.before, *mirrored.after], strict=True
    ):
        assert float(one.x) + BARS + float(other.x) == WIDTH
        assert float(one.label_x) + float(other.label_x) == WIDTH
        assert (one.y, one.label, one.kind) == (other.y, other.label, other.kind)
    for one_band, other_band in zip(plain.bands, mirrored.bands, strict=True):
        (near, *_), (far, *_) = edges(one_band)
        (other_near, *_), (other_far, *_) = edges(other_band)
        assert (near + other_near, far + other_far) == (WIDTH, WIDTH)


def test_a_long_name_is_cut_in_the_picture() -> None:
    (bar,) = draw([(NONE, Kind("long", "A" * 60, 2), 5)]).after

    assert bar.label == "A" * 31 + " …"
