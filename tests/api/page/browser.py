"""Chromium for tests: found on this machine, or the tests say why they are skipped.

`Visitor` is one person with one tab. Whatever the page complains about in the console, and whatever
breaks the content security policy, fails the test unless it was expected.

A machine may be slow, so nothing may be looked at one moment too early. `expect` waits for what
elements show, `becomes` for any other value, `Visitor.until` for whatever else has to hold, and
`Visitor.settle` until the page has nothing more to fetch. A plain `assert` is for what was drawn in
the same moment as the thing that was waited for.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Locator,
        Page,
        Request,
        Response,
    )
    from playwright.sync_api._generated import LocatorAssertions

T = TypeVar("T")

WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 780}
PATIENCE_MS = 60_000
"""How long one waits at most; only what never comes takes that long."""
PATIENCE = PATIENCE_MS / 1000
"""The same in seconds, for what is asked of the server without a browser."""
POLL_MS = 50
IS_STILL = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() =>
        done(!document.getAnimations().some((one) => one instanceof CSSTransition)))))"""
"""Whether nothing is on its way to another colour, told after two frames were drawn."""
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
    api.expect.set_options(timeout=PATIENCE_MS)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        try:
            yield browser
        finally:
            browser.close()


def expect(shown: "Locator") -> "LocatorAssertions":
    """Return Playwright's assertions, which wait; imported late, for it may not be installed."""
    from playwright.sync_api import expect as waiting

    return waiting(shown)


def becomes(page: "Page", read: Callable[[], T], wanted: T) -> None:
    """Wait until `read` gives what is wanted; fails with the difference where that never comes."""
    deadline = time.monotonic() + PATIENCE
    while (found := read()) != wanted and time.monotonic() < deadline:
        page.wait_for_timeout(POLL_MS)
    assert found == wanted


class Visitor:
    """A person with a tab of their own; nothing is shared with other visitors."""

    def __init__(self, context: "BrowserContext", url: str) -> None:
        self.context = context
        self.url = url
        self.complaints: list[str] = []
        self.expected: list[str] = []
        self.under_way: set[Request] = set()
        self.asked = 0
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("request", self._asks)
        self.page.on("response", self._hears)
        self.page.on("requestfinished", self._has)
        self.page.on("requestfailed", self._has)

    def _console(self, message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _asks(self, request: "Request") -> None:
        if request.is_navigation_request():
            self.under_way.clear()  # what the page before it had asked for is nobody's now
        self.under_way.add(request)
        self.asked += 1

    def _hears(self, response: "Response") -> None:
        if not response.ok:  # nobody reads the rest of it, so that it never ends
            self._has(response.request)

    def _has(self, request: "Request") -> None:
        self.under_way.discard(request)

    def go(self, hash_: str = "") -> "Page":
        """Open the page at an address such as `#/room`."""
        self.page.goto(f"{self.url}/{hash_}")
        return self.page

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what Playwright has no waiting for; fails with its own words when it is late."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, "this did not come to hold"
            self.page.wait_for_timeout(POLL_MS)

    def settle(self) -> None:
        """Wait until the page has drawn what it knows, stands still and asks for nothing more."""
        self.until(self._is_settled)

    def _is_settled(self) -> bool:
        before = self.asked
        is_idle = not self.under_way
        is_still = bool(self.page.evaluate(IS_STILL))  # time enough to ask for what comes next
        return is_idle and is_still and self.asked == before

    def listen(self) -> None:
        """Hear all that the console has said so far; an answer of the page comes after it."""
        self.page.evaluate(IS_STILL)

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


def grave_issues(visitor: Visitor, *, but: str = "") -> list[str]:
    """Return what axe finds serious or critical, each with where.

    `but` is a selector of what need not be looked at, such as the hundredth row of a table.
    """
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    visitor.settle()  # or something is drawn anew while axe looks at it
    context = {"include": [["html"]], "exclude": [[but]]} if but else None
    found = Axe().run(visitor.page, context=context).response["violations"]
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
        visitor.listen()
        assert visitor.unexpected() == []
    finally:
        # Whatever stands in for the server may be at work still; that it is cut off is no failure.
        visitor.page.unroute_all(behavior="ignoreErrors")
        context.close()
