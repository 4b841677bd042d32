"""The layouts of documents, read from the archive and kept in memory while they are in use."""

from functools import lru_cache

from salon.core.archive import Archive
from salon.core.documents import Document
from salon.core.hashing import CardHash
from salon.corpus.layout import Layout, Segment

_REMEMBERED = 256


class Layouts:
    """Says where in its source a byte of a document's text stands."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._layout = lru_cache(maxsize=_REMEMBERED)(self._read)

    def find_segment(self, document: Document, start: int) -> Segment | None:
        """Return the segment that holds a byte, `None` where the source has no layout."""
        layout = self._layout(document.layout, document.text)
        if layout is None or start >= layout.size:
            return None
        return layout.segment_at(start)

    def _read(self, layout: CardHash | None, text: CardHash) -> Layout | None:
        found = None if layout is None else self._archive.find(layout)
        return None if found is None else Layout.from_json(found.content, text=text)
