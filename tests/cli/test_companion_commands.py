"""`salon companion`: talking, commands, export and import, as a person meets them."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_turn_shows_the_reply_the_label_and_the_reading(salon: CommandLine) -> None:
    ran = salon("companion", "--session", "walk", stdin=b"I love this sunny morning!\n\n")
    assert ran.code == 0
    assert "(AI" in ran.text
    assert "[turn 1]" in ran.text
    assert "valence" in ran.text
    again = salon("companion", "--session", "walk", stdin=b"And the evening too.\n")
    assert "[turn 2]" in again.text


def test_json_prints_the_events_of_each_turn(salon: CommandLine) -> None:
    ran = salon("companion", "talk", "--json", "--user", "ana", stdin=b"Hello.\nI am back.\n")
    turns = [json.loads(line) for line in ran.text.splitlines()]
    assert [turn[-1]["turn"] for turn in turns] == [1, 2]
    assert all(turn[0]["type"] == "emotion_update" for turn in turns)


def test_commands_answer_and_are_no_turns(salon: CommandLine) -> None:
    ran = salon("companion", stdin=b"Hello.\n/help\n/predict-future\n/analyze-relationship\nBye.\n")
    assert "/export-data" in ran.text
    assert "Turn 50: not known" in ran.text
    assert "1 turn so far" in ran.text
    assert "[turn 2]" in ran.text


def test_a_command_that_does_not_exist_does_not_end_the_conversation(salon: CommandLine) -> None:
    ran = salon("companion", stdin=b"/dance\nHello.\n")
    assert ran.code == 0
    assert "there is no command /dance" in ran.errors
    assert "[turn 1]" in ran.text


def test_a_scam_is_warned_of_before_the_reply(salon: CommandLine) -> None:
    said = (
        b"You are my soulmate and the love of my life.\n"
        b"Please send money right now, wire it via bitcoin, it is urgent for the hospital bill.\n"
    )
    ran = salon("companion", stdin=said)
    lines = ran.text.splitlines()
    warned = next(n for n, line in enumerate(lines) if "WARNING: this looks like a scam" in line)
    assert "(AI" in lines[warned + 1]


@pytest.mark.requirement("companion/external/export-data")
def test_an_export_goes_into_one_file_and_comes_back_elsewhere(
    salon: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = b"My name is Ana and I live in Lisbon.\nI have a dog called Rex.\n" * 3
    salon("companion", "--session", "life", "--user", "ana", stdin=said)
    ran = salon("companion", "--session", "life", "--user", "ana", "--json", stdin=b"/export-data")
    file = Path(ran.json["file"])
    held = json.loads(file.read_text())
    assert held["user"] == "ana"
    assert [len(one["turns"]) for one in held["sessions"]] == [6]

    other = CommandLine(tmp_path / "other", monkeypatch)
    taken = other("companion", "import", str(file), "--json").json
    assert taken == {"user": "ana", "sessions": 1, "turns": 6, "memories": len(held["memories"])}
    again = other("companion", "import", str(file))
    assert "0 turns in 0 sessions" in again.text
    more = other("companion", "--session", "life", "--user", "ana", stdin=b"I am here now.\n")
    assert "[turn 7]" in more.text


def test_an_export_that_was_changed_is_refused(salon: CommandLine) -> None:
    salon("companion", "--session", "life", "--user", "ana", stdin=b"I live in Lisbon.\n")
    ran = salon("companion", "--session", "life", "--user", "ana", "--json", stdin=b"/export-data")
    file = Path(ran.json["file"])
    file.write_text(file.read_text().replace("Lisbon", "London", 1))
    refused = salon("companion", "import", str(file), "--json")
    assert refused.code == 2
    assert refused.error["code"] == "invalid_export"
    missing = salon("companion", "import", "nowhere.json", "--json")
    assert missing.code == 5


def test_help_tells_how_to_begin(salon: CommandLine) -> None:
    assert "import" in salon("companion", "--help").text


def test_memory_looks_at_whom_the_companion_talks_to(
    salon: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALON_ACTOR", "root")
    said = b"I live in Lisbon.\nI love sailing.\nMy sister is Ana.\nI work as a nurse.\nBye now.\n"
    salon("companion", "--session", "life", stdin=said)
    listed = salon("memory", "list")
    assert "I live in Lisbon" in listed.text
    wrong = salon("memory", "forget", "--everything", "--user", "user")
    assert wrong.text.startswith("nothing was forgotten: nothing is kept about user")
    assert "there are memories of root" in wrong.text
    assert "there are memories of root" in salon("memory", "list", "--user", "user").text
    assert "nothing was forgotten" in salon("memory", "forget", "--about", "volcanoes").text
    exported = salon("memory", "export", "--json")
    assert exported.json["user"] == "root"
    assert len(exported.text.splitlines()) == 1
    assert "of root forgotten" in salon("memory", "forget", "--everything").text
    gone = salon("memory", "list")
    assert gone.text.strip() == "nothing is kept about root"
