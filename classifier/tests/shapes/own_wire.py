"""Further faults of HTTP and of the wire below it, and answers that only look like one."""

import gzip
import json

from classifier.tests.shapes.row import (
    RATE_LIMITED,
    RECORDED,
    REJECTED,
    REPLY_MARK,
    RESTING,
    TIMEOUT,
    UNAVAILABLE,
    Shape,
    body,
    error,
    headed,
    raw,
    shapes,
)

JSON = "Content-Type: application/json"
OK = "HTTP/1.1 200 OK"

# --- Retry-After; the waits themselves are tested with `classifier.provider`

NONSENSE = (
    "0",
    "-5",
    "nan",
    "inf",
    "1e400",
    "soon",
    "",
    "1, 2",
    "0x10",
    "Wed, 99 Foo 2026 9:9 GMT",
)

LIMITS = shapes(
    *(
        (f"own: Retry-After {value!r}", error(429, headers={"retry-after": value}), RATE_LIMITED)
        for value in NONSENSE
    ),
    (
        "own: a wish to wait with a 503",
        error(503, headers={"retry-after": "7"}),
        RESTING,
    ),
    (
        "own: a compressed 429",
        body(
            gzip.compress(json.dumps({"error": {"message": REPLY_MARK}}).encode()),
            status=429,
            Content_Encoding="gzip",
            Retry_After="7",
        ),
        RATE_LIMITED,
    ),
    (
        "own: a 429 that says it is compressed and is not",
        body(REPLY_MARK, status=429, Content_Encoding="br"),
        RATE_LIMITED,
    ),
    (
        "own: a 503 of three megabytes",
        body("x" * 3_000_000, status=503),
        UNAVAILABLE,
    ),
)

# --- HTTP

WIRE = [
    *shapes(
        ("own: a bomb in gzip", {"kind": "gzip", "megabytes": 16}, UNAVAILABLE),
        ("own: a small answer in gzip", {"kind": "gzip", "megabytes": 0}, UNAVAILABLE),
        ("own: said to be zstd", headed(OK, JSON, "Content-Encoding: zstd"), UNAVAILABLE),
        ("own: without end, uncompressed", {"kind": "flood", "megabytes": 4}, UNAVAILABLE),
        ("own: closed without a byte", {"kind": "close"}, UNAVAILABLE),
        ("own: reset", {"kind": "reset"}, UNAVAILABLE),
        ("own: TLS", raw(then=b"\x15\x03\x01\x00\x02\x02\x0a"), UNAVAILABLE),
        ("own: SSH", raw("SSH-2.0-server"), UNAVAILABLE),
        ("own: HTTP/2", raw("PRI * HTTP/2.0", then=b"SM\r\n\r\n"), UNAVAILABLE),
        ("own: half of a header", raw(then=b"HTTP/1.1 200 OK\r\nContent-Le"), UNAVAILABLE),
        (
            "own: chunks of garbage",
            raw(OK, "Transfer-Encoding: chunked", then=b"zz\r\n"),
            UNAVAILABLE,
        ),
        (
            "own: a negative chunk",
            raw(OK, "Transfer-Encoding: chunked", then=b"-1\r\n"),
            UNAVAILABLE,
        ),
        (
            "own: two lengths",
            headed(OK, JSON, "Content-Length: 2", "Content-Length: 900"),
            UNAVAILABLE,
        ),
        ("own: a length that is too large", headed(OK, JSON, "Content-Length: 9000"), UNAVAILABLE),
        ("own: a length that is too small", headed(OK, JSON, "Content-Length: 9"), UNAVAILABLE),
        ("own: a negative length", headed(OK, JSON, "Content-Length: -1"), UNAVAILABLE),
        ("own: a header without its colon", headed(OK, JSON, "nonsense"), UNAVAILABLE),
        ("own: a header of 200 KB", headed(OK, JSON, "X-Long: " + "a" * 200_000), UNAVAILABLE),
        ("own: a status of four digits", headed("HTTP/1.1 2000 OK", JSON), UNAVAILABLE),
        ("own: 101", raw("HTTP/1.1 101 Switching Protocols", "Upgrade: h2c"), UNAVAILABLE),
        ("own: 100 and no more", raw("HTTP/1.1 100 Continue"), UNAVAILABLE),
        ("own: 204", body("", status=204), UNAVAILABLE),
        (
            "own: 202 and a promise",
            body({"id": "job_1", "status": "queued"}, status=202),
            UNAVAILABLE,
        ),
        ("own: 304", body("", status=304), REJECTED),
        *(
            (
                f"own: {status} to another host",
                {"kind": "redirect", "status": status, "location": "http://127.0.0.1:9/v1"},
                REJECTED,
            )
            for status in (301, 302, 303, 307, 308)
        ),
        ("own: a redirect to nowhere", body("", status=302), REJECTED),
        ("own: HTTP/1.0", headed("HTTP/1.0 200 OK", JSON), RECORDED),
        ("own: no reason phrase", headed("HTTP/1.1 200", JSON), RECORDED),
        ("own: 100 before it", headed("HTTP/1.1 100 Continue", "", OK, JSON), RECORDED),
        ("own: 103 before it", headed("HTTP/1.1 103 Early Hints", "Link: </a>", "", OK), RECORDED),
        ("own: 201", headed("HTTP/1.1 201 Created", JSON), RECORDED),
        ("own: no content type", headed(OK), RECORDED),
        ("own: HTML by its type, JSON in truth", headed(OK, "Content-Type: text/html"), RECORDED),
        ("own: a charset that does not exist", headed(OK, f"{JSON}; charset=undefined"), RECORDED),
        ("own: a thousand cookies", headed(OK, JSON, *["Set-Cookie: a=b"] * 1_000), RECORDED),
        ("own: closed behind the answer", {"kind": "drop_after_answer"}, RECORDED),
        ("own: slow, yet in time", {"kind": "drip", "seconds": 0.1, "interval": 0.01}, RECORDED),
    ),
    *shapes(
        ("own: 206", headed("HTTP/1.1 206 Partial Content", JSON), RECORDED),
        differs="what was read is a whole JSON value; a part of one never is",
    ),
]

SLOW = shapes(
    ("own: silence", {"kind": "hang", "seconds": 5}, TIMEOUT),
    (
        "own: a drip in the headers",
        {"kind": "drip_headers", "seconds": 5, "interval": 0.02},
        TIMEOUT,
    ),
    ("own: one blank line, then silence", {"kind": "drip", "seconds": 5, "interval": 4}, TIMEOUT),
    (
        "own: a drip in an error's body",
        {"kind": "drip", "seconds": 5, "interval": 0.02, "status": 503},
        UNAVAILABLE,
    ),
    ("own: an answer that comes too late", {"kind": "delay", "seconds": 5}, TIMEOUT),
    deadline=0.3,
)

OWN_WIRE: dict[str, list[Shape]] = {
    "own limits": LIMITS,
    "own wire": WIRE,
    "own slow": SLOW,
}
