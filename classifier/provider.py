"""Asking: one call of an OpenAI-compatible server, bounded in time and bytes.

The SDK is used for its transport only. Its retries, redirects, proxies and organisation variables
are off; its objects are not touched, because it validates nothing; its exceptions carry the prompt
and the key, so they become a `ProviderError` at once.
"""

import email.utils
import math
import os
import queue
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from django.conf import settings

if TYPE_CHECKING:
    import openai

# An answer is a few kilobytes; a reasoning model's a few hundred. Nothing honest is larger.
MAX_REPLY_BYTES = 2 * 1024 * 1024


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


class ProviderError(Exception):
    """No answer. Never holds the prompt, the key or the reply."""

    def __init__(
        self,
        fault: Fault,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{fault} (status {status}, code {code}, request {request_id})")
        self.fault = fault
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        """Seconds that the server asked to wait, if it did."""


@dataclass(frozen=True)
class Reply:
    """The bytes of a 200 answer, unread, and how long they took."""

    body: bytes
    seconds: float


def ask(*, model: str, system: str, user: str, response_format: Mapping[str, Any]) -> Reply:
    """One question under `MODEL_DEADLINE_SECONDS` in all; raises `ProviderError`.

    Call it with no transaction open and the database connection returned.
    """
    load()  # before the time runs

    seconds = settings.MODEL_DEADLINE_SECONDS
    came: queue.SimpleQueue[Reply | BaseException] = queue.SimpleQueue()

    def talk() -> None:
        try:
            came.put(_call(model, system, user, response_format, seconds))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            came.put(error)

    # Every timeout of the SDK is per read, and a server may drip header lines for ever. So a thread
    # of its own talks; at the deadline it is left behind and ends with its next read.
    threading.Thread(target=talk, name="ask", daemon=True).start()
    try:
        result = came.get(timeout=seconds)
    except queue.Empty:
        raise ProviderError(Fault.TIMEOUT) from None
    if isinstance(result, BaseException):
        raise result
    return result


def load() -> None:
    """Load the SDK: half a second and 45 MB that web processes never pay."""
    import openai  # noqa: F401, PLC0415


def _call(
    model: str, system: str, user: str, response_format: Mapping[str, Any], seconds: float
) -> Reply:
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    started = time.monotonic()
    try:
        client = _client()
        with client.chat.completions.with_streaming_response.create(
            model=model,
            messages=[
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            response_format=response_format,  # type: ignore[call-overload]  # ours is a plain dict
            timeout=httpx2.Timeout(seconds, connect=min(5.0, seconds)),
        ) as response:
            body = _read(response, started + seconds)
    except ProviderError:
        raise
    except openai.APITimeoutError:
        raise ProviderError(Fault.TIMEOUT) from None
    except openai.APIStatusError as error:
        raise _from_status(error) from None
    except (openai.OpenAIError, httpx2.HTTPError, JSONDecodeError, UnicodeDecodeError) as error:
        if isinstance(error, httpx2.TimeoutException):
            raise ProviderError(Fault.TIMEOUT) from None
        raise ProviderError(Fault.UNAVAILABLE, code=type(error).__name__) from None
    return Reply(body=body, seconds=time.monotonic() - started)


def _read(response: Any, deadline: float) -> bytes:
    """The body chunk by chunk: the SDK's timeout is per read, so a dripping server would hold us."""
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if time.monotonic() > deadline:
            raise ProviderError(Fault.TIMEOUT)
        if len(body) > MAX_REPLY_BYTES:
            raise ProviderError(Fault.UNAVAILABLE, code="reply_too_large")
    return bytes(body)


_lock = threading.Lock()
_clients: dict[tuple[int, str], "openai.OpenAI"] = {}


def _client() -> "openai.OpenAI":
    """One client a process, shared by its threads.

    A forked child makes its own: children that share a parent's sockets receive one another's
    answers. The inherited one is left alone, since closing it would close the parent's sockets.
    """
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    owner = os.getpid(), settings.OPENAI_BASE_URL
    with _lock:
        if owner not in _clients:
            # The SDK would send these headers along to any server, and offers no way to refuse.
            os.environ.pop("OPENAI_CUSTOM_HEADERS", None)
            omit = openai.Omit()
            _clients[owner] = openai.OpenAI(
                api_key=settings.OPENAI_API_KEY,
                base_url=settings.OPENAI_BASE_URL,
                max_retries=0,
                http_client=openai.DefaultHttpx2Client(
                    follow_redirects=False,  # a redirect would carry the prompt to another host
                    trust_env=False,
                    limits=httpx2.Limits(max_connections=64, max_keepalive_connections=16),
                ),
                default_headers={
                    "Accept-Encoding": "identity",  # no compressed bomb
                    "OpenAI-Organization": omit,  # type: ignore[dict-item]  # the SDK's way to send none
                    "OpenAI-Project": omit,  # type: ignore[dict-item]
                },
            )
        return _clients[owner]


def _from_status(error: "openai.APIStatusError") -> ProviderError:
    """The fault behind an HTTP status, by status first and by the body's code where it matters."""
    status = error.status_code
    code = _code(error)
    retry_after = _retry_after(error.response.headers)
    if code in {"insufficient_quota", "billing_hard_limit_reached"} or status == 402:
        fault = Fault.QUOTA
    elif status == 429:
        fault = Fault.RATE_LIMITED
    elif status in {401, 403}:
        fault = Fault.CREDENTIALS
    elif code in {"content_filter", "ResponsibleAIPolicyViolation"}:
        fault = Fault.CONTENT_FILTERED
    elif code in {"context_length_exceeded", "exceed_context_size_error"} or status == 413:
        fault = Fault.TOO_LONG
    elif status == 404 or code == "model_not_found":
        fault = Fault.UNKNOWN_MODEL
    elif status in {408, 409, 425} or status >= 500:
        fault = Fault.UNAVAILABLE
    else:
        fault = Fault.REJECTED
    return ProviderError(
        fault, status=status, code=code, request_id=error.request_id, retry_after=retry_after
    )


def _code(error: "openai.APIStatusError") -> str | None:
    """The body's `code` or `type` where it is one word; the message may quote the text."""
    body = error.body if isinstance(error.body, Mapping) else {}
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        return None
    for key in ("code", "type"):
        value = inner.get(key)
        if isinstance(value, str) and re.fullmatch(r"[\w.-]{1,64}", value, re.ASCII):
            return value
    return None


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
        if math.isfinite(seconds) and seconds > 0:
            return seconds
    return None
