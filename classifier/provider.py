"""Asking: one call of an OpenAI-compatible server, bounded in time and bytes.

The SDK is used for its transport only. Its retries, redirects, proxies and organisation variables
are off; its objects are not touched, because it validates nothing; its exceptions carry the prompt
and the key, so they become a `ProviderError` at once.
"""

import email.utils
import json
import math
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from django.conf import settings

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

if TYPE_CHECKING:
    import httpx2
    import openai

# A server that asks for more than this has sent garbage, which is answered by our own wait.
LONGEST_RETRY_AFTER_SECONDS = 30 * 24 * 3600.0
# A list stands ready at the server, and a person may wait for it in the admin.
FETCH_SECONDS = 5.0


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


@dataclass(frozen=True)
class Reply:
    """The bytes of a 200 answer, unread, and how long they took."""

    body: bytes
    seconds: float


def ask(*, model: str, system: str, user: str, parameters: Mapping[str, Any]) -> Reply:
    """One question under `MODEL_DEADLINE_SECONDS` in all; raises `ProviderError`.

    `parameters` are the request's further fields (`response_format`, …). Call it with no
    transaction open and the database connection returned.
    """
    load()  # before the time runs
    started = time.monotonic()
    with (
        _bounded(settings.MODEL_DEADLINE_SECONDS, parameters, user) as timeout,
        _client().chat.completions.with_streaming_response.create(
            model=model,
            messages=[
                {"role": "system", "content": system},
                {"role": "user", "content": user},
            ],
            timeout=timeout,
            extra_body=dict(parameters),
        ) as response,
    ):
        body = b"".join(response.iter_bytes())
    return Reply(body=body, seconds=time.monotonic() - started)


def fetch(path: str) -> bytes:
    """The body of one GET under `FETCH_SECONDS` in all; raises `ProviderError`.

    `path` is relative to the base URL ("models") or begins at its host's root ("/props").
    """
    load()
    import httpx2  # noqa: PLC0415

    url = urljoin(settings.OPENAI_BASE_URL, path) if path.startswith("/") else path
    with _bounded(min(FETCH_SECONDS, settings.MODEL_DEADLINE_SECONDS), {}) as timeout:
        reply = _client().get(url, cast_to=httpx2.Response, options={"timeout": timeout})
    return reply.content


@contextmanager
def _bounded(
    seconds: float, parameters: Mapping[str, Any], user: str = ""
) -> Iterator["httpx2.Timeout"]:
    """One call's deadline, and its errors as ours; gives the timeout to call with."""
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    from classifier import transport  # noqa: PLC0415

    try:
        with transport.deadline(ends=time.monotonic() + seconds):
            yield httpx2.Timeout(seconds, connect=min(5.0, seconds))
    except openai.APIStatusError as error:
        raise _from_status(error, parameters, user) from None
    except (openai.OpenAIError, httpx2.HTTPError, JSONDecodeError, UnicodeDecodeError) as error:
        raise _from_transport(error) from None


def load() -> None:
    """Load the SDK: half a second and 45 MB. A web process pays them once a list is read there."""
    import openai  # noqa: F401, PLC0415

    import classifier.transport  # noqa: F401, PLC0415


_lock = threading.Lock()
_clients: dict[tuple[int, str], "openai.OpenAI"] = {}


def _fresh_lock() -> None:
    global _lock  # noqa: PLW0603 - a thread that does not exist in the child may hold the parent's
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_fresh_lock)


def _client() -> "openai.OpenAI":
    """One client a process, shared by its threads.

    A forked child makes its own: children that share a parent's sockets receive one another's
    answers. The inherited one is left alone, since closing it would close the parent's sockets.
    """
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    from classifier.transport import DeadlineTransport  # noqa: PLC0415

    owner = os.getpid(), settings.OPENAI_BASE_URL
    with _lock:
        if owner not in _clients:
            # The SDK would send these headers along to any server, and offers no way to refuse.
            os.environ.pop("OPENAI_CUSTOM_HEADERS", None)
            omit = openai.Omit()
            # A connection a call: what a server sends behind its answer would wait on a kept one and
            # be read as the answer to the next report.
            limits = httpx2.Limits(max_connections=64, max_keepalive_connections=0)
            _clients[owner] = openai.OpenAI(
                api_key=settings.OPENAI_API_KEY,
                base_url=settings.OPENAI_BASE_URL,
                max_retries=0,
                http_client=httpx2.Client(
                    transport=DeadlineTransport(limits=limits),
                    follow_redirects=False,  # a redirect would carry the prompt to another host
                    trust_env=False,
                ),
                default_headers={
                    "Accept-Encoding": "identity",  # no compressed bomb
                    "OpenAI-Organization": omit,  # type: ignore[dict-item]  # the SDK's way to send none
                    "OpenAI-Project": omit,  # type: ignore[dict-item]
                },
            )
        return _clients[owner]


def _from_transport(error: Exception) -> ProviderError:
    """The fault behind an exception without a status: time ran out, or no whole answer came."""
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    for each in (error, error.__cause__):
        if isinstance(each, (httpx2.TimeoutException, openai.APITimeoutError)):
            return ProviderError(Fault.TIMEOUT)
    code = getattr(error, "code", None) or getattr(error.__cause__, "code", None)
    return ProviderError(Fault.UNAVAILABLE, code=code or type(error).__name__)


def _from_status(
    error: "openai.APIStatusError", parameters: Mapping[str, Any], user: str
) -> ProviderError:
    """The fault behind an HTTP status, by the body's codes first where they tell more."""
    status, body = error.status_code, error_object(error.body)
    codes = codes_of(body)
    parameter = None
    if codes & QUOTA or status == 402:
        fault = Fault.QUOTA
    elif filtered(body):
        fault = Fault.CONTENT_FILTERED
    elif codes & TOO_LONG or status == 413:
        fault = Fault.TOO_LONG
    elif "json_validate_failed" in codes:  # the server's own check of the model's answer
        fault = Fault.ANSWER_INVALID
    elif status == 429:
        fault = Fault.RATE_LIMITED
    elif status in {401, 403}:
        fault = Fault.CREDENTIALS
    elif status == 400 and says_too_long(body, user):
        fault = Fault.TOO_LONG
    else:
        parameter = _blamed(error, parameters, user)
        if parameter is None and (status == 404 or "model_not_found" in codes):
            fault = Fault.UNKNOWN_MODEL
        elif status in {408, 409, 425} or status >= 500:
            fault = Fault.UNAVAILABLE
        else:
            fault = Fault.REJECTED
    return ProviderError(
        fault,
        status=status,
        code=min(codes, default=None),
        parameter=parameter,
        request_id=one_word(error.request_id),
        retry_after=_retry_after(error.response.headers),
        limit=stated_limit(body, user) if fault is Fault.TOO_LONG else None,
    )


def _blamed(error: "openai.APIStatusError", parameters: Mapping[str, Any], user: str) -> str | None:
    """The parameter of ours that the server would not have: named as such, or in its words.

    Its words may quote the evidence or the whole request, so a name that stands in the evidence
    proves nothing, and neither do several names.
    """
    if error.status_code not in {400, 404, 422, 500, 501}:
        return None
    named = str(error_object(error.body).get("param") or "").partition(".")[0]
    if named in parameters:
        return named
    words = json.dumps(error.body) if isinstance(error.body, (Mapping, list)) else str(error.body)
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
