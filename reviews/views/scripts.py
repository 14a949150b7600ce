"""What views answer to our own scripts, which cannot read where a redirect leads."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse


def asks_for_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def tells_where_to_go(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """`{"to": address}` in place of the view's own redirects; whatever else it answers stays.

    Stands below `login_required`: that one's redirect means that nothing was done.
    """

    @wraps(view)
    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = view(request, *args, **kwargs)
        if asks_for_json(request) and isinstance(answer, HttpResponseRedirect):
            return JsonResponse({"to": answer.url})
        return answer

    return told
