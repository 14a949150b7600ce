"""What goes over the wire: each call of the product's own client, as asked and as answered.

It stands around `classifier.provider.ask` and changes nothing. Nothing of a call's text is printed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from classifier import provider
from classifier.provider import ProviderError, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGIN, END = "-----BEGIN EVIDENCE", "-----END EVIDENCE"


@dataclass(frozen=True)
class Call:
    """`prompt_tokens` is the server's own count; `fault` says why there was no answer."""

    system: str
    user: str
    prompt_tokens: int | None = None
    fault: str = ""
    limit: int | None = None
    """What a server that refused it as too long said to take at most."""

    @property
    def evidence(self) -> dict[str, Any]:
        """The JSON object between the boundary lines; empty where the call was about no report."""
        if BEGIN not in self.user:
            return {}
        inside = self.user.partition(BEGIN)[2].partition("\n")[2].partition(f"\n{END}")[0]
        found: dict[str, Any] = json.loads(inside)
        return found

    @property
    def is_about_a_report(self) -> bool:
        """Not a probe's, not one that only counts."""
        return bool(self.evidence) and self.evidence["item_type"] != "probe"


class Listener:
    """All calls since `clear`, in their order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._ask = provider.ask
        patch.object(provider, "ask", self._listen).start()

    def clear(self) -> None:
        self.calls = []

    def _listen(
        self, *, model: str, system: str, user: str, parameters: Mapping[str, Any]
    ) -> Reply:
        try:
            reply = self._ask(model=model, system=system, user=user, parameters=parameters)
        except ProviderError as error:
            self.calls.append(Call(system, user, fault=str(error.fault), limit=error.limit))
            raise
        self.calls.append(Call(system, user, prompt_tokens=_usage(reply.body)))
        return reply


def _usage(body: bytes) -> int | None:
    """Read apart from the product's own reader, which is under test."""
    try:
        tokens = json.loads(body)["usage"]["prompt_tokens"]
    except (ValueError, KeyError, TypeError):
        return None
    return tokens if isinstance(tokens, int) else None
