"""Listening while a model writes: only verified sentences, early, and no other reply than else."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.app import Salon
from salon.cli.talk import Shown
from salon.conversation.discussion import NOTHING_SAID
from salon.core.chat import ChatRequest
from salon.core.errors import ProviderFailed
from salon.experts.composing import chat
from salon.experts.composing.drafts import Draft
from salon.experts.composing.hearing import Hearing
from salon.experts.questions import understand
from salon.grounding.verifying import Verification
from salon.providers.chat import ScriptedChat
from salon.settings import load_settings
from tests.experts.test_composing import BUILT, PROFILE, WARNINGS
from tests.experts.valley import open_valley
from tests.grounding.test_verifying import WordsOnly
from tests.grounding.worlds import World, make_world

BRIDGE = "The bridge was built in 1874 [2]."
LOSE = "Those who do not water lose their bed [1]."
MADE_UP = "Water boils at 100 degrees [1]."
UNCITED = "Paris is in France."
QUOTED = f"The rules say: “{WARNINGS}” [1]"
SENTENCES = [
    BRIDGE,
    LOSE,
    MADE_UP,
    UNCITED,
    QUOTED,
    "So it is. [2]",
    "“Open [1].",
    "[7]",
    "NOTHING.",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = make_world(tmp_path_factory.mktemp("world"))
    yield made
    made.archive.close()


def _compose(world: World, text: str, heard: list[str] | None) -> Draft | None:
    return chat.compose(
        ScriptedChat([text]),
        PROFILE,
        understand("What happens to those who do not water?"),
        discussion=NOTHING_SAID,
        citations=(world.cite(world.garden, WARNINGS), world.cite(world.bridge, BUILT)),
        check=Verification(world.citations, WordsOnly).verify,
        heard=None if heard is None else heard.append,
    )


def test_each_sentence_is_heard_when_the_next_one_begins(world: World) -> None:
    cited = (world.cite(world.garden, WARNINGS), world.cite(world.bridge, BUILT))
    heard: list[str] = []
    hearing = Hearing(cited, Verification(world.citations, WordsOnly).verify, heard.append)
    hearing.add(BRIDGE[:-5])
    assert heard == []
    for piece in ("[", "2", "]", ". "):
        hearing.add(piece)
    assert heard == []
    hearing.add("Those")
    assert heard == ["The bridge was built in 1874. [1]"]
    hearing.add(f"{LOSE[5:]} {MADE_UP} {UNCITED} The")
    assert heard[1:] == [" Those who do not water lose their bed. [2]"]


def test_what_is_cut_is_never_heard_and_the_reply_is_the_same(world: World) -> None:
    text = f"{MADE_UP} {BRIDGE} {UNCITED} {LOSE} {QUOTED}"
    heard: list[str] = []
    draft = _compose(world, text, heard)
    assert draft == _compose(world, text, None)
    assert draft is not None
    assert len(heard) >= 2
    assert draft.response.startswith("".join(heard))
    assert not any("boils" in one or "Paris" in one for one in heard)


def test_a_quote_of_several_sentences_is_heard_in_one_piece(world: World) -> None:
    text = f"{BRIDGE} The rules say: “Bread is good. Wine is better.” [1] {LOSE} {BRIDGE}"
    heard: list[str] = []
    draft = _compose(world, text, heard)
    assert draft is not None
    assert draft.response.startswith("".join(heard))
    assert "Bread" not in "".join(heard)


@given(
    parts=st.lists(st.sampled_from(SENTENCES), max_size=6),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=12),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_heard_is_borne_out(world: World, parts: list[str], cuts: list[int]) -> None:
    cited = (world.cite(world.garden, WARNINGS), world.cite(world.bridge, BUILT))
    verify = Verification(world.citations, WordsOnly).verify
    heard: list[str] = []
    hearing = Hearing(cited, verify, heard.append)
    text, at = " ".join(parts), 0
    for turn in range(len(text)):
        if at >= len(text):
            break
        step = cuts[turn % len(cuts)]
        hearing.add(text[at : at + step])
        at += step
    said = "".join(heard)
    assert not any(word in said for word in ("boils", "Paris", "NOTHING", "Open", "[7]"))
    numbered = cited if said.startswith("Those") or "[2]" not in said else cited[::-1]
    used = numbered if "[1]" in said else ()
    orders = (used, tuple(used[::-1]))
    assert not said or any(verify(said, one).holds for one in orders)


def test_a_turn_that_moves_sentences_ends_the_hearing(world: World) -> None:
    cited = (world.cite(world.garden, WARNINGS), world.cite(world.bridge, BUILT))
    heard: list[str] = []
    hearing = Hearing(cited, Verification(world.citations, WordsOnly).verify, heard.append)
    hearing.add(f"{BRIDGE} Those")
    assert len(heard) == 1
    hearing._seen[0] = "something else"  # what a text that is cut anew looks like from inside
    hearing.add(f"{LOSE[5:]} {BRIDGE} And")
    assert len(heard) == 1


SCRIPT = (
    "The bridge over the Alder was built in 1874 by the people of the valley [1]. "
    "It was built in 1999 [1]. "
    "The bridge over the Alder was built in 1874 by the people of the valley [1]. "
    "That is all."
)
QUESTION = "When was the bridge over the Alder built?"


def _salon(home: Path, lines: list[str]) -> Salon:
    script = home / "script.json"
    script.write_text(json.dumps(lines), "utf-8")
    return Salon(load_settings(home=home, environment={"SALON_CHAT__MODEL": f"scripted:{script}"}))


def test_a_reply_that_was_heard_is_recorded_as_if_nobody_had_listened(tmp_path: Path) -> None:
    with open_valley(tmp_path):
        pass
    heard: list[str] = []
    with _salon(tmp_path, [SCRIPT, SCRIPT]) as salon:
        loud = salon.respond("ada-berg", QUESTION, session="loud", heard=heard.append)
        quiet = salon.respond("ada-berg", QUESTION, session="quiet")
        assert loud == quiet
        assert loud.composer.startswith("scripted:")
        assert heard
        assert loud.response.startswith("".join(heard))
        assert "1999" not in loud.response
        said = [salon.discussion(one).utterances[-1].content for one in ("loud", "quiet")]
    assert said[0] == said[1] == loud.response


def test_a_model_that_breaks_off_leaves_the_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class BreaksOff(ScriptedChat):
        def stream(self, request: ChatRequest) -> Iterator[str]:
            yield from super().stream(request)
            raise ProviderFailed("gone")

    shown = Shown()
    with open_valley(tmp_path) as salon:
        salon.__dict__["chat"] = BreaksOff([SCRIPT])
        reply = salon.respond("ada-berg", QUESTION, heard=shown.add)
    assert reply.composer == "extractive"
    shown.finish(reply)
    printed = capsys.readouterr().out
    assert printed.startswith("The bridge over the Alder was built in 1874")
    assert "In full this reads:" in printed
    assert reply.response in printed


def test_what_was_shown_is_not_shown_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_valley(tmp_path):
        pass
    shown = Shown()
    with _salon(tmp_path, [SCRIPT]) as salon:
        shown.finish(salon.respond("ada-berg", QUESTION, heard=shown.add))
    printed = capsys.readouterr().out
    assert printed.count("was built in 1874 by the people") == 2
    assert "In full" not in printed
    assert "AI avatar of Ada Berg" in printed
