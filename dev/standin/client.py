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

    def clear(self) -> None:
        """Forget every script and every call, and behave normally."""
        self._ask("DELETE", "/script")
        self._ask("DELETE", "/manners")
        self._ask("DELETE", "/calls")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self._address, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ScriptError(answer["error"]["message"])
        return answer
