"""One server and one browser for the tests of the page; every test is a visitor of its own.

Package scope, not session scope: Playwright's loop must not run while other tests use theirs.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.page.browser import Visitor, launched, visiting
from tests.api.page.house import House, open_house
from tests.api.page.scenes import Furnished, open_furnished

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Visit = Callable[..., Visitor]


@pytest.fixture(scope="package")
def chromium() -> "Iterator[Browser]":
    """The browser."""
    with launched() as browser:
        yield browser


@pytest.fixture(scope="package")
def house(chromium: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The home with its server; not built where there is no browser to look at it."""
    with open_house(tmp_path_factory.mktemp("house")) as one:
        yield one


@pytest.fixture(scope="package")
def furnished(chromium: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A home in which conversations, a flow and rounds have happened, with its server."""
    with open_furnished(tmp_path_factory.mktemp("furnished")) as one:
        yield one


@pytest.fixture
def visit(chromium: "Browser", house: House) -> Iterator[Visit]:
    """Let a visitor in: `visit(viewport=PHONE, color_scheme="dark")`."""
    with ExitStack() as stack:

        def come_in(url: str | None = None, **options: Any) -> Visitor:
            return stack.enter_context(visiting(chromium, url or house.url, **options))

        yield come_in


@pytest.fixture
def visitor(visit: Visit) -> Visitor:
    """Return a visitor with a wide window and light colours."""
    return visit()
