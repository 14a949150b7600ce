"""The admin of batches: a list, and a page for each that keeps itself up to date."""

import hashlib
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import get_conditional_response
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from classifier.batches.control import BatchStateError, cancel_batch, resume_batch
from classifier.batches.progress import read_progress
from classifier.models import Batch
from reports.admin import EvidenceAdmin, person
from reviews.batch_page import BatchPage

RUN = "classifier.run_batches"
TEMPLATES = "admin/classifier/batch"


class LimitForm(forms.Form):
    """The new cost limit of a batch that goes on; blank for none."""

    max_cost = forms.DecimalField(
        label=_("new cost limit"), min_value=0, max_digits=14, decimal_places=4, required=False
    )


@admin.register(Batch)
class BatchAdmin(EvidenceAdmin):
    list_display = (
        "number",
        "state",
        "purpose",
        "version",
        "progress",
        "estimated_cost",
        "created_at",
        "ended_at",
        "actor_name",
    )
    list_filter = ("state", "purpose")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Batch]:
        batches: Any = super().get_queryset(request)
        rows: QuerySet[Batch] = batches.with_recorded()
        return rows

    @admin.display(description=_("number"), ordering="pk")
    def number(self, batch: Batch) -> int:
        return int(batch.pk)

    @admin.display(description=_("policy version"), ordering="policy_version")
    def version(self, batch: Batch) -> int:
        return batch.policy_version_id

    @admin.display(description=_("verdicts recorded"))
    def progress(self, batch: Any) -> SafeString:
        return format_html(
            '<progress max="{}" value="{}" aria-label="{}"></progress> <bdi>{}</bdi>',
            batch.wanted or 1,
            batch.recorded,
            _("verdicts recorded"),
            _("%(part)s of %(all)s") % {"part": f"{batch.recorded:,}", "all": f"{batch.wanted:,}"},
        )

    def get_urls(self) -> list[URLPattern]:
        own = {
            "now": require_safe(self.show_now),
            "cancel": require_POST(self.cancel),
            "resume": require_POST(self.resume),
        }
        return [
            *(
                path(
                    f"<int:batch_id>/{step}/",
                    self.admin_site.admin_view(view),
                    name=f"classifier_batch_{step}",
                )
                for step, view in own.items()
            ),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> HttpResponse:
        if request.method == "POST":  # as with all evidence
            raise PermissionDenied
        context = self._context(request, object_id)
        return TemplateResponse(
            request,
            f"{TEMPLATES}/page.html",
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": gettext("Batch %(number)s") % {"number": context["batch"].pk},
                **context,
            },
        )

    def show_now(self, request: HttpRequest, batch_id: int) -> HttpResponse:
        """The parts of the page that change; 304 while they have not."""
        context = self._context(request, batch_id)
        parts = "".join(
            render_to_string(f"{TEMPLATES}/{part}.html", context, request)
            for part in ("progress", "outcomes")
        )
        told = f"{parts} {context['batch'].state} {context['may_run']}"
        etag = f'"{hashlib.sha256(told.encode()).hexdigest()}"'
        # Apart from the tag, because the token in its forms is another one each time.
        actions = render_to_string(f"{TEMPLATES}/actions.html", context, request)
        answer = HttpResponse(parts + actions, headers={"ETag": etag})
        return get_conditional_response(request, etag=etag, response=answer) or answer

    def cancel(self, request: HttpRequest, batch_id: int) -> HttpResponse:
        self._may_run(request)
        return self._tell(
            request,
            batch_id,
            lambda name: cancel_batch(batch_id=batch_id, actor_name=name),
            done=_("It is being cancelled: nothing more is asked."),
        )

    def resume(self, request: HttpRequest, batch_id: int) -> HttpResponse:
        self._may_run(request)
        form = LimitForm(request.POST)
        if not form.is_valid():
            self.message_user(request, str(form.errors["max_cost"][0]), messages.ERROR)
            return self._back(batch_id)
        return self._tell(
            request,
            batch_id,
            lambda name: resume_batch(
                batch_id=batch_id, actor_name=name, max_cost=form.cleaned_data["max_cost"]
            ),
            done=_("It goes on."),
        )

    def _tell(self, request: HttpRequest, batch_id: int, verb: Any, *, done: Any) -> HttpResponse:
        self._batch(request, batch_id)
        try:
            changed = verb(person(request).get_username())
        except BatchStateError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(
                request, done if changed else _("Nothing was changed: it had been said before.")
            )
        return self._back(batch_id)

    def _may_run(self, request: HttpRequest) -> None:
        if not request.user.has_perm(RUN):
            raise PermissionDenied

    def _back(self, batch_id: int) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:classifier_batch_change", args=[batch_id]))

    def _batch(self, request: HttpRequest, batch_id: int | str) -> Batch:
        if not self.has_view_permission(request):
            raise PermissionDenied
        batch = self.get_object(request, str(batch_id))
        if batch is None:
            raise Http404
        found: Batch = batch
        return found

    def _context(self, request: HttpRequest, batch_id: int | str) -> dict[str, Any]:
        batch = self._batch(request, batch_id)
        progress = read_progress(batch)
        return {
            "batch": batch,
            "progress": progress,
            "page": BatchPage(progress),
            "may_run": request.user.has_perm(RUN),
            "limit": LimitForm(),
        }
