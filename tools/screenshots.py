"""Photograph every screen of the page, light and dark, into docs/screenshots.

python -m tools.screenshots              # all of them
python -m tools.screenshots room proof   # only these

A small home is made for it, with the avatars and documents of the page's tests; nothing is taken
from the home of whoever runs this.
"""

import argparse
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from tests.api.page.browser import PHONE, WIDE, Visitor, find_chromium, visiting
from tests.api.page.rooms import (
    DIGGING,
    FOOTBALL,
    IDA,
    MIRELA,
    OIL,
    TOMAS,
    begin,
    gather,
    say,
    type_and_send,
)
from tests.api.page.scenes import Furnished, open_furnished
from tools.screenshot_scenes import SCENES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
SCHEMES = ("light", "dark")
COLOURS = 256
"""A palette of this size cannot be told from the original, at a third of the bytes."""
SETTLED_MS = 400
ALARMING = frozenset({"reading-warning", "council-no-quorum"})
"""Scenes that show an alert on purpose."""

Setting = Callable[[Visitor, Furnished], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: its name, and what is done before it is taken."""

    name: str
    prepare: Setting
    is_phone: bool = False
    is_alarming: bool = False
    """Whether the picture is of something that went wrong."""


def _lobby(visitor: Visitor, _: Furnished) -> None:
    visitor.go("#/room").get_by_role("button", name=f"Talk with {IDA}").wait_for()


def _room(visitor: Visitor, _: Furnished) -> None:
    page = begin(visitor)
    say(page, DIGGING)
    say(page, FOOTBALL)


def _gathering(visitor: Visitor, _: Furnished) -> None:
    page = gather(visitor, IDA, TOMAS, MIRELA)
    type_and_send(page, OIL)
    page.locator(".silence").wait_for()


def _proof(visitor: Visitor, _: Furnished) -> None:
    page = begin(visitor)
    say(page, DIGGING).locator("button.citation").first.click()
    page.locator("dialog.proof[data-done]").wait_for()


def _tampered(visitor: Visitor, house: Furnished) -> None:
    def change(route: "object") -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        route.fulfill(  # type: ignore[attr-defined]
            response=answer, body=answer.body().replace(b"surprised", b"surprized")
        )

    visitor.page.route("**/api/cards/*/content", change)
    _proof(visitor, house)


SHOTS = (
    Shot(name="lobby", prepare=_lobby),
    Shot(name="lobby-phone", prepare=_lobby, is_phone=True),
    Shot(name="room", prepare=_room),
    Shot(name="room-phone", prepare=_room, is_phone=True),
    Shot(name="gathering", prepare=_gathering),
    Shot(name="proof", prepare=_proof),
    Shot(name="proof-phone", prepare=_proof, is_phone=True),
    Shot(name="proof-failed", prepare=_tampered, is_alarming=True),
    *(
        Shot(
            name=one.name,
            prepare=one.prepare,
            is_phone=one.is_phone,
            is_alarming=one.name in ALARMING,
        )
        for one in SCENES
    ),
)


def take(browser: "Browser", house: Furnished, shot: Shot, scheme: str) -> Path:
    """Take one picture and return where it lies."""
    size = PHONE if shot.is_phone else WIDE
    with visiting(browser, house.house.url, color_scheme=scheme, viewport=size) as visitor:
        shot.prepare(visitor, house)
        visitor.page.wait_for_load_state("networkidle")
        alarms = visitor.page.get_by_role("alert").all_inner_texts()
        if alarms and not shot.is_alarming:
            raise SystemExit(f"{shot.name} shows an error: {alarms[0]}")
        visitor.page.mouse.move(0, 0)
        visitor.page.wait_for_timeout(SETTLED_MS)
        picture = visitor.page.screenshot(animations="disabled", caret="hide")
    path = FOLDER / f"{shot.name}-{scheme}.png"
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def main() -> None:
    """Take the pictures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="which; all by default")
    wanted = parser.parse_args().names
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_furnished(Path(folder)) as house,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            for scheme in SCHEMES if not wanted or shot.name in wanted else ():
                path = take(browser, house, shot, scheme)
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
