"""A small archive with documents, for tests of grounding and experts."""

from dataclasses import dataclass
from pathlib import Path

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.citations import Citation
from salon.core.documents import Document, DocumentType, Provenance
from salon.corpus.layout import Layout, Segment
from salon.grounding.citing import Citations

GARDEN = (
    "The garden has thirty members. Each of them waters one bed every evening. "
    "Those who do not water lose their bed after two warnings. "
    "No member may hold more than two beds."
)
BRIDGE = (
    "The bridge was built in 1874 by the people of the valley. "
    "It was paid for with 12,000 crowns that they had saved together. "
    "In my time nobody doubted that it would stand."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An archive and what is in it."""

    archive: SqliteArchive
    garden: Document
    bridge: Document
    made: Document

    @property
    def citations(self) -> Citations:
        return Citations(self.archive)

    def cite(self, document: Document, quote: str) -> Citation:
        content = self.archive.get(document.text).content
        start = content.index(quote.encode())
        return self.citations.make(document, start, start + len(quote.encode()))


def make_world(folder: Path) -> World:
    """Store a text with pages, a text without, and one that Salon made itself."""
    archive = SqliteArchive(folder / "salon.db")
    half = GARDEN.index("Those who")
    layout = Layout(
        segments=(
            Segment(start=0, end=half, page=3),
            Segment(start=half, end=len(GARDEN.encode()), page=4),
        )
    )
    text = archive.add(GARDEN.encode())
    pages = archive.add(layout.to_json(text=text.hash))
    bridge = archive.add(BRIDGE.encode())
    made = archive.add(b"The council thinks that thirty members are enough for one garden.")
    return World(
        archive=archive,
        garden=archive.write(
            lambda tx: tx.add_document(
                Provenance(title="Rules of the Garden", type=DocumentType.GUIDE, year=1901),
                source=text.hash,
                layout=pages.hash,
            )
        ),
        bridge=archive.write(
            lambda tx: tx.add_document(
                Provenance(title="A Speech at the Bridge", type=DocumentType.SPEECH, year=1880),
                source=bridge.hash,
            )
        ),
        made=archive.write(
            lambda tx: tx.add_document(
                Provenance(title="A Chapter", year=1902, derived=True), source=made.hash
            )
        ),
    )
