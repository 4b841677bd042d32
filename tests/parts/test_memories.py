"""Memories outside a turn: listed, searched, forgotten and exported, by code and by command."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from salon.app import Salon
from salon.cli.memory import memory
from salon.cli.place import Place
from salon.conversation.memory.archived import ArchivedStore
from salon.core.archive import ArchiveTransaction
from salon.core.clock import SteppingClock
from salon.core.errors import HandleMoved, InvalidInput, NotFound
from salon.core.hashing import CardHash
from salon.settings import load_settings

SAID = (
    "Good morning, the tram was late again today.",
    "I live in Lyon near the old harbour.",
    "I love marzipan cake from the bakery.",
    "My brother sold his blue bicycle.",
    "I moved to Ghent in the spring.",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    with Salon(load_settings(home=place, environment={})) as salon:
        salon.clock = SteppingClock(datetime(2026, 3, 1, 10, tzinfo=UTC))
        for message in SAID:
            salon.take_turn("s", message, user="ann")
        for message in SAID[:4]:
            salon.take_turn("b", message.replace("marzipan", "cheese"), user="bob")
        salon.take_turn("b", "My violin is very old and sounds wonderful.", user="bob")
    return place


@pytest.fixture
def salon(home: Path) -> Iterator[Salon]:
    with Salon(load_settings(home=home, environment={})) as opened:
        yield opened


def test_what_turns_left_is_listed_with_closed_facts_if_wanted(salon: Salon) -> None:
    assert salon.remembered_users() == ("ann", "bob")
    facts = {one.content for one in salon.memories("ann") if one.fact}
    assert facts == {"I love marzipan cake", "I moved to Ghent"}
    everything = {one.content for one in salon.memories("ann", closed=True) if one.fact}
    assert everything - facts == {"I live in Lyon"}


def test_a_search_finds_what_bears_on_it_for_this_user_alone(salon: Salon) -> None:
    found = salon.search_memories("ann", "What sweets do I like?")
    assert "marzipan" in found[0].memory.content
    assert not [one for one in salon.search_memories("bob", "marzipan", limit=50)
                if "marzipan" in one.memory.content]  # fmt: skip
    with pytest.raises(InvalidInput, match="a limit of 0"):
        salon.search_memories("ann", "cake", limit=0)


def test_an_export_has_everything_with_its_sources(salon: Salon) -> None:
    exported = json.loads(json.dumps(salon.export_memories("ann")))
    assert exported["user"] == "ann"
    for one in exported["memories"]:
        for source in one["sources"]:
            message = SAID[source["turn"] - 1]
            assert message[source["start"] : source["end"]] == source["quote"]


@pytest.mark.parametrize(
    "given", [{}, {"ids": ["x"], "topic": "y"}, {"topic": " "}, {"topic": "y", "everything": True}]
)
def test_one_of_three_ways_says_what_to_forget(salon: Salon, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="say what to forget"):
        salon.forget_memories("ann", **given)  # type: ignore[arg-type]


def test_an_unknown_memory_cannot_be_forgotten(salon: Salon) -> None:
    with pytest.raises(NotFound, match="mem_none"):
        salon.forget_memories("ann", ids=["mem_none"])


def test_forgetting_by_topic_by_id_and_everything(salon: Salon) -> None:
    gone = salon.forget_memories("ann", topic="marzipan cake")
    assert gone.ids
    assert not [one for one in salon.memories("ann", closed=True) if "marzipan" in one.content]
    left = salon.memories("ann")
    salon.forget_memories("ann", ids=[left[0].id])
    assert left[0].id not in {one.id for one in salon.memories("ann")}
    salon.forget_memories("ann", everything=True)
    assert salon.memories("ann", closed=True) == ()
    assert salon.memories("bob")
    assert salon.remembered_users() == ("bob",)


def test_the_command_lists_searches_forgets_and_exports(home: Path) -> None:
    place = Place(home=home, flags={})

    def run(*words: str) -> str:
        return CliRunner().invoke(memory, [*words], obj=place).output

    listed = run("list", "--user", "bob", "--closed")
    assert "I love cheese cake" in listed
    assert "(b, turn 3)" in listed
    found = run("search", "--user", "bob", "music", "--json")
    assert "violin" in json.loads(found)[0]["memory"]["content"]
    assert "violin" in run("search", "--user", "bob", "music")
    forgotten = run("forget", "--user", "bob", "--about", "cheese cake")
    assert "forgotten" in forgotten
    exported = run("export", "--user", "bob")
    assert "cheese" not in exported
    assert json.loads(exported)["memories"]
    assert "nothing is kept about eve" in run("list", "--user", "eve")


@pytest.mark.parametrize(("faster", "is_done"), [(1, True), (99, False)], ids=["once", "always"])
def test_forgetting_tries_again_where_a_turn_was_faster(
    salon: Salon, monkeypatch: pytest.MonkeyPatch, faster: int, is_done: bool
) -> None:
    salon.take_turn("c", "Please forget that I own a boat", user="cleo")
    commit, calls = ArchivedStore.commit, []

    def contended(
        store: ArchivedStore, tx: ArchiveTransaction, turn: CardHash | None = None
    ) -> None:
        calls.append(1)
        if len(calls) <= faster:
            raise HandleMoved("another turn was faster")
        commit(store, tx, turn)

    monkeypatch.setattr(ArchivedStore, "commit", contended)
    if is_done:
        assert salon.forget_memories("cleo", topic="boats").ids == ()
        assert len(calls) == 2
    else:
        with pytest.raises(HandleMoved):
            salon.forget_memories("cleo", topic="boats")
