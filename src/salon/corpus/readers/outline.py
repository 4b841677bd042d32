"""Headings make sections: the part that HTML, DOCX and EPUB readers share.

A section is named by the path of its headings. What comes before the first heading has none,
so it is named by its place: `paragraph 3`. Blocks are separated by a blank line, which belongs
to the block before it.
"""

from salon.corpus.layout import LayoutBuilder
from salon.corpus.readers.characters import clean

SEPARATOR = " \u203a "  # a single right-pointing angle quotation mark
_LABEL_LENGTH = 120
_BLOCK_END = "\n\n"


def heading_label(text: str) -> str:
    """Return a heading as it appears in a section's name: one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_LENGTH else line[: _LABEL_LENGTH - 1].rstrip() + "…"


class Outline:
    """The headings above the current place."""

    def __init__(self, root: str | None = None) -> None:
        self._root = heading_label(root) if root else None
        self._path: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        """Begin the section under `heading`, closing those of the same or a deeper level."""
        label = heading_label(heading)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if label and not (label == self._root and not self._path):
            self._path.append((level, label))

    @property
    def section(self) -> str | None:
        """Return the name of the current section, or `None` before the first heading."""
        labels = [self._root] if self._root else []
        return SEPARATOR.join([*labels, *(label for _, label in self._path)]) or None


class SectionWriter:
    """Writes headings and paragraphs into a layout, each under its section."""

    def __init__(self) -> None:
        self.builder = LayoutBuilder()
        self._outline = Outline()
        self._paragraphs = 0

    def begin_part(self, title: str) -> None:
        """Begin a part (a chapter of a book) whose title stands above all its headings."""
        self._outline = Outline(title)

    def heading(self, level: int, text: str) -> None:
        """Write a heading; what follows belongs to its section."""
        shown = clean(text).strip()
        if shown:
            self._outline.enter(level, shown)
            self._write(shown)

    def paragraph(self, text: str) -> None:
        """Write a paragraph into the current section."""
        shown = clean(text).strip()
        if shown:
            self._write(shown)

    def _write(self, text: str) -> None:
        self._paragraphs += 1
        section = self._outline.section or f"paragraph {self._paragraphs}"
        self.builder.add(text + _BLOCK_END, section=section)
