"""Further errors that servers, and what stands before them, give."""

from classifier.tests.shapes.row import (
    CREDENTIALS,
    FILTERED,
    HARMLESS,
    INVALID,
    KEY,
    QUOTA,
    RATE_LIMITED,
    RECORDED,
    REJECTED,
    REPLY_MARK,
    SAFE,
    TOO_LONG,
    UNAVAILABLE,
    UNKNOWN_MODEL,
    Shape,
    body,
    error,
    html,
    shapes,
)

# --- Who judges the content, and in which words

FLAGGED = {
    "error": {
        "code": 403,
        "message": f"Input was flagged: {REPLY_MARK}",
        "metadata": {"reasons": ["violence"], "flagged_input": HARMLESS, "provider_name": "X"},
    }
}
GROQ = {
    "error": {
        "message": "Failed to validate JSON. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "json_validate_failed",
        "failed_generation": f"{SAFE} {REPLY_MARK} {HARMLESS}",
    }
}
DASHSCOPE = {
    "error": {
        "code": "data_inspection_failed",
        "param": None,
        "message": "Input data may contain inappropriate content.",
        "type": "data_inspection_failed",
    }
}
INVALID_PROMPT = {
    "error": {
        "message": "Invalid prompt: your prompt was flagged as potentially violating our usage "
        "policy. Please try again with a different prompt.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_prompt",
    }
}

FILTERS = shapes(
    ("own: OpenRouter's 403 with the flagged input", error(403, body=FLAGGED), FILTERED),
    ("own: DashScope's data_inspection_failed", error(400, body=DASHSCOPE), FILTERED),
    (
        "own: Moonshot's content_filter as the type",
        error(400, type="content_filter", message="The request was considered high risk"),
        FILTERED,
    ),
    ("own: OpenAI's invalid_prompt", error(400, body=INVALID_PROMPT), FILTERED),
    (
        "own: GLM's 1301",
        error(400, body={"error": {"code": "1301", "message": "敏感内容"}, "contentFilter": [{}]}),
        FILTERED,
    ),
    ("own: OpenRouter's 200 with the flagged input", body(FLAGGED), FILTERED),
)

