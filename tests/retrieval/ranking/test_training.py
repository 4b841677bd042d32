"""The tool that makes the weights, on a collection small enough for every run."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from salon.retrieval.ranking.weights import read_weights
from tools import train_ranking

TOPICS = ("iron bridges", "river fish", "winter wheat", "glass lamps", "mountain goats", "sea salt")


@pytest.fixture
def collection(tmp_path: Path) -> list[str]:
    """Write a collection in BEIR's layout; return its three files."""
    corpus, queries, qrels = (tmp_path / name for name in ("c.jsonl", "q.jsonl", "r.tsv"))
    corpus.write_text(
        "".join(
            json.dumps({"_id": str(number), "title": topic, "text": f"All about {topic}. {filler}"})
            + "\n"
            for number, topic in enumerate(TOPICS)
            for filler in ["Much is known, and more is guessed."]
        )
    )
    queries.write_text(
        "".join(
            json.dumps({"_id": f"q{number}", "text": f"what is known about {topic}"}) + "\n"
            for number, topic in enumerate(TOPICS)
        )
    )
    qrels.write_text("".join(f"q{number}\t{number}\t1\n" for number in range(len(TOPICS))))
    return [str(corpus), str(queries), str(qrels)]


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["train_ranking", *arguments])
    train_ranking.main()


def test_a_person_can_fit_weights_to_a_model_and_a_collection_of_their_own(
    tmp_path: Path,
    collection: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "mine.json"

    _run(
        monkeypatch, "--embedder", "hashing:256", "--beir", *collection, "--out", str(out),
        "--cache", str(tmp_path / "vectors"),
    )  # fmt: skip

    (fitted,) = read_weights(out).weights
    assert fitted.model == "hashing:256"
    assert fitted.closeness == "cosine"
    report = capsys.readouterr().out
    assert "own          fused       1.0000" in report
    assert "own          words       1.0000" in report


def test_fitting_again_gives_the_same_file(
    tmp_path: Path, collection: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / "one.json", tmp_path / "two.json"]

    for out in files:
        _run(
            monkeypatch, "--embedder", "hashing:256", "--beir", *collection, "--out", str(out),
            "--cache", str(tmp_path / "vectors"),
        )  # fmt: skip

    assert files[0].read_bytes() == files[1].read_bytes()


def test_squad_gives_paragraphs_and_the_questions_that_they_answer(tmp_path: Path) -> None:
    path = tmp_path / "squad.json.gz"
    asked = [
        {"id": "a", "question": "Who came?", "is_impossible": False},
        {"id": "b", "question": "Who left?", "is_impossible": True},
    ]
    article = {"title": "The_Coming", "paragraphs": [{"context": "They came.", "qas": asked}]}
    path.write_bytes(gzip.compress(json.dumps({"data": [article]}).encode()))

    found = train_ranking.read_squad(path)

    assert [document.content for document in found.documents] == ["The Coming\n\nThey came."]
    assert [query.text for query in found.answerable()] == ["Who came?"]


def test_twowiki_gives_the_passages_that_a_question_needs(tmp_path: Path) -> None:
    passages = [{"_id": "0", "title": "A", "text": "a"}, {"_id": "1", "title": "B", "text": "b"}]
    questions = [
        {"id": "x", "question": "A or B?", "supporting_titles": ["A", "B"]}
        | {"all_titles_found": True},
        {"id": "y", "question": "C?", "supporting_titles": ["C"], "all_titles_found": False},
    ]
    for name, rows in (("corpus", passages), ("questions", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))

    found = train_ranking.read_twowiki(tmp_path)

    assert [query.id for query in found.queries] == ["x"]
    assert found.judgements == {"x": {"0": 1, "1": 1}}
