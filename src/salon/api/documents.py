"""The library over HTTP: documents with their verification, search, and the entity graph."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query
from pydantic import Field

from salon.api import examples
from salon.api.service import LibraryService
from salon.api.shapes import Shape, responses
from salon.api.talking import Talking
from salon.core.documents import Document, DocumentId, Verification
from salon.core.errors import InvalidInput
from salon.core.hashing import as_card_hash
from salon.corpus.filters import Where
from salon.corpus.manifest import as_avatar_id
from salon.corpus.search import FoundPassage, SearchAnswer
from salon.parts.avatar_arguments import LONGEST_QUESTION
from salon.parts.avatar_results import PassageFound
from salon.parts.proofs import GraphAround

MOST_DOCUMENTS = 1_000


class Verified(Shape):
    """Whether somebody confirmed that a source is what it claims to be: who, when and why."""

    status: Literal["verified", "pending", "disputed"]
    by: str
    at: str
    notes: str


class DocumentShown(Shape):
    """A source: where it comes from, who vouches for it, and the cards that hold it."""

    id: str
    title: str
    type: str
    authors: list[str]
    year: int | None
    url: str | None
    archive_url: str | None
    licence: str | None
    doi: str | None
    derived: bool = Field(description="Whether Salon made the text itself")
    source: str = Field(description="The card with the bytes as they came")
    text: str = Field(description="The card with the text read from them; citations point here")
    layout: str | None
    added_at: str
    verification: Verified


class Documents(Shape):
    """Documents in the order in which they came."""

    total: int
    documents: list[DocumentShown]


class DocumentDetails(DocumentShown):
    """A source with every judgement on it, the newest first."""

    judgements: list[Verified]
    size: int = Field(description="Bytes of the text")


class SearchArguments(Shape):
    """What to look for, where and by which means."""

    query: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    mode: Literal["hybrid", "dense", "sparse", "graph"] = Field(
        "hybrid", description="By words and meaning, by meaning, by words, or along the graph"
    )
    limit: int = Field(10, ge=1, le=50)
    alpha: float = Field(
        0.5, ge=0, le=1, description="In hybrid mode: 0 counts words only, 1 meaning only"
    )
    threshold: float = Field(0.0, ge=0, le=1, description="Least probability of being relevant")
    avatar: str | None = Field(None, description="Whose corpus; all documents if null")


class WhyFound(Shape):
    """Where a passage stood in each list; null where it was in none."""

    lexical_rank: int | None
    lexical_score: float | None
    dense_rank: int | None
    dense_score: float | None
    fused_score: float
    over: str | None = Field(description="The name over which the graph led here")


class PassageShown(PassageFound):
    """A passage with its proof, and why it was found."""

    section: str | None
    why: WhyFound


class Searched(Shape):
    """What a search found, and how much of the library it saw."""

    passages: list[PassageShown]
    mode: str
    notes: list[str] = Field(description="What the search could not do, if anything")
    indexed: int = Field(description="Passages that can be found")
    with_vector: int = Field(description="Those of them that can be found by meaning")
    entries_behind: int = Field(description="Audit entries that the index has not seen yet")


class EntityShown(Shape):
    """Something that texts name; `hops` 0 is what was asked for."""

    name: str
    type: str
    mentions: int
    hops: int
    sources: list[str] = Field(description="The cards that name it")


class LinkShown(Shape):
    """Two entities that are named together, in so many passages; no more is claimed."""

    source: str
    target: str
    weight: int


class Graph(Shape):
    """A part of the entity graph."""

    entities: list[EntityShown]
    links: list[LinkShown]


def document_routes(talking: Talking, service: LibraryService) -> APIRouter:
    """Return the routes about documents, search and graph."""
    routes = APIRouter(prefix="/api", tags=["library"])

    @routes.get("/documents", responses=responses())
    async def list_documents(
        limit: Annotated[int, Query(ge=1, le=MOST_DOCUMENTS)] = 100,
        offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    ) -> Documents:
        """Return the documents of all corpora."""
        found = await talking.look(service.documents)
        shown = [document_shown(one) for one in found[offset : offset + limit]]
        return Documents(total=len(found), documents=shown)

    @routes.get("/documents/{document}", responses=responses(404, 410))
    async def show_document(
        document: Annotated[str, Path(examples=[examples.DOCUMENT])],
    ) -> DocumentDetails:
        """Return a document with every judgement on it."""
        return await talking.look(partial(_details, service, document))

    _search(routes, talking, service)
    _graph(routes, talking, service)
    return routes


def _search(routes: APIRouter, talking: Talking, service: LibraryService) -> None:
    asked: Any = Body(
        openapi_examples={"plain": {"value": {"query": examples.QUESTION, "limit": 3}}}
    )

    @routes.post("/search", responses=responses(404, 413, 503))
    async def search(given: Annotated[SearchArguments, asked]) -> Searched:
        """Search all documents or an avatar's, by words, by meaning, by both or along the graph."""
        where = None if given.avatar is None else Where(avatar=as_avatar_id(given.avatar))
        work = partial(
            service.search,
            given.query,
            limit=given.limit,
            mode=given.mode,
            alpha=given.alpha,
            threshold=given.threshold,
            where=where,
        )
        return _searched(await talking.ask(work))


