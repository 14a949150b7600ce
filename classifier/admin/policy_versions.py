"""The admin of policy versions: a list, each version as it reads, and the steps that lead on."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from classifier.admin import policy_pages as pages
from classifier.models import PolicyVersion
from reports.admin import EvidenceAdmin
from reports.foreign_text import show_controls


@admin.register(PolicyVersion)
class PolicyVersionAdmin(EvidenceAdmin):
    """Django's own form changes none: a draft has a page for that, the others never change."""

    list_display = ("number", "state", "its_title", "its_model", "safe_threshold", "activated_at")
    list_filter = ("state",)
    ordering = ("-number",)
    fields = (
        "number",
        "state",
        "its_title",
        "its_model",
        "safe_threshold",
        "its_prompt",
        "its_categories",
        "its_revisions",
        "same_content",
        "created_at",
        "activated_at",
    )
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        name = "classifier_policyversion_{}".format
        return [
            path("compare/", guarded(pages.compare_two), name=name("compare")),
            path("<int:number>/edit/", guarded(pages.edit), name=name("edit")),
            path("<int:number>/activate/", guarded(pages.activate_one), name=name("activate")),
            *(
                path(
                    f"<int:number>/{step}/",
                    guarded(pages.take_step),
                    {"step": step},
                    name=name(step.replace("-", "_")),
                )
                for step in pages.STEPS
            ),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        return super().change_view(
            request,
            object_id,
            form_url,
            {
                **(extra_context or {}),
                "may_take_steps": pages.may_change(request),
                "active": PolicyVersion.objects.active(),
            },
        )

    @admin.display(description=_("title"), ordering="title")
    def its_title(self, version: PolicyVersion) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(version.title))

    @admin.display(description=_("model"), ordering="model")
    def its_model(self, version: PolicyVersion) -> SafeString:
        return format_html('<bdi dir="ltr">{}</bdi>', show_controls(version.model))

    @admin.display(description=_("prompt"))
    def its_prompt(self, version: PolicyVersion) -> SafeString:
        return format_html(
            '<blockquote class="foreign" dir="auto">{}</blockquote>', show_controls(version.prompt)
        )

    @admin.display(description=_("categories"))
    def its_categories(self, version: PolicyVersion) -> SafeString:
        return render_to_string(
            "admin/classifier/policyversion/categories.html", {"categories": version.categories}
        )

    @admin.display(description=_("revisions of our rules"))
    def its_revisions(self, version: PolicyVersion) -> SafeString:
        return format_html_join(
            ", ", '<bdi dir="ltr">{} {}</bdi>', sorted(version.revisions.items())
        )

    @admin.display(description=_("versions of the same content"))
    def same_content(self, version: PolicyVersion) -> SafeString:
        same = PolicyVersion.objects.saying_the_same(version)
        return format_html_join(
            ", ", "{} ({})", ((each.number, each.get_state_display()) for each in same)
        )
