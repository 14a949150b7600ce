"""One browser a module, for the tests that look at pages as people do; and two people at work."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client as HttpClient
from playwright.sync_api import Browser, BrowserContext, Page

from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.tests.chromium import chromium, open_context
from reviews.tests.people import log_in


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Playwright's loop runs in this thread, where the tests also use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with chromium() as running:
        yield running
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_page(browser: Browser, live_server: Any) -> Iterator[Any]:
    """Opens pages in fresh profiles; at the end no page may have complained of anything.

    `expected`: how a complaint begins that the test provokes.
    """
    opened: list[tuple[BrowserContext, list[str], str]] = []

    def open_one(*, expected: str = "", **options: Any) -> Page:
        context, complaints = open_context(browser, live_server.url, **options)
        opened.append((context, complaints, expected))
        return context.new_page()

    yield open_one
    for context, complaints, expected in opened:
        context.close()
        assert [each for each in complaints if not expected or not each.startswith(expected)] == []


@pytest.fixture
def dana(db: None) -> HttpClient:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def omar(db: None) -> HttpClient:  # noqa: ARG001
    return log_in("omar", "reviewer")


@pytest.fixture
def reports(client_of_sender: Client) -> list[Report]:
    """Five pending items, in the list's order."""
    return [client_of_sender.send(body_saying(f"text {number}")) for number in range(5)]
