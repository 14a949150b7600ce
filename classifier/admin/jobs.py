"""The admin of jobs: what is asked, what waits and why; parked ones are given new attempts."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from classifier.admin.classifications import VersionFilter, link_to_report, of_report
from classifier.models import Job, PolicyVersion, WaitingReason
from classifier.replay import Selection, execute_replay, plan_replay
from reports.admin import EvidenceAdmin, person
from reports.admin.filters import DefaultFilter, NewestFilter

# A page of them; what is more than that is work for `manage.py replay`.
RENEWED_AT_ONCE = 200

_OPEN = Q(done=False, parked=False)


class StateFilter(DefaultFilter):
    """What is not done, unless the rest is asked for."""

    title = _("state")
    parameter_name = "state"
    default = "open"
    WANTED = {
        "open": Q(done=False),
        "waiting": _OPEN & (Q(lease_until=None) | Q(lease_until__lte=Now())),
        "leased": _OPEN & Q(lease_until__gt=Now()),
        "parked": Q(parked=True),
        "done": Q(done=True),
    }
    known = tuple(WANTED)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            ("open", _("not done")),
            ("waiting", _("waiting")),
            ("leased", _("in a worker's hands")),
            ("parked", _("parked")),
            ("done", _("done")),
            ("all", _("all")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        wanted = self.WANTED.get(self.chosen)
        return queryset if wanted is None else queryset.filter(wanted)


@admin.register(Job)
class JobAdmin(EvidenceAdmin):
    list_display = (
        "public_id",
        "version",
        "state",
        "reason",
        "lane",
        "attempts",
        "faults",
        "lease_until",
        "not_before",
        "batch",
    )
    fields = (
        "about",
        "version",
        "state",
        "reason",
        "what_to_do",
        "lane",
        "through",
        "batch",
        "attempts",
        "claims",
        "faults",
        "dropped",
        "further_calls",
        "submissions",
        "lease_until",
        "not_before",
        "nudged_at",
        "ended_at",
    )
    readonly_fields = ("about", "version", "state", "what_to_do")
    list_filter = (StateFilter, NewestFilter, "lane", "reason", VersionFilter)
    list_select_related = ("report", "batch")
    search_fields = ("report__public_id",)
    search_help_text = _("A report's id.")
    ordering = ("-id",)
    sortable_by = ()
    actions = ("renew",)

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return of_report(rows, term)

    @admin.display(description=_("report"))
    def public_id(self, job: Job) -> SafeString:
        # Plain, for the list makes a link to the job of it.
        return format_html("<bdi>{}</bdi>", job.report.public_id)

    @admin.display(description=_("report"))
    def about(self, job: Job) -> SafeString:
        return link_to_report(job.report)

    @admin.display(description=_("policy version"))
    def version(self, job: Job) -> int:
        return job.policy_version_id

    @admin.display(description=_("state"))
    def state(self, job: Job) -> Any:
        if job.parked:
            return format_html('<strong class="parked">{}</strong>', _("parked"))
        if job.done:
            return _("done")
        held = job.lease_until is not None and job.lease_until > timezone.now()
        return _("in a worker's hands") if held else _("waiting")

    @admin.display(description=_("what to do"))
    def what_to_do(self, job: Job) -> str:
        return WaitingReason(job.reason).for_operations if job.reason else ""

    def has_renew_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("classifier.change_job")

    @admin.action(description=_("Give their reports new attempts"), permissions=["renew"])
    def renew(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """What `manage.py replay` does, for the chosen ones."""
        chosen = queryset.order_by("-id").values_list("report", flat=True)[: RENEWED_AT_ONCE + 1]
        reports = tuple(sorted(set(chosen)))
        policy = PolicyVersion.objects.active()
        if policy is None or len(chosen) > RENEWED_AT_ONCE:
            why = (
                _("No policy version is active, so nothing can be asked.")
                if policy is None
                else _("Choose %(count)d at most; for more there is manage.py replay.")
                % {"count": RENEWED_AT_ONCE}
            )
            self.message_user(request, why, messages.ERROR)
            return
        selection = Selection(reports=reports)
        plan = plan_replay(selection, policy=policy)
        renewed = sum(
            execute_replay(plan, selection=selection, policy=policy, actor=person(request))
        )
        self.message_user(
            request,
            _(
                "New attempts: %(count)d. Left alone: %(left)d, for they are answered, or being read."
            )
            % {"count": renewed, "left": len(reports) - renewed},
        )
