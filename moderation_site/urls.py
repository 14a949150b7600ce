from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _

from reviews.accounts_admin import change_own_password

admin.site.site_header = admin.site.site_title = _("Moderation")
admin.site.index_title = _("Administration")

handler500 = "moderation_site.errors.unexpected"

urlpatterns = [
    path("", include("reviews.urls")),
    # Before Django's own, which leaves no audit row.
    path("admin/password_change/", admin.site.admin_view(change_own_password)),
    path("admin/", admin.site.urls),
    path("api/", include("reports.api.urls")),
]
