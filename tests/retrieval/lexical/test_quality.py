"""How well real queries are answered, beside what bm25s reaches on the same texts."""

import csv
import gzip
import json
import math
from pathlib import Path

import pytest

from tests.retrieval.lexical.engines import ENGINES, found, passage

DATA = Path(__file__).parents[4] / "shared" / "data"
SETS = {
    "scifact": ("scifact", "qrels/train.tsv", 0.696),
    "cranfield": ("classic_ir/cranfield", "qrels.tsv", 0.523),
    "npl": ("classic_ir/npl", "qrels.tsv", 0.428),
}
"""Folder, judgements, and nDCG@10 of bm25s with a stemmer and English stopwords."""


@pytest.mark.parametrize(
    ("engine", "name"), [*(("tantivy", name) for name in SETS), ("fts5", "cranfield")]
)
def test_ranking_is_at_least_as_good_as_that_of_bm25s(
    engine: str, name: str, tmp_path: Path
) -> None:
    place, judgements, reached = SETS[name]
    folder = DATA / place
    if not folder.exists():
        pytest.skip(f"no labelled data at {folder}")
    texts = _texts(folder)
    relevant = _relevant(folder / judgements, texts)
    with ENGINES[engine](tmp_path) as index:
        index.add(passage(number, text, of=key) for number, (key, text) in enumerate(texts.items()))
        index.commit()
        keys = list(texts)
        gains = [
            _ndcg([keys[number] for number in found(index.search(text, 10))], relevant[query])
            for query, text in _queries(folder).items()
            if query in relevant
        ]
    assert len(gains) > 90
    assert sum(gains) / len(gains) >= reached


def _texts(folder: Path) -> dict[str, str]:
    with gzip.open(folder / "corpus.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    return {each["_id"]: f"{each.get('title', '')} {each['text']}".strip() for each in documents}


def _queries(folder: Path) -> dict[str, str]:
    lines = (folder / "queries.jsonl").read_text().splitlines()
    return {each["_id"]: each["text"] for each in map(json.loads, lines)}


def _relevant(file: Path, texts: dict[str, str]) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = {}
    with file.open() as lines:
        for query, document, grade in list(csv.reader(lines, delimiter="\t"))[1:]:
            if float(grade) > 0 and document in texts:
                relevant.setdefault(query, set()).add(document)
    return relevant


def _ndcg(ranked: list[str], relevant: set[str]) -> float:
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranked) if key in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant))))
