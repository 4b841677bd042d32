"""One user's memory: what gets in, what comes out, what is forgotten, and for whom."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.memory.archived import MemoryLibrary, memories_handle
from salon.conversation.memory.forgetting import ForgetRequest, find_request, matching
from salon.conversation.memory.kinds import Source, source_of
from salon.conversation.memory.store import InMemoryStore
from salon.conversation.memory.writing import Heard, write_messages
from salon.conversation.sessions import forget_session
from salon.core.canonical import canonical_json
from salon.core.embedding import Embedder
from salon.core.errors import HandleMoved, IntegrityFailed, InvalidDocument, InvalidInput
from salon.core.ids import SessionId
from salon.providers.embedders import open_embedder
from tests.conversation.memory_talk import contents, moment, record, said


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded:minilm")


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    opened = SqliteArchive(tmp_path / "salon.db")
    yield opened
    opened.close()


def keep(archive: SqliteArchive, library: MemoryLibrary, text: str, **more: str) -> str:
    """Say something, keep it as a memory in the same turn, and return the memory's id."""
    user, session = more.get("user", "ann"), more.get("session", "s")
    store = library.open(user)
    taken = list(_turns(archive, session))
    memory, message = moment(text, user=user, turn=len(taken) + 1, session=session)
    store.put(memory, [message])
    record(archive, text, user=user, session=session, store=store)
    return memory.id


def _turns(archive: SqliteArchive, session: str) -> list[object]:
    from salon.conversation.turns import walk_turns

    return list(walk_turns(archive, SessionId(session)))


# What gets in


def test_a_quote_that_the_message_does_not_have_is_refused() -> None:
    memory, message = moment("I live in Lyon")
    changed = replace(message, text="I live in Nice")
    with pytest.raises(IntegrityFailed, match="does not say"):
        InMemoryStore("ann").put(memory, [changed])


def test_a_source_whose_turn_is_not_at_hand_is_refused() -> None:
    memory, _ = moment("I live in Lyon")
    with pytest.raises(InvalidInput, match="was not handed in"):
        InMemoryStore("ann").put(memory, [])


def test_a_memory_without_a_source_is_refused() -> None:
    memory, message = moment("I live in Lyon")
    with pytest.raises(InvalidInput, match="the words that it came from"):
        InMemoryStore("ann").put(replace(memory, sources=()), [message])


def test_another_users_memory_is_refused() -> None:
    memory, message = moment("I live in Lyon", user="bob")
    with pytest.raises(InvalidInput, match="of another"):
        InMemoryStore("ann").put(memory, [message])


def test_a_span_that_a_message_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has no span"):
        source_of(said("short"), 2, 9)


def test_an_empty_quote_proves_nothing() -> None:
    memory, message = moment("I live in Lyon")
    empty = Source(session="s", turn=1, start=3, end=3, quote="")
    with pytest.raises(IntegrityFailed):
        InMemoryStore("ann").put(replace(memory, sources=(empty,)), [message])


# Pending, settled, discarded


