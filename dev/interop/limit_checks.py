"""How much a model reads and how its tokens are counted: the database against the server's own word."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

from classifier.catalogue import sync_model
from classifier.questions import TEMPLATE_TOKENS
from classifier.tokens import CALIBRATION_TEXTS, Counting, count
from dev.interop.answering import mixed_samples
from dev.interop.tally import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classifier.models import ProviderModel
    from dev.interop.listening import Call
    from dev.interop.questions import Client
    from dev.interop.tally import Tally

SAMPLES = 10


def listed_meta(root: str) -> dict[str, Any]:
    """What llama.cpp's list says of its only model."""
    with urllib.request.urlopen(f"{root}/v1/models", timeout=10) as response:  # noqa: S310  ours
        meta: dict[str, Any] = json.load(response)["data"][0]["meta"]
    return meta


def tokens_of(root: str, text: str) -> int:
    """The server's own count, by llama.cpp's `POST /tokenize`."""
    request = urllib.request.Request(  # noqa: S310  ours
        f"{root}/tokenize",
        json.dumps({"content": text}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310  ours
        return len(json.load(response)["tokens"])


def try_limit(tally: Tally, client: Client, *, server: str, meta: dict[str, Any]) -> None:
    """After the first probe: what the row holds, and that reading it again changes nothing."""
    row, wanted, trained = client.row(), meta["n_ctx"], meta["n_ctx_train"]
    tally.record(
        f"{server}: the limit at run time is stored",
        passed=(row.context_limit, row.context_source) == (wanted, "meta.n_ctx") != trained,
        came=f"the server lists n_ctx {wanted} and n_ctx_train {trained}; the database holds "
        f"{row.context_limit} by {row.context_source or 'nobody'}",
    )
    before = _lasting(row)
    synced = sync_model(client.row())
    after = _lasting(client.row())
    changed = sorted(name for name, value in after.items() if value != before[name])
    tally.record(
        f"{server}: reading the limit again",
        passed=synced.failure is None and not changed,
        came=str(synced.failure or f"changed {', '.join(changed) or 'nothing'}"),
    )


def _lasting(row: ProviderModel) -> dict[str, Any]:
    """All of the row but when the list was read."""
    fields = [field.attname for field in row._meta.concrete_fields]
    return {name: getattr(row, name) for name in fields if name != "listed_at"}


def try_counting(  # noqa: PLR0913 - a check, and what bounds it
    tally: Tally,
    *,
    server: str,
    root: str,
    counting: Counting,
    calls: Sequence[Call],
    least: int,
) -> None:
    """The product's count against the server's: of texts to be told, of whole prompts to be judged.

    `calls` are those about reports, at least so many of them with the server's usage; `counting` is
    what the probe taught.
    """
    ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in sorted(counting.ratios.items()))
    say(f"        counted by {counting.tokenizer or f'bytes, tokens a byte: {ratios}'}")
    for number, text in enumerate(CALIBRATION_TEXTS, 1):
        _tell(f"calibration text {number}", [text], root, counting)
    for language in ("en", "ar"):
        bodies = [each for each in mixed_samples(SAMPLES) if each["language"] == language]
        texts = ["\n".join(m["text"] for m in each["messages"]) for each in bodies]
        _tell(f"{len(texts)} sample reports, {language}", texts, root, counting)
    factors = [
        (count(call.system, counting) + count(call.user, counting) + TEMPLATE_TOKENS)
        / call.prompt_tokens
        for call in calls
        if call.prompt_tokens
    ]
    told = f"{len(factors)} whole prompts, counted {_range(factors)} times the server's usage"
    tally.record(
        f"{server}: counting",
        passed=len(factors) >= max(least, 1) and min(factors) >= 1,
        came=told if factors else "no call about a report came with a usage",
    )


def _tell(what: str, texts: Sequence[str], root: str, counting: Counting) -> None:
    pairs = [(count(text, counting), tokens_of(root, text)) for text in texts]
    ours, theirs = (sum(each) for each in zip(*pairs, strict=True))
    factors = _range([mine / its for mine, its in pairs])
    say(f"        {what}: {ours} for the server's {theirs}, {factors} times")


def _range(factors: Sequence[float]) -> str:
    if not factors:
        return "no"
    low, high = f"{min(factors):.2f}", f"{max(factors):.2f}"
    return low if low == high else f"{low} to {high}"
