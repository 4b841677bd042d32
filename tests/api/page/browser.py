"""Chromium for tests: found on this machine, or the tests say why they are skipped.

`Visitor` is one person with one tab. Whatever the page complains about in the console, and whatever
breaks the content security policy, fails the test unless it was expected.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 780}
PATIENCE_MS = 20_000
GRAVE = frozenset({"serious", "critical"})
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine, or `None`."""
    usual = Path("/usr/bin/chromium")
    return str(usual) if usual.exists() else next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def launched() -> Iterator["Browser"]:
    """Start Chromium, or skip visibly where it or Playwright is not there."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """A person with a tab of their own; nothing is shared with other visitors."""

    def __init__(self, context: "BrowserContext", url: str) -> None:
        self.context = context
        self.url = url
        self.complaints: list[str] = []
        self.expected: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))

    def _console(self, message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def go(self, hash_: str = "") -> "Page":
        """Open the page at an address such as `#/room`."""
        self.page.goto(f"{self.url}/{hash_}")
        return self.page

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what Playwright has no waiting for; fails with its own words when it is late."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not holds():
            assert time.monotonic() < deadline, "this did not come to hold"
            self.page.wait_for_timeout(50)

    def expect_complaint(self, part: str) -> None:
        """Allow the console to say this."""
        self.expected.append(part)

    def unexpected(self) -> list[str]:
        """Return what the console said and nobody expected."""
        return [one for one in self.complaints if not any(part in one for part in self.expected)]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window; 0 is right."""
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(script))


def grave_issues(page: "Page") -> list[str]:
    """Return what axe finds serious or critical, each with where."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): "
        + json.dumps([node["target"] for node in one["nodes"]][:4])
        for one in found
        if one["impact"] in GRAVE
    ]


@contextmanager
def visiting(browser: "Browser", url: str, **options: Any) -> Iterator[Visitor]:
    """Let one visitor in; at the end their console must have been quiet."""
    context = browser.new_context(
        **({"viewport": WIDE, "color_scheme": "light", "locale": "en-GB"} | options)
    )
    visitor = Visitor(context, url)
    try:
        yield visitor
        assert visitor.unexpected() == []
    finally:
        context.close()
