"""A graph of what cards name together, with the cards themselves to answer from."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.closing import Closable
from salon.core.hashing import CardHash
from salon.mcard.card import MCard
from salon.mcard.collection import CardCollection
from salon.mcard.errors import InvalidArgument, value_errors
from salon.mcard.rag.answers import LOOKED_AT, CardAnswers
from salon.mcard.rag.communities import find_communities
from salon.mcard.rag.config import DEFAULT_CONFIG, MAX_TOP_K, RAGConfig
from salon.mcard.rag.engine import MCardRAGEngine
from salon.providers.entities import ExtractorOptions, open_extractor
from salon.retrieval.chunking import sentences
from salon.retrieval.following import as_text
from salon.retrieval.graph.entity_graph import EntityGraph, Neighbour
from salon.retrieval.graph.links import Entity, Link
from salon.retrieval.searcher import Hit, Searcher

if TYPE_CHECKING:
    from salon.retrieval.graph.entities import EntityExtractor

TEMPORARY = "vectors are temporary: no vector_db_path was given"
NO_MODEL = "no language model is asked: names and terms are found by rules"
NAMED_MODEL = "give the model as openai:NAME with llm_url in the configuration, or spacy:PACKAGE"
_MOST_ENTITIES = 20
_MOST_LINKS = 30
_SHOWN = 5
_KINDS = ("openai:", "spacy:", "rules")


@dataclass(frozen=True, slots=True)
class GraphRAGResponse:
    """An answer over several cards, with what the graph knows of what they name."""

    answer: str
    sources: list[str]
    entities: list[dict[str, object]]
    relationships: list[dict[str, object]]
    graph_context: str
    vector_context: str
    confidence: float
    metadata: dict[str, object] = field(default_factory=dict)


class GraphRAGEngine(Closable):
    """A graph of what cards name together, and answers that follow it from card to card.

    `vector_db_path` is where the cards are kept, with their index in a folder beside it; the graph
    is beside it too unless `graph_db_path` says otherwise. What no path is given for is temporary.
    `llm_model` has a model find the names; without one, rules do.
    """

    def __init__(
        self,
        config: RAGConfig | None = None,
        vector_db_path: str | Path | None = None,
        graph_db_path: str | Path | None = None,
        llm_model: str | None = None,
    ) -> None:
        self.config = config or DEFAULT_CONFIG
        self.llm_model = llm_model
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if vector_db_path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="salon-graph-")
        place = Path(vector_db_path or f"{self._folder.name if self._folder else ''}/cards.db")
        self._extractor = self._open_extractor()
        self._graph = EntityGraph(
            graph_db_path or place.with_name(f"{place.stem}.graph.db"),
            chunks=self.config.chunks(),
            extractor=self._extractor,
        )
        self._cards = CardCollection(db_path=place)
        self._rag = MCardRAGEngine(self._cards, self.config)
        self._searcher: Searcher = self._rag.searcher(lambda: self._graph)
        self._answers = CardAnswers()

    def close(self) -> None:
        """Let go of the graph and of the cards."""
        self._answers.close()
        self._graph.close()
        self._rag.close()
        self._cards.close()
        close = getattr(self._extractor, "close", None)
        if close is not None:
            close()
        if self._folder:
            self._folder.cleanup()

    def index(
        self,
        mcard: MCard,
        extract_graph: bool = True,  # noqa: FBT001, FBT002 - MCard's signature
        force: bool = False,  # noqa: FBT001, FBT002 - MCard's signature
    ) -> dict[str, int]:
        """Take a card in, with its vectors and its names and links; count what was new.

        A card that is there already, or is not text, gives zeros.
        """
        done = {"vectors": 0, "entities": 0, "relationships": 0}
        card, text = CardHash(mcard.hash), as_text(mcard.content)
        if text is None:
            return done
        before = self._with_vector()
        self._rag.index(mcard)
        done["vectors"] = self._with_vector() - before
        if not extract_graph or (self._graph.has(card) and not force):
            return done
        taken = self._graph.add(card, text)
        return done | {"entities": taken.entities, "relationships": taken.relationships}

    def remove(self, hash_value: str) -> bool:
        """Forget a card and all that came from it, tell whether there was anything."""
        was_kept = self._cards.delete(hash_value)
        was_in_graph = self._graph.remove(CardHash(hash_value))
        self._rag.index_all()
        return was_in_graph or was_kept

    def query(
        self,
        question: str,
        k: int = 5,
        use_graph: bool = True,  # noqa: FBT001, FBT002 - MCard's signature
    ) -> GraphRAGResponse:
        """Answer a question from the cards, following names from one card to another.

        `relationships` say in which sentence two names stand together; they claim no more.
        """
        if not 1 <= k <= MAX_TOP_K:
            raise InvalidArgument(f"k is {k}", hint=f"take 1 up to {MAX_TOP_K}")
        with value_errors():
            found = self._searcher.search(
                question, limit=max(k, LOOKED_AT), mode="graph" if use_graph else "hybrid"
            )
        answer = self._answers.answer_over_hops if use_graph else self._answers.answer
        grounded = answer(question, found.hits)
        entities = self._entities(found.hits[:k]) if use_graph else []
        links = self._links(entities) if use_graph else []
        relationships = [self._related(one) for one in links]
        return GraphRAGResponse(
            answer=grounded.text,
            sources=grounded.sources,
            entities=[_described(one) for one in entities],
            relationships=relationships,
            graph_context="\n".join(
                f"{one['source']} and {one['target']}: {one['said']}" for one in relationships
            ),
            vector_context="\n\n".join(hit.text for hit in found.hits[:k]),
            confidence=grounded.probability,
            metadata={
                **grounded.metadata(),
                "mode": found.mode,
                "hops": {hit.passage.hash: hit.why.over for hit in found.hits if hit.why.over},
            },
        )

    def explore_entity(self, name: str, hops: int = 2) -> dict[str, object]:
        """Return an entity and what it leads to; an unknown one gives a dictionary with `error`."""
        with value_errors():
            found = self._graph.explore_entity(name, hops)
        if found is None:
            return {"error": f"Entity {name!r} not found"}
        return {
            "entity": _described(found.entity),
            "related": [_neighbour(one) for one in found.neighbours],
        }

    def find_connection(self, a: str, b: str, max_depth: int = 4) -> list[str] | None:
        """Return the names on the shortest way from one entity to another, or `None`."""
        with value_errors():
            links = self._graph.find_connection(a, b, max_depth)
        if links is None:
            return None
        return [links[0].source, *(link.target for link in links)] if links else [a]

    def detect_and_summarize_communities(self) -> list[dict[str, object]]:
        """Return the groups of entities that are named together, each with sentences about it.

        A summary is quoted from the cards: the sentences in which the group's strongest pairs are
        named together.
        """
        links = {(one.source, one.target): one for one in self._graph.links()}
        found = find_communities({pair: float(one.weight) for pair, one in links.items()})
        communities = []
        for number, members in enumerate(found, start=1):
            inside = [one for pair, one in links.items() if set(pair) <= members]
            inside.sort(key=lambda one: (-one.weight, one.source, one.target))
            said = dict.fromkeys(self._said_together(one) for one in inside[:_SHOWN])
            communities.append(
                {
                    "id": number,
                    "entities": sorted(members),
                    "size": len(members),
                    "summary": " ".join(one for one in said if one),
                    "source_hashes": sorted({card for one in inside for card in one.sources}),
                }
            )
        return communities

    def get_stats(self) -> dict[str, object]:
        """Tell how much is in the graph and in the vectors, and how names were found."""
        info = self._rag.get_info()
        dense = {"available": True, "model": info["model"], "with_vector": info["with_vector"]}
        by = self.llm_model if self._is_by_model else "rules"
        extraction = {"by": by, "llm_model": self.llm_model}
        return {
            "graph": {**asdict(self._graph.stats()), "path": str(self._graph.path)},
            "dense": dense | ({"reason": TEMPORARY} if self._folder else {}),
            "extraction": extraction | ({} if self._is_by_model else {"reason": self._why_rules}),
        }

    @property
    def _is_by_model(self) -> bool:
        return (self.llm_model or "").startswith(_KINDS)

    @property
    def _why_rules(self) -> str:
        return NO_MODEL if self.llm_model is None else f"{NO_MODEL}; {NAMED_MODEL}"

    def _open_extractor(self) -> "EntityExtractor":
        if not self._is_by_model:
            return open_extractor("rules")
        return open_extractor(str(self.llm_model), ExtractorOptions(base_url=self.config.llm_url))

    def _with_vector(self) -> int:
        found = self._rag.get_info()["with_vector"]
        assert isinstance(found, int)
        return found

    def _entities(self, hits: Sequence[Hit]) -> list[Entity]:
        """Return what the passages found name, in the order of the passages."""
        mentions = self._graph.mentions_in([hit.passage.id for hit in hits])
        names = [one.name for hit in hits for one in mentions.get(hit.passage.id, ())]
        found = (self._graph.find_entity(name) for name in dict.fromkeys(names))
        return list(dict.fromkeys(one for one in found if one is not None))[:_MOST_ENTITIES]

    def _links(self, entities: Sequence[Entity]) -> list[Link]:
        inside = self._graph.links({one.name for one in entities})
        inside.sort(key=lambda one: (-one.weight, one.source, one.target))
        return inside[:_MOST_LINKS]

    def _related(self, link: Link) -> dict[str, object]:
        return {
            "source": link.source,
            "target": link.target,
            "weight": link.weight,
            "said": self._said_together(link),
            "source_hashes": list(link.sources),
        }

    def _said_together(self, link: Link) -> str:
        """Return the first sentence that names both ends; nothing where no sentence does."""
        for card in link.sources:
            kept = self._cards.get(card)
            text = None if kept is None else as_text(kept.content)
            for start, end in sentences(text or ""):
                said = (text or "")[start:end].strip()
                if link.source in said and link.target in said:
                    return said
        return ""


def _described(entity: Entity) -> dict[str, object]:
    return {
        "name": entity.name,
        "type": entity.type.value,
        "mentions": entity.mentions,
        "source_hashes": list(entity.sources),
    }


def _neighbour(neighbour: Neighbour) -> dict[str, object]:
    return _described(neighbour.entity) | {
        "hops": neighbour.hops,
        "via": neighbour.link.source,
        "weight": neighbour.link.weight,
    }
