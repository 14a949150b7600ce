import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from reports.api.authentication import sender_of
from reports.api.parsing import require_length
from reports.api.presentation import (
    ReportOut,
    ReportsPageOut,
    present_new_report,
    present_report,
    status_in_effect,
)
from reports.api.problems import Problem
from reports.intake import accept_report
from reports.models import Report
from reports.submission import FieldError, Submission, read_moment, read_submission

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROBLEM = {(code, "application/problem+json"): Problem for code in (400, 401, 403, 429, 503)}
_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="1 to 255 visible ASCII characters; the same key with the same body is the same "
    "report. One pair of quotes is stripped.",
)
_RETRY_AFTER = OpenApiParameter(
    "Retry-After",
    int,
    OpenApiParameter.HEADER,
    response=[429, 503],
    description="Seconds to wait before the same request is sent again.",
)


def read_idempotency_key(request: Request) -> str:
    """The header's value without its optional quotes; raises `FieldError`."""
    value = request.headers.get("Idempotency-Key")
    if value is None:
        raise FieldError([("Idempotency-Key", "is required as a header")])
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = value[1:-1]
    if not re.fullmatch(r"[\x21-\x7e]{1,255}", value):
        raise FieldError([("Idempotency-Key", "must be 1 to 255 visible ASCII characters")])
    return value


class ReportsPage(CursorPagination):
    """Oldest first: what arrives meanwhile stands behind the cursor.

    A report is stamped when its transaction begins, so one that commits late may come to stand a
    moment before a cursor; a reader who must miss none asks again from a little earlier.
    """

    page_size = 100
    ordering = ("received_at", "id")

    def decode_cursor(self, request: Request) -> Any:
        """The place in the list, or None for its start; `FieldError` for what we never gave out."""
        try:
            cursor = super().decode_cursor(request)
            if cursor is not None and cursor.position is not None:
                read_moment(str(cursor.position))
        except (NotFound, ValueError):
            raise FieldError([("cursor", "is not one that we gave out")]) from None
        return cursor


class ReportsView(APIView):
    pagination_class: ClassVar = ReportsPage

    @extend_schema(
        operation_id="create_report",
        summary="Send a report",
        parameters=[
            _KEY,
            OpenApiParameter("Location", str, OpenApiParameter.HEADER, response=[200, 202]),
            OpenApiParameter("Idempotency-Replayed", str, OpenApiParameter.HEADER, response=[200]),
            _RETRY_AFTER,
        ],
        request=Submission,
        responses={
            (202, "application/json"): ReportOut,
            (200, "application/json"): ReportOut,
            **_PROBLEM,
            **{(code, "application/problem+json"): Problem for code in (411, 413, 415, 422)},
        },
    )
    def post(self, request: Request) -> Response:
        """202: stored now. 200: the same key and body came before; the report as it is now."""
        require_length(request)
        document: Any = request.data
        key = read_idempotency_key(request)
        accepted = accept_report(
            sender=sender_of(request),
            idempotency_key=key,
            document=document,
            submission=read_submission(document),
        )
        headers = {"Location": reverse("report", args=[accepted.report.public_id])}
        if accepted.created:
            return Response(present_new_report(accepted.report), status=202, headers=headers)
        standing = Report.objects.with_decisions().get(pk=accepted.report.pk)
        headers["Idempotency-Replayed"] = "true"
        return Response(present_report(standing), status=200, headers=headers)

    @extend_schema(
        operation_id="list_reports",
        summary="List your reports, oldest first",
        parameters=[
            OpenApiParameter(
                "status", str, enum=Report.Status.values, description="As each report shows it."
            ),
            OpenApiParameter("item_type", str),
            OpenApiParameter("received_after", OpenApiTypes.DATETIME),
            OpenApiParameter("cursor", str, description="From `next` or `previous`."),
            _RETRY_AFTER,
        ],
        responses={(200, "application/json"): ReportsPageOut, **_PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """Pages of 100; follow `next`."""
        page, now = ReportsPage(), timezone.now()
        wanted = _wanted(request, now=now)
        rows: Sequence[Report] = page.paginate_queryset(wanted, request, view=self) or []
        return page.get_paginated_response([present_report(row, now=now) for row in rows])


def _in_status(wanted: Any, status: str, *, now: datetime) -> Any:
    """Those that are shown with the status, which may be another one than they have.

    That is so while the newest decision may be undone, and while a proposal waits.
    """
    undoable = Report.objects.filter(decisions__effective_at__gt=now)
    proposed = Report.objects.filter(
        item__holds__ended_at=None, item__holds__kind="second_approval", status="needs_review"
    )
    told = wanted.filter(pk__in=undoable.values("pk").union(proposed.values("pk")))
    shown = {report.pk: status_in_effect(report, now=now) for report in told}
    if not shown:
        return wanted.filter(status=status)
    alike = [report_id for report_id, name in shown.items() if name == status]
    return wanted.filter(Q(status=status) & ~Q(pk__in=shown) | Q(pk__in=alike))


def _wanted(request: Request, *, now: datetime) -> Any:
    """The sender's reports, narrowed by the address; raises `FieldError` for a wrong value."""
    wanted = Report.objects.filter(sender=sender_of(request)).with_decisions()
    asked = request.query_params
    if unknown := set(asked) - {"status", "item_type", "received_after", "cursor"}:
        raise FieldError([(name, "is not a known parameter") for name in sorted(unknown)])
    if (status := asked.get("status")) is not None:
        if status not in Report.Status.values:
            raise FieldError([("status", f"must be one of {', '.join(Report.Status.values)}")])
        wanted = _in_status(wanted, status, now=now)
    if (item_type := asked.get("item_type")) is not None:
        if "\0" in item_type:
            raise FieldError([("item_type", "holds NUL")])
        wanted = wanted.filter(item__type=item_type)
    if (after := asked.get("received_after")) is not None:
        try:
            # A space is what an unescaped + of the zone becomes in an address.
            wanted = wanted.filter(
                received_at__gt=read_moment(re.sub(r" (?=\d\d:\d\d$)", "+", after))
            )
        except ValueError as error:
            raise FieldError([("received_after", str(error))]) from None
    return wanted


class ReportView(APIView):
    @extend_schema(
        operation_id="read_report",
        summary="Read one report",
        parameters=[_RETRY_AFTER],
        responses={
            (200, "application/json"): ReportOut,
            **_PROBLEM,
            (404, "application/problem+json"): Problem,
        },
    )
    def get(self, request: Request, public_id: UUID) -> Response:
        """Another sender's id is a 404."""
        mine = Report.objects.with_decisions().filter(sender=sender_of(request))
        return Response(present_report(get_object_or_404(mine, public_id=public_id)))
