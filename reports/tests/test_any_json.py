"""Whatever JSON arrives, the answer is 202 or 400, and what was accepted stands as it was sent (V8)."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.fingerprint import fingerprint
from reports.models import Report, ReporterIdentity
from reports.tests.sending import Client

# One sender for all examples is what a real one looks like.
EXAMPLES = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ANY_TEXT = st.text(st.characters(codec=None), max_size=20)  # NUL and lone surrogates included
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**98), 10**99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT
)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
IDS = st.none() | STORABLE


def bodies(text: Any, anything: Any) -> Any:
    """Bodies of the right shape, with every optional field there, null or missing."""
    message = st.fixed_dictionaries(
        {"text": text},
        optional={
            "id": IDS,
            "author_id": IDS,
            "reported": st.none() | st.booleans(),
            "sent_at": st.none() | st.just("2026-11-01T10:00:00Z"),
        },
    )
    return st.fixed_dictionaries(
        {
            "item": st.fixed_dictionaries(
                {"type": STORABLE, "id": STORABLE}, optional={"author_id": IDS, "url": st.none()}
            ),
            "messages": st.lists(message, min_size=1, max_size=3),
        },
        optional={
            "reporter": st.none() | st.fixed_dictionaries({}, optional={"id": IDS}),
            "reason": st.none() | st.just("threat"),
            "comment": st.none() | STORABLE,
            "language": st.none() | st.just("ar"),
            "metadata": st.none() | st.dictionaries(STORABLE, anything, max_size=4),
        },
    )


def as_sent(report: Report) -> dict[str, Any]:
    """The body as the rows hold it: the content, and the reporter from where it stands apart."""
    body = dict(report.content.body)
    if report.reporter_pseudonym:
        identity = ReporterIdentity.objects.get(
            sender=report.sender, pseudonym=report.reporter_pseudonym
        )
        body["reporter"] = {"id": identity.external_id}
    return body


def as_floats(document: Any) -> Any:
    """jsonb writes a large float out in digits, which Python then reads as an integer."""
    return json.loads(json.dumps(document), parse_int=float)


def assert_stored_as_sent(answer: Any, document: Any) -> None:
    report = Report.objects.get(public_id=answer.json()["id"])
    assert as_floats(as_sent(report)) == as_floats(document)
    assert bytes(report.fingerprint) == fingerprint(document)
    assert fingerprint(as_sent(report)) == fingerprint(document)


@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
@EXAMPLES
@given(document=ANY_JSON)
def test_any_json_is_stored_or_refused(
    client_of_sender: Client,
    ascii_only: bool,  # noqa: FBT001
    document: Any,
) -> None:
    raw = json.dumps(document, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")

    answer = client_of_sender.post(raw=raw)

    assert answer.status_code == 400, answer.content  # the shape is never met by chance
    assert answer.json()["errors"]


@EXAMPLES
@given(document=bodies(ANY_TEXT, ANY_JSON))
def test_any_body_of_the_right_shape_is_stored_as_sent_or_refused(
    client_of_sender: Client, document: dict[str, Any]
) -> None:
    answer = client_of_sender.post(document)

    assert answer.status_code in {202, 400}, answer.content
    if answer.status_code == 202:
        assert_stored_as_sent(answer, document)
    else:
        assert answer.json()["errors"]


STORABLE_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**98), 10**99)
    | st.floats(allow_nan=False, allow_infinity=False) | STORABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STORABLE, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@EXAMPLES
@given(document=bodies(STORABLE.map(lambda text: f"x{text}"), STORABLE_JSON))
def test_any_right_body_is_stored_as_sent(
    client_of_sender: Client, document: dict[str, Any]
) -> None:
    answer = client_of_sender.post(document)

    assert answer.status_code == 202, answer.content
    assert_stored_as_sent(answer, document)
