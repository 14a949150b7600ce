"""Who reports whom raises the floor: several people, trusted flaggers, what people upheld before."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from reports.invalidation import Scope
from reports.models import AuditEntry, Report, Severity, TrustedFlagger
from reports.signals import LOOKED_UP, REPORTERS
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, body_saying, make_sender
from reports.tests.unguarded import unguarded
from reports.triage import SIGNAL_RULES

pytestmark = pytest.mark.django_db


def send(client: Client, *, reporter: str | None = "u-9", **changes: Any) -> Report:
    """A harmless report in which nothing but the signals can raise a floor."""
    fields = {"reporter": {"id": reporter}, "reason": None, "comment": None, **changes}
    return client.send(body_saying("See you at lunch.", **fields))


def item(number: str = "m-1", author: str | None = "u-7") -> dict[str, Any]:
    return {"type": "message", "id": number, "author_id": author}


def said(report: Report) -> tuple[int, list[str]]:
    return report.floor, report.floor_rules


NOTHING: tuple[int, list[str]] = (Severity.NONE, [])


def age(reports: list[Report], *, hours: float) -> None:
    """Time passes: these were received, and upheld, so long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reports_report SET received_at = received_at - make_interval(secs => %s),"
            " upheld_at = upheld_at - make_interval(secs => %s) WHERE id = ANY(%s)",
            [hours * 3600, hours * 3600, [report.pk for report in reports]],
        )


def test_every_signal_has_a_rule_with_a_sentence_and_a_revision() -> None:
    assert [rule.name for rule in SIGNAL_RULES] == [
        "several_reporters",
        "trusted_flagger",
        "item_upheld_before",
        "author_upheld_before",
        "reliable_reporter",
    ]
    assert all(rule.sentence and rule.revision for rule in SIGNAL_RULES)


# --- Several people


def test_the_third_different_reporter_within_an_hour_raises_the_item(
    client_of_sender: Client,
) -> None:
    reports = [
        send(client_of_sender, reporter=f"u-{number}", item=item()) for number in range(REPORTERS)
    ]

    assert [said(report) for report in reports[:-1]] == [NOTHING] * (REPORTERS - 1)
    assert said(reports[-1]) == (Severity.MEDIUM, ["several_reporters"])
    reports[-1].item.refresh_from_db()
    assert reports[-1].item.rank == Severity.MEDIUM


@pytest.mark.django_db(transaction=True)
def test_reports_that_come_together_count_one_another(client_of_sender: Client) -> None:
    def send_one(number: int) -> int:
        try:
            return send(client_of_sender, reporter=f"u-{number}", item=item()).floor
        finally:
            connection.close()

    with ThreadPoolExecutor(REPORTERS) as threads:
        floors = list(threads.map(send_one, range(REPORTERS)))

    assert sorted(floors) == [Severity.NONE] * (REPORTERS - 1) + [Severity.MEDIUM]


def test_one_reporter_stays_one_however_often(client_of_sender: Client) -> None:
    reports = [send(client_of_sender, item=item()) for _again in range(REPORTERS + 2)]

    assert {said(report)[0] for report in reports} == {Severity.NONE}


def test_nobody_knows_how_many_people_are_behind_no_name(client_of_sender: Client) -> None:
    reports = [
        send(client_of_sender, reporter=None, item=item()) for _again in range(REPORTERS + 2)
    ]

    assert {said(report)[0] for report in reports} == {Severity.NONE}


def test_reporters_of_an_hour_ago_or_of_another_item_do_not_count(
    client_of_sender: Client,
) -> None:
    old = [send(client_of_sender, reporter=f"u-{n}", item=item()) for n in range(REPORTERS - 1)]
    age(old, hours=1.01)
    for number in range(REPORTERS):
        send(client_of_sender, reporter=f"u-{number}", item=item("m-2"))

    assert said(send(client_of_sender, reporter="u-99", item=item())) == NOTHING


# --- Trusted flaggers


def trust(*arguments: str) -> None:
    call_command("trust_reporter", "chat-app", "u-9", *arguments)


@pytest.mark.usefixtures("client_of_sender")
def test_a_trusted_flaggers_report_rises(client_of_sender: Client) -> None:
    assert said(send(client_of_sender)) == NOTHING
    trust("--name", "Hotline")

    assert said(send(client_of_sender)) == (Severity.HIGH, ["trusted_flagger"])
    assert said(send(client_of_sender, reporter="u-10")) == NOTHING
    assert said(send(make_sender("forum"))) == NOTHING


def test_a_trusted_flagger_counts_within_the_field_only(client_of_sender: Client) -> None:
    trust("--name", "Hotline", "--reasons", "hate,harassment")

    assert said(send(client_of_sender, reason="hate")) == (Severity.HIGH, ["trusted_flagger"])
    assert said(send(client_of_sender, reason="spam")) == NOTHING
    assert said(send(client_of_sender)) == NOTHING


