from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from reports.submission import MAX_BODY_BYTES, parse_json


class BodyTooLarge(APIException):
    status_code = 413
    default_detail = f"The body has more than {MAX_BODY_BYTES} bytes."
    default_code = "body_too_large"


class LengthRequired(APIException):
    status_code = 411
    default_detail = "Send the body with a Content-Length, not chunked."
    default_code = "length_required"


def require_length(request: Request) -> None:
    """Refuse a chunked body, which DRF would take for an empty one and never parse."""
    if "Transfer-Encoding" in request.headers and not request.headers.get("Content-Length"):
        raise LengthRequired


class StrictJSONParser(BaseParser):
    """UTF-8 JSON up to the limit; what is too large is refused before it is read."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        headers = (parser_context or {})["request"].META
        charset = (media_type or "").lower().partition("charset=")[2].strip(' "')
        if charset not in ("", "utf-8", "utf8"):
            raise UnsupportedMediaType(media_type or "")
        if int(headers.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
            raise BodyTooLarge
        return parse_json(stream.read(MAX_BODY_BYTES + 1))
