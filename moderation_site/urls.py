from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _

admin.site.site_header = admin.site.site_title = _("Moderation")
admin.site.index_title = _("Administration")

handler500 = "moderation_site.errors.unexpected"

urlpatterns = [
    path("", include("reviews.urls")),
    path("admin/", admin.site.urls),
    path("api/", include("reports.api.urls")),
]
