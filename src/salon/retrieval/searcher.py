"""Searching passages: words and vectors asked side by side, one list with a probability each.

It returns spans of cards with the text it has just read from them; what document a card belongs
to, and who may see it, is decided above. It never waits for a writer and never computes a
passage's vector: it uses what is there, and says how much that is.

Invariant: every hit is in the archive at the moment it is returned, and its text is the bytes of
its span in a card whose hash was checked in this process.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from salon.core.embedding import Embedder, Vector
from salon.core.errors import InvalidInput, ModelMismatch, SalonError
from salon.core.indexes import Cards, PassageId, Ranking, VectorIndex
from salon.retrieval.card_texts import CardTexts
from salon.retrieval.catalogue import CataloguedPassage
from salon.retrieval.passage_index import Coverage, PassageIndex

if TYPE_CHECKING:
    from salon.retrieval.graph.entity_graph import EntityGraph
    from salon.retrieval.ranking.fusion import Fused, Fusion

Mode: TypeAlias = Literal["hybrid", "dense", "sparse", "graph"]
DEFAULT_ALPHA = 0.5
MAX_LIMIT = 1_000
MAX_QUERY_CHARACTERS = 100_000
DEPTH = 300
"""Passages that each side ranks at least: deeper ones change no top ten (see `ranking`)."""
_ALPHA_OF: dict[Mode, float] = {"sparse": 0.0, "dense": 1.0}
_SPARE = 8
"""Passages looked up beyond the limit, in case some are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Where a passage stood in both lists, and what its score is made of."""

    lexical_rank: int | None
    lexical_score: float | None
    dense_rank: int | None
    dense_score: float | None
    fused_score: float
    parts: dict[str, float] = field(default_factory=dict)
    over: str | None = None
    """The name over which a search along the graph came here, if it did."""

    def lines(self) -> list[str]:
        """Return the reasons as people read them."""
        words = (
            "words: none found"
            if self.lexical_rank is None
            else f"words: rank {self.lexical_rank}, BM25 {self.lexical_score:.2f}"
        )
        cosine = "" if self.dense_score is None else f"cosine {self.dense_score:.3f}"
        rank = "no rank" if self.dense_rank is None else f"rank {self.dense_rank}"
        vectors = f"vectors: {rank}" + (f", {cosine}" if cosine else "")
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in self.parts.items())
        hop = f"reached over {self.over}" if self.over else ""
        return [
            f"{words}; {vectors}; fused {self.fused_score:.3f}",
            *(line for line in (parts, hop) if line),
        ]


NOT_RANKED = Why(
    lexical_rank=None, lexical_score=None, dense_rank=None, dense_score=None, fused_score=0.0
)
"""For a passage that no search brought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that was found, with its text and the probability that it is relevant."""

    passage: CataloguedPassage
    text: str
    score: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """How long each part of a search took, in seconds."""

    embed_s: float = 0.0
    lexical_s: float = 0.0
    dense_s: float = 0.0
    fuse_s: float = 0.0
    graph_s: float = 0.0
    read_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search gave; `mode` is what was done, which may be less than what was asked for."""

    hits: tuple[Hit, ...]
    mode: Mode
    coverage: Coverage
    notes: tuple[str, ...]
    timings: Timings


class Searcher:
    """Searches one passage index."""

    def __init__(
        self,
        index: PassageIndex,
        embedder: Callable[[], Embedder],
        *,
        fusion: "Fusion" = "calibrated",
        graph: "Callable[[], EntityGraph] | None" = None,
    ) -> None:
        self._index = index
        self._graph = graph
        self._embedder = embedder
        self._fusion = fusion
        self._texts = CardTexts(index.archive)

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: Mode = "hybrid",
        alpha: float = DEFAULT_ALPHA,
        cards: Cards = None,
    ) -> Found:
        """Return at most `limit` passages of `cards`, most probably relevant first."""
        _check(query, limit, alpha)
        depth = max(DEPTH, limit)
        asked = _Asked(self._index, query, _narrowed(mode, alpha), cards, depth)
        lexical = asked.words()
        vector = asked.vector(self._embedder)
        dense = asked.vectors(vector)
        with asked.timed("fuse_s"):
            fused = self._fuse(asked, lexical, dense, vector, alpha)
        if mode == "graph":
            with asked.timed("graph_s"):
                fused = self._follow(asked, fused)
        with asked.timed("read_s"):
            hits = tuple(self._hits(fused, limit, asked.over))
        return Found(
            hits=hits,
            mode=asked.mode,
            coverage=asked.coverage,
            notes=tuple(asked.notes),
            timings=Timings(**asked.seconds),
        )

    def _fuse(
        self,
        asked: "_Asked",
        lexical: Ranking | None,
        dense: Ranking | None,
        vector: "Vector | None",
        alpha: float,
    ) -> "Fused":
        from salon.retrieval.ranking.fusion import fuse
        from salon.retrieval.ranking.weights import weights_for

        index = self._index.vectors
        return fuse(
            lexical,
            dense,
            alpha=_ALPHA_OF.get(asked.mode, alpha),
            fusion=self._fusion,
            weights=weights_for(index.model if index else None),
            ideal=None if lexical is None else asked.ideal_score(),
            query_vector=vector,
            vectors_of=index.vectors if index else None,
        )

    def _follow(self, asked: "_Asked", fused: "Fused") -> "Fused":
        """Go on from what was found to what that names."""
        from salon.retrieval.hopping import follow_hops

        if self._graph is None:
            raise InvalidInput("there is no entity graph here", hint="search in another mode")
        fused, asked.over = follow_hops(
            asked.query,
            fused,
            self._graph(),
            read=self._read,
            search=lambda name, limit: self._scored_words(name, limit, asked.cards),
            cards=asked.cards,
        )
        asked.mode = "graph"
        return fused

    def _read(self, id_: PassageId) -> str | None:
        passage = self._index.catalogue.find([id_]).get(id_)
        if passage is None:
            return None
        return self._texts.find_span(passage.hash, passage.start, passage.end)

    def _scored_words(self, name: str, limit: int, cards: Cards) -> list[tuple[PassageId, float]]:
        found = self._index.lexical.search(name, limit, cards=cards)
        return [
            (PassageId(id_), score)
            for id_, score in zip(found.ids.tolist(), found.scores.tolist(), strict=True)
        ]

    def _hits(self, fused: "Fused", limit: int, over: Mapping[PassageId, str]) -> Iterator[Hit]:
        """Walk the best passages that are still there, with their text."""
        count = 0
        for begin in range(0, len(fused.ids), limit + _SPARE):
            ids = [PassageId(id_) for id_ in fused.ids[begin : begin + limit + _SPARE].tolist()]
            known = self._index.catalogue.find(ids)
            for place, id_ in enumerate(ids, begin):
                passage = known.get(id_)
                if passage is None:
                    continue  # in an engine, and no longer or not yet in the catalogue
                text = self._texts.find_span(passage.hash, passage.start, passage.end)
                if text is None:
                    continue
                yield Hit(
                    passage=passage,
                    text=text,
                    score=float(fused.scores[place]),
                    why=_why(fused, place, over.get(id_)),
                )
                count += 1
                if count == limit:
                    return