TOO_MUCH = shapes(
    ("own: OpenAI's context_length_exceeded", error(400, code="context_length_exceeded"), TOO_LONG),
    (
        "own: llama.cpp's exceed_context_size_error",
        error(400, body={"error": {"type": "exceed_context_size_error", "n_ctx": 2048}}),
        TOO_LONG,
    ),
    (
        "own: vLLM's words",
        error(
            400,
            body={
                "object": "error",
                "message": "This model's maximum context length is 2048 tokens. However, you "
                "requested 6041 tokens in the messages, Please reduce the length of the messages.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
        ),
        TOO_LONG,
    ),
    ("own: nginx's 413", html(413), TOO_LONG),
)

JUDGED_BY_THE_SERVER = shapes(("own: Groq's json_validate_failed", error(400, body=GROQ), INVALID))

# --- Faults of the provider by status and code

CLOUDFLARE = (520, 521, 522, 523, 524, 525, 526, 530)

STATUSES = [
    *shapes(
        *((f"own: Cloudflare's {status}", html(status), UNAVAILABLE) for status in CLOUDFLARE),
        ("own: Anthropic's 529", error(529, type="overloaded_error"), UNAVAILABLE),
        ("own: nginx's 502", html(502), UNAVAILABLE),
        ("own: a 503 in plain words", body(REPLY_MARK, status=503), UNAVAILABLE),
        ("own: a 500 of nothing", body("", status=500), UNAVAILABLE),
        ("own: a 408", error(408), UNAVAILABLE),
        ("own: a 409", error(409), UNAVAILABLE),
        ("own: 401", error(401, code="invalid_api_key"), CREDENTIALS),
        ("own: Cloudflare's challenge", html(403, Server="cloudflare"), CREDENTIALS),
        ("own: 403 for the region", error(403, code="unsupported_country_region"), CREDENTIALS),
        ("own: 402", error(402, message="Insufficient Balance"), QUOTA),
        ("own: a 429 for billing", error(429, code="billing_hard_limit_reached"), QUOTA),
        ("own: a 429 whose type is the quota", error(429, type="insufficient_quota"), QUOTA),
        ("own: 404 for the model", error(404, code="model_not_found"), UNKNOWN_MODEL),
        ("own: a 404 in HTML", html(404), UNKNOWN_MODEL),
        ("own: a 400 for the model", error(400, code="model_not_found"), UNKNOWN_MODEL),
        ("own: a 400 without a reason", error(400), REJECTED),
        ("own: a 400 with the text as its code", error(400, code=HARMLESS), REJECTED),
        ("own: a 405", html(405), REJECTED),
        ("own: a 451", html(451), REJECTED),
        (
            "own: Gemini's errors in a list",
            body([{"error": {"code": 429}}], status=429),
            RATE_LIMITED,
        ),
        ("own: a code that is an object", error(400, body={"error": {"code": {}}}), REJECTED),
        ("own: an error that is a text", error(400, body={"error": REPLY_MARK}), REJECTED),
        ("own: an error of 900 levels", body("[" * 900 + "]" * 900, status=400), REJECTED),
        ("own: a broken error", body('{"error": {"message": "' + REPLY_MARK, status=400), REJECTED),
    ),
    *shapes(
        (
            "own: Gemini's 400 for a wrong key",
            body([{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}], status=400),
            REJECTED,
        ),
        differs="nothing but its words says that the key is wrong",
    ),
    *shapes(
        (
            "own: OpenRouter's 200 for a rate limit",
            body({"error": {"code": 429, "message": REPLY_MARK}}),
            UNAVAILABLE,
        ),
        (
            "own: OpenRouter's 200 for an empty account",
            body({"error": {"code": 402, "message": REPLY_MARK}}),
            UNAVAILABLE,
        ),
        differs="a fault of the provider either way; five in a row are a rest",
    ),
    *shapes(
        (
            "own: an error that echoes prompt and headers",
            error(
                400,
                message=f"-----BEGIN EVIDENCE x-----\n{HARMLESS * 500}\nAuthorization: Bearer {KEY}",
                param=f"Bearer {KEY}",
                type=HARMLESS,
            ),
            REJECTED,
        ),
        (
            "own: a request id of noise",
            error(503, headers={"x-request-id": f"\x1b[31m{REPLY_MARK}؛ {HARMLESS}"}),
            UNAVAILABLE,
        ),
    ),
]

# Whatever the charset is called, the status counts.
CHARSETS = shapes(
    *(
        (
            f"own: a 503 in the charset {name}",
            html(503, Content_Type=f"text/html; charset={name}"),
            UNAVAILABLE,
        )
        for name in ("undefined", "utf-16", "hex", "x-user-defined", "utf8mb4")
    ),
    (
        "own: a 429 in the charset undefined",
        html(429, Content_Type="text/html; charset=undefined", Retry_After="9"),
        RATE_LIMITED,
    ),
)

OUR_ROOM = shapes(
    (
        "own: the room for a thought is more than the server has",
        error(
            400,
            message="This model's maximum context length is 16384 tokens. However, you requested "
            "18000 output tokens and your prompt contains at least 900 input tokens, for a total "
            "of at least 18900 tokens.",
            type="BadRequestError",
            param="input_tokens",
        ),
        RECORDED,
    ),
    model={"thinks": True},
    calls=2,
)

OWN_ERRORS: dict[str, list[Shape]] = {
    "own filters": FILTERS,
    "own too much": TOO_MUCH,
    "own judged by the server": JUDGED_BY_THE_SERVER,
    "own statuses": STATUSES,
    "own charsets": CHARSETS,
    "own our room": OUR_ROOM,
}
