"""One browser a module, for the tests that look at pages as people do."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from reviews.tests.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Playwright's loop runs in this thread, where the tests also use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with chromium() as running:
        yield running
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