def test_trust_ends_and_each_change_leaves_one_audit_row(client_of_sender: Client) -> None:
    trust("--name", "Hotline")
    with pytest.raises(CommandError, match="trusted already"):
        trust("--name", "Hotline")
    trust("--end")

    assert said(send(client_of_sender)) == NOTHING
    with pytest.raises(CommandError, match="not trusted"):
        trust("--end")
    trust("--name", "Hotline again")
    rows = AuditEntry.objects.filter(action__startswith="reporter_").order_by("id")
    assert list(rows.values_list("action", "actor_name")) == [
        ("reporter_trusted", "command trust_reporter"),
        ("reporter_trust_ended", "command trust_reporter"),
        ("reporter_trusted", "command trust_reporter"),
    ]
    assert "u-9" not in str(list(TrustedFlagger.objects.values()))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody", "u-9", "--name", "x"), "No sender is named nobody"),
        (("chat-app", "u-9"), "--name"),
        (("chat-app", "u-9", "--name", "x", "--reasons", "hate,love"), "love"),
    ],
)
@pytest.mark.usefixtures("client_of_sender")
def test_a_wrong_call_says_what_is_wrong(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says) as refused:
        call_command("trust_reporter", *arguments)

    assert refused.value.returncode == 2
    assert not TrustedFlagger.objects.exists()


# --- What people upheld


@pytest.fixture
def at_once(settings: Settings) -> None:
    """What people decide is in effect at once."""
    settings.UNDO_SECONDS = 0


@pytest.mark.usefixtures("at_once")
def test_what_people_upheld_about_an_item_or_its_author_is_known_to_the_next_report(
    client_of_sender: Client,
) -> None:
    resolve(send(client_of_sender, item=item()), action="remove")

    again = send(client_of_sender, item=item())
    elsewhere = send(client_of_sender, item=item("m-2"))
    somebody = send(client_of_sender, item=item("m-3", author="u-8"))

    both = ["item_upheld_before", "author_upheld_before"]
    assert said(again) == (Severity.MEDIUM, both)
    assert said(elsewhere) == (Severity.LOW, ["author_upheld_before"])
    assert said(somebody) == NOTHING
    assert said(send(make_sender("forum"), item=item())) == NOTHING


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("action", "upheld"),
    [
        ("no_violation", False),
        ("warn", True),
        ("label", True),
        ("restrict", True),
        ("remove", True),
    ],
)
def test_only_a_violation_counts(client_of_sender: Client, action: str, *, upheld: bool) -> None:
    resolve(send(client_of_sender, item=item()), action=action)

    assert (said(send(client_of_sender, item=item())) != NOTHING) is upheld


@pytest.mark.usefixtures("at_once")
def test_a_violation_that_was_taken_back_counts_no_longer(client_of_sender: Client) -> None:
    report = send(client_of_sender, item=item())
    resolve(report, action="remove")
    resolve(report, action="no_violation")

    assert said(send(client_of_sender, item=item())) == NOTHING


