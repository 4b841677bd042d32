"""Fit the weights of fusion to labelled data, and report how they do on queries they never saw.

    python -m tools.train_ranking --data FOLDER         # makes the shipped weights anew, then
    python -m tools.train_ranking --embedder embedded:salon --borrow embedded:minilm --lower 0.2
    python -m tools.train_ranking --embedder KIND:NAME --out mine.json \\
        --beir corpus.jsonl queries.jsonl qrels.tsv     # for a model and data of your own

Passages are cut, indexed and fused by the code that searches use. Shipped weights are fitted to
SciFact, SQuAD 2.0 and 2WikiMultihopQA, whose licences allow it; Cranfield and NPL are only
evaluated. Where a model was trained on the data itself, its figures there mean nothing, and it
borrows the weights of the model that it was made from. Vectors are kept under `--cache`, so that
the next run takes a few minutes.
"""

import argparse
import gzip
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from pydantic_core import to_json

from salon.core.closing import Closable
from salon.core.embedding import Embedder, EmbeddingModel, Vectors
from salon.core.hashing import CardHash
from salon.core.indexes import IndexedText, PassageId, Ranking
from salon.evaluation.beir import BeirDocument, Collection, Query, read_collection
from salon.evaluation.metrics import Binning, ndcg, paired_bootstrap, reliability
from salon.providers.embedders import open_embedder
from salon.retrieval.chunking import cut_passages
from salon.retrieval.lexical.folding import fold
from salon.retrieval.lexical.query import parse_query
from salon.retrieval.lexical.tantivy_index import TantivyIndex
from salon.retrieval.lexical.tantivy_search import build_analyzer
from salon.retrieval.ranking.calibration import Curve
from salon.retrieval.ranking.fitting import DEPTH, LabelledQuery, fit_weights
from salon.retrieval.ranking.fusion import Fusion, fuse, ideal_score
from salon.retrieval.ranking.weights import SHIPPED, Weights, WeightsFile, read_weights
from tools.data_folder import add_data_option, no_folder

BASE = "embedded:minilm"
"""The model that weights are fitted for: it was not itself trained on the labelled data."""
FOUND = 1_000
"""How many passages each index ranks."""
MOST_QUERIES = 800
STRANGERS = 100
"""Questions of the other collections put to each one: it has no answer to them."""
FOLDS = 5
WIDTHS = (9, 26, 14, 14, 8, 7)
IMPORTANCE = {"strangers": 0.5}
ATTRIBUTION = (
    "Fitted to SciFact (Wadden et al. 2020, CC BY 4.0; abstracts from S2ORC, ODC-By 1.0),",
    "SQuAD 2.0 (Rajpurkar et al. 2018, CC BY-SA 4.0)",
    "and 2WikiMultihopQA (Ho et al. 2020, Apache-2.0; text from Wikipedia, CC BY-SA).",
    "These are weights; no text of the collections is part of them.",
)
SYSTEMS: Mapping[str, tuple[float, Fusion]] = {
    "words": (0.0, "calibrated"),
    "vectors": (1.0, "calibrated"),
    "rrf": (0.5, "rrf"),
    "fused": (0.5, "calibrated"),
}


# Collections


def read_squad(path: Path) -> Collection:
    """Read SQuAD: paragraphs are documents, and a question's own paragraph is relevant.

    Questions without an answer are left out: their paragraph is on the topic all the same.
    """
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        articles = json.load(stream)["data"]
    documents: list[BeirDocument] = []
    queries: list[Query] = []
    judgements: dict[str, dict[str, int]] = {}
    for article in articles:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            name = str(len(documents))
            documents.append(BeirDocument(id=name, title=title, text=paragraph["context"]))
            for question in paragraph["qas"]:
                if not question["is_impossible"]:
                    queries.append(Query(id=question["id"], text=question["question"]))
                    judgements[question["id"]] = {name: 1}
    return Collection(documents=tuple(documents), queries=tuple(queries), judgements=judgements)


def read_twowiki(folder: Path) -> Collection:
    """Read 2WikiMultihopQA: passages with the titles that a question needs are relevant."""
    documents = [
        BeirDocument(id=row["_id"], title=row["title"], text=row["text"])
        for row in _rows(folder / "corpus.jsonl.gz")
    ]
    with_title: dict[str, list[str]] = {}
    for document in documents:
        with_title.setdefault(document.title, []).append(document.id)
    queries: list[Query] = []
    judgements: dict[str, dict[str, int]] = {}
    for row in _rows(folder / "questions.jsonl.gz"):
        if row["all_titles_found"]:
            queries.append(Query(id=row["id"], text=row["question"]))
            judgements[row["id"]] = {
                name: 1 for title in row["supporting_titles"] for name in with_title[title]
            }
    return Collection(documents=tuple(documents), queries=tuple(queries), judgements=judgements)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def shipped_collections(data: Path) -> dict[str, Collection]:
    """Return what shipped weights are fitted to."""
    scifact = data / "scifact"
    return {
        "scifact": read_collection(
            scifact / "corpus.jsonl.gz", scifact / "queries.jsonl", scifact / "qrels" / "train.tsv"
        ),
        "squad": read_squad(data / "squad2_half_dev" / "dev-v2.0.json.gz"),
        "twowiki": read_twowiki(data / "twowiki"),
    }


