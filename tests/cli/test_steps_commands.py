"""`salon steps` and `salon replay` at the prompt."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from salon.app import Salon
from salon.conversation.turns import append_turn, as_session_id, session_handle, walk_turns
from salon.settings import load_settings
from salon.steps.companion import COMPANION
from tests.cli.conftest import CommandLine
from tests.mcp_server.homes import AVATAR, make_home
from tests.parts.talking import toy_steps

SVG = "{http://www.w3.org/2000/svg}"


def test_the_table_shows_what_every_step_declares(salon: CommandLine) -> None:
    ran = salon("steps", "--json")
    assert ran.code == 0
    rows = {row["name"]: row for row in ran.json["steps"]}
    assert set(rows) == {step.name for step in COMPANION}
    assert rows["features"]["when"] == "every 3 turns"
    assert rows["features"]["writes"] == "features"
    assert "current_emotion" in rows["features"]["reads"]
    assert rows["emotion"]["median_s"] is None
    assert ran.json["off"] == ran.json["broken"] == []
    text = salon("steps").text
    assert "features: " in text
    assert "every 3 turns; at most" in text
    assert "median not run yet" in text
    assert f"{len(COMPANION)} steps, each after what it reads" in text


def test_the_graph_is_a_picture_with_a_box_for_each_step(
    salon: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "steps.svg"
    assert salon("steps", "--svg", str(path)).code == 0
    root = ET.fromstring(path.read_text("utf-8"))
    boxes = root.findall(f".//{SVG}rect")
    assert len(boxes) == len(COMPANION)
    names = {text.text for text in root.findall(f".//{SVG}text[@class='n']")}
    assert names == {step.name for step in COMPANION}
    assert root.findall(f".//{SVG}path[@marker-end]")


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Salon, "_companion_steps", lambda _: toy_steps())


@pytest.mark.usefixtures("toys")
def test_times_are_measured_in_a_home_that_is_thrown_away(salon: CommandLine) -> None:
    ran = salon("steps", "--measure")
    assert ran.code == 0
    assert "length: length" in ran.text
    assert " ms" in ran.text
    assert salon("steps").text.count("not run yet") == len(toy_steps())


@pytest.mark.usefixtures("toys")
def test_a_replay_tells_same_or_where_not_and_ends_with_a_code(salon: CommandLine) -> None:
    with Salon(load_settings(home=salon.home, environment={})) as opened:
        opened.take_turn("a-talk", "hello")
        opened.take_turn("a-talk", "hello")
    ran = salon("replay", "a-talk")
    assert ran.code == 0
    assert ran.text.splitlines() == ["turn 1: same", "turn 2: same", "2 of 2 turns the same"]
    _change(salon.home)
    ran = salon("replay", "a-talk")
    assert ran.code == 6
    assert "turn 2: differs in slot total" in ran.text
    assert 'recorded: {"value":11}' in ran.text
    assert 'replayed: {"value":10}' in ran.text
    found = salon("replay", "a-talk", "--json")
    assert found.code == 6
    assert [turn["is_same"] for turn in found.json["turns"]] == [True, False]


def test_a_replay_says_what_was_checked_and_what_was_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_home(tmp_path / "home")
    salon = CommandLine(settings.home, monkeypatch)
    with Salon(settings) as opened:
        opened.take_turn("cited", "Who digs in March?", avatar=AVATAR)
        opened.take_turn("cited", "What about quantum computers?", avatar=AVATAR)
        opened.take_turn("silent", "What about quantum computers?", avatar=AVATAR)
    ran = salon("replay", "cited")
    assert ran.code == 0
    first, second, summary = ran.text.splitlines()
    assert first == "turn 1: its proof holds"
    assert second == "turn 2: not compared: the reply cites nothing"
    assert summary.startswith("1 of 1 turn of experts and assistants hold (checked again, not run")
    assert summary.endswith("; 1 turn not compared")
    found = salon("replay", "cited", "--json").json
    assert (found["same"], found["holding"], found["not_compared"]) == (0, 1, 1)
    ran = salon("replay", "silent")
    assert ran.code == 3, "nothing was compared, and that is no success"
    assert ran.text.splitlines()[-1] == "1 turn not compared"


def test_a_replay_of_nothing_is_not_found(salon: CommandLine) -> None:
    assert salon("replay", "never").code == 3
    assert salon("replay", "No Name").code == 2


def _change(home: Path) -> None:
    session = as_session_id("a-talk")
    with Salon(load_settings(home=home, environment={})) as opened:
        last = next(walk_turns(opened.archive, session))
        assert last.previous is not None
        earlier = last.previous
        opened.archive.write(lambda tx: tx.set_handle(session_handle(session), earlier))
        board: dict[str, dict[str, object]] = {**(last.board or {}), "total": {"value": 11}}
        append_turn(opened.archive, replace(last, board=board))
