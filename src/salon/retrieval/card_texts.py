"""Reading spans of cards again and again without hashing a whole book each time.

A card is read from the archive and checked against its hash once; while it is remembered, only its
being there is asked again. What is remembered is the checked bytes, so a file changed behind
Salon's back cannot change what is served.
"""

import threading
from collections import OrderedDict

from salon.core.archive import Archive
from salon.core.errors import HashMismatch
from salon.core.hashing import CardHash

REMEMBERED_BYTES = 64 * 1024 * 1024


class CardTexts:
    """The contents of the cards that were used last."""

    def __init__(self, archive: Archive, limit: int = REMEMBERED_BYTES) -> None:
        self._archive = archive
        self._limit = limit
        self._known: OrderedDict[CardHash, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def find_span(self, card: CardHash, start: int, end: int) -> str | None:
        """Return the text of a span; `None` if the card is gone or its bytes are damaged."""
        content = self._find(card)
        return None if content is None else content[start:end].decode()

    def _find(self, card: CardHash) -> bytes | None:
        with self._lock:
            content = self._known.get(card)
            if content is not None:
                self._known.move_to_end(card)
        if content is not None:
            if self._archive.has(card):
                return content
            self._forget(card)
            return None
        try:
            found = self._archive.find(card)
        except HashMismatch:
            return None  # `salon archive verify` tells; a search must not serve it
        if found is None:
            return None
        self._remember(card, found.content)
        return found.content

    def _remember(self, card: CardHash, content: bytes) -> None:
        with self._lock:
            if card in self._known or len(content) > self._limit:
                return
            self._known[card] = content
            self._size += len(content)
            while self._size > self._limit:
                _, oldest = self._known.popitem(last=False)
                self._size -= len(oldest)

    def _forget(self, card: CardHash) -> None:
        with self._lock:
            content = self._known.pop(card, None)
            if content is not None:
                self._size -= len(content)
