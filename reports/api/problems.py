"""Every error as `application/problem+json` (RFC 9457)."""

import logging
from http import HTTPStatus
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, Field
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from reports.intake import IdempotencyKeyReusedError
from reports.submission import FieldError

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
DATABASE_RETRY_AFTER_SECONDS = 5


class WrongField(BaseModel):
    field: str = Field(description="Path of the field, such as `messages.0.text`; empty: the body.")
    reason: str


class Problem(BaseModel):
    """An error that says what is wrong, where, and what to do."""

    type: str = Field(description="`urn:problem:<code>`")
    title: str
    status: int
    detail: str
    code: str = Field(description="For programs: stable, such as `idempotency_key_reused`.")
    errors: list[WrongField] = Field(default=[], description="The fields that were refused.")


class ProblemRenderer(JSONRenderer):
    media_type = MEDIA_TYPE


def problem(
    *, status: int, code: str, detail: str, errors: list[tuple[str, str]] | None = None
) -> dict[str, Any]:
    return Problem(
        type=f"urn:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        errors=[WrongField(field=field, reason=reason) for field, reason in errors or []],
    ).model_dump()


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. What it does not know stays a 500 with its traceback in the log."""
    headers: dict[str, str] = {}
    match error:
        case FieldError():
            body = problem(
                status=400, code="invalid", detail=f"The request was refused: {error}.",
                errors=error.errors,
            )  # fmt: skip
        case IdempotencyKeyReusedError():
            body = problem(
                status=422,
                code="idempotency_key_reused",
                detail="This Idempotency-Key stands for another body. Nothing was changed; send a "
                "new report under a new key.",
            )
        case OperationalError() | InterfaceError():
            log.error("the database does not answer: %s", type(error).__name__)
            body = problem(
                status=503,
                code="database_unavailable",
                detail="It may not have been stored. Send it again under the same Idempotency-Key.",
            )
            headers["Retry-After"] = str(DATABASE_RETRY_AFTER_SECONDS)
        case _:
            standard = exception_handler(error, context)
            if standard is None:
                return None
            code = error.default_code if isinstance(error, APIException) else "not_found"
            detail = (
                str(error.detail) if isinstance(error, APIException) else "There is no such thing."
            )
            body = problem(status=standard.status_code, code=code, detail=detail)
            headers = {
                name: standard[name]
                for name in ("WWW-Authenticate", "Retry-After", "Allow")
                if standard.has_header(name)
            }
    if request := context.get("request"):
        request.accepted_renderer, request.accepted_media_type = ProblemRenderer(), MEDIA_TYPE
    return Response(body, status=body["status"], headers=headers, content_type=MEDIA_TYPE)


@csrf_exempt  # a mistyped address must not answer with Django's page about cookies
def unknown_address(request: HttpRequest, rest: str = "") -> JsonResponse:  # noqa: ARG001
    """404 for every address below /api/ that is none of ours."""
    body = problem(status=404, code="not_found", detail="There is no such address.")
    return JsonResponse(body, status=404, content_type=MEDIA_TYPE)


def internal_error() -> JsonResponse:
    """500 for what nobody foresaw. The request may be sent again under the same key."""
    body = problem(
        status=500,
        code="internal_error",
        detail="This is an error of ours. Send it again under the same Idempotency-Key.",
    )
    return JsonResponse(body, status=500, content_type=MEDIA_TYPE)
