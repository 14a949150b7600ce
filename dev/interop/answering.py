"""What every server that answers is tried with: many reports, the schema, one of too many parts."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.conf import settings

from dev.interop.tally import Progress, say
from dev.samples import sample_reports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.interop.questions import Came, Client
    from dev.interop.tally import Tally

# No tokenizer in use reads more bytes a token than this on natural text.
BYTES_A_TOKEN_AT_MOST = 12
FAULT_SECONDS = 30.0
"""How long a report is asked about again after a fault of the provider."""
MOST_PARTS = 2
LONGEST_TEXT = 20_000  # code points, the API's limit
LONGEST_BODY = 1_000_000  # bytes, just within the API's limit


def try_reports(tally: Tally, client: Client, *, server: str, count: int, until: float) -> None:
    """Each of `count` reports; after `until` (monotonic seconds) no second one is begun."""
    came: list[Came] = []
    progress = Progress()
    for body in mixed_samples(count):
        if came and time.monotonic() > until:
            break
        progress.show(f"{server}: report {len(came) + 1} of {count}")
        report = client.send(body)
        one = client.ask(report)
        if one.is_provider_fault:
            patience = min(FAULT_SECONDS, until - time.monotonic())
            one = client.ask_until(report, seconds=patience)
        came.append(one)
    progress.clear()
    for name, number in Counter(each.name for each in came).most_common():
        say(f"        {number:>4}  {name}")
    answers = [each for each in came if each.is_answer]
    if answers:
        say(f"        seconds of an answer: {_quantiles([each.seconds for each in answers])}")
    _judge_outcomes(tally, came, server=server, count=count)
    shaped = sum(each.is_of_the_schema for each in came)
    asked_as = client.asked_as or "no form that the log names"
    tally.record(
        f"{server}: structured output",
        # A client that had to step down to a weaker form has found none.
        passed=shaped > 0 and client.asked_as in ("", "json_schema"),
        came=f"asked as {asked_as}, {shaped} of {len(answers)} answers were JSON of the schema "
        "(recorded, or refused for a value in it)",
    )


def _judge_outcomes(tally: Tally, came: list[Came], *, server: str, count: int) -> None:
    name = f"{server}: {count} reports in English and Arabic"
    unnamed = [each.name for each in came if not each.is_named]
    unsafe = sum(each.is_safe_without_an_answer for each in came)
    recorded = sum(each.recorded for each in came)
    if unnamed or unsafe:
        told = f"{len(unnamed)} without a named end {unnamed[:3]}, {unsafe} safe without an answer"
        tally.record(name, passed=False, came=told)
    elif not any(each.is_answer for each in came):
        told = f"no answer to any of {len(came)}; the last one: {came[-1]}"
        tally.record(name, passed=False, came=told)
    elif len(came) < count:
        told = f"the time for the whole run was over after {len(came)}; those ended as they should."
        tally.skip(name, why=told)
    else:
        told = f"{recorded} recorded, {len(came) - recorded} with a named reason, none raised"
        tally.record(name, passed=True, came=told)


def try_too_many_parts(tally: Tally, client: Client, *, server: str, limit: int | None) -> None:
    """A report of more parts than allowed: parked with its reason, no part of it is asked about.

    `limit` in tokens; a model that reads very much may read all of the longest report.
    """
    body = too_long_body(limit)
    size = sum(len(message["text"].encode()) for message in body["messages"])
    client.listener.clear()
    with _most_parts(MOST_PARTS):
        came = client.ask(client.send(body))
    name = f"{server}: a report of more than {MOST_PARTS} parts, with so many allowed"
    calls = len(client.listener.calls)
    if came.is_answer and not came.is_safe_without_an_answer and calls <= MOST_PARTS:
        tally.skip(name, why=f"the server read all of it ({came}); it is the longest we accept.")
        return
    tally.record(
        name,
        passed=came.reason == "too_long" and came.parked and calls == 0,
        came=f"{size:,} bytes: {came}, {calls} calls",
    )


@contextmanager
def _most_parts(number: int) -> Iterator[None]:
    before = settings.MAX_WINDOWS
    settings.MAX_WINDOWS = number
    try:
        yield
    finally:
        settings.MAX_WINDOWS = before


def too_long_body(context: int | None) -> dict[str, Any]:
    """A body beyond `context` tokens, as far as the API's limits allow; the longest for None."""
    wanted = LONGEST_BODY
    if context is not None:
        wanted = min(wanted, context * BYTES_A_TOKEN_AT_MOST)
    text = "They come to the same place every evening and nobody says a word about it. "
    texts = []
    while wanted > 0:
        texts.append((text * (LONGEST_TEXT // len(text)))[:wanted])
        wanted -= len(texts[-1])
    return {
        "item": {"type": "conversation", "id": f"interop-{len(texts)}"},
        "messages": [
            {"id": f"m-{number}", "text": each, "reported": True}
            for number, each in enumerate(texts)
        ],
    }


def mixed_samples(count: int) -> Iterator[dict[str, Any]]:
    """Sample reports, English and Arabic by turns; each under an item of its own."""
    of_language: dict[str, list[dict[str, Any]]] = {"en": [], "ar": []}
    for body in sample_reports(4 * count + 40):
        of_language[body["language"]].append(body)
    for number in range(count):
        body = of_language["ar" if number % 2 else "en"][number // 2]
        body["item"]["id"] = f"{body['item']['id']}-{number}"
        yield body


def _quantiles(seconds: list[float]) -> str:
    if len(seconds) == 1:
        return f"{seconds[0]:.2f} (one)"
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return f"p50 {statistics.median(seconds):.2f}, p95 {cuts[18]:.2f}, {len(seconds)} answers"
