"""Any OpenAI-compatible server, by OPENAI_BASE_URL, OPENAI_API_KEY and MODEL."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from typing import TYPE_CHECKING, Any

from dev.interop.answering import try_reports, try_too_long
from dev.interop.tally import say

if TYPE_CHECKING:
    from dev.interop.questions import Client
    from dev.interop.run import Run

# Where servers tell how much a model reads; the smallest counts.
CONTEXT_KEYS = ("max_model_len", "context_window", "context_length", "max_context_length")


def try_other(run: Run, client: Client, *, base_url: str) -> None:
    """Many reports, the schema, one report too long."""
    model = os.environ["MODEL"]
    key = os.environ.get("OPENAI_API_KEY") or "not-needed"
    offered = _offered_models(base_url, key)
    context = _context(offered, model)
    say(
        f"{model} at {base_url}: "
        + ("context not told" if context is None else f"context {context:,} tokens")
        + ("" if model in offered else f"; GET /models names {sorted(offered)[:5]} instead")
    )
    client.use(base_url=base_url, model=model, key=key)
    try_reports(
        run.tally, client, server=model, count=run.reports, until=time.monotonic() + run.seconds
    )
    try_too_long(run.tally, client, server=model, context=context, may_be_answered=True)


def _offered_models(base_url: str, key: str) -> dict[str, dict[str, Any]]:
    """The rows of GET /models by id; nothing where the server has no such list."""
    request = urllib.request.Request(  # noqa: S310  the address is the caller's own
        f"{base_url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"}
    )
    # As the product does it: no proxy stands between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as response:
            told = json.load(response)
    except (OSError, ValueError) as error:
        say(f"GET /models is of no use here: {error}")
        return {}
    rows = told.get("data", []) if isinstance(told, dict) else told
    return {
        row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)
    }


def _context(offered: dict[str, dict[str, Any]], model: str) -> int | None:
    row = offered.get(model, {})
    meta = row.get("meta")
    values = [row.get(key) for key in CONTEXT_KEYS]
    values.append(meta.get("n_ctx") if isinstance(meta, dict) else None)
    return min((each for each in values if isinstance(each, int)), default=None)
