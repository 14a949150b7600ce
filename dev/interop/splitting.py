"""A report four times over the limit: read in parts, all of it, and decided once."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from classifier.models import Classification
from dev.interop.tally import say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dev.interop.listening import Call
    from dev.interop.questions import Came, Client
    from dev.interop.tally import Tally
    from reports.models import Report

TIMES = 4
MANY_MESSAGES, LONGEST_BODY = 450, 1_000_000  # just within the API's limits
BYTES_A_TOKEN = 6  # no tokenizer reads more of such talk
TALK = (
    ("ha ha, see you at five then", "ههه نشوفك الساعة خمسة"),
    ("did you watch the match?", "شفت المباراة امبارح؟"),
    ("no way", "مستحيل والله"),
    ("bring some tea", "جيب معك شاي"),
)


@dataclass
class _Tries:
    """What all tries came to. A refused answer means all parts again, as the product does it."""

    reports: int = 0
    tries: int = 0
    calls: list[Call] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)


def try_split(  # noqa: PLR0913 - a check, and what bounds it
    tally: Tally,
    client: Client,
    *,
    server: str,
    limit: int,
    tokens_of: Callable[[str], int] | None,
    most_tries: int,
    until: float,
) -> None:
    """Asked until each part has an accepted answer, at most so often and (monotonic) so long.

    `tokens_of` is the server's own count; without, the usage of all calls stands for it.
    """
    name = f"{server}: a report {TIMES} times over the limit of {limit:,}"
    body = long_body(limit, tokens_of)
    if body is None:
        tally.skip(name, why="the API takes no report as long as that.")
        return
    size = f"{len(body['messages'])} messages in English and Arabic"
    if tokens_of:
        size += f", {tokens_of(shown(body)):,} tokens by the server's own count"
    say(f"        {size}")
    done = _Tries()
    report, came = _ask_until_all_is_read(client, body, done, most_tries, until)
    wrong, told = _judge(report, came, done, body, limit)
    if tokens_of is None and sum(call.prompt_tokens or 0 for call in done.calls) < TIMES * limit:
        wrong.append(f"the server counted less than {TIMES} times the limit")
    tally.record(name, passed=not wrong, came="; ".join((*told, *wrong)))


def long_body(limit: int, tokens_of: Callable[[str], int] | None) -> dict[str, Any] | None:
    """A report of many messages over `limit` tokens four times; None where the API has no room."""
    wanted = TIMES * limit

    def measured(body: dict[str, Any]) -> float:
        text = shown(body)
        return tokens_of(text) if tokens_of else len(text.encode()) / BYTES_A_TOKEN

    # Short messages, but longer ones where so many would be more than the API takes.
    repeated = 1
    while (most := measured(_talk(MANY_MESSAGES, repeated))) < wanted:
        repeated += 1
    number = int(MANY_MESSAGES * wanted / most)
    body = _talk(number, repeated)
    while measured(body) < wanted:
        number += 1
        body = _talk(number, repeated)
    size = len(json.dumps(body, ensure_ascii=False).encode())
    return body if size <= LONGEST_BODY else None


def shown(body: dict[str, Any]) -> str:
    """The messages as the model is shown them in one call, no frame around them."""
    return json.dumps(
        [
            {"id": f"m{number}", "text": message["text"]}
            for number, message in enumerate(body["messages"], 1)
        ],
        ensure_ascii=False,
    )


def _talk(number: int, repeated: int = 1) -> dict[str, Any]:
    said = itertools.chain.from_iterable(itertools.repeat(TALK))
    texts = [
        " ".join([text] * repeated) for pair in itertools.islice(said, number) for text in pair
    ]
    return {
        "item": {"type": "chat", "id": f"interop-long-{time.monotonic_ns()}"},
        "messages": [{"id": f"x-{n}", "text": text} for n, text in enumerate(texts[:number])],
    }


def _ask_until_all_is_read(
    client: Client, body: dict[str, Any], done: _Tries, most: int, until: float
) -> tuple[Report, Came]:
    report = client.send(body)
    done.reports = 1
    while True:
        client.listener.clear()
        came = client.ask(report)
        done.tries += 1
        calls = [call for call in client.listener.calls if call.is_about_a_report]
        done.calls += calls
        done.ends.append(came.name)
        parts = calls[-1].evidence.get("part", "1 of 1") if calls else "no part"
        say(f"        try {done.tries}: {len(calls)} calls, the last about {parts}: {came}")
        if came.recorded and _is_covered(report, body):
            return report, came
        if done.tries == most or time.monotonic() > until:
            return report, came
        if came.recorded:
            # Critical about one part: rightly decided at once, and nothing of the rest is seen.
            body = {**body, "item": {**body["item"], "id": f"{body['item']['id']}-{done.tries}"}}
            report = client.send(body)
            done.reports += 1
        elif came.parked:
            client.replay(report)


def _is_covered(report: Report, body: dict[str, Any]) -> bool:
    return _covered_by_record(report) == set(range(1, len(body["messages"]) + 1))


def _covered_by_record(report: Report) -> set[int]:
    runs = [
        run
        for verdict in Classification.objects.filter(report=report, superseded=False)
        for call in verdict.calls
        for run in call["messages"]
    ]
    return {number for first, last in runs for number in range(first, last + 1)}


def _judge(
    report: Report, came: Came, done: _Tries, body: dict[str, Any], limit: int
) -> tuple[list[str], list[str]]:
    """What is wrong, and what came."""
    wrong: list[str] = []
    counts = [call.prompt_tokens for call in done.calls if call.prompt_tokens is not None]
    refused = [call for call in done.calls if call.fault == "too_long"]
    told = [
        f"try {done.tries}, {done.reports} report{'s' * (done.reports > 1)}",
        (
            f"{len(done.calls)} calls in all, the longest {max(counts, default=0):,} tokens, "
            f"{len(refused)} refused as too long"
        ),
    ]
    if len(counts) != sum(not call.fault for call in done.calls):
        wrong.append("a usage without a count")
    if counts and max(counts) > limit:
        wrong.append("a call above the limit")
    if len(refused) > sum(call.limit is not None for call in refused[:1]):
        wrong.append("refused as too long, without a lower limit to learn from it")
    verdicts = list(Classification.objects.filter(report=report))
    current = [each for each in verdicts if not each.superseded]
    if not came.recorded or len(current) != 1:
        ends = ", ".join(f"{n} x {what}" for what, n in Counter(done.ends).most_common())
        wrong.append(f"{len(current)} current classifications; all tries: {ends}")
        return wrong, told
    (verdict,) = current
    parts = len(verdict.calls)
    last = _of_last_try(done.calls, parts)
    everything = len(body["messages"])
    recorded = _covered_by_record(report)
    sent = _covered_by_calls(last, body)
    told.append(
        f"{parts} parts, {len(recorded)} of {everything} messages on record and {len(sent)} on the "
        f"wire, one current classification of {len(verdicts)}: {verdict.category}, {came}"
    )
    if parts < TIMES or len(recorded) != everything or len(sent) != everything:
        wrong.append("not every message was read")
    return wrong, told


def _of_last_try(calls: Sequence[Call], parts: int) -> Sequence[Call]:
    return calls[-parts:]


def _covered_by_calls(calls: Sequence[Call], body: dict[str, Any]) -> set[int]:
    """The messages whose whole text stood in one of the calls, numbered from 1."""
    texts = {(entry["id"], entry["text"]) for call in calls for entry in call.evidence["messages"]}
    return {
        number
        for number, message in enumerate(body["messages"], 1)
        if (f"m{number}", message["text"]) in texts
    }
