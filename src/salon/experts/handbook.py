"""Salon's own documentation, wherever this Salon was installed from.

A wheel carries the pages inside the package; a checkout has them where people edit them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_WHEEL = _PACKAGE / "handbook"
_CHECKOUT = _PACKAGE.parent.parent
_HEADING = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page: where it lies, how it is called, and its place among the pages."""

    path: Path
    title: str
    place: str


def find_pages(root: Path | None = None) -> list[Page]:
    """Return the pages in order, or nothing where Salon came without them."""
    chosen = root or (_IN_WHEEL if _IN_WHEEL.is_dir() else _CHECKOUT)
    if not (chosen / "docs").is_dir():
        return []
    paths = [chosen / "README.md", *sorted((chosen / "docs").rglob("*.md"))]
    return [_page(path, chosen) for path in paths if path.is_file()]


def _page(path: Path, root: Path) -> Page:
    place = path.relative_to(root).as_posix()
    heading = _HEADING.search(path.read_text("utf-8"))
    title = heading[1].replace("`", "") if heading else path.stem
    return Page(path=path, title=title, place=place)
