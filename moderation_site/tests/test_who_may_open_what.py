"""Who gets what at which address: every address of the product, every role, both senders.

The addresses are walked, so a new one fails here until the table says who may open it.
"""
# ruff: noqa: E501 - a line of the table is one line

from typing import Any

import pytest

from classifier.models import PolicyVersion
from conftest import undone
from moderation_site.probes import PROBES
from moderation_site.tests.addresses import (
    OF_A_MODEL,
    every_route,
    models_in_the_admin,
    standard_routes,
)
from moderation_site.tests.everything import STAFF, Installation, furnish
from reports.models import Report
from reports.tests.sending import report_body

pytestmark = [pytest.mark.long, pytest.mark.django_db]

# A role that opens the same pages as another, role: other.
SAME_AS = {"lead": "reviewer"}
COLUMNS = ["anonymous", "nobody", "reviewer", "operator", "admin", "superuser", "key", "other_key"]

# Statuses, a column for each of these; `in` leads to the log-in, `-` is the address of the root.
# `lead=` stands where a lead gets something else than a reviewer.
TABLE = """
GET  -                                                    302   302   302   302   302   302   302   302
POST -                                                    302   302   302   302   302   302   302   302
GET  admin/                                               in    in    in    200   200   200   in    in
POST admin/                                               in    in    in    200   200   200   in    in
GET  admin/<app_label>/                                   in    in    in    200   200   200   in    in
POST admin/<app_label>/                                   in    in    in    200   200   200   in    in
GET  admin/<url>                                          in    in    in    404   404   404   in    in
POST admin/<url>                                          in    in    in    404   404   404   in    in
GET  admin/auth/user/<id>/password/                       in    in    in    403   403   200   in    in
POST admin/auth/user/<id>/password/                       in    in    in    403   403   200   in    in
GET  admin/autocomplete/                                  in    in    in    403   403   403   in    in
POST admin/autocomplete/                                  in    in    in    405   405   405   in    in
GET  admin/classifier/batch/<batch_id>/cancel/            in    in    in    405   405   405   in    in
POST admin/classifier/batch/<batch_id>/cancel/            in    in    in    302   302   302   in    in
GET  admin/classifier/batch/<batch_id>/now/               in    in    in    200   200   200   in    in
POST admin/classifier/batch/<batch_id>/now/               in    in    in    405   405   405   in    in
GET  admin/classifier/batch/<batch_id>/resume/            in    in    in    405   405   405   in    in
POST admin/classifier/batch/<batch_id>/resume/            in    in    in    302   302   302   in    in
GET  admin/classifier/classification/rules/               in    in    in    200   200   200   in    in
POST admin/classifier/classification/rules/               in    in    in    405   405   405   in    in
GET  admin/classifier/policyversion/<number>/activate/    in    in    in    403   302   302   in    in
POST admin/classifier/policyversion/<number>/activate/    in    in    in    403   302   302   in    in
GET  admin/classifier/policyversion/<number>/copy/        in    in    in    405   405   405   in    in
POST admin/classifier/policyversion/<number>/copy/        in    in    in    403   302   302   in    in
GET  admin/classifier/policyversion/<number>/edit/        in    in    in    403   200   200   in    in
POST admin/classifier/policyversion/<number>/edit/        in    in    in    403   200   200   in    in
GET  admin/classifier/policyversion/<number>/freeze/      in    in    in    405   405   405   in    in
POST admin/classifier/policyversion/<number>/freeze/      in    in    in    403   302   302   in    in
GET  admin/classifier/policyversion/<number>/roll-back/   in    in    in    405   405   405   in    in
POST admin/classifier/policyversion/<number>/roll-back/   in    in    in    403   302   302   in    in
GET  admin/classifier/policyversion/compare/              in    in    in    200   200   200   in    in
POST admin/classifier/policyversion/compare/              in    in    in    200   200   200   in    in
GET  admin/jsi18n/                                        in    in    in    200   200   200   in    in
POST admin/jsi18n/                                        in    in    in    405   405   405   in    in
GET  admin/login/                                         200   200   200   302   302   302   200   200
POST admin/login/                                         200   200   200   200   200   200   200   200
GET  admin/logout/                                        302   302   302   405   405   405   302   302
POST admin/logout/                                        302   302   302   302   302   302   302   302
GET  admin/password_change/                               in    in    in    200   200   200   in    in
POST admin/password_change/                               in    in    in    200   200   200   in    in
GET  admin/password_change/done/                          in    in    in    200   200   200   in    in
POST admin/password_change/done/                          in    in    in    405   405   405   in    in
GET  admin/r/<content_type_id>/<object_id>/               in    in    in    404   404   404   in    in
POST admin/r/<content_type_id>/<object_id>/               in    in    in    404   404   404   in    in
GET  admin/reports/sender/<sender_id>/issue-key/          in    in    in    403   200   200   in    in
POST admin/reports/sender/<sender_id>/issue-key/          in    in    in    403   200   200   in    in
GET  api/<rest>                                           404   404   404   404   404   404   404   404
POST api/<rest>                                           404   404   404   404   404   404   404   404
GET  api/docs/                                            200   200   200   200   200   200   200   200
POST api/docs/                                            405   405   405   405   405   405   405   405
GET  api/schema/                                          200   200   200   200   200   200   200   200
POST api/schema/                                          405   405   405   405   405   405   405   405
GET  api/v1/reports/                                      401   401   401   401   401   401   200   200
POST api/v1/reports/                                      401   401   401   401   401   401   415   415
GET  api/v1/reports/<public_id>/                          401   401   401   401   401   401   200   404
POST api/v1/reports/<public_id>/                          401   401   401   401   401   401   405   405
GET  language/                                            302   302   302   302   302   302   302   302
POST language/                                            302   302   302   302   302   302   302   302
GET  login/                                               200   302   302   302   302   302   200   200
POST login/                                               200   302   302   302   302   302   200   200
GET  logout/                                              405   405   405   405   405   405   405   405
POST logout/                                              302   302   302   302   302   302   302   302
GET  review/                                              302   302   302   302   302   302   302   302
POST review/                                              302   302   302   302   302   302   302   302
GET  review/<slug>/                                       in    403   200   200   200   200   in    in
POST review/<slug>/                                       405   405   405   405   405   405   405   405
GET  review/<slug>/bulk/                                  405   405   405   405   405   405   405   405
POST review/<slug>/bulk/                                  in    403   422   403   422   422   in    in
GET  review/<slug>/start/                                 in    403   302   403   302   302   in    in
POST review/<slug>/start/                                 in    403   302   403   302   302   in    in
GET  review/authors/<public_id>/                          in    403   200   200   200   200   in    in
POST review/authors/<public_id>/                          405   405   405   405   405   405   405   405
GET  review/decisions/                                    in    403   200   200   200   200   in    in
POST review/decisions/                                    405   405   405   405   405   405   405   405
GET  review/decisions/<decision_id>/undo/                 405   405   405   405   405   405   405   405
POST review/decisions/<decision_id>/undo/                 in    403   403   403   403   403   in    in
GET  review/disagreements/                                in    403   200   200   200   200   in    in
POST review/disagreements/                                405   405   405   405   405   405   405   405
GET  review/items/<item_id>/                              in    403   200   200   200   200   in    in
POST review/items/<item_id>/                              in    403   422   403   422   422   in    in
GET  review/items/<item_id>/claim/                        405   405   405   405   405   405   405   405
POST review/items/<item_id>/claim/                        in    403   200   403   200   200   in    in
GET  review/items/<item_id>/draft/                        405   405   405   405   405   405   405   405
POST review/items/<item_id>/draft/                        in    403   302   403   302   302   in    in
GET  review/items/<item_id>/hand-over/                    in    403   200   403   200   200   in    in
POST review/items/<item_id>/hand-over/                    in    403   422   403   422   422   in    in
GET  review/items/<item_id>/put-aside/                    in    403   302   403   302   302   in    in
POST review/items/<item_id>/put-aside/                    in    403   422   403   422   422   in    in
GET  review/items/<item_id>/release/                      in    403   302   403   302   302   in    in
POST review/items/<item_id>/release/                      in    403   302   403   302   302   in    in
GET  review/items/<item_id>/reveal/                       405   405   405   405   405   405   405   405
POST review/items/<item_id>/reveal/                       in    403   302   302   302   302   in    in
GET  review/items/<item_id>/skip/                         in    403   302   403   302   302   in    in
POST review/items/<item_id>/skip/                         in    403   302   403   302   302   in    in
GET  review/pause/                                        in    403   200   200   200   200   in    in
POST review/pause/                                        in    403   302   302   302   302   in    in
GET  review/preferences/                                  in    403   200   200   200   200   in    in
POST review/preferences/                                  in    403   422   422   422   422   in    in
GET  review/preferences/keys/                             405   405   405   405   405   405   405   405
POST review/preferences/keys/                             in    403   302   302   302   302   in    in
GET  review/quality/                                      in    403   403   200   200   200   in    in    lead=200
POST review/quality/                                      405   405   405   405   405   405   405   405
GET  review/quality/differences/                          in    403   403   200   200   200   in    in    lead=200
POST review/quality/differences/                          405   405   405   405   405   405   405   405
GET  review/quality/evaluation/                           in    403   403   200   200   200   in    in    lead=200
POST review/quality/evaluation/                           in    403   403   403   422   422   in    in    lead=422
GET  review/quality/evaluation/<set_name>/                in    403   403   200   200   200   in    in    lead=200
POST review/quality/evaluation/<set_name>/                405   405   405   405   405   405   405   405
GET  review/quality/evaluation/<set_name>/cases.jsonl     in    403   403   200   200   200   in    in    lead=200
POST review/quality/evaluation/<set_name>/cases.jsonl     405   405   405   405   405   405   405   405
GET  review/quality/evaluation/cases/<case_id>/take-out/  405   405   405   405   405   405   405   405
POST review/quality/evaluation/cases/<case_id>/take-out/  in    403   403   403   302   302   in    in    lead=302
GET  review/quality/evaluation/cases/add/                 405   405   405   405   405   405   405   405
POST review/quality/evaluation/cases/add/                 in    403   403   403   422   422   in    in    lead=422
GET  review/quality/missed/                               in    403   403   200   200   200   in    in    lead=200
POST review/quality/missed/                               in    403   403   403   422   422   in    in    lead=422
GET  review/quality/to-settle/                            in    403   403   200   200   200   in    in    lead=200
POST review/quality/to-settle/                            405   405   405   405   405   405   405   405
GET  review/quality/to-settle/<review_id>/                405   405   405   405   405   405   405   405
POST review/quality/to-settle/<review_id>/                in    403   403   403   422   422   in    in    lead=422
GET  review/reporters/<public_id>/                        in    403   200   200   200   200   in    in
POST review/reporters/<public_id>/                        in    403   403   403   200   200   in    in    lead=200
GET  review/search/                                       in    403   200   200   200   200   in    in
POST review/search/                                       405   405   405   405   405   405   405   405
GET  review/second-reviews/<second_id>/undo/              405   405   405   405   405   405   405   405
POST review/second-reviews/<second_id>/undo/              in    403   403   403   403   403   in    in
GET  review/views/                                        in    403   200   200   200   200   in    in
POST review/views/                                        in    403   422   422   422   422   in    in
GET  review/views/<view_id>/                              405   405   405   405   405   405   405   405
POST review/views/<view_id>/                              in    403   422   422   422   422   in    in
"""