def test_a_violation_counts_once_it_cannot_be_taken_back(
    client_of_sender: Client, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    report = send(client_of_sender, item=item())
    resolve(report, action="remove")
    age([report], hours=30 / 3600)
    assert said(send(client_of_sender, item=item())) == NOTHING
    assert said(send(client_of_sender, item=item("m-2"))) == NOTHING

    age([report], hours=30 / 3600)

    assert "item_upheld_before" in said(send(client_of_sender, item=item()))[1]
    assert said(send(client_of_sender, item=item("m-2")))[1] == ["author_upheld_before"]


@pytest.mark.usefixtures("at_once")
def test_a_violation_of_long_ago_counts_no_longer(client_of_sender: Client) -> None:
    report = send(client_of_sender, item=item())
    resolve(report, action="remove")
    age([report], hours=24 * 90 + 1)

    assert said(send(client_of_sender, item=item())) == NOTHING


@pytest.mark.usefixtures("at_once")
def test_the_author_is_who_wrote_what_was_reported_where_the_item_names_none(
    client_of_sender: Client,
) -> None:
    def written_by(*authors: str | None) -> Report:
        messages = [{"text": "See you.", "author_id": author} for author in authors]
        return send(client_of_sender, item=item(uuid.uuid4().hex, author=None), messages=messages)

    resolve(written_by("u-7", "u-7"), action="remove")

    assert said(written_by("u-7")) == (Severity.LOW, ["author_upheld_before"])
    assert said(written_by("u-7", "u-8")) == NOTHING
    assert said(written_by(None)) == NOTHING


@pytest.mark.usefixtures("at_once")
def test_an_author_is_not_found_by_who_reported(client_of_sender: Client) -> None:
    resolve(send(client_of_sender, reporter="u-9", item=item(author="u-9")), action="remove")

    report = Report.objects.get()
    assert report.author_pseudonym
    assert report.author_pseudonym != report.reporter_pseudonym
    assert "u-9" not in str(Report.objects.values())


# --- How often people found what a reporter reported


def decide_many(client: Client, reporter: str, *, action: str, many: int) -> None:
    """So many reports of this reporter are decided so, each about an item and author of its own."""
    for _each in range(many):
        elsewhere = item(uuid.uuid4().hex, author=uuid.uuid4().hex)
        resolve(send(client, reporter=reporter, item=elsewhere), action=action)


def test_a_reliable_reporters_report_rises(client_of_sender: Client) -> None:
    decide_many(client_of_sender, "u-1", action="remove", many=5)
    decide_many(client_of_sender, "u-2", action="no_violation", many=5)

    assert said(send(client_of_sender, reporter="u-1")) == (Severity.LOW, ["reliable_reporter"])
    assert said(send(client_of_sender, reporter="u-2")) == NOTHING
    assert said(send(client_of_sender, reporter=None)) == NOTHING
    assert said(send(make_sender("forum"), reporter="u-1")) == NOTHING


def test_unreliable_reporters_are_nobody_among_several(client_of_sender: Client) -> None:
    decide_many(client_of_sender, "bad", action="no_violation", many=16)

    credible = [send(client_of_sender, reporter=f"u-{n}", item=item()) for n in range(2)]
    bad = send(client_of_sender, reporter="bad", item=item())
    third = send(client_of_sender, reporter="u-3", item=item())
    bad_again = send(client_of_sender, reporter="bad", item=item())

    assert [said(each) for each in (*credible, bad)] == [NOTHING] * 3
    several = (Severity.MEDIUM, ["several_reporters"])
    assert said(third) == several
    assert said(bad_again) == several  # three others have reported it by now


@pytest.mark.parametrize(("crowd", "seen"), [(LOOKED_UP - 2, True), (LOOKED_UP - 1, False)])
def test_only_so_many_others_are_looked_up_the_newest_first(
    client_of_sender: Client, crowd: int, *, seen: bool
) -> None:
    decide_many(client_of_sender, "bad", action="no_violation", many=16)
    first = send(client_of_sender, reporter="u-1", item=item())
    send(client_of_sender, reporter="u-2", item=item())
    report_by_a_crowd(crowd, like=first)

    third = send(client_of_sender, reporter="u-3", item=item())

    assert (said(third) != NOTHING) is seen


def report_by_a_crowd(count: int, *, like: Report) -> None:
    """So many people who report in vain, as "bad" does, report the same item now."""
    copies = """
    INSERT INTO reports_report SELECT (jsonb_populate_record(row, jsonb_build_object(
        'id', nextval('reports_report_id_seq'), 'public_id', gen_random_uuid(),
        'idempotency_key', gen_random_uuid(), 'reporter_pseudonym', 'p' || n))).*
    FROM reports_report AS row CROSS JOIN generate_series(1, %s) AS n
    WHERE """
    with unguarded() as cursor:
        cursor.execute(f"{copies} status = 'resolved'", [count])
        cursor.execute(f"{copies} id = %s", [count, like.pk])


def test_who_acted_in_bad_faith_is_nobody_among_several_and_not_reliable_by_the_rest(
    client_of_sender: Client,
) -> None:
    decide_many(client_of_sender, "bad", action="remove", many=5)
    elsewhere = item("m-9", author="u-9") | {"type": "comment"}
    invalidate(send(client_of_sender, reporter="bad", item=elsewhere), Scope(item_type="comment"))

    for number in range(REPORTERS - 1):
        send(client_of_sender, reporter=f"u-{number}", item=item())

    assert said(send(client_of_sender, reporter="bad", item=item())) == NOTHING
    several = (Severity.MEDIUM, ["several_reporters"])
    assert said(send(client_of_sender, reporter="u-9", item=item())) == several


@pytest.mark.usefixtures("at_once")
def test_what_was_invalidated_says_nothing(client_of_sender: Client) -> None:
    resolve(send(client_of_sender, item=item()), action="remove")
    for number in range(REPORTERS - 1):
        send(client_of_sender, reporter=f"u-{number}", item=item("m-2", author="u-8"))
    Report.objects.update(invalidated_at=timezone.now())

    assert said(send(client_of_sender, item=item())) == NOTHING
    assert said(send(client_of_sender, item=item("m-2", author="u-8"))) == NOTHING
