"""Pictures of the pages, as they stand: `python -m dev.screenshots` writes docs/screenshots/*.png.

Starts its own installation with the sample reports, lets a reviewer decide a few, and opens the
pages in headless Chromium. Exit: 0 written, 1 something is missing.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from playwright.sync_api import ViewportSize, sync_playwright

from dev import programs
from dev.deliver import deliver
from dev.errors import DevError
from dev.processes import Interrupted, Interruption, free_port, wait_until
from dev.product import start_product, throwaway_services
from dev.samples import sample_reports
from dev.standin.client import Standin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from dev.processes import Supervisor
    from dev.product import Product

TARGET = programs.ROOT / "docs" / "screenshots"
SIZE: ViewportSize = {"width": 1280, "height": 800}
TALL: ViewportSize = {"width": 1280, "height": 1500}
DECISIONS = 5
BATCH_PAGE = "/admin/classifier/batch/1/change/"
STRICTER = (
    "false prizes, advance payment, gift cards,",
    "false prizes, advance payment, gift cards, paid followers,",
)


def main() -> int:
    from reviews.tests.chromium import FLAGS, FOUND, MISSING  # noqa: PLC0415  one place knows how

    try:
        if FOUND is None:
            sys.stderr.write(f"screenshots: {MISSING}\n")
            return 1
        with_pages(FOUND, FLAGS)
    except DevError as error:
        sys.stderr.write(f"screenshots: {error}\n")
        return 1
    except Interrupted:
        return 130
    return 0


def with_pages(chromium: str, flags: list[str]) -> None:
    """Start everything, take the pictures, stop everything."""
    interruption = Interruption()
    with throwaway_services(say=say) as (services, supervisor):
        port = free_port()
        product = start_product(services, supervisor, port=port, say=say, check=interruption.check)
        url = f"http://127.0.0.1:{port}"
        bodies = (json.dumps(body).encode() for body in sample_reports(204))
        deliver(bodies, url=url, key=product.accounts["key"])
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            page = browser.new_page(base_url=url, viewport=SIZE)
            log_in(page, product.accounts["passwords"]["reviewer"])
            wait_until(
                lambda: "Nothing is pending" in _text(page, "/review/pending/"),
                seconds=60,
                what="reports stayed pending",
                check=interruption.check,
            )
            decide(page)
            migrate(
                product,
                supervisor,
                page,
                browser,
                policy=services.home.directory / "next.toml",
                check=interruption.check,
            )
            # What arrives while no worker runs shows the pending list as it is on a bad day.
            supervisor.stop_one("worker-live")
            late = (json.dumps(body).encode() for body in list(sample_reports(216))[204:])
            deliver(late, url=url, key=product.accounts["key"])
            take_all(page)
            supervisor.run_step(programs.looked_again(env=product.env), check=interruption.check)
            take_quality(browser, url, product.accounts["passwords"]["admin"])
            browser.close()


def log_in(page: Page, password: str, *, name: str = "reviewer") -> None:
    page.goto("/login/")
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password]").fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()


def decide(page: Page) -> None:
    """Work through the top of the list, as a reviewer does."""
    start(page)
    for _ in range(DECISIONS):
        page.get_by_label("remove", exact=True).check()
        page.get_by_label("Category").select_option(index=1)
        page.get_by_role("button", name="Submit and next").click()


def start(page: Page) -> None:
    page.goto("/review/needs-review/")
    page.locator(".page-head .primary").click()


def migrate(  # noqa: PLR0913 - one scene, and what it needs
    product: Product,
    supervisor: Supervisor,
    page: Page,
    browser: Browser,
    *,
    policy: Path,
    check: Callable[[], None],
) -> None:
    """A policy that is stricter about advertisements, history asked under it, and its pages."""
    Standin(product.env["OPENAI_BASE_URL"]).script(
        {"kind": "verdict", "category": "scam", "confidence": 0.9},
        {"kind": "verdict", "category": "hate", "confidence": 0.9},
        *[{"kind": "delay", "seconds": 0}] * 6,
        times=None,
    )
    first = (programs.ROOT / "classifier" / "policy_files" / "0001.toml").read_text("utf-8")
    policy.write_text(first.replace(*STRICTER), "utf-8")
    for name, *arguments in (
        ("load_policy", str(policy), "--activate"),
        ("reclassify", "--execute"),
    ):
        supervisor.run_step(programs.step(name, name, *arguments, env=product.env), check=check)
    as_admin = browser.new_page(base_url=page.url[: page.url.index("/review")], viewport=TALL)
    log_in(as_admin, product.accounts["passwords"]["admin"], name="admin")
    wait_until(
        lambda: "100% have ended" in _text(as_admin, BATCH_PAGE),
        seconds=120,
        what="the batch did not end",
        check=check,
    )
    take(as_admin, "batch", BATCH_PAGE)
    take(as_admin, "policy-versions", "/admin/classifier/policyversion/compare/?old=1&new=2")
    take(page, "disagreements", "/review/disagreements/")
    as_admin.close()


def take_all(page: Page) -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, address in (
        ("needs-review", "/review/needs-review/"),
        ("pending", "/review/pending/"),
        ("safe", "/review/safe/"),
        ("resolved", "/review/resolved/"),
    ):
        take(page, name, address)
    start(page)
    shoot(page, "item")
    page.emulate_media(color_scheme="dark")
    take(page, "needs-review-dark", "/review/needs-review/")
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="العربية").click()
    take(page, "needs-review-arabic", "/review/needs-review/")
    page.goto("/review/needs-review/?language=ar")
    page.locator(".card .excerpt a").first.click()
    shoot(page, "item-arabic")


def take_quality(browser: Browser, url: str, password: str) -> None:
    page = browser.new_page(base_url=url, viewport=TALL)
    log_in(page, password, name="admin")
    take(page, "quality", "/review/quality/?within=all")
    take(page, "missed", "/review/quality/missed/")
    page.close()


def take(page: Page, name: str, address: str) -> None:
    page.goto(address)
    shoot(page, name)


def shoot(page: Page, name: str) -> None:
    page.screenshot(path=TARGET / f"{name}.png")
    say(f"docs/screenshots/{name}.png")


def _text(page: Page, address: str) -> str:
    page.goto(address)
    return page.locator("main").inner_text()


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
