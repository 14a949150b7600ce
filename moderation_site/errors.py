"""What an error of ours looks like: a problem for programs, a page for people."""

from django.http import HttpRequest, HttpResponse
from django.views.defaults import server_error

from reports.api.problems import internal_error


def unexpected(request: HttpRequest) -> HttpResponse:
    """`handler500`. Nothing of the error itself is told; the log has it."""
    if request.path.startswith("/api/"):
        return internal_error()
    return server_error(request)
