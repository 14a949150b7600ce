"""Fail points: armed only where a test may, fired as often as asked, among all processes."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from reports import failpoints
from reports.failpoints import FailpointError, Point, hit, read_failpoints


def test_outside_tests_an_armed_place_refuses_to_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="outside tests"):
        read_failpoints("task.start=kill", allowed=False)


@pytest.mark.parametrize(
    "text", ["nowhere=kill", "task.start=explode", "task.start", "task.start=kill*x"]
)
def test_what_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="is not point=action"):
        read_failpoints(text, allowed=True)


def test_nothing_is_armed_by_default() -> None:
    assert read_failpoints("", allowed=False) == {}
    for point in Point:
        hit(point)


def test_it_fires_as_often_as_asked_and_then_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILPOINTS_DIR", str(tmp_path))
    monkeypatch.setattr(
        failpoints,
        "_armed",
        read_failpoints("task.start=raise*2;task.after_claim=memory", allowed=True),
    )

    for _ in range(2):
        with pytest.raises(FailpointError):
            hit(Point.TASK_START)
    hit(Point.TASK_START)
    with pytest.raises(MemoryError):
        hit(Point.TASK_AFTER_CLAIM)
    hit(Point.TASK_AFTER_CLAIM)
