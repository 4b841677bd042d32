"""Looking a citation up: the text around a span, its document and page, and the names it holds.

Each capability is one function. What is shown is read from the card itself, whose bytes are
checked against its hash; nothing is taken over from whoever asks.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.core.errors import InvalidInput, NotFound
from salon.core.hashing import CardHash

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.core.documents import Document
    from salon.corpus.layout import Layout
    from salon.retrieval.graph.entity_graph import EntityGraph
    from salon.retrieval.graph.links import Entity, Link
    from salon.retrieval.passage_index import PassageIndex

WIDEST = 4_000
"""Bytes that are shown before and after a span at most."""
MOST_CENTRES = 8
"""Names of one passage around which the graph is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A span of a card with the text around it, cut where its page ends."""

    hash: CardHash
    start: int
    end: int
    quote: str
    before: str
    after: str
    starts_page: bool
    """Whether `before` reaches back to the beginning of the page, or of the text."""
    ends_page: bool
    page: int | None
    section: str | None
    size: int
    """Bytes in the whole card."""
    document: "Document | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """An entity of the graph, and over how many links it was reached; 0 is what was asked for."""

    entity: "Entity"
    hops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAround:
    """A part of the entity graph: names, and which are named together."""

    entities: tuple[NamedEntity, ...]
    links: "tuple[Link, ...]"


class ProofsPart:
    """What the application can show of the sources behind a citation."""

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        @property
        def passages(self) -> PassageIndex:
            """The passages of this home."""

        layout: Callable[[Document], Layout | None]
        index_words: Callable[..., object]
        _current_graph: Callable[[], EntityGraph]

    def place_of(self, card: CardHash, start: int, end: int, *, width: int = 1_500) -> Place:
        """Return a span with the text around it, or raise where the card has no such text."""
        content = self.archive.get(card).content
        if not 0 <= start < end <= len(content):
            raise InvalidInput(
                f"bytes {start} to {end} are no span of this card",
                hint=f"it has {len(content):,} bytes",
            )
        document = next(iter(self.archive.documents_of(card)), None)
        layout = None if document is None else self.layout(document)
        first, last, page, section = _page_around(layout, start, end, len(content))
        room = min(width, WIDEST)
        left = _begin_of_character(content, max(first, start - room))
        right = _begin_of_character(content, min(last, end + room))
        return Place(
            hash=card,
            start=start,
            end=end,
            quote=_text(content[start:end]),
            before=_text(content[left:start]),
            after=_text(content[end:right]),
            starts_page=left == first,
            ends_page=right == last,
            page=page,
            section=section,
            size=len(content),
            document=document,
        )

    def graph_of_entity(self, name: str, *, hops: int = 1, limit: int = 40) -> GraphAround:
        """Return what an entity is named together with, or raise `NotFound`."""
        found = self._current_graph().explore_entity(name, hops, limit)
        if found is None:
            raise NotFound(f"no text here names {name!r}", hint="try another spelling")
        return GraphAround(
            entities=(
                NamedEntity(entity=found.entity, hops=0),
                *(NamedEntity(entity=one.entity, hops=one.hops) for one in found.neighbours),
            ),
            links=tuple(one.link for one in found.neighbours),
        )

    def graph_of_passage(
        self, card: CardHash, start: int, end: int, *, limit: int = 40
    ) -> GraphAround:
        """Return the names in a span and what each is named together with, elsewhere too."""
        self.index_words()
        graph = self._current_graph()
        near = [
            one.id
            for one in self.passages.catalogue.passages_of(card)
            if one.start < end and start < one.end
        ]
        names: dict[str, str] = {}
        for mentions in graph.mentions_in(near).values():
            for one in sorted(mentions, key=lambda one: not one.is_subject):
                names.setdefault(one.key, one.name)
        centres = list(names.values())[:MOST_CENTRES]
        each = max(1, limit // max(1, len(centres)))
        return _joined(self.graph_of_entity(one, limit=each) for one in centres)


def _joined(parts: Iterable[GraphAround]) -> GraphAround:
    entities: dict[str, NamedEntity] = {}
    links: dict[frozenset[str], Link] = {}
    for part in parts:
        for one in part.entities:
            known = entities.get(one.entity.name)
            if known is None or one.hops < known.hops:
                entities[one.entity.name] = one
        for link in part.links:
            links.setdefault(frozenset((link.source, link.target)), link)
    return GraphAround(entities=tuple(entities.values()), links=tuple(links.values()))


def _page_around(
    layout: "Layout | None", start: int, end: int, size: int
) -> tuple[int, int, int | None, str | None]:
    """Return where the page of a span begins and ends, its number and its section."""
    if layout is None or start >= layout.size:
        return 0, size, None, None
    here = layout.segment_at(start)
    if here.page is None:
        return here.start, max(here.end, end), None, here.section
    same = [one for one in layout.segments if one.page == here.page]
    return same[0].start, max(same[-1].end, end), here.page, here.section


def _begin_of_character(content: bytes, place: int) -> int:
    """Return the first byte from a place on that begins a character."""
    while place < len(content) and content[place] & 0xC0 == 0x80:
        place += 1
    return place


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "this card is no text there, or the span cuts a character in two",
            hint="spans count bytes, not characters",
        ) from error