class _Asked:
    """One search under way: what was asked, what could be done, how long it took."""

    def __init__(
        self, index: PassageIndex, query: str, mode: Mode, cards: Cards, depth: int
    ) -> None:
        self._index = index
        self._depth = depth
        self.query = query
        self.cards = cards
        self.mode: Mode = mode
        self.over: Mapping[PassageId, str] = {}
        self.coverage = index.coverage()
        self.notes: list[str] = []
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Note how long a block took."""
        began = time.perf_counter()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - began

    def words(self) -> Ranking | None:
        """Ask the lexical index, unless vectors alone are wanted."""
        if self.mode == "dense":
            return None
        with self.timed("lexical_s"):
            return self._index.lexical.search(self.query, self._depth, cards=self.cards)

    def ideal_score(self) -> float | None:
        """Return what a passage would score that has every word of the query once."""
        from salon.retrieval.ranking.fusion import ideal_score

        passages, frequencies = self._index.lexical.frequencies(self.query)
        return ideal_score(passages, frequencies) or None

    def vector(self, embedder: Callable[[], Embedder]) -> "Vector | None":
        """Return the query's vector, if there is anything to compare it with."""
        index = None if self.mode == "sparse" else self._index.vectors
        if self.mode == "sparse":
            return None
        if index is None or not index.count():
            self._do_without_vectors("no passage has a vector yet; `salon index update` makes them")
            return None
        try:
            with self.timed("embed_s"):
                chosen = embedder()
                vector = chosen.embed_query(plain_text(self.query))
                _require_same_model(chosen, index)
        except SalonError as error:
            if self.mode == "dense":
                raise
            what_to_do = f" ({error.hint})" if error.hint else ""
            self._do_without_vectors(f"searched by words alone: {error.message}{what_to_do}")
            return None
        return vector

    def _do_without_vectors(self, note: str) -> None:
        self.notes.append(note)
        if self.mode != "dense":
            self.mode = "sparse"

    def vectors(self, vector: "Vector | None") -> Ranking | None:
        """Ask the index of vectors."""
        if vector is None:
            return None
        index = self._index.vectors
        assert index is not None
        have, all_ = self.coverage.with_vector, self.coverage.passages
        if have < all_:
            # Counts: a share would say 100% where three of thousands are missing.
            self.notes.append(
                f"{have:,} of {all_:,} passages have a vector; `salon index update` makes the rest"
            )
        with self.timed("dense_s"):
            return index.search(vector, self._depth, cards=self.cards)


def plain_text(query: str) -> str:
    """Return a query as a model should read it: without the signs that only words search knows."""
    return query.replace('"', " ").replace("*", " ").replace("\0", " ").strip()


def _check(query: str, limit: int, alpha: float) -> None:
    if not query.strip():
        raise InvalidInput("a search needs something to look for", hint="give a few words")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"a query of {len(query):,} characters is too long",
            hint=f"at most {MAX_QUERY_CHARACTERS:,} are read",
        )
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"a search for {limit} passages", hint=f"ask for 1 up to {MAX_LIMIT}")
    if not 0 <= alpha <= 1:
        raise InvalidInput(f"alpha is {alpha}", hint="0 is words alone, 1 vectors alone")


def _narrowed(mode: Mode, alpha: float) -> Mode:
    """Return what hybrid search comes to at the ends of `alpha`; a graph search begins as one."""
    if mode == "graph":
        mode = "hybrid"
    if mode == "hybrid" and alpha in {0.0, 1.0}:
        return "dense" if alpha else "sparse"
    return mode


def _require_same_model(embedder: Embedder, index: VectorIndex) -> None:
    if embedder.model != index.model:
        raise ModelMismatch(
            f"the vectors are of {index.model}, the embedder is {embedder.model}",
            hint="`salon index update` computes the vectors anew",
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _why(fused: "Fused", place: int, over: str | None) -> Why:
    lexical, dense = int(fused.lexical_ranks[place]), int(fused.dense_ranks[place])
    return Why(
        lexical_rank=lexical or None,
        lexical_score=_known(fused.lexical_scores[place]),
        dense_rank=dense or None,
        dense_score=_known(fused.dense_scores[place]),
        fused_score=float(fused.fused[place]),
        parts={name: float(values[place]) for name, values in fused.parts.items()},
        over=over,
    )