def unseen_collections(data: Path) -> dict[str, Collection]:
    """Return what weights are evaluated on and never fitted to."""
    folders = {name: data / "classic_ir" / name for name in ("cranfield", "npl")}
    return {
        name: read_collection(
            folder / "corpus.jsonl.gz", folder / "queries.jsonl", folder / "qrels.tsv"
        )
        for name, folder in folders.items()
    }


# Searching


def _some(queries: Sequence[Query], most: int) -> list[Query]:
    """Return at most so many queries, spread evenly over all."""
    places = np.linspace(0, len(queries) - 1, min(most, len(queries)))
    return [queries[int(place)] for place in places]


class Prepared(Closable):
    """A collection with its passages indexed, ready to answer queries."""

    def __init__(self, name: str, collection: Collection, embedder: Embedder, cache: Path) -> None:
        self.name = name
        self.collection = collection
        self._embedder = embedder
        self._cache = cache
        passages = [
            (document.id, passage.text)
            for document in collection.documents
            for passage in cut_passages(document.content)
        ]
        self.documents = {number: document for number, (document, _) in enumerate(passages)}
        texts = [text for _, text in passages]
        self._vectors = self._embedded(texts)
        self._folder = tempfile.TemporaryDirectory()
        self._index = TantivyIndex(self._folder.name)
        self._index.add(
            IndexedText(PassageId(number), CardHash(f"{number:064x}"), text)
            for number, text in enumerate(texts)
        )
        self._index.commit()
        self._analyzer = build_analyzer()
        self._frequencies = Counter(
            term for text in texts for term in set(self._analyzer.analyze(fold(text)))
        )

    def close(self) -> None:
        """Remove the index; what was asked stays."""
        self._index.close()
        self._folder.cleanup()

    def answerable(self) -> list[Query]:
        """Return the queries that have an answer, or many of them."""
        return _some(self.collection.answerable(), MOST_QUERIES)

    def ask(self, queries: Sequence[Query], *, as_strangers: bool = False) -> list[LabelledQuery]:
        """Search for queries; strangers are those that nothing here is relevant to."""
        vectors = self._embedded([query.text for query in queries], as_queries=True)
        return [
            LabelledQuery(
                collection="strangers" if as_strangers else self.name,
                lexical=self._index.search(query.text, FOUND),
                dense=self._closest(vector),
                ideal=self._ideal(query.text),
                vector=vector,
                vectors_of=self._vectors_of,
                documents=self.documents,
                relevant=frozenset(() if as_strangers else self.collection.relevant(query)),
            )
            for query, vector in zip(queries, vectors, strict=True)
        ]

    def _closest(self, vector: Vectors) -> Ranking:
        cosines = self._vectors @ vector
        ids = np.argsort(-cosines, kind="stable")[:FOUND]
        return Ranking(ids, cosines[ids])

    def _vectors_of(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        return list(ids), self._vectors[np.array(ids, np.int64)]

    def _ideal(self, text: str) -> float:
        words = parse_query(text).words
        terms = {term for word in words for term in self._analyzer.analyze(word)}
        return ideal_score(len(self.documents), (self._frequencies[term] for term in terms))

    def _embedded(self, texts: Sequence[str], *, as_queries: bool = False) -> Vectors:
        digest = hashlib.sha256(f"{self._embedder.model.fingerprint} {as_queries}".encode())
        for text in texts:
            digest.update(hashlib.sha256(text.encode()).digest())
        path = self._cache / f"{digest.hexdigest()[:32]}.npy"
        if not path.exists():
            print(f"{self.name}: {len(texts):,} texts to embed", flush=True)
            vectors = (
                np.stack([self._embedder.embed_query(text) for text in texts])
                if as_queries
                else self._embedder.embed_passages(texts)
            )
            np.save(path, vectors)
        known: Vectors = np.load(path)
        return known


# Evaluating


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one query went: nDCG@10, and the probability of each document beside its relevance."""

    quality: float
    probabilities: Sequence[float]
    is_relevant: Sequence[bool]


def search(query: LabelledQuery, weights: Weights, system: str) -> Outcome:
    """Fuse the rankings of a query as a search would."""
    alpha, fusion = SYSTEMS[system]
    fused = fuse(
        query.lexical,
        query.dense,
        alpha=alpha,
        fusion=fusion,
        weights=weights,
        ideal=query.ideal,
        query_vector=query.vector,
        vectors_of=query.vectors_of,
    )
    best: dict[str, float] = {}
    for id_, score in zip(fused.ids.tolist(), fused.scores.tolist(), strict=True):
        best.setdefault(query.documents[id_], score)
        if len(best) == DEPTH:
            break
    grades = dict.fromkeys(query.relevant, 1)
    return Outcome(
        quality=ndcg(list(best), grades, DEPTH),
        probabilities=list(best.values()),
        is_relevant=[document in query.relevant for document in best],
    )


Outcomes = Mapping[str, Sequence[Outcome]]
"""For each system, how the queries of a collection went."""


def evaluate(queries: Sequence[LabelledQuery], weights: Weights) -> dict[str, list[Outcome]]:
    return {name: [search(query, weights, name) for query in queries] for name in SYSTEMS}


def cross_validate(
    labelled: Mapping[str, Sequence[LabelledQuery]],
    strangers: Sequence[LabelledQuery],
    model: EmbeddingModel,
) -> dict[str, dict[str, list[Outcome]]]:
    """Evaluate each query by weights that were fitted without it."""
    found = {name: {system: list[Outcome]() for system in SYSTEMS} for name in labelled}
    for held_out in range(FOLDS):
        kept = {
            name: [query for place, query in enumerate(queries) if place % FOLDS != held_out]
            for name, queries in labelled.items()
        }
        weights = _fitted([kept, {"": strangers}], model)
        for name, queries in labelled.items():
            for system, outcomes in evaluate(queries[held_out::FOLDS], weights).items():
                found[name][system] += outcomes
    return found


def print_report(title: str, results: Mapping[str, Outcomes]) -> None:
    """Print a table: quality of each system, and how honest its probabilities are."""
    print(f"\n{title}")
    head = ("nDCG@10", "fused is better by", "ECE width", "ECE mass", "said", "true")
    print(" " * 22 + "".join(f"{one:>{wide}}" for one, wide in zip(head, WIDTHS, strict=True)))
    for name, outcomes in results.items():
        fused = [outcome.quality for outcome in outcomes["fused"]]
        for system, runs in outcomes.items():
            quality = [run.quality for run in runs]
            gain = paired_bootstrap(fused, quality)
            shown = [p for run in runs for p in run.probabilities]
            truth = [is_relevant for run in runs for is_relevant in run.is_relevant]
            errors = (_errors(shown, truth, one) for one in get_args(Binning))
            print(
                f"{name:13}{system:9}{np.mean(quality):9.4f}"
                f"{gain.mean:+10.4f} [{gain.low:+.3f}, {gain.high:+.3f}]"
                f"{''.join(f'{one:>14}' for one in errors)}"
                f"{np.mean(shown):8.3f}{np.mean(truth):7.3f}"
            )


def print_strangers(strangers: Sequence[LabelledQuery], weights: Weights) -> None:
    """Print how sure each system is of what it finds where there is nothing to find."""
    for system, outcomes in evaluate(strangers, weights).items():
        best = np.array([max(outcome.probabilities, default=0.0) for outcome in outcomes])
        print(
            f"{'strangers':13}{system:9} best passage: mean {best.mean():.3f},"
            f" {(best >= 0.5).mean():.1%} at 0.5 or more, {(best >= 0.7).mean():.1%} at 0.7"
        )


def _errors(shown: Sequence[float], truth: Sequence[bool], binning: Binning) -> str:
    found = [reliability(shown, truth, binning=binning, bins=bins) for bins in (10, 15)]
    return "/".join(f"{one.error:.3f}" for one in found if one is not None)


# Commands


def main() -> None:
    options = _options()
    options.cache.mkdir(parents=True, exist_ok=True)
    embedder = open_embedder(options.embedder)
    if options.beir:
        own = {"own": read_collection(*options.beir)}
        labelled, strangers = ask_all(own, embedder, options.cache)
        weights = _fit_and_report(labelled, strangers, embedder.model)
        _write(options.out, [weights], (f"Fitted to {options.beir[0].name}.",))
        return
    if not options.data.is_dir():
        sys.exit(no_folder(options.data))
    unseen, _ = ask_all(unseen_collections(options.data), embedder, options.cache)
    if options.borrow:
        lender, borrower = open_embedder(options.borrow).model, embedder.model
        lent = read_weights(options.out).find(lender)
        if lent is None:
            sys.exit(f"{options.out} has no weights for {lender}")
        chosen = [lowered(replace(lent, model=borrower.address,
                                  fingerprint=borrower.fingerprint), options.lower)]  # fmt: skip
    else:
        labelled, strangers = ask_all(
            shipped_collections(options.data), embedder, options.cache, with_strangers=True
        )
        chosen = [_fit_and_report(labelled, strangers, embedder.model)]
        if options.embedder == BASE:
            chosen.append(_fitted([labelled, {"": strangers}], None))
    for weights in chosen:
        print_report(
            f"{embedder.model}, weights for {weights.model}: nothing was fitted to these",
            {name: evaluate(queries, weights) for name, queries in unseen.items()},
        )
    _write(options.out, chosen, ATTRIBUTION)


def lowered(weights: Weights, by: float) -> Weights:
    """Return weights that are less sure of everything where vectors have a say."""

    def less(curves: tuple[Curve, ...]) -> tuple[Curve, ...]:
        return tuple(
            curve if alpha == 0 else replace(curve, start=round(curve.start - by, 4))
            for alpha, curve in zip(weights.alphas, curves, strict=True)
        )

    return replace(weights, curves=less(weights.curves), ideal_curves=less(weights.ideal_curves))


def ask_all(
    collections: Mapping[str, Collection],
    embedder: Embedder,
    cache: Path,
    *,
    with_strangers: bool = False,
) -> tuple[dict[str, list[LabelledQuery]], list[LabelledQuery]]:
    """Search each collection for its queries, and for some of the others' if so asked."""
    with ExitStack() as opened:
        prepared = [
            opened.enter_context(Prepared(name, one, embedder, cache))
            for name, one in collections.items()
        ]
        strangers = [
            query
            for one in prepared
            for other in prepared
            if with_strangers and other is not one
            for query in one.ask(_some(other.answerable(), STRANGERS), as_strangers=True)
        ]
        return {one.name: one.ask(one.answerable()) for one in prepared}, strangers


def _fitted(
    labelled: Iterable[Mapping[str, Sequence[LabelledQuery]]], model: EmbeddingModel | None
) -> Weights:
    queries = [query for some in labelled for of_one in some.values() for query in of_one]
    return fit_weights(queries, model=model, importance=IMPORTANCE)


def _fit_and_report(
    labelled: Mapping[str, Sequence[LabelledQuery]],
    strangers: Sequence[LabelledQuery],
    model: EmbeddingModel,
) -> Weights:
    print_report(
        f"{model}: each query by weights that were fitted without it",
        cross_validate(labelled, strangers, model),
    )
    weights = _fitted([labelled, {"": strangers}], model)
    if strangers:
        print_strangers(strangers, weights)
    return weights


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--embedder", default=BASE, help="address of the embedder")
    add_data_option(parser, is_always_needed=False)
    parser.add_argument("--borrow", help="take over the weights for this embedder: for models that"
                        " were themselves trained on the labelled data")  # fmt: skip
    parser.add_argument("--lower", type=float, default=0.0, help="take this off the log-odds of"
                        " borrowed weights, where a model's cosines run higher")  # fmt: skip
    parser.add_argument("--out", type=Path, default=SHIPPED, help="file to write")
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "salon-ranking",
        help="folder for vectors",
    )  # fmt: skip
    parser.add_argument(
        "--beir", type=Path, nargs=3, metavar=("CORPUS", "QUERIES", "QRELS"),
        help="fit to this collection instead",
    )  # fmt: skip
    return parser.parse_args()


