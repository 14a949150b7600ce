"""What went wrong with a call, by what has to happen next, and how a server's error tells it.

No SDK here: its exceptions carry the prompt and the key, and become a `ProviderError` in `provider`.
"""

import email.utils
import json
import math
import re
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from classifier.server_errors import (
    QUOTA,
    TOO_LONG,
    codes_of,
    error_object,
    filtered,
    one_word,
    says_too_long,
    stated_limit,
)

# A server that asks for more than this has sent garbage, which is answered by our own wait.
LONGEST_RETRY_AFTER_SECONDS = 30 * 24 * 3600.0


class Fault(StrEnum):
    """What went wrong, by what has to happen next. The values are the job's reasons."""

    RATE_LIMITED = "provider_rate_limited"
    UNAVAILABLE = "provider_unavailable"
    TIMEOUT = "provider_timeout"
    QUOTA = "provider_quota"
    CREDENTIALS = "provider_credentials"
    UNKNOWN_MODEL = "unknown_model"
    REJECTED = "provider_rejected"
    TOO_LONG = "too_long"
    CONTENT_FILTERED = "content_filtered"
    ANSWER_INVALID = "answer_invalid"


class ProviderError(Exception):
    """No answer. Never holds the prompt, the key or the reply."""

    def __init__(  # noqa: PLR0913 - all that may be told of an error, by name
        self,
        fault: Fault,
        *,
        status: int | None = None,
        code: str | None = None,
        parameter: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(f"{fault} (status {status}, code {code}, request {request_id})")
        self.fault = fault
        self.status = status
        self.code = code
        self.parameter = parameter
        """Which of the parameters that we sent the server would not have, if it said so."""
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds that the server asked to wait, if it did."""
        self.limit = limit
        """Tokens that the server takes at most, where it said so with `TOO_LONG`."""


def of_status(  # noqa: PLR0913 - all that an error's answer has, by name
    status: int,
    *,
    body: object,
    headers: Mapping[str, str],
    request_id: str | None,
    parameters: Mapping[str, Any],
    user: str,
) -> ProviderError:
    """The fault behind an HTTP status, by the body's codes first where they tell more.

    `body` is the answer's JSON or its text; `parameters` and `user` are what was asked.
    """
    error = error_object(body)
    codes = codes_of(error)
    parameter = None
    if codes & QUOTA or status == 402:
        fault = Fault.QUOTA
    elif filtered(error):
        fault = Fault.CONTENT_FILTERED
    elif codes & TOO_LONG or status == 413:
        fault = Fault.TOO_LONG
    elif "json_validate_failed" in codes:  # the server's own check of the model's answer
        fault = Fault.ANSWER_INVALID
    elif status == 429:
        fault = Fault.RATE_LIMITED
    elif status in {401, 403}:
        fault = Fault.CREDENTIALS
    elif status == 400 and says_too_long(error, user):
        fault = Fault.TOO_LONG
    else:
        parameter = _blamed(status, body, parameters, user)
        if parameter is None and (status == 404 or "model_not_found" in codes):
            fault = Fault.UNKNOWN_MODEL
        elif status in {408, 409, 425} or status >= 500:
            fault = Fault.UNAVAILABLE
        else:
            fault = Fault.REJECTED
    return ProviderError(
        fault,
        status=status,
        # The type is the same for many errors.
        code=one_word(error.get("code")) or min(codes, default=None),
        parameter=parameter,
        request_id=one_word(request_id),
        retry_after=_retry_after(headers),
        limit=stated_limit(error, user) if fault is Fault.TOO_LONG else None,
    )


def _blamed(status: int, body: object, parameters: Mapping[str, Any], user: str) -> str | None:
    """The parameter of ours that the server would not have: named as such, or in its words.

    Its words may quote the evidence or the whole request, so a name that stands in the evidence
    proves nothing, and neither do several names.
    """
    if status not in {400, 404, 422, 500, 501}:
        return None
    named = str(error_object(body).get("param") or "").partition(".")[0]
    if named in parameters:
        return named
    words = json.dumps(body) if isinstance(body, (Mapping, list)) else str(body)
    mentioned = [name for name in parameters if re.search(rf"\b{name}\b", words)]
    return mentioned[0] if len(mentioned) == 1 and mentioned[0] not in user else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `retry-after-ms`, else `Retry-After` as seconds or as a date. Garbage: None."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                when = email.utils.parsedate_to_datetime(value).timestamp()
            except (ValueError, OverflowError):
                continue
            # The date has whole seconds: one more, or we would come too early.
            seconds = when - time.time() + 1
        if math.isfinite(seconds) and 0 < seconds <= LONGEST_RETRY_AFTER_SECONDS:
            return seconds
    return None
