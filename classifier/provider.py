"""One call of an OpenAI-compatible server, bounded in time and bytes: a question, a list, a file.

The SDK is used for its transport only. Its retries, redirects, proxies and organisation variables
are off; its objects are not touched, because it validates nothing; its exceptions carry the prompt
and the key, so they become a `ProviderError` at once.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urljoin

from django.conf import settings

from classifier.provider_errors import Fault, ProviderError, of_status

if TYPE_CHECKING:
    import httpx2
    import openai

__all__ = [
    "Fault",
    "ProviderError",
    "Reply",
    "ask",
    "download_file",
    "fetch",
    "load",
    "send",
    "upload_file",
]

# A list stands ready at the server, and a person may wait for it in the admin.
FETCH_SECONDS = 5.0
_PIECE_BYTES = 64 * 1024


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


def send(
    *,
    method: Literal["get", "post", "delete"],
    path: str,
    seconds: float,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
) -> bytes:
    """The body of one call's answer within so many seconds; raises `ProviderError`.

    `path` is relative to the base URL ("batches"); `body` goes as JSON with a POST.
    """
    load()
    import httpx2  # noqa: PLC0415

    with _bounded(seconds, {}) as timeout:
        options: openai.RequestOptions = {"timeout": timeout, "params": dict(query or {})}
        client, kind = _client(), httpx2.Response
        match method:
            case "get":
                reply = client.get(path, cast_to=kind, options=options)
            case "post":
                reply = client.post(path, cast_to=kind, body=body, options=options)
            case "delete":
                reply = client.delete(path, cast_to=kind, options=options)
    return reply.content


def upload_file(*, path: Path, name: str, purpose: str, seconds: float) -> bytes:
    """The body of the answer to an upload, which is read from disk piece by piece.

    Raises `ProviderError`, and OSError where the file cannot be read.
    """
    load()
    import httpx2  # noqa: PLC0415

    with path.open("rb") as file, _bounded(seconds, {}) as timeout:
        reply = _client().post(
            "files",
            cast_to=httpx2.Response,
            body={"purpose": purpose},
            files={"file": (name, file, "application/jsonl")},
            options={"timeout": timeout, "headers": {"Content-Type": "multipart/form-data"}},
        )
    return reply.content


def download_file(*, file_id: str, to: Path, most_bytes: int, seconds: float) -> int:
    """Write a remote file's content to `to`, piece by piece; how many bytes it has.

    Raises `ProviderError`, with the code `too_large` above `most_bytes`, and OSError where it
    cannot be written. `to` then holds a part.
    """
    load()
    size = 0
    with (
        to.open("wb") as file,
        _bounded(seconds, {}, most_bytes=most_bytes) as timeout,
        _client().files.with_streaming_response.content(file_id, timeout=timeout) as response,
    ):
        for piece in response.iter_bytes(_PIECE_BYTES):
            size += file.write(piece)
    return size


@contextmanager
def _bounded(
    seconds: float,
    parameters: Mapping[str, Any],
    user: str = "",
    *,
    most_bytes: int | None = None,
) -> Iterator["httpx2.Timeout"]:
    """One call's deadline, and its errors as ours; gives the timeout to call with."""
    import httpx2  # noqa: PLC0415
    import openai  # noqa: PLC0415

    from classifier import transport  # noqa: PLC0415

    try:
        most = transport.MAX_REPLY_BYTES if most_bytes is None else most_bytes
        with transport.deadline(ends=time.monotonic() + seconds, most_bytes=most):
            yield httpx2.Timeout(seconds, connect=min(5.0, seconds))
    except openai.APIStatusError as error:
        raise of_status(
            error.status_code,
            body=error.body,
            headers=error.response.headers,
            request_id=error.request_id,
            parameters=parameters,
            user=user,
        ) from None
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
