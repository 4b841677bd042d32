"""The bench of rounds runs; how fast it is, is not a test's business."""

import gzip
import json
from pathlib import Path

from bench.council import CORPORA, build, play, read_documents
from salon.app import Salon
from salon.settings import load_settings
from tests.council.libraries import NOTHING_TOPIC, TEXTS, TOPIC


def test_rounds_are_played_and_every_sentence_is_looked_up_again(tmp_path: Path) -> None:
    for corpus in CORPORA:
        path = tmp_path / "data" / corpus
        path.parent.mkdir(parents=True)
        rows = [
            json.dumps({"_id": str(number), "title": title, "text": text})
            for number, (title, text) in enumerate(TEXTS.items())
        ]
        path.write_bytes(gzip.compress("\n".join(rows).encode()))
    documents = read_documents(tmp_path / "data", 100)
    assert len(documents) == len(TEXTS)
    settings = load_settings(
        home=tmp_path / "home", environment={}, flags={"index": {"embedder": "hashing:256"}}
    )
    with Salon(settings) as salon:
        build(salon, documents)
        build(salon, documents)
        assert len(list(salon.archive.documents())) == len(TEXTS)
        covered = play(salon, TOPIC)
        unknown = play(salon, NOTHING_TOPIC)
    assert covered.outcome == "published"
    assert covered.proven == covered.sentences >= 8
    assert covered.score is not None
    assert covered.score >= 8
    assert set(covered.phases) >= {"sprint", "critique", "refinement", "vote"}
    assert unknown.outcome == "no_quorum"
    assert len(unknown.absent) == 5