# Who may do what with the rows of a model in the admin: o(perator), a(dmin), s(uperuser).
MODELS = """
                                view  add  change  delete
auth/group                      s     s    s       s
auth/user                       s     s    s       -
classifier/batch                oas   -    -       -
classifier/classification       oas   -    -       -
classifier/disagreement         oas   -    -       -
classifier/evaluationcase       as    -    -       -
classifier/evaluationset        as    as   as      -
classifier/job                  oas   -    -       -
classifier/policyversion        oas   -    -       -
classifier/providermodel        oas   -    oas     -
reports/apikey                  oas   -    -       -
reports/auditentry              oas   -    -       -
reports/invalidation            oas   -    -       -
reports/item                    as    -    -       -
reports/judgedsafereport        oas   -    -       -
reports/pendingreport           oas   -    -       -
reports/report                  oas   -    -       -
reports/return                  oas   -    -       -
reports/sender                  oas   as   as      -
reports/trustedflagger          oas   -    -       -
reviews/action                  as    as   as      -
reviews/blindaudit              as    -    -       -
reviews/claim                   oas   -    -       -
reviews/decision                as    -    -       -
reviews/doublereview            as    -    -       -
reviews/draw                    oas   -    -       -
reviews/hold                    oas   -    -       -
reviews/samplingrate            oas   as   as      as
"""


