"""Citations: the proof that a text is where a reply says it is."""

from dataclasses import dataclass

from salon.core.hashing import CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Bytes `start` up to `end` of a card, what they say, and the document they belong to.

    Anyone with the archive can derive the quote again; whoever has only the reply can ask for it.
    """

    hash: CardHash
    start: int
    end: int
    quote: str
    source: str
    page: int | None = None
