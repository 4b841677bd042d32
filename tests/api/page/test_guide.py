"""The guide to the page says what the page does."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.api.page.browser import PATIENCE_MS, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "guides" / "page.md"
ROWS = re.compile(r"^\| `(/[^`]+)` \| (.+?) \|$", re.MULTILINE)


def constant(page: "Page", file: str, name: str) -> int:
    """Return a number from a file of the page."""
    text = page.request.get(f"{page.url.split('#')[0]}page/{file}", timeout=PATIENCE_MS).text()
    found = re.search(rf"const {name} = (\d+);", text)
    assert found is not None
    return int(found[1])


def test_the_guide_lists_the_commands_of_the_message_box(visitor: Visitor) -> None:
    page = visitor.go("#/room")
    script = """async () => {
        const { COMMANDS } = await import('/page/parts/composer.js');
        return COMMANDS.map((one) => [one.name, one.takes].filter(Boolean).join(' '));
    }"""
    listed = [name for name, _ in ROWS.findall(GUIDE.read_text("utf-8"))]
    assert listed == page.evaluate(script)


def test_the_guide_says_how_many_turns_are_shown(visitor: Visitor) -> None:
    page = visitor.go("#/room")
    most = constant(page, "screens/room/thread.js", "MOST_TURNS")
    assert f"its last {most} turns" in GUIDE.read_text("utf-8")


def test_the_pictures_of_the_guide_are_among_those_that_are_taken() -> None:
    from tools.screenshots import SCHEMES, SHOTS

    taken = {f"{shot.name}-{scheme}.png" for shot in SHOTS for scheme in SCHEMES}
    shown = set(re.findall(r"\(\.\./screenshots/([\w-]+\.png)\)", GUIDE.read_text("utf-8")))
    assert len(shown) >= 3
    assert shown <= taken
    assert all((ROOT / "docs" / "screenshots" / name).is_file() for name in shown)
