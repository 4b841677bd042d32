"""`salon assistant`: talking, approving, and deciding about what is not settled."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from salon.app import Salon
from salon.cli.main import GROUPS
from salon.gate.ends import Refused, Unclear
from salon.providers.calendar.ics_files import IcsFolder
from salon.providers.mail.eml_files import EmlFolder
from salon.settings import load_settings
from tests.cli.conftest import CommandLine

CASE = ("My employee Sam was late three times.", "We talked about it on Monday.")
TO_A_CALL = ("yes", "1", "Sam Hill", "skip")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the assistant has been built."""
    home = tmp_path_factory.mktemp("assistant")
    with Salon(load_settings(home=home, environment={})) as salon:
        salon.ensure_assistant()
    return home


@pytest.fixture
def assistant(salon: CommandLine, monkeypatch: pytest.MonkeyPatch, built: Path) -> CommandLine:
    """The command line in a home of its own with the assistant."""
    shutil.copytree(built, salon.home, dirs_exist_ok=True)
    monkeypatch.setitem(GROUPS, "assistant", ("salon.cli.assistant:assistant", "…"))
    monkeypatch.setenv("TZ", "America/New_York")
    return salon


def _talk(assistant: CommandLine, *lines: str, session: str = "s-1") -> str:
    typed = "".join(f"{line}\n" for line in lines).encode()
    ran = assistant("assistant", "--session", session, "--user", "meg", stdin=typed)
    assert ran.code == 0, ran.errors
    return ran.text


def _json(assistant: CommandLine, *arguments: str) -> Any:
    ran = assistant(*arguments, "--json")
    assert ran.code == 0, ran.errors
    return ran.json


def test_a_whole_conversation_at_the_prompt(assistant: CommandLine) -> None:
    text = _talk(assistant, *CASE, *TO_A_CALL, "/outbox", "yes", "/quit")
    assert "What have you done about it so far?" not in text.splitlines()[0]
    assert "Would you like me to schedule that call?" in text
    assert "(calendar: awaiting_confirmation)" in text
    assert "nothing is waiting" in text
    assert "[1] Lateness" in text
    assert "is in the calendar" in text
    files = list((assistant.home / "actions" / "calendar").iterdir())
    assert len(files) == 1


def test_a_session_goes_on_in_the_middle_of_a_draft_and_can_be_called_off(
    assistant: CommandLine,
) -> None:
    _talk(assistant, *CASE, "yes")
    text = _talk(assistant, "2", "/cancel")
    assert "These times are free" in text.split("You")[0], "it shows where it was left"
    assert "Nothing was done" in text


def test_one_message_at_a_time_as_json_and_an_approval_by_digest(assistant: CommandLine) -> None:
    found = [
        _json(assistant, "assistant", "--session", "s-2", "--say", line)
        for line in (*CASE, *TO_A_CALL)
    ]
    assert [one["number"] for one in found] == [1, 2, 3, 4, 5, 6]
    assert found[1]["verdict"]["action"] == "calendar"
    assert found[-1]["flow"]["step"] == "awaiting_confirmation"
    digest = found[-1]["flow"]["digest"]
    wrong = _json(assistant, "assistant", "approve", "s-2", "0" * 64)
    assert wrong["order"] is None
    done = _json(assistant, "assistant", "approve", "s-2", wrong["flow"]["digest"])
    assert done["order"]["state"] == "done"
    assert done["order"]["digest"] != digest, "the draft was shown again in another turn"


def test_what_is_not_settled_is_listed_and_decided(
    assistant: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(IcsFolder, "add", lambda *_: Refused(reason="full"))
        assert "It was not done: full" in _talk(assistant, *CASE, *TO_A_CALL, "yes")
        [order] = _json(assistant, "assistant", "outbox", "--run")
    assert order["state"] == "failed"
    listed = assistant("assistant", "outbox", "--session", "s-1").text
    assert order["key"][:12] in listed
    assert "failed" in listed
    assert "is in the calendar" in assistant("assistant", "retry", order["key"][:12]).text
    refused = assistant("assistant", "cancel", order["key"])
    assert refused.code == 2
    assert "cannot be withdrawn" in refused.errors


def test_a_mail_of_unknown_end_is_settled_or_called_off_by_the_person(
    assistant: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmlFolder, "is_idempotent", False)
    monkeypatch.setattr(EmlFolder, "look", lambda *_: Unclear(reason="who knows"))

    def taken(_self: object, _mail: object, commit: Any) -> Unclear:
        commit()
        return Unclear(reason="no answer")

    monkeypatch.setattr(EmlFolder, "send", taken)
    wish = "Please draft an email to him. He wears the wrong shoes since Monday, I told him."
    mail = ("Please draft an email to my employee Sam.", wish, "yes", "Sam", "sam@example.com")
    keys = []
    for session in ("s-1", "s-2"):
        text = _talk(assistant, *mail, "his shoes", "Meg", "yes", session=session)
        assert "I cannot tell whether it was done" in text
        [order] = _json(assistant, "assistant", "outbox", "--session", session)
        keys.append(order["key"])
    assert _json(assistant, "assistant", "settle", keys[0])["state"] == "done"
    assert _json(assistant, "assistant", "cancel", keys[1])["state"] == "withdrawn"
    assert _json(assistant, "assistant", "outbox") == []


def test_a_refused_message_does_not_end_the_conversation(assistant: CommandLine) -> None:
    long = b"x" * 100_001 + b"\nhello\n"
    ran = assistant("assistant", "--session", "s-1", "--json", stdin=long)
    assert ran.code == 0
    assert "too long" in ran.errors
    assert json.loads(ran.text)["number"] == 1, "and it goes on"
    bad = assistant("assistant", "--session", "Not An Id", stdin=b"hello\n")
    assert bad.code == 2
    other = assistant("assistant", "--avatar", "nobody", "--say", "hello")
    assert other.code == 3
