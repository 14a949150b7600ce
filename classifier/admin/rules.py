"""A page of the rules: what each finds, and how often it did of late. They are code, so it is only read."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from classifier.models import Classification
from classifier.rules_fired import DAYS, LOOKED_AT, rules_of_intake, rules_of_the_application


@require_safe
def show_rules(request: HttpRequest) -> TemplateResponse:
    if not request.user.has_perm("classifier.view_classification"):
        raise PermissionDenied
    return TemplateResponse(
        request,
        "admin/classifier/classification/rules.html",
        {
            **admin.site.each_context(request),
            "opts": Classification._meta,
            "title": gettext("Rules"),
            "of_intake": rules_of_intake(),
            "of_the_application": rules_of_the_application(),
            "days": DAYS,
            "looked_at": f"{LOOKED_AT:,}",
        },
    )
