from typing import TYPE_CHECKING, cast

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

if TYPE_CHECKING:  # rest_framework.views imports this module
    from rest_framework.views import APIView

    from reports.models import ApiKey


class SenderThrottle(SimpleRateThrottle):
    """So many requests a sender and web process (`INTAKE_RATE`); counts in memory, never in Redis."""

    scope = "sender"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:  # noqa: ARG002
        key = cast("ApiKey | None", request.auth)
        return None if key is None else f"throttle-sender-{key.sender_id}"