def _write(path: Path, fitted: Sequence[Weights], attribution: tuple[str, ...]) -> None:
    """Put weights into a file, in place of those for the same models."""
    names = {one.fingerprint for one in fitted}
    known = read_weights(path).weights if path.exists() else ()
    kept = [one for one in known if one.fingerprint not in names]
    # The generic ones come last; otherwise by model, so that a new run changes few lines.
    ordered = sorted([*kept, *fitted], key=lambda one: (one.fingerprint is None, one.model))
    content = WeightsFile(attribution=attribution, weights=tuple(map(_rounded, ordered)))
    path.write_bytes(to_json(content, indent=1) + b"\n")
    print(f"\n{path.name}: {', '.join(one.model for one in ordered)}")


def _rounded(weights: Weights) -> Weights:
    """Return weights to four digits: more would only tell machines apart."""

    def curve(exact: Curve) -> Curve:
        return Curve(start=round(exact.start, 4), slopes=tuple(round(x, 4) for x in exact.slopes))

    start, slope = weights.expected
    return replace(
        weights,
        expected=(round(start, 4), round(slope, 4)),
        curves=tuple(map(curve, weights.curves)),
        ideal_curves=tuple(map(curve, weights.ideal_curves)),
    )


if __name__ == "__main__":
    main()
