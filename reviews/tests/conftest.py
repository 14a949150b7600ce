"""One browser a module, for the tests that look at pages as people do."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from reviews.tests.chromium import chromium, open_context


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Playwright's loop runs in this thread, where the tests also use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with chromium() as running:
        yield running
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser: Browser, live_server: Any) -> Iterator[Any]:
    """Opens pages in fresh profiles; at the end no page may have complained of anything."""
    opened: list[tuple[BrowserContext, list[str]]] = []

    def open_one(**options: Any) -> Page:
        opened.append(open_context(browser, live_server.url, **options))
        return opened[-1][0].new_page()

    yield open_one
    for context, complaints in opened:
        context.close()
        assert complaints == []
