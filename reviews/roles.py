"""Who may do what: four groups that every `migrate` completes with the product's permissions.

A group of your own may mix them differently; these four are the product's.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import connections
from django.db.models import Q

REVIEW, DECIDE = "reviews.review_items", "reviews.decide_items"
DECIDE_ESCALATED = "reviews.decide_escalated"
VIEW_QUALITY = "reviews.view_quality"
ADD_CASE = "classifier.add_evaluationcase"
INVALIDATE = "reports.add_invalidation"

ROLES: dict[str, tuple[str, ...]] = {
    # Works in the review queue, has no business in the admin.
    "reviewer": (REVIEW, DECIDE),
    # A reviewer to whom others escalate, and who answers for how good the work is.
    "lead": (REVIEW, DECIDE, DECIDE_ESCALATED, VIEW_QUALITY, ADD_CASE, INVALIDATE),
    # Configures senders and keys, reads all evidence; a superuser makes accounts.
    "admin": (
        *(REVIEW, DECIDE, DECIDE_ESCALATED, VIEW_QUALITY, ADD_CASE, INVALIDATE),
        "reviews.view_samplingrate",
        "reviews.add_samplingrate",
        "reviews.change_samplingrate",
        "reviews.delete_samplingrate",
        "reviews.view_draw",
        "reviews.view_doublereview",
        "reviews.view_decision",
        "reviews.view_action",
        "reviews.add_action",
        "reviews.change_action",
        "reviews.view_claim",
        "reviews.view_hold",
        "reports.view_report",
        "reports.view_pendingreport",
        "reports.view_judgedsafereport",
        "reports.view_item",
        "reports.view_auditentry",
        "reports.view_sender",
        "reports.add_sender",
        "reports.change_sender",
        "reports.view_apikey",
        "reports.add_apikey",
        "reports.change_apikey",
        "reports.view_trustedflagger",
        "reports.view_return",
        "reports.view_invalidation",
        "classifier.view_classification",
        "classifier.view_job",
        "classifier.change_job",
        "classifier.view_disagreement",
        "classifier.view_evaluationset",
        "classifier.add_evaluationset",
        "classifier.change_evaluationset",
        "classifier.view_evaluationcase",
        "classifier.view_policyversion",
        "classifier.change_policyversion",
        "classifier.view_batch",
        "classifier.run_batches",
        "classifier.view_providermodel",
        "classifier.change_providermodel",
    ),
    # Sees what waits and why, and the configuration; decides nothing.
    "operator": (
        REVIEW,
        VIEW_QUALITY,
        "reviews.view_samplingrate",
        "reviews.view_draw",
        "reports.view_return",
        "reports.view_invalidation",
        "reviews.view_claim",
        "reviews.view_hold",
        "reports.view_report",
        "reports.view_pendingreport",
        "reports.view_judgedsafereport",
        "reports.view_auditentry",
        "reports.view_sender",
        "reports.view_apikey",
        "reports.view_trustedflagger",
        "classifier.view_classification",
        "classifier.view_job",
        "classifier.change_job",
        "classifier.view_disagreement",
        "classifier.view_policyversion",
        "classifier.view_batch",
        "classifier.run_batches",
        "classifier.view_providermodel",
        "classifier.change_providermodel",
    ),
}


def complete_roles(*, using: str, **_signal: Any) -> None:
    """Make the groups and give them what they lack. Runs after `migrate`, when permissions exist."""
    if Group._meta.db_table not in connections[using].introspection.table_names():
        return  # a partial migrate that has not come to the accounts yet
    for name, permissions in ROLES.items():
        group, _made = Group.objects.using(using).get_or_create(name=name)
        wanted = Q(pk__in=[])
        for permission in permissions:
            app, _dot, codename = permission.partition(".")
            wanted |= Q(content_type__app_label=app, codename=codename)
        group.permissions.add(*Permission.objects.using(using).filter(wanted))
