"""A case holds the content by value and what people found, names nobody, and stands in a set once."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from classifier.evaluation import (
    CaseRefusedError,
    Found,
    add_case,
    lines_of,
    make_set,
    remove_case,
    sets_with,
)
from classifier.models import EvaluationCase, EvaluationSet, PolicyVersion
from reports.models import AuditEntry, Content, Report, Severity
from reports.tests.sending import Client, body_saying, report_body, store_instead

pytestmark = pytest.mark.django_db

Source = EvaluationCase.Source


@pytest.fixture
def lena() -> User:
    return User.objects.create(username="lena")


@pytest.fixture
def golden(lena: User) -> EvaluationSet:
    return make_set(name="golden", description="", actor=lena)


def add(
    report: Report, evaluation_set: EvaluationSet, *, category: str = "", by: str = "lena"
) -> tuple[EvaluationCase, bool]:
    version = PolicyVersion.objects.first()
    severity = Severity(version.category(category)["severity"]) if version and category else 0
    return add_case(
        report=report,
        evaluation_set=evaluation_set,
        source=Source.DISAGREEMENT,
        found=Found(category, Severity(severity), version if category else None),
        actor=User.objects.get(username=by),
    )


def audited() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_case_is_the_content_by_value_with_what_people_found(
    client_of_sender: Client, policy: PolicyVersion, golden: EvaluationSet
) -> None:
    report = client_of_sender.send(
        report_body(
            messages=[
                {"text": "Hello.", "author_id": "u-1"},
                {"text": "I hate\u200byou.", "reported": True},
            ],
            language="en-GB",
        )
    )

    case, added = add(report, golden, category="hate")

    assert added
    assert (case.language, case.safe, case.category) == ("en-GB", False, "hate")
    assert (case.severity, case.policy_version) == (Severity.HIGH, policy)
    assert case.content == {
        "type": "message",
        "language": "en-GB",
        "reason": "spam",
        "comment": "again",
        "messages": [
            {"text": "Hello.", "reported": False},
            {"text": "I hate\u200byou.", "reported": True},
        ],
    }


def test_it_holds_nothing_that_names_a_person(
    client_of_sender: Client, golden: EvaluationSet
) -> None:
    person = "secret-person"
    message = {"id": person, "author_id": person, "text": "Hello.", "reported": True}
    report = client_of_sender.send(
        report_body(
            item={
                "type": "message",
                "id": person,
                "author_id": person,
                "url": f"https://x/{person}",
            },
            reporter={"id": person},
            messages=[message],
            metadata={"who": person},
        )
    )

    add(report, golden)

    case = EvaluationCase.objects.values().get()
    assert person not in str(case)
    assert person not in json.dumps(list(lines_of(golden)))
    assert person not in str(AuditEntry.objects.values("action", "detail"))


def test_it_outlives_the_report_s_own_content(
    client_of_sender: Client, golden: EvaluationSet
) -> None:
    report = client_of_sender.send(body_saying("kept"))
    add(report, golden)

    Content.objects.filter(report=report).delete()

    (line,) = lines_of(golden)
    assert line["content"]["messages"][0]["text"] == "kept"


def test_the_same_report_is_in_a_set_once_and_stays_as_it_was(
    client_of_sender: Client,
    policy: PolicyVersion,  # noqa: ARG001
    golden: EvaluationSet,
) -> None:
    report = client_of_sender.send()
    first, _added = add(report, golden, category="hate")
    User.objects.create(username="omar")

    again, added = add(report, golden, by="omar")
    other, elsewhere = add(report, make_set(name="other", description="", actor=first.added_by))

    assert (again.pk, again.category, added) == (first.pk, "hate", False)
    assert elsewhere
    assert other.safe
    assert audited()[-4:] == [
        "evaluation_set_created",
        "case_added",
        "evaluation_set_created",
        "case_added",
    ]


def test_a_set_of_the_same_name_is_that_set(lena: User) -> None:
    first = make_set(name="golden", description="of the first year", actor=lena)
    again = make_set(name="golden", description="another", actor=lena)

    assert again == first
    assert again.description == "of the first year"
    assert audited() == ["evaluation_set_created"]


def test_what_was_added_by_mistake_is_taken_out_and_may_be_added_again(
    client_of_sender: Client, golden: EvaluationSet, lena: User
) -> None:
    report = client_of_sender.send()
    case, _added = add(report, golden)

    removed = remove_case(case_id=case.pk, actor=lena)

    assert removed.report == report
    assert not EvaluationCase.objects.exists()
    told = AuditEntry.objects.get(action="case_removed")
    assert (told.object_id, told.detail["report"]) == (str(case.pk), str(report.public_id))
    with pytest.raises(EvaluationCase.DoesNotExist):
        remove_case(case_id=case.pk, actor=lena)
    assert add(report, golden)[1]


def test_without_a_content_that_can_be_read_there_is_no_case(
    client_of_sender: Client, golden: EvaluationSet
) -> None:
    purged, broken = (
        client_of_sender.send(body_saying("a")),
        client_of_sender.send(body_saying("b")),
    )
    Content.objects.filter(report=purged).delete()
    store_instead(broken, [])

    with pytest.raises(CaseRefusedError, match="purged"):
        add(purged, golden)
    with pytest.raises(CaseRefusedError, match="cannot be read"):
        add(broken, golden)
    assert not EvaluationCase.objects.exists()


def test_sets_say_which_of_some_reports_they_hold(
    client_of_sender: Client, golden: EvaluationSet, lena: User
) -> None:
    reports = [client_of_sender.send(body_saying(f"text {number}")) for number in range(3)]
    make_set(name="empty", description="", actor=lena)
    add(reports[0], golden)
    add(reports[2], golden)

    held = {each.name: each.holds for each in sets_with([reports[0].pk, reports[1].pk])}  # type: ignore[attr-defined]

    assert held == {"empty": [], "golden": [reports[0].pk]}


def test_a_set_is_written_out_as_json_lines(
    client_of_sender: Client,
    policy: PolicyVersion,
    golden: EvaluationSet,
) -> None:
    harmless, hateful = (client_of_sender.send(body_saying(text)) for text in ("نعم", "no"))
    add(harmless, golden)
    add(hateful, golden, category="hate")
    out = StringIO()

    call_command("export_evaluation_set", "golden", stdout=out)

    first, second = (json.loads(line) for line in out.getvalue().splitlines())
    assert "نعم" in out.getvalue()
    assert (first["report"], first["safe"], first["category"], first["severity"]) == (
        str(harmless.public_id),
        True,
        None,
        "none",
    )
    assert (second["category"], second["severity"], second["policy_version"]) == (
        "hate",
        "high",
        policy.number,
    )
    assert second["source"] == "disagreement"


def test_a_purged_case_is_not_written_out(client_of_sender: Client, golden: EvaluationSet) -> None:
    case, _added = add(client_of_sender.send(), golden)
    case.content, case.purged_at = None, case.added_at
    case.save()

    assert list(lines_of(golden)) == []


def test_a_set_that_is_not_there_is_said() -> None:
    with pytest.raises(CommandError, match="No evaluation set is named nowhere") as refused:
        call_command("export_evaluation_set", "nowhere")
    assert refused.value.returncode == 2
