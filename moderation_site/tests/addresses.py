"""Every address of the product, found by walking the resolver, so that none can be forgotten."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

# The addresses that Django's admin makes for each model; `{}` is its own part.
OF_A_MODEL = {
    "list": "admin/{}/",
    "add": "admin/{}/add/",
    "change": "admin/{}/<object_id>/change/",
    "history": "admin/{}/<object_id>/history/",
    "delete": "admin/{}/<object_id>/delete/",
    "short": "admin/{}/<object_id>/",
}


class Route(NamedTuple):
    """A pattern of addresses, `review/items/<item_id>/`, and the names of what it takes."""

    pattern: str
    takes: tuple[str, ...]

    def filled(self, values: dict[str, object]) -> str:
        """The address with these values; a `KeyError` names the one that is missing."""
        return "/" + re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), self.pattern)


def every_route() -> dict[str, Route]:
    """All of them, by pattern."""
    found = (Route(each, tuple(re.findall(r"<(\w+)>", each))) for each in _walk(get_resolver()))
    return {each.pattern: each for each in found}


def models_in_the_admin() -> dict[str, type]:
    """Each model that the admin shows, by its part of the address: `reports/item`."""
    return {
        f"{model._meta.app_label}/{model._meta.model_name}": model for model in admin.site._registry
    }


def standard_routes(models: Iterable[str]) -> set[str]:
    return {pattern.format(model) for model in models for pattern in OF_A_MODEL.values()}


def _walk(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for each in resolver.url_patterns:
        here = before + _readable(str(each.pattern))
        if isinstance(each, URLResolver):
            yield from _walk(each, here)
        elif isinstance(each, URLPattern):
            yield here


def _readable(pattern: str) -> str:
    """`^(?P<slug>a|b)/$` and `<int:slug>/` alike as `<slug>/`."""
    bare = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", pattern.removeprefix("^").removesuffix("$"))
    return re.sub(r"<\w+:(\w+)>", r"<\1>", bare)
