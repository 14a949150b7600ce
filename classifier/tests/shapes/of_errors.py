"""The catalogue of malformed replies (3.3), where the HTTP answer or its envelope is at fault."""

from classifier.tests.shapes.row import (
    FILTERED,
    HARMLESS,
    MISPLACED,
    REPLY_MARK,
    TRUNCATED,
    UNAVAILABLE,
    WRONG_MODEL,
    PutOff,
    Reason,
    Shape,
    body,
    completion,
    envelope,
    error,
    finish,
    html,
    raw,
    shapes,
)

# As Azure writes it.
VIOLENCE = {
    "error": {
        "message": f"The response was filtered due to the prompt. {REPLY_MARK}: {HARMLESS}",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {
                "hate": {"filtered": False, "severity": "safe"},
                "jailbreak": {"filtered": False, "detected": False},
                "violence": {"filtered": True, "severity": "high"},
            },
        },
    }
}
JAILBREAK = {
    "error": {
        "message": REPLY_MARK,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"jailbreak": {"filtered": True, "detected": True}},
        },
    }
}

FILTERS = shapes(
    ("3.3 #12 a content filter", finish("content_filter"), FILTERED),
    ("3.3 #12 a content filter, nothing said", finish("content_filter", content=None), FILTERED),
    (
        "3.3 #12 a content filter after half of the answer",
        finish("content_filter", content='{"category": "no'),
        FILTERED,
    ),
    ("3.3 #13 violence", error(400, body=VIOLENCE), FILTERED),
    ("3.3 #13 a jailbreak, named inside only", error(400, body=JAILBREAK), FILTERED),
    ("3.3 #13 a code alone", error(400, code="content_filter"), FILTERED),
    ("3.3 #13 OpenAI's other code", error(400, code="content_policy_violation"), FILTERED),
)

BODIES = shapes(
    ("3.3 #17 HTML", html(200), UNAVAILABLE),
    ("3.3 #17 HTML that says JSON", html(200, Content_Type="application/json"), UNAVAILABLE),
    ("3.3 #17 no JSON", body(REPLY_MARK), UNAVAILABLE),
    ("3.3 #17 nothing", body(""), UNAVAILABLE),
    ("3.3 #17 blanks", body("\n" * 4096), UNAVAILABLE),
    ("3.3 #17 half of a JSON, with its length", body('{"choices": ['), UNAVAILABLE),
    ("3.3 #17 a cut body", {"kind": "cut"}, UNAVAILABLE),
    (
        "3.3 #17 a body that ends between two chunks",
        raw(
            "HTTP/1.1 200 OK",
            "Content-Type: application/json",
            "Transfer-Encoding: chunked",
            then=b'c\r\n{"choices": \r\n',
        ),
        UNAVAILABLE,
    ),
    ("1.5 null", body("null"), UNAVAILABLE),
    ("1.5 a list", body([completion()]), UNAVAILABLE),
    ("1.5 a text", body(f'"{REPLY_MARK}"'), UNAVAILABLE),
    ("1.5 an error object", body({"error": {"message": REPLY_MARK}}), UNAVAILABLE),
    ("1.5 choices null", envelope(choices=None), UNAVAILABLE),
    ("1.5 no choices", envelope("choices"), UNAVAILABLE),
    ("1.5 choices empty", envelope(choices=[]), UNAVAILABLE),
)

NOT_OURS = [
    *shapes(
        ("3.3 #39 another model", {"kind": "wrong_model", "model": "a-cheaper-one"}, WRONG_MODEL),
        ("3.3 #39 no model named", envelope("model"), WRONG_MODEL),
        ("3.3 #39 model null", envelope(model=None), WRONG_MODEL),
        ("3.3 #39 the name in capitals", envelope(model="Stand-In-Not-A-Model"), WRONG_MODEL),
        (
            "3.3 #39 a name that is the reported text",
            envelope(model=f"{REPLY_MARK} {HARMLESS}"),
            WRONG_MODEL,
        ),
    ),
    *shapes(
        ("3.3 #40 too few tokens", {"kind": "usage", "prompt_tokens": 12}, TRUNCATED),
        ("3.3 #40 none", {"kind": "usage", "prompt_tokens": 0}, TRUNCATED),
        differs="the model is not disabled: shorter reports still fit it, and three such answers "
        "park the one that does not",
    ),
    *shapes(
        ("3.3 #41 a whole answer of another call", body(completion()), MISPLACED),
        differs="the answer is dropped and the report asked about again; a model is not disabled "
        "for one mix-up, which `for_operations` asks people to look into",
    ),
]

LITERAL = (
    "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    f"'msg': \"Input should be 'text' or 'json_object'\", 'input': '{REPLY_MARK}'}}]"
)
NO_SCHEMA = PutOff(reason=Reason.PROBING, held_back=True, learns={"mode": "json_object"})

DISGUISED = [
    *shapes(
        ("3.3 #43 a 500 that is a 400", error(500, message=LITERAL), NO_SCHEMA),
        ("3.3 #43 the same as FastAPI's 422", error(422, body={"detail": LITERAL}), NO_SCHEMA),
        ("3.3 #43 a bare text", body(LITERAL, status=500, Content_Type="text/plain"), NO_SCHEMA),
        differs="better than a circuit: the parameter is never sent again and the report goes on",
    ),
    *shapes(
        (
            "3.3 #43 the same where no format was asked for",
            error(500, message=LITERAL),
            UNAVAILABLE,
        ),
        model={"mode": "text"},
    ),
]

OF_ERRORS: dict[str, list[Shape]] = {
    "3.3 filters": FILTERS,
    "3.3 bodies": BODIES,
    "3.3 not ours": NOT_OURS,
    "3.3 disguised": DISGUISED,
}
