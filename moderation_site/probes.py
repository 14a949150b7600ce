"""`/healthz`, `/readyz` and `/metrics`, before anything else looks at the request.

A probe asks a process by its own address, over plain HTTP and under no host name of ours; the checks
of names and of TLS are for browsers.
"""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from moderation_site.health import alive, ready
from moderation_site.metrics import metrics

PROBES: dict[str, Callable[[HttpRequest], HttpResponseBase]] = {
    "/healthz": alive,
    "/readyz": ready,
    "/metrics": metrics,
}


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware; stands first."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        return PROBES.get(request.path, get_response)(request)

    return answer