@pytest.fixture
def everything(policy: PolicyVersion) -> Installation:
    return furnish(policy)


def lines() -> dict[tuple[str, str], dict[str, str]]:
    """What each visitor gets, by method and pattern."""
    found = {}
    for line in TABLE.strip().splitlines():
        method, pattern, *cells = line.split()
        others = dict(cell.split("=") for cell in cells[len(COLUMNS) :])
        of_all = dict(zip(COLUMNS, cells[: len(COLUMNS)], strict=True))
        found[method, "" if pattern == "-" else pattern] = {**of_all, **others}
    return found


def rights() -> dict[str, dict[str, str]]:
    """Who may do what with each model of the admin: `view`, `add`, `change`, `delete`."""
    head, *rows = (line.split() for line in MODELS.strip().splitlines())
    return {name: dict(zip(head, cells, strict=True)) for name, *cells in rows}


def test_the_table_names_every_address_and_no_other() -> None:
    named = {pattern for _method, pattern in lines()}
    walked = set(every_route()) - standard_routes(models_in_the_admin())

    new, gone = sorted(walked - named), sorted(named - walked)
    assert not new, f"say in TABLE who may open these, once for GET and once for POST: {new}"
    assert not gone, f"these are in TABLE, and no address any more: {gone}"
    assert {(method, pattern) for pattern in named for method in ("GET", "POST")} == set(lines())


def test_the_table_names_every_model_of_the_admin_and_no_other() -> None:
    assert set(rights()) == set(models_in_the_admin()), "say in MODELS who may do what with it"


