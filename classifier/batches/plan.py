"""What a batch would do, before anybody starts it. Changes nothing and asks nobody."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from classifier.batches.cost import Price, price_of
from classifier.batches.estimate import Tokens, tokens_of_one
from classifier.batches.selection import Selection, history, same_content
from classifier.models import Batch, Job, PolicyVersion, ProviderModel


@dataclass(frozen=True)
class Plan:
    """`reports` would be asked, and `carried` of the selection need no call.

    `never` were refused by a model or a filter: a person decides those. `tokens` and costs are None
    where the model's limit, or its price, is not known. `through` is blank where nobody has asked the
    provider for its Batch API yet.
    """

    version: int
    model: str
    reports: int
    carried: int
    never: int
    oldest: datetime | None
    newest: datetime | None
    by_language: dict[str, int]
    by_status: dict[str, int]
    tokens: Tokens | None
    cost_low: Decimal | None
    cost_high: Decimal | None
    through: str
    last_report: int
    """The batch holds no later report."""


def plan_batch(*, purpose: Batch.Purpose, policy: PolicyVersion, selection: Selection) -> Plan:
    """The reports that a batch would ask under the version, which may be a candidate as well."""
    where = history(purpose=purpose, policy=policy, selection=selection)
    groups = _groups(where, limit=selection.limit, same=same_content(policy))
    carried = sum(group.carried for group in groups)
    reports = sum(group.reports for group in groups) - carried
    model = ProviderModel.objects.filter(
        base_url=settings.OPENAI_BASE_URL, name=policy.model
    ).first()
    through = route(model)
    ends = (
        min((group.first for group in groups), default=0),
        max((group.last for group in groups), default=0),
    )
    tokens = _tokens(policy, model, where, reports=reports, ends=ends)
    price = price_of(model, today=timezone.now().date())
    return Plan(
        version=policy.number,
        model=policy.model,
        reports=reports,
        carried=carried,
        never=_never(purpose, policy, selection),
        oldest=min((group.oldest for group in groups), default=None),
        newest=max((group.newest for group in groups), default=None),
        by_language=_sums((group.language, group.reports) for group in groups),
        by_status=_sums((group.status, group.reports) for group in groups),
        tokens=tokens,
        cost_low=_cost(price, tokens, through, high=False),
        cost_high=_cost(price, tokens, through, high=True),
        through=through,
        last_report=ends[1],
    )


def route(model: ProviderModel | None) -> str:
    """How a batch would be asked; blank where nobody has asked the provider yet."""
    if not settings.BATCH_API:
        return Job.Through.CALLS
    if model is None or model.takes_batches is None:
        return ""
    return Job.Through.PROVIDER_BATCH if model.takes_batches else Job.Through.CALLS


@dataclass(frozen=True)
class _Group:
    language: str
    status: str
    reports: int
    carried: int
    oldest: datetime
    newest: datetime
    first: int
    last: int


def _groups(
    where: tuple[str, Mapping[str, Any]], *, limit: int | None, same: list[int]
) -> list[_Group]:
    tables, parameters = where
    # Carried over is what stands under a version of the same content.
    carried = (
        "EXISTS (SELECT FROM classifier_classification AS older WHERE older.report_id = report.id"
        " AND older.policy_version_id = ANY(%(same)s))"
        if same
        else "false"
    )
    bounded = "ORDER BY report.id LIMIT %(limit)s" if limit else ""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT language, status, count(*), count(*) FILTER (WHERE carried),"  # noqa: S608 - our own words
            " min(received_at), max(received_at), min(id), max(id) FROM ("
            "  SELECT report.id, report.language, report.status, report.received_at,"
            f"  {carried} AS carried {tables} {bounded}) AS chosen"
            " GROUP BY language, status ORDER BY language, status",
            {**parameters, "same": same},
        )
        return [_Group(*row) for row in cursor.fetchall()]


def _never(purpose: Batch.Purpose, policy: PolicyVersion, selection: Selection) -> int:
    tables, parameters = history(purpose=purpose, policy=policy, selection=selection, refused=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) {tables}", parameters)
        found: int = cursor.fetchone()[0]
    return found


def _tokens(
    policy: PolicyVersion,
    model: ProviderModel | None,
    where: tuple[str, Mapping[str, Any]],
    *,
    reports: int,
    ends: tuple[int, int],
) -> Tokens | None:
    if not reports or model is None:
        return Tokens(0, 0, 0, 0) if not reports else None
    one = tokens_of_one(policy=policy, model=model, history=where, ends=ends)
    return one.times(reports) if one else None


def _cost(
    price: Price | None, tokens: Tokens | None, through: str, *, high: bool
) -> Decimal | None:
    if price is None or tokens is None:
        return None
    if high:
        # Who does not know the way yet counts with the dearer one.
        return price.of(
            prompt=tokens.prompt_high, completion=tokens.completion_high, through=through
        )
    cheapest = through or Job.Through.PROVIDER_BATCH
    return price.of(prompt=tokens.prompt_low, completion=tokens.completion_low, through=cheapest)


def _sums(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, count in counts:
        found[name] += count
    return dict(found)