def _graph(routes: APIRouter, talking: Talking, service: LibraryService) -> None:
    @routes.get("/graph", responses=responses(404, 410, 503))
    async def graph(
        *,
        entity: Annotated[
            str | None, Query(min_length=1, max_length=200, examples=[examples.ENTITY])
        ] = None,
        hash: Annotated[str | None, Query(description="Instead of a name: a card.")] = None,  # noqa: A002
        start: Annotated[int, Query(ge=0, le=2**62)] = 0,
        end: Annotated[int | None, Query(ge=1, le=2**62)] = None,
        hops: Annotated[int, Query(ge=1, le=3)] = 1,
        limit: Annotated[int, Query(ge=1, le=200)] = 40,
    ) -> Graph:
        """Return the entity graph around a name, or around a passage of a card."""
        if (entity is None) == (hash is None):
            raise InvalidInput("say what the graph is around", hint="give `entity` or `hash`")
        if entity is not None:
            work = partial(service.graph_of_entity, entity, hops=hops, limit=limit)
            return _graph_shown(await talking.ask(work))
        card = as_card_hash(hash or "")

        def around() -> GraphAround:
            size = service.archive.info(card).size
            return service.graph_of_passage(card, start, size if end is None else end, limit=limit)

        return _graph_shown(await talking.ask(around))


def document_shown(document: Document) -> DocumentShown:
    """Shape a document."""
    return DocumentShown(**_shown(document))


def _shown(document: Document) -> dict[str, Any]:
    return {
        **document.provenance.as_record(),
        "id": document.id,
        "source": document.source,
        "text": document.text,
        "layout": document.layout,
        "added_at": document.added_at,
        "verification": _verified(document.verification),
    }


def _verified(one: Verification) -> Verified:
    return Verified(status=one.status.value, by=one.by, at=one.at, notes=one.notes)


def _details(service: LibraryService, document: str) -> DocumentDetails:
    archive = service.archive
    found = archive.get_document(DocumentId(document))
    judgements = [_verified(one) for one in archive.verifications(found.id)]
    return DocumentDetails(
        **_shown(found), judgements=judgements, size=archive.info(found.text).size
    )


def _searched(answer: SearchAnswer) -> Searched:
    return Searched(
        passages=[_passage(one) for one in answer.passages],
        mode=answer.mode,
        notes=list(answer.notes),
        indexed=answer.coverage.passages,
        with_vector=answer.coverage.with_vector,
        entries_behind=answer.coverage.entries_behind,
    )


def _passage(found: FoundPassage) -> PassageShown:
    known = {name: getattr(found, name) for name in PassageFound.model_fields}
    why = {name: getattr(found.why, name) for name in WhyFound.model_fields}
    return PassageShown(**known, section=found.section, why=WhyFound(**why))


def _graph_shown(around: GraphAround) -> Graph:
    return Graph(
        entities=[
            EntityShown(
                name=one.entity.name,
                type=one.entity.type.value,
                mentions=one.entity.mentions,
                hops=one.hops,
                sources=list(one.entity.sources),
            )
            for one in around.entities
        ],
        links=[
            LinkShown(source=one.source, target=one.target, weight=one.weight)
            for one in around.links
        ],
    )
