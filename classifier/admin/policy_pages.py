"""The pages about policy versions beside Django's own: edit a draft, compare two, activate one."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from classifier.admin.policy_forms import ActivationForm, CompareForm, DraftForms
from classifier.batches.migrate import activate_and_migrate
from classifier.batches.plan import Plan, plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import BatchNotStartedError
from classifier.models import Batch, Job, PolicyVersion
from classifier.policies.comparison import compare
from classifier.policies.versions import (
    PolicyVersionError,
    activate,
    copy_to_draft,
    edit_draft,
    make_candidate,
    roll_back,
)
from reports.admin import person
from reports.counting import COUNTED_AT_MOST
from reports.models import Report

State = PolicyVersion.State

# What a button does, by the last part of its address.
STEPS = {"copy": copy_to_draft, "freeze": make_candidate, "roll-back": roll_back}


def may_change(request: HttpRequest) -> bool:
    return person(request).has_perm("classifier.change_policyversion")


@require_POST
def take_step(request: HttpRequest, number: int, step: str) -> HttpResponse:
    """Copy, freeze or roll back, and show the version that came of it."""
    _require(allowed=may_change(request))
    try:
        version = STEPS[step](number=number, actor=person(request))
    except PolicyVersionError as error:
        messages.error(request, str(error))
        return _to_version(number)
    messages.success(request, _said_of(version))
    return _to_version(version.number)


def edit(request: HttpRequest, number: int) -> HttpResponse:
    _require(allowed=may_change(request))
    draft = get_object_or_404(PolicyVersion, pk=number)
    if draft.state != State.DRAFT:
        return _to_version(number)
    forms = DraftForms(draft, request.POST if request.method == "POST" else None)
    if request.method == "POST" and (read := forms.read()):
        title, content = read
        try:
            saved = edit_draft(
                number=number,
                title=title,
                content=content,
                seen_hash=forms.draft.cleaned_data["seen"],
                actor=person(request),
            )
        except PolicyVersionError as error:
            forms.draft.add_error(None, str(error))
        else:
            messages.success(request, _said_of(saved))
            return _to_version(number)
    return _page(
        request,
        "edit",
        _("Edit version %(number)s") % {"number": number},
        {
            "version": draft,
            "draft": forms.draft,
            "categories": forms.categories,
        },
    )


def compare_two(request: HttpRequest) -> HttpResponse:
    _require(
        allowed=person(request).has_perm("classifier.view_policyversion") or may_change(request)
    )
    form = CompareForm(request.GET or None)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        old, new = form.cleaned_data["old"], form.cleaned_data["new"]
        context |= {"old": old, "new": new, "found": compare(old, new)}
    return _page(request, "compare", _("Compare two versions"), context)


def activate_one(request: HttpRequest, number: int) -> HttpResponse:
    """The plan, and on its form the act."""
    _require(allowed=may_change(request))
    version = get_object_or_404(PolicyVersion, pk=number)
    if version.state != State.CANDIDATE:
        return _to_version(number)
    plan = plan_batch(purpose=Batch.Purpose.POLICY_MIGRATION, policy=version, selection=Selection())
    form = ActivationForm(plan, request.POST if request.method == "POST" else None)
    may_start = person(request).has_perm("classifier.run_batches")
    if form.is_valid():
        try:
            said = _activate(request, plan, form.cleaned_data, may_start=may_start)
        except (PolicyVersionError, BatchNotStartedError) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, said)
            return _to_version(number)
    return _page(
        request,
        "activate",
        _("Activate version %(number)s") % {"number": number},
        {
            "version": version,
            "plan": plan,
            "form": form,
            "may_start": may_start,
            "languages": sorted(plan.by_language.items(), key=lambda each: (-each[1], each[0])),
            "statuses": [
                (Report.Status(name).label, count) for name, count in plan.by_status.items()
            ],
            "through": dict(Job.Through.choices).get(plan.through),
            "active": PolicyVersion.objects.active(),
            "pending": Report.objects.pending()[: COUNTED_AT_MOST + 1].count(),
            "cancelled": Batch.objects.unfinished().exclude(state=Batch.State.CANCELLING).count(),
            "model_of_environment": settings.MODEL,
        },
    )


def _activate(request: HttpRequest, plan: Plan, wanted: dict[str, Any], *, may_start: bool) -> str:
    """Activate, and start the migration where that is wanted and allowed; one sentence."""
    if not wanted["start"]:
        return _said_of(activate(number=plan.version, actor=person(request)))
    _require(allowed=may_start)
    batch = activate_and_migrate(
        plan=plan,
        max_cost=wanted["max_cost"],
        reopen_at_most=wanted["reopen_at_most"],
        actor=person(request),
    )
    return _("Version %(number)s is active, and batch %(batch)s asks history under it.") % {
        "number": plan.version,
        "batch": batch.pk,
    }


def _said_of(version: PolicyVersion) -> str:
    return {
        State.DRAFT: _("Version %(number)s is a draft. Nothing is judged under it."),
        State.CANDIDATE: _("Version %(number)s is a candidate. It does not change any more."),
        State.ACTIVE: _("Version %(number)s is active."),
        State.RETIRED: _("Version %(number)s is retired."),
    }[State(version.state)] % {"number": version.number}


def _require(*, allowed: bool) -> None:
    if not allowed:
        raise PermissionDenied


def _to_version(number: int) -> HttpResponse:
    return redirect("admin:classifier_policyversion_change", number)


def _page(request: HttpRequest, name: str, title: str, context: dict[str, Any]) -> TemplateResponse:
    return TemplateResponse(
        request,
        f"admin/classifier/policyversion/{name}.html",
        {
            **admin.site.each_context(request),
            "opts": PolicyVersion._meta,
            "title": title,
            **context,
        },
    )
