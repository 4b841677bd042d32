"""`salon gate`: explaining a transcript, learning from a file."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

TRANSCRIPT = """Manager: My employee is absent
ERA: Have you contacted them?
Manager: Yes, called twice
ERA: Would you like me to schedule that call?
"""
HEAD = "Turn,User,ERA,Improvement,Label\n"
FEEDBACK = HEAD + "".join(
    f'2,"My {who} is absent","I can schedule a call with them.","Early",should_trigger=False\n'
    f'4,"Yes, twice","I can schedule a call with your {who}.","Good",should_trigger=True\n'
    for who in ("employee", "coach", "driver", "trainer")
)
WITHHOLD = HEAD + "".join(
    f'{turn},"Yes, called twice","{reply}","{why}",should_trigger={label}\n'
    for turn, reply, why, label in (
        (4, "Would you like me to schedule that call?", "Do not offer", False),
        (4, "Shall I schedule a call?", "Do not offer", False),
        (6, "I can schedule a call.", "Do not offer", False),
        (4, "You should call them.", "Good", True),
        (6, "You should call your employee.", "Good", True),
        (6, "You need to call them again.", "Good", True),
    )
)


def test_explain_prints_the_verdict_with_rule_and_words(salon: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(TRANSCRIPT, "utf-8")
    ran = salon("gate", "explain", str(path))
    assert ran.code == 0, ran.errors
    assert "offers nothing  (CLARIFYING, rule asking" in ran.text
    assert "offers calendar  (GUIDING, rule offer" in ran.text
    assert "active in message 0 0 to 2: 'My'" in ran.text


def test_explain_reads_standard_input_and_gives_json(salon: CommandLine) -> None:
    ran = salon(
        "gate", "explain", "-", "--json", "--policy", "conservative", stdin=TRANSCRIPT.encode()
    )
    found = ran.json
    assert [one["index"] for one in found] == [1, 3]
    assert found[1]["verdict"]["rule"] == "question_mark"
    assert found[1]["verdict"]["evidence"][0]["quote"] == "schedule that call"


def test_the_policy_of_the_settings_counts_and_is_shown(salon: CommandLine) -> None:
    assert salon("gate", "explain", "-", stdin=TRANSCRIPT.encode()).text.startswith(
        "policy sentence"
    )
    salon.home.mkdir(exist_ok=True)
    (salon.home / "salon.toml").write_text('[actions]\ngate_policy = "conservative"\n')
    ran = salon("gate", "explain", "-", stdin=TRANSCRIPT.encode())
    assert ran.text.startswith("policy conservative")
    assert "rule question_mark" in ran.text
    assert "gate_policy" in salon("settings").text
    asked = ("gate", "explain", "-", "--json", "--policy", "sentence")
    assert salon(*asked, stdin=TRANSCRIPT.encode()).json[1]["verdict"]["rule"] == "offer"


def test_a_transcript_that_cannot_be_read_is_a_mistake_of_the_caller(
    salon: CommandLine, tmp_path: Path
) -> None:
    assert salon("gate", "explain", str(tmp_path / "nowhere.txt")).code == 3
    path = tmp_path / "bad.txt"
    path.write_bytes(b"\xff")
    assert salon("gate", "explain", str(path)).code == 2
    assert salon("gate", "explain", "-", "--assistant", "Z", stdin=b"A: x\nB: y").code == 2


def test_training_reports_its_rates_and_counts_from_then_on(
    salon: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "feedback.csv"
    path.write_text(WITHHOLD, "utf-8")
    ran = salon("gate", "train", str(path))
    assert ran.code == 0, ran.errors
    assert "3 rows with a trigger, 3 without" in ran.text
    assert "behind the handle gate/learned" in ran.text
    explained = salon("gate", "explain", "-", "--json", stdin=TRANSCRIPT.encode()).json
    assert explained[1]["verdict"]["rule"] == "learned"
    assert explained[1]["verdict"]["action"] is None


def test_training_into_a_file_changes_nothing_here(salon: CommandLine, tmp_path: Path) -> None:
    path, out = tmp_path / "feedback.csv", tmp_path / "learned.json"
    path.write_text(FEEDBACK, "utf-8")
    made = salon("gate", "train", str(path), "--out", str(out), "--json").json
    assert made["handle"] is None
    assert made["gate"]["rates"]["premature"] == 0.0
    assert json.loads(out.read_text("utf-8"))["threshold"] == made["gate"]["threshold"]
    explained = salon("gate", "explain", "-", "--json", stdin=TRANSCRIPT.encode()).json
    assert explained[1]["verdict"]["action"] == "calendar"


def test_a_wrong_line_is_named(salon: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "feedback.csv"
    path.write_text(HEAD + "2,a,b,c,maybe\n", "utf-8")
    ran = salon("gate", "train", str(path))
    assert ran.code == 2
    assert "line 2" in ran.errors


def test_the_language_model_variant_says_what_it_lacks(salon: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "feedback.csv"
    path.write_text(FEEDBACK, "utf-8")
    ran = salon("gate", "train", str(path), "--llm")
    assert ran.code == 2
    assert "chat model" in ran.errors


@pytest.mark.skipif(importlib.util.find_spec("dspy") is not None, reason="DSPy is installed")
def test_compiling_without_dspy_names_the_extra() -> None:
    from salon.core.errors import UnknownProvider
    from salon.providers.dspy_gate import make_signature

    with pytest.raises(UnknownProvider, match="DSPy"):
        make_signature()
