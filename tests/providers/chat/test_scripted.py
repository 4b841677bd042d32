"""The scripted model: says its lines, in code and from a file."""

import json
from pathlib import Path

import pytest

from salon.core.chat import ChatUsage, ask
from salon.core.errors import FileMissing, InvalidSettings, ProviderFailed
from salon.providers.chat import ScriptedChat, ScriptLine, open_chat
from tests.providers.chat.conftest import is_a_chat_model

QUESTION = ask("You are brief.", (), "Who governs?")


def script(folder: Path, lines: object) -> str:
    path = folder / "answers.json"
    path.write_text(lines if isinstance(lines, str) else json.dumps(lines), "utf-8")
    return f"scripted:{path}"


def test_lines_are_said_in_turn_and_then_it_fails() -> None:
    chat = ScriptedChat(["One.", "Two."])
    assert [chat.complete(QUESTION).text for _ in range(2)] == ["One.", "Two."]
    with pytest.raises(ProviderFailed, match="nothing more to say"):
        chat.complete(QUESTION)
    assert chat.asked[0].messages == QUESTION.messages


def test_a_line_with_a_condition_is_said_whenever_it_holds() -> None:
    chat = ScriptedChat([ScriptLine(when="GOVERNS", say="Its users."), "Something else."])
    assert [chat.complete(QUESTION).text for _ in range(2)] == ["Its users."] * 2
    assert chat.complete(ask("s", (), "And the weather?")).text == "Something else."


def test_only_the_last_message_decides() -> None:
    chat = ScriptedChat([ScriptLine(when="brief", say="No."), "Yes."])
    assert chat.complete(QUESTION).text == "Yes."


def test_in_code_a_line_can_fail_or_look_at_the_request() -> None:
    chat = ScriptedChat([ProviderFailed("gone"), lambda asked: asked.messages[-1].content.upper()])
    with pytest.raises(ProviderFailed, match="gone"):
        chat.complete(QUESTION)
    assert chat.complete(QUESTION).text == "WHO GOVERNS?"


@pytest.mark.parametrize("text", ["One two  three.\n\n- four\n", " leading", "word", "a\tb "])
def test_pieces_are_words_and_make_up_the_whole(text: str) -> None:
    pieces = list(ScriptedChat([text]).stream(QUESTION))
    assert "".join(pieces) == text
    assert len(pieces) == len(text.split())


def test_an_empty_line_is_an_answer_with_nothing_in_it() -> None:
    chat = ScriptedChat(["", " "])
    with pytest.raises(ProviderFailed, match="nothing"):
        chat.complete(QUESTION)
    with pytest.raises(ProviderFailed, match="nothing"):
        list(chat.stream(QUESTION))


def test_a_script_comes_from_a_file(tmp_path: Path) -> None:
    address = script(tmp_path, ["First.", {"when": "weather", "say": "I do not know."}])
    with open_chat(address) as chat:
        assert is_a_chat_model(chat).address == address
        answer = chat.complete(QUESTION)
        assert answer.text == "First."
        assert answer.model.endswith("answers.json")
        assert answer.usage == ChatUsage(requests=1, input_tokens=5, output_tokens=1)
        assert chat.complete(ask("s", (), "The weather?")).text == "I do not know."


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("{", "wrong at the file"),
        ({"answers": []}, "wrong at the file"),
        ([1], "wrong at 0"),
        ([{"when": "x"}], "wrong at 0"),
        ([{"when": "", "say": "y"}], "wrong at 0"),
        (["fine", {"when": "x", "say": "y", "more": 1}], "wrong at 1"),
    ],
)
def test_a_file_that_is_no_script_is_refused(tmp_path: Path, lines: object, what: str) -> None:
    with pytest.raises(InvalidSettings, match=what) as caught:
        open_chat(script(tmp_path, lines))
    assert "JSON list" in (caught.value.hint or "")


def test_a_file_that_is_missing_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="cannot be read"):
        open_chat(f"scripted:{tmp_path / 'none.json'}")
    with pytest.raises(InvalidSettings, match="more than"):
        open_chat(script(tmp_path, " " * 10_000_001))