def test_every_visitor_gets_at_every_address_what_the_table_says(everything: Installation) -> None:
    visitors = {name: name for name in ("anonymous", "key", "other_key")}
    visitors |= {role: SAME_AS.get(role, role) for role in everything.sessions}
    assert set(visitors.values()) == set(COLUMNS), "a role without a column; see SAME_AS"
    routes, wrong = every_route(), []
    for (method, pattern), expected in lines().items():
        address = routes[pattern].filled(everything.values_for(pattern))
        for visitor, column in visitors.items():
            got = visit(everything, visitor, method, address)
            wanted = expected.get(visitor, expected[column])
            if got != wanted:
                wrong.append(f"{method} /{pattern} {visitor}: {got}, not {wanted}")

    assert not wrong, "\n".join(wrong)


def test_every_visitor_gets_in_the_admin_what_their_rights_allow(everything: Installation) -> None:
    wrong = []
    for model, may in rights().items():
        for kind, pattern in OF_A_MODEL.items():
            route = every_route()[pattern.format(model)]
            address = route.filled(everything.values_for(route.pattern))
            for visitor in ("anonymous", "key", "other_key", *everything.sessions):
                # One gate stands before all of them: who is no staff is tried at one in each model.
                if kind != "list" and visitor not in {*STAFF, "superuser", "anonymous"}:
                    continue
                for method in ("GET", "POST"):
                    got = visit(everything, visitor, method, address)
                    expected = allowed(may, kind, method, visitor)
                    if got not in expected:
                        wrong.append(f"{method} {address} {visitor}: {got}, not {expected}")

    assert not wrong, "\n".join(wrong)


def allowed(may: dict[str, str], kind: str, method: str, visitor: str) -> set[str]:
    """The statuses of one of the admin's own addresses."""
    if visitor not in {*STAFF, "superuser"}:
        return {"in"}
    letter = visitor[0]
    if kind == "short":
        return {"302"}
    if kind == "change" and method == "POST":
        return {"200", "302"} if letter in may["change"] else {"403"}
    wanted = kind if kind in may else "view"
    wanted = "view" if wanted == "change" else wanted
    return {"200"} if letter in may[wanted] else {"403"}


def visit(everything: Installation, visitor: str, method: str, address: str) -> str:
    """The status, or `in` for the way to the log-in; what was done is undone."""
    with undone():
        browser = everything.visit_as(visitor)
        answer = getattr(browser, method.lower())(address)
        to_log_in = "/login/?next=" in answer.headers.get("Location", "")
        return "in" if to_log_in else str(answer.status_code)


@pytest.mark.parametrize("address", PROBES)
def test_probes_tell_anybody_states_and_nobody_content(
    everything: Installation, address: str
) -> None:
    said = everything.visit_as("anonymous").get(address).content.decode()

    assert not any(secret in said for secret in secrets_of(everything))


# --- Another sender's


def secrets_of(everything: Installation) -> list[str]:
    """What the first sender alone may read: its ids and its text."""
    report, name = everything.report, everything.sender.sender.name
    reports = Report.objects.filter(sender=everything.sender.sender).select_related("item")
    ids = [str(value) for each in reports for value in (each.public_id, each.item.external_id)]
    return [name, report.idempotency_key, "A secret of the first sender.", *ids]


def test_no_address_of_the_api_tells_a_sender_of_another(everything: Installation) -> None:
    for pattern, route in every_route().items():
        if not pattern.startswith("api/"):
            continue
        address = route.filled(everything.values)
        answer = everything.visit_as("other_key").get(address)
        said = answer.content.decode()
        assert not [secret for secret in secrets_of(everything) if secret in said], pattern
        if "public_id" in route.takes:
            assert answer.status_code == 404
            assert everything.visit_as("key").get(address).status_code == 200


@pytest.mark.parametrize("query", [{}, {"status": "pending"}, {"item_type": "message"}])
def test_another_sender_s_reports_are_in_no_list_and_no_count(
    everything: Installation, query: dict[str, str]
) -> None:
    assert everything.sender.get(**query).json()["results"]
    assert everything.other.get(**query).json()["results"] == []


def test_a_page_of_a_list_is_not_the_way_into_another_sender_s(everything: Installation) -> None:
    for _report in range(101):
        everything.sender.send()
    following = everything.sender.get().json()["next"]

    answer: Any = everything.other.http.get(
        following, headers={"Authorization": f"Bearer {everything.other.key}"}
    )

    assert answer.json()["results"] == []


def test_an_idempotency_key_of_another_sender_is_nobody_s(everything: Installation) -> None:
    key = everything.report.idempotency_key

    answer = everything.other.post(report_body(), key=key)

    assert answer.status_code == 202
    assert answer.json()["id"] != str(everything.report.public_id)
