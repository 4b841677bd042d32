"""The evaluation of memory search: it reads LoCoMo's layout and counts evidence."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from salon.cli.eval_memory import memory
from salon.core.errors import InvalidInput
from salon.evaluation.memory import DEPTHS, OURS, PEER, evaluate_memory, read_conversations
from salon.providers.embedders import open_embedder

TOPICS = ("violin", "garden", "harbour", "bakery", "mountain", "library")


def sample(**changes: Any) -> dict[str, Any]:
    turns = [
        {"speaker": "Ann" if n % 2 else "Bob", "dia_id": f"D1:{n}", "text": f"I saw the {topic}."}
        for n, topic in enumerate(TOPICS, 1)
    ]
    turns[2]["blip_caption"] = "a photo of a lighthouse"
    later = [{"speaker": "Ann", "dia_id": "D2:1", "text": "We adopted a small grey cat today."}]
    return {
        "sample_id": "made-up",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1": turns,
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_2": later,
            "session_2_date_time": "2023-05-25T10:00:00Z",
            "session_3": [],
        },
        "qa": [
            {"question": "Which pets live with anybody?", "evidence": ["D2:1"], "category": 4},
            {"question": "Who saw a lighthouse?", "evidence": ["D1:3"], "category": 1},
            {
                "question": "When was the garden seen?",
                "evidence": ["D1:2; D1:4"],
                "category": 2,
                "answer": 1,
            },
            {"question": "What is not there?", "evidence": ["D9:9"], "category": 9},
            {"question": "What has no evidence?", "category": 3},
        ],
        **changes,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json.gz"
    path.write_bytes(gzip.compress(json.dumps([sample()]).encode()))
    return path


def test_the_layout_is_read_with_dates_captions_and_evidence(data: Path) -> None:
    (one,), skipped = read_conversations(data)
    assert [said.id for said in one.said] == [*(f"D1:{n}" for n in range(1, 7)), "D2:1"]
    assert one.said[0].at == "2023-05-08T13:56:00.000000Z"
    assert one.said[2].text.endswith("[photo: a photo of a lighthouse]")
    assert [question.evidence for question in one.questions] == [(6,), (2,), (1, 3)]
    assert skipped == 2


def test_recall_is_counted_for_both_and_by_kind(data: Path) -> None:
    conversations, skipped = read_conversations(data)
    report = evaluate_memory(conversations, open_embedder("embedded:minilm"), skipped=skipped)
    assert (report.conversations, report.turns, report.questions, report.skipped) == (1, 7, 3, 2)
    by = {(one.system, one.category): one for one in report.figures}
    assert by[OURS, "all"].recall[10] == 1.0
    assert by[OURS, "one turn"].recall[5] == 1.0
    assert by[PEER, "one turn"].recall[10] < 1.0  # it shares no word with its evidence
    assert tuple(by[OURS, "all"].recall) == DEPTHS
    assert report.by_conversation == {"made-up": 1.0}
    assert report.comparison.difference > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "does not hold a list"),
        ("[]", "does not hold a list"),
        ('[{"qa": []}]', "conversation 0"),
        (json.dumps([{"conversation": {"session_1": [{"speaker": 1}]}, "qa": []}]), "isoformat"),
        (
            json.dumps(
                [{"conversation": {"session_1": [1], "session_1_date_time": "soon"}, "qa": []}]
            ),
            "conversation 0",
        ),
    ],
)
def test_what_is_not_in_the_layout_is_said(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=message):
        read_conversations(path)


def test_without_a_question_to_ask_there_is_no_report(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(json.dumps([sample(qa=[])]), encoding="utf-8")
    conversations, _ = read_conversations(path)
    with pytest.raises(InvalidInput, match="no question has evidence"):
        evaluate_memory(conversations, open_embedder("embedded:minilm"))


def test_the_command_prints_a_table_and_json(data: Path) -> None:
    runner = CliRunner()
    told = runner.invoke(memory, ["--data", str(data)])
    assert told.exit_code == 0
    assert "R@10" in told.output
    assert "against bm25s" in told.output
    machine = runner.invoke(memory, ["--data", str(data), "--json"])
    assert json.loads(machine.output)["questions"] == 3
