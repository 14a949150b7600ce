"""Headless Chromium for the browser tests: Debian's, by its path; nothing is downloaded."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

FOUND = shutil.which(os.environ.get("CHROMIUM", "chromium"))
PASSWORD = "a long enough word"
MISSING = "no Chromium here; `make browser-test` installs it on Debian, CHROMIUM names another"

# As root Chromium has no sandbox to drop into; the others keep it from calling home.
FLAGS = [
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=FOUND, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def open_context(
    browser: Browser, base_url: str, **options: Any
) -> tuple[BrowserContext, list[str]]:
    """A fresh profile, and the list in which whatever the pages complain of will stand."""
    context = browser.new_context(base_url=base_url, **options)
    context.set_default_timeout(10_000)
    complaints: list[str] = []

    def listen(page: Page) -> None:
        # The answer 409 of a stale form and the like are meant; a refused resource is not.
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type == "error" and "status of 4" not in message.text
                else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))

    context.on("page", listen)
    return context, complaints


def make_reviewer(name: str) -> None:
    # Here, for who only wants to know of the browser has no Django set up.
    from django.contrib.auth.models import Group, User  # noqa: PLC0415

    from reviews.tests.people import unveil  # noqa: PLC0415

    user = User.objects.create_user(name, password=PASSWORD)
    user.groups.add(Group.objects.get(name="reviewer"))
    unveil(user)


def log_in(page: Page, name: str, *, button: str = "Log in") -> None:
    page.goto("/review/needs-review/")
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button", name=button, exact=True).click()


def is_submit(request: Request) -> bool:
    """What is typed goes out as well, as a draft."""
    return request.method == "POST" and "/draft/" not in request.url


def stop_clock(page: Page) -> None:
    """Time passes for this page and those after it as the test says, and not by itself."""
    page.clock.install(time=0)
    page.clock.pause_at(60)
