"""How tests speak to a running stand-in: script it, read what it was asked."""

import http.client
import json
from typing import Any

from dev.standin.script import ScriptError


class Standin:
    """A running stand-in, spoken to over HTTP; in this process or in another."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._address = base_url.removeprefix("http://").removesuffix("/v1")

    def script(
        self, *answers: dict[str, Any], match: str | None = None, times: int | None = 1
    ) -> None:
        """Answer these steps next, `times` times over (None: for ever)."""
        self._ask("POST", "/script", {"match": match, "times": times, "answers": list(answers)})

    def calls(self) -> list[dict[str, Any]]:
        """The logged calls, oldest first; see `dev.standin.calls.Calls` for their shape."""
        return list(self._ask("GET", "/calls")["calls"])

    def behave(self, **manners: Any) -> None:
        """Behave like this until told otherwise, in place of earlier manners; see `manners`."""
        self._ask("PUT", "/manners", manners)

    def fail(
        self, operation: str, step: dict[str, Any], *, times: int = 1, effect: bool = True
    ) -> None:
        """Let the next such calls of the Files and Batch API go wrong; see `batches.faults`."""
        fault = {"on": operation, "step": step, "times": times, "effect": effect}
        self._ask("POST", "/faults", fault)

    def standing(self, *, settled_within: float = 0) -> dict[str, Any]:
        """`files` and `batches` there, oldest first, and `counts` of the operations that were done.

        Waits so many seconds for batches that are not at their end.
        """
        found: dict[str, Any] = self._ask("GET", f"/batches?settled_within={settled_within}")
        return found

    def clear(self) -> None:
        """Forget every script, every call, every file and batch, and behave normally."""
        self._ask("DELETE", "/script")
        self._ask("DELETE", "/manners")
        self._ask("DELETE", "/calls")
        self._ask("DELETE", "/batches")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ScriptError(answer["error"]["message"])
        return answer
