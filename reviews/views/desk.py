"""The person's desk for every template, read only where a page asks for it."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from reviews.wellbeing import read_desk


def desk(request: HttpRequest) -> dict[str, Any]:
    """A context processor: `desk`, as `reviews.wellbeing.read_desk` gives it."""
    return {"desk": SimpleLazyObject(lambda: read_desk(request.user))}  # type: ignore[arg-type]
