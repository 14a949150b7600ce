"""Any OpenAI-compatible server, by OPENAI_BASE_URL, OPENAI_API_KEY and MODEL."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from django.utils import timezone

from classifier.catalogue import effective_limit, is_unlisted, sync_model
from dev.interop.answering import try_reports, try_too_many_parts
from dev.interop.splitting import try_split
from dev.interop.tally import say

if TYPE_CHECKING:
    from classifier.limits import Limit
    from dev.interop.questions import Client
    from dev.interop.run import Run

FEW_TOKENS = 6_000
"""Below, the first policy leaves too little room for a report."""
MOST_TOKENS = 40_000
"""Four times more than that are too many calls, and more than the API takes in one report."""
MOST_TRIES = 3


def try_other(run: Run, client: Client, *, base_url: str) -> None:
    """Many reports, the schema, one report of too many parts, one of many parts."""
    tally, model = run.tally, os.environ["MODEL"]
    key = os.environ.get("OPENAI_API_KEY") or "not-needed"
    until = time.monotonic() + run.seconds
    client.use(base_url=base_url, model=model, key=key)
    if run.recorded_limit is not None:
        client.record_limit(run.recorded_limit)
    stored = _stored_limit(client, f"{model} at {base_url}")
    tokens = stored.tokens if stored else None
    if tokens is not None and tokens < FEW_TOKENS:
        say("        asked under a short policy: the first one leaves too little room for a report")
        client.use(base_url=base_url, model=model, key=key, short_policy=True)
    try_reports(tally, client, server=model, count=run.reports, until=until)
    try_too_many_parts(tally, client, server=model, limit=tokens)
    if tokens is None or tokens > MOST_TOKENS:
        why = "no limit is stored." if tokens is None else f"the limit is above {MOST_TOKENS:,}."
        tally.skip(f"{model}: a report four times over the limit", why=why)
        return
    try_split(
        tally,
        client,
        server=model,
        limit=tokens,
        tokens_of=None,
        most_tries=MOST_TRIES,
        until=until,
    )


def _stored_limit(client: Client, name: str) -> Limit | None:
    """What the product stores of the model after reading the server's list, and says so."""
    synced = sync_model(client.row())
    limit = effective_limit(synced.model, today=timezone.now().date())
    if limit is not None:
        say(f"{name}: the stored limit is {limit.tokens:,} tokens by {limit.source}")
    elif synced.failure:
        say(f"{name}: no limit, the list was not read: {synced.failure}")
    else:
        unlisted = "the list has no model of this name" if is_unlisted(synced.model) else "not told"
        say(f"{name}: no limit ({unlisted}), so it is not asked; give it with --recorded-limit")
    return limit
