"""What a score says is true, on labelled claims; skipped where the data is not at hand."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from salon.app import Salon
from salon.evaluation.metrics import reliability
from salon.settings import load_settings
from tests.documents import add_documents

SCIFACT = Path(__file__).parents[2] / "shared" / "data" / "scifact"
QUERIES = 150


@pytest.mark.requirement("sdk/query-corpus/score-meaning")
@pytest.mark.skipif(not SCIFACT.exists(), reason="the labelled data is not at hand")
def test_probabilities_by_words_agree_with_what_is_relevant(tmp_path: Path) -> None:
    with gzip.open(SCIFACT / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines]
    queries = {
        str(one["_id"]): str(one["text"])
        for one in map(json.loads, (SCIFACT / "queries.jsonl").read_text("utf-8").splitlines())
    }
    relevant: dict[str, set[str]] = {}
    for line in (SCIFACT / "qrels" / "train.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant.setdefault(query, set()).add(document)
    said: list[float] = []
    true: list[bool] = []
    with Salon(load_settings(home=tmp_path, environment={})) as salon:
        texts = [f"{one['title']}\n\n{one['text']}" for one in corpus]
        documents = add_documents(salon.archive, texts)
        names = {
            document.id: str(one["_id"]) for document, one in zip(documents, corpus, strict=True)
        }
        for query in sorted(relevant)[:QUERIES]:
            for found in salon.search(queries[query], limit=10, mode="sparse").passages:
                said.append(found.score)
                true.append(names[found.document_id] in relevant[query])
    # Fitted on these claims among others: this checks the whole way from index to score, and
    # `tools/train_ranking.py` reports the error on claims that the fit never saw.
    measured = reliability(said, true, binning="equal_mass")
    assert measured is not None
    assert measured.error <= 0.06
    order = np.argsort(said)
    assert np.mean(np.array(true)[order[-100:]]) > 0.5 > np.mean(np.array(true)[order[:100]])
