from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from reports.api.problems import unknown_address
from reports.api.views import ReportsView, ReportView

urlpatterns = [
    path("v1/reports/", ReportsView.as_view(), name="reports"),
    path("v1/reports/<uuid:public_id>/", ReportView.as_view(), name="report"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    re_path(r"^(?P<rest>.*)$", unknown_address),
]
