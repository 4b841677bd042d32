"""Where the screens beside the room look best: how to get there, and what to wait for.

`SCENES` is what `tools/screenshots.py` photographs. The house is the one of the browser tests
(`tests/api/page/scenes.py`), so a picture shows what really happened in a real home.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.api.page.browser import Visitor
from tests.api.page.scenes import (
    ASSISTANT_SESSION,
    COMPANION_SESSION,
    FRAUD_SESSION,
    MARIA,
    Furnished,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One picture: its name, and how a visitor gets there."""

    name: str
    prepare: Callable[[Visitor, Furnished], None]
    is_phone: bool = False


def reading(visitor: Visitor, _: Furnished) -> None:
    """Show twelve turns with a companion."""
    page = visitor.go(f"#/reading/{COMPANION_SESSION}")
    page.get_by_text(f"turn {len(MARIA)} of {len(MARIA)}").wait_for()


def warning(visitor: Visitor, _: Furnished) -> None:
    """Show a warning of fraud."""
    page = visitor.go(f"#/reading/{FRAUD_SESSION}")
    page.get_by_role("alert").wait_for()


def approval(visitor: Visitor, _: Furnished) -> None:
    """Show the exact arguments that wait for an approval; it is never given here."""
    page = visitor.go(f"#/gate/{ASSISTANT_SESSION}")
    page.locator(".flow").wait_for()
    steps = (
        page.get_by_role("button", name="yes"),
        page.locator(".flow .button", has_text="("),
        page.get_by_role("button", name="Leave it out"),
    )
    ready = page.get_by_role("heading", name="Approve exactly this?")
    name = page.get_by_label("Name")
    while not ready.is_visible():
        if name.is_visible():
            name.fill("Tom Reed")
            page.get_by_role("button", name="Answer").click()
        for step in steps:
            if step.first.is_visible():
                step.first.click()
                break
        page.wait_for_timeout(200)
    page.get_by_text("checked here").wait_for()


def chapter(visitor: Visitor, furnished: Furnished) -> None:
    """Show a published round with a draft opened."""
    page = visitor.go(f"#/council/{furnished.published.id}")
    page.locator(".chapter").wait_for()


def ballot(visitor: Visitor, furnished: Furnished) -> None:
    """Show how the round was voted on."""
    chapter(visitor, furnished)
    page = visitor.page
    page.locator(".ballot").scroll_into_view_if_needed()
    page.locator(".ballot h2").evaluate("node => node.scrollIntoView({block: 'start'})")
    page.mouse.wheel(0, -90)


def no_quorum(visitor: Visitor, furnished: Furnished) -> None:
    """Show a round that found no quorum."""
    page = visitor.go(f"#/council/{furnished.no_quorum.id}")
    page.get_by_role("alert").wait_for()


def documents(visitor: Visitor, _: Furnished) -> None:
    """Show the sources with their status."""
    page = visitor.go("#/library")
    page.locator(".document").first.wait_for()


def search(visitor: Visitor, _: Furnished) -> None:
    """Show one question, searched three ways."""
    page = visitor.go("#/library/search?q=Who%20sits%20in%20the%20canal%20court%3F")
    for place in range(3):
        page.locator(".column").nth(place).locator(".passage").first.wait_for()


def graph(visitor: Visitor, _: Furnished) -> None:
    """Show the names around one name."""
    page = visitor.go("#/library/graph?entity=Orrin%20Valley")
    page.locator("svg.graph .node").first.wait_for()


def ledger(visitor: Visitor, _: Furnished) -> None:
    """Show the log, verified."""
    page = visitor.go("#/ledger")
    page.locator(".entry").first.wait_for()
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("The log holds.").wait_for()


SCENES: tuple[Scene, ...] = (
    Scene(name="reading", prepare=reading),
    Scene(name="reading-warning", prepare=warning),
    Scene(name="gate", prepare=approval),
    Scene(name="council", prepare=chapter),
    Scene(name="council-ballot", prepare=ballot),
    Scene(name="council-no-quorum", prepare=no_quorum),
    Scene(name="reading-phone", prepare=reading, is_phone=True),
    Scene(name="library", prepare=documents),
    Scene(name="library-search", prepare=search),
    Scene(name="library-graph", prepare=graph),
    Scene(name="ledger", prepare=ledger),
)
