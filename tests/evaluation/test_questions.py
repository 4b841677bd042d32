"""Labelled questions: two layouts, one meaning."""

import gzip
import json
from pathlib import Path

import pytest

from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.questions import read_labelled

CONTEXT = "The mill stands by the Alder. It was built in 1820."
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Mills",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "a",
                            "question": " When was the mill built?",
                            "answers": [
                                {"text": "1820", "answer_start": CONTEXT.index("1820")},
                                {"text": "1820", "answer_start": CONTEXT.index("1820")},
                            ],
                            "is_impossible": False,
                        },
                        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ],
}
CORPUS = [{"_id": "7", "title": "T", "sentences": ["Otters swim. ", "They eat fish."]}]
CLAIMS = [
    {"id": "1", "claim": "Otters eat fish.", "evidence": [{"doc_id": "7", "sentences": [1, 9]}]},
    {"id": "2", "claim": "Otters fly.", "evidence": []},
]


def _lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", "utf-8")
    return path


def test_squad_gives_paragraphs_and_spans(tmp_path: Path) -> None:
    path = tmp_path / "dev.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SQUAD).encode()))
    found = read_labelled(path)
    assert found.kind == "squad"
    assert found.texts == {"Mills 1": CONTEXT}
    first, second = found.questions
    assert first.text == "When was the mill built?"
    (span,) = first.answers["Mills 1"]
    assert CONTEXT[slice(*span)] == "1820"
    assert first.is_answerable
    assert not second.is_answerable


def test_claims_give_sentences(tmp_path: Path) -> None:
    found = read_labelled(
        _lines(tmp_path / "claims.jsonl", CLAIMS),  # type: ignore[arg-type]
        _lines(tmp_path / "corpus.jsonl", CORPUS),  # type: ignore[arg-type]
    )
    assert found.kind == "claims"
    assert found.texts == {"7": "Otters swim. They eat fish."}
    (span,) = found.questions[0].answers["7"]
    assert found.texts["7"][slice(*span)] == "They eat fish."
    assert not found.questions[1].is_answerable


def test_claims_need_their_corpus(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="need their corpus"):
        read_labelled(_lines(tmp_path / "claims.jsonl", CLAIMS))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content", [b'{"data": [{}]}', b'{"data": 3}', b"\xff", b"\x1f\x8bxx", b'{"data": [[]]}']
)
def test_what_cannot_be_understood_is_one_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dev.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_labelled(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"dev\.json"):
        read_labelled(tmp_path / "dev.json")
