"""`salon ask`, `chat`, `gather`, `verify`, `calibrate`: talking with avatars at the prompt."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.experts.valley import open_valley

QUESTION = "When was the bridge over the Alder built?"


@pytest.fixture
def talking(salon: CommandLine) -> CommandLine:
    salon.home.mkdir(parents=True, exist_ok=True)
    with open_valley(salon.home):
        pass
    return salon


def test_an_answer_lists_its_sources_and_its_label(talking: CommandLine) -> None:
    ran = talking("ask", "ada-berg", *QUESTION.split())
    assert ran.code == 0
    assert "I said: “The bridge over the Alder was built in 1874" in ran.text
    assert "[1] A Speech at the Bridge" in ran.text
    assert "AI avatar of Ada Berg" in ran.text
    without = talking("ask", "ada-berg", QUESTION, "--no-sources")
    assert "bytes" not in without.text


def test_what_is_asked_can_be_verified_from_a_pipe(talking: CommandLine) -> None:
    reply = talking("ask", "ada-berg", QUESTION, "--json")
    assert reply.json["outcome"] == "answered"
    checked = talking("verify", stdin=reply.output)
    assert checked.code == 0
    assert "everything holds" in checked.text
    changed = reply.json
    changed["citations"][0]["quote"] = changed["citations"][0]["quote"].replace("1874", "1875")
    refused = talking("verify", "--json", stdin=json.dumps(changed).encode())
    assert refused.code == 6
    assert refused.json["holds"] is False
    assert refused.json["report"]["citations"][0]["fault"] == "quote_differs"
    reworded = reply.json
    reworded["response"] = reworded["response"].replace("was built in", "was made in", 1)
    misquoted = talking("verify", "--json", stdin=json.dumps(reworded).encode())
    assert misquoted.code == 6
    assert misquoted.json["report"]["claims"][0]["fault"] == "quote_differs"
    words = talking("verify", stdin=b"The moon is made of cheese.")
    assert words.code == 6
    assert "unsupported (no_citation): The moon is made of cheese." in words.text


def test_a_response_comes_from_a_file_too(talking: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "reply.json"
    path.write_bytes(talking("ask", "ada-berg", QUESTION, "--json").output)
    assert talking("verify", str(path), "--avatar", "ada-berg").code == 0
    other = talking("verify", str(path), "--avatar", "ole-holm")
    assert other.code == 6
    assert "misattributed (not_in_corpus)" in other.text
    assert talking("verify", str(tmp_path / "none")).code == 2
    path.write_bytes(b"{")
    assert talking("verify", str(path)).code == 2


def test_the_context_of_a_question_is_read(talking: CommandLine, tmp_path: Path) -> None:
    said = [{"role": "Bob", "content": "Who decides the rules of the garden?"}]
    path = tmp_path / "said.json"
    path.write_text(json.dumps(said), "utf-8")
    ran = talking("ask", "ada-berg", "What about that?", "--context", str(path), "--json")
    assert ran.json["outcome"] == "answered"
    assert "decided by the members" in ran.json["response"]
    path.write_text('[{"role": 1}]', "utf-8")
    assert talking("ask", "ada-berg", "What?", "--context", str(path)).code == 2


def test_a_chat_goes_on_where_it_was(talking: CommandLine) -> None:
    first = talking("chat", "ada-berg", "--session", "evening", stdin=f"{QUESTION}\n\n".encode())
    assert first.code == 0
    assert "1874" in first.text
    assert "session evening" in first.errors
    again = talking("chat", "ada-berg", "--session", "evening", stdin=b"Who paid for it?\n/quit\n")
    assert again.code == 0
    assert "12,000 crowns" in again.text


def test_a_chat_for_programs_is_one_line_of_json_for_each_turn(talking: CommandLine) -> None:
    said = f"{QUESTION}\nWho paid for it?\n".encode()
    ran = talking("chat", "ada-berg", "--session", "lines", "--json", stdin=said)
    assert ran.code == 0, ran.errors
    first, second = (json.loads(line) for line in ran.text.splitlines())
    assert {first["session"], second["session"]} == {"lines"}
    assert "1874" in first["response"]
    assert "12,000 crowns" in second["response"]
    assert first["citations"]


def test_a_discussion_shows_who_speaks_and_who_does_not(talking: CommandLine) -> None:
    ran = talking("gather", "ada-berg", "ole-holm", "--topic", QUESTION, "--rounds", "1")
    assert ran.code == 0
    assert ran.text.startswith(f"Facilitator: {QUESTION}")
    assert "Facilitator, to your question: In “A Speech at the Bridge” (1880) I said:" in ran.text
    assert "(Ole Holm stays silent:" in ran.text
    lines = talking("gather", "ada-berg", "ole-holm", "--topic", QUESTION, "--json").text
    assert [json.loads(line)["round"] for line in lines.splitlines()][:2] == [1, 1]
    assert talking("gather", "ada-berg", "ada-berg", "--topic", "x").code == 2


def test_calibration_needs_enough_and_then_counts(talking: CommandLine, tmp_path: Path) -> None:
    few = talking("calibrate", "ada-berg")
    assert few.code == 2
    assert "too few" in few.errors
    path = tmp_path / "questions.jsonl"
    answers = ["built in 1874 by the people", "12,000 crowns", "three crowns"]
    questions = [
        QUESTION,
        "How many crowns was the bridge paid for with?",
        "What is the toll for a loaded cart?",
    ]
    rows = [{"question": questions[n % 3], "answer": answers[n % 3]} for n in range(120)]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    ran = talking("calibrate", "ada-berg", "--questions", str(path), "--json")
    assert ran.code == 0
    assert ran.json["questions"] == "labelled"
    assert ran.json["risk"] <= 0.1
    assert talking("archive", "get", "avatars/ada-berg/calibration").code == 0
    path.write_text('{"question": ""}', "utf-8")
    assert talking("calibrate", "ada-berg", "--questions", str(path)).code == 2


def test_an_avatar_that_is_not_there_is_not_found(talking: CommandLine) -> None:
    ran = talking("ask", "nobody-here", "Who?")
    assert ran.code == 3
    assert "ada-berg" in ran.errors


def test_a_chat_shows_sentences_of_a_model_once_they_are_verified(
    talking: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = "The bridge over the Alder was built in 1874 by the people of the valley"
    script = tmp_path / "script.json"
    script.write_text(json.dumps([f"{built} [1]. It was built in 1999 [1]. {built} [1]."]), "utf-8")
    monkeypatch.setenv("SALON_CHAT__MODEL", f"scripted:{script}")
    ran = talking("chat", "ada-berg", "--session", "model", stdin=f"{QUESTION}\n\n".encode())
    assert ran.code == 0
    assert f"{built}. [1] {built}. [1]\n" in ran.text
    assert "1999" not in ran.text
    assert "AI avatar of Ada Berg" in ran.text