def test_what_is_pending_is_seen_at_once_and_gone_when_discarded(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    memory, message = moment("The lake was frozen this morning")
    store.put(memory, [message])
    assert [one.memory for one in store.search("ice on the lake", embedder)] == [memory]
    assert len(store.pending()) == 1
    store.discard()
    assert store.memories() == ()
    assert store.search("lake", embedder) == []


def test_what_is_settled_survives_a_later_discard() -> None:
    store = InMemoryStore("ann")
    memory, message = moment("The lake was frozen this morning")
    store.put(memory, [message])
    store.settle()
    store.forget([memory.id])
    store.discard()
    assert store.find(memory.id) == memory
    assert store.pending() == ()
    assert store.card_of("s", 1) is None


# In an archive


def test_memories_come_back_in_another_process_with_the_card_of_their_turn(
    archive: SqliteArchive, embedder: Embedder
) -> None:
    keep(archive, MemoryLibrary(archive), "I keep bees behind the house")
    fresh = MemoryLibrary(archive).open("ann")
    assert contents(fresh.memories()) == ["I keep bees behind the house"]
    found = fresh.search("honey and hives", embedder)[0]
    source = found.memory.sources[0]
    card = fresh.card_of(source.session, source.turn)
    assert card is not None
    assert source.quote.encode() in archive.get(card).content


def test_a_search_gives_the_same_scores_before_and_after_a_load(
    archive: SqliteArchive, embedder: Embedder
) -> None:
    library = MemoryLibrary(archive)
    texts = ("I keep bees behind the house", "My violin lesson went badly today")
    for text in texts:
        store = library.open("ann")
        turn = len(_turns(archive, "s")) + 1
        write_messages(store, [Heard(said=said(text, turn=turn))], embedder)
        record(archive, text, store=store)
    before = library.open("ann").search("music practice", embedder)
    after = MemoryLibrary(archive).open("ann").search("music practice", embedder)
    assert [(one.memory.id, one.score) for one in before] == [
        (one.memory.id, one.score) for one in after
    ]


@pytest.mark.requirement("companion/memory-recall/per-user")
def test_users_never_see_each_other(archive: SqliteArchive, embedder: Embedder) -> None:
    library = MemoryLibrary(archive)
    users = ["ann", "Ann", "ann/x", "an", "memories/ann", "ann ", "\u00e5nn", "*", "%"]
    for user in users:
        keep(archive, library, f"The secret of number {users.index(user)} is blue", user=user,
             session=f"s-{users.index(user)}")  # fmt: skip
    for at in (library, MemoryLibrary(archive)):
        for number, user in enumerate(users):
            store = at.open(user)
            assert contents(store.memories()) == [f"The secret of number {number} is blue"]
            found = store.search("the secret", embedder, limit=50)
            assert [one.memory.user for one in found] == [user]
    assert sorted(library.users()) == sorted(users)
    assert library.open("nobody").memories() == ()


def test_a_memory_of_another_user_behind_the_handle_is_left_out(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    keep(archive, library, "I keep bees behind the house", user="bob")
    bobs = archive.resolve(memories_handle("bob")).current
    archive.write(lambda tx: tx.set_handle(memories_handle("ann"), bobs))
    store = MemoryLibrary(archive).open("ann")
    assert store.memories() == ()
    assert len(store.unsupported) == 1


def test_a_memory_whose_turn_says_something_else_is_left_out(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    store = library.open("ann")
    memory, message = moment("I keep bees behind the house")
    store.put(memory, [message])
    record(archive, "I keep ants behind the house", store=store)
    fresh = MemoryLibrary(archive).open("ann")
    assert fresh.memories() == ()
    assert fresh.unsupported == (memory.id,)


def test_a_memory_that_quotes_another_users_turn_is_left_out(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    store = library.open("ann")
    memory, message = moment("I keep bees behind the house")
    store.put(memory, [message])
    record(archive, "I keep bees behind the house", user="bob", store=store)
    assert MemoryLibrary(archive).open("ann").memories() == ()


def test_two_turns_at_once_do_not_lose_a_memory(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    one, other = library.open("ann"), library.open("ann")
    first, first_said = moment("I keep bees behind the house", session="a")
    second, second_said = moment("My violin is very old", session="b")
    one.put(first, [first_said])
    other.put(second, [second_said])
    record(archive, first_said.text, session="a", store=one)
    record(archive, second_said.text, session="b", store=other)
    assert {one.id for one in MemoryLibrary(archive).open("ann").memories()} == {
        first.id,
        second.id,
    }


def test_a_change_on_an_old_head_is_refused_by_the_archive(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    store = library.open("ann")
    memory, message = moment("I keep bees behind the house")
    store.put(memory, [message])
    record(archive, "My violin is very old", session="other")
    head = library.head

    def moved(user: str) -> None:
        """Say what a reader sees who looked before another turn was written."""

    keep(archive, MemoryLibrary(archive), "My violin is very old", session="b")
    library.head = moved  # type: ignore[method-assign]
    with pytest.raises(HandleMoved):
        record(archive, message.text, store=store)
    library.head = head  # type: ignore[method-assign]
    record(archive, message.text, store=store)
    assert len(MemoryLibrary(archive).open("ann").memories()) == 2


# Forgetting


def test_forgetting_deletes_every_form_and_leaves_tombstones_without_a_word(
    archive: SqliteArchive, embedder: Embedder, tmp_path: Path
) -> None:
    library = MemoryLibrary(archive)
    for text in ("I love marzipan cake", "I love marzipan cake so much"):
        store = library.open("ann")
        turn = len(_turns(archive, "s")) + 1
        write_messages(store, [Heard(said=said(text, turn=turn))], embedder)
        record(archive, "nothing" if turn > 2 else text, store=store)
    loaded = library.load("ann")
    cards = [card for listed in loaded.cards.values() for card in listed]
    assert len(cards) > len(loaded.cards)  # the fact was confirmed, so it has two forms
    store = library.open("ann")
    gone = store.forget(matching(ForgetRequest(topic="marzipan"), store, embedder))
    archive.write(store.commit)
    store.settle()
    assert set(gone) == set(loaded.cards)
    assert all(archive.find(card) is None for card in cards)
    assert all(archive.find_tombstone(card) is not None for card in cards)
    assert MemoryLibrary(archive).open("ann").memories() == ()
    assert library.open("ann").search("marzipan", embedder) == []
    logged = "".join(str(entry.body) for entry in archive.audit_entries())
    assert "marzipan" not in logged


def test_a_memory_forgotten_elsewhere_is_not_brought_back_by_a_turn(
    archive: SqliteArchive,
) -> None:
    library = MemoryLibrary(archive)
    keep(archive, library, "I keep bees behind the house")
    slow = library.open("ann")
    memory = slow.memories()[0]
    quick = library.open("ann")
    quick.forget([memory.id])
    archive.write(quick.commit)
    quick.settle()
    slow.put(replace(memory, confidence=0.5))
    record(archive, "Another message", store=slow)
    assert MemoryLibrary(archive).open("ann").memories() == ()


def test_what_is_put_and_forgotten_in_one_turn_leaves_nothing(archive: SqliteArchive) -> None:
    library = MemoryLibrary(archive)
    store = library.open("ann")
    memory, message = moment("I keep bees behind the house")
    store.put(memory, [message])
    store.forget([memory.id])
    record(archive, message.text, store=store)
    assert archive.find_handle(memories_handle("ann")) is None


def test_forgetting_a_session_takes_its_memories_along(
    archive: SqliteArchive, embedder: Embedder
) -> None:
    library = MemoryLibrary(archive)
    keep(archive, library, "I keep bees behind the house", session="a")
    keep(archive, library, "My violin is very old", session="b")
    kept = [card for listed in library.load("ann").cards.values() for card in listed]
    forget_session(archive, SessionId("a"))
    assert sum(archive.has(card) for card in kept) == 1
    assert contents([one.memory for one in library.open("ann").search("bees", embedder)]) == [
        "My violin is very old"
    ]
    assert contents(MemoryLibrary(archive).open("ann").memories()) == ["My violin is very old"]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("forget that I live in Lyon", "I live in Lyon"),
        ("Please forget what I said about my brother.", "my brother"),
        ("Could you delete what you know about my job", "my job"),
        ("forget my birthday", "my birthday"),
        ("Forget everything about my ex", "my ex"),
        ("forget everything", ""),
        ("Please, forget all you know about me!", ""),
        ("erase my data", ""),
    ],
)
def test_a_request_to_forget_is_understood(text: str, topic: str) -> None:
    assert find_request(text) == ForgetRequest(topic=topic)


@pytest.mark.parametrize(
    "text",
    [
        "I forget things all the time",
        "don't forget that I live in Lyon",
        "I'll never forget my first trip",
        "forget it",
        "Let's forget about work today",
        "He forgot my birthday",
    ],
)
def test_talk_about_forgetting_is_no_request(text: str) -> None:
    assert find_request(text) is None


# Damage


def test_a_card_that_is_no_change_of_memories_is_said_to_be_none(archive: SqliteArchive) -> None:
    archive.put(memories_handle("ann"), canonical_json({"kind": "something else"}))
    with pytest.raises(InvalidDocument, match="not a change of memories"):
        MemoryLibrary(archive).open("ann")


def test_a_card_that_is_no_memory_is_said_to_be_none(archive: SqliteArchive) -> None:
    odd = archive.add(b"{}").hash
    change = {
        "kind": "salon.memories",
        "version": 1,
        "user": "ann",
        "previous": None,
        "put": [["mem_1", odd]],
        "forgotten": [],
    }
    archive.put(memories_handle("ann"), canonical_json(change))
    with pytest.raises(InvalidDocument, match="not a memory"):
        MemoryLibrary(archive).open("ann")


def test_few_users_are_held_at_hand_and_none_is_lost(
    archive: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.conversation.memory.archived._USERS", 2)
    monkeypatch.setattr("salon.conversation.memory.turns._SESSIONS", 2)
    library = MemoryLibrary(archive)
    for number in range(4):
        keep(archive, library, f"I have house number {number}", user=f"u{number}",
             session=f"s{number}")  # fmt: skip
    assert [contents(library.open(f"u{n}").memories()) for n in range(4)] == [
        [f"I have house number {n}"] for n in range(4)
    ]
