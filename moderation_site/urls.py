from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from moderation_site.health import alive, metrics, ready

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/", include("reports.api.urls")),
    path("healthz", alive),
    path("readyz", ready),
    path("metrics", metrics),
]
