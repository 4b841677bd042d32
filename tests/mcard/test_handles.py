"""Handles of a collection: stable names, kept moves, all or nothing."""

from datetime import UTC, datetime, timedelta

import apsw
import pytest

from salon.archive.transaction import SqliteTransaction
from salon.core.clock import parse_instant
from salon.core.errors import CardNotFound, HandleExists, HandleMoved, HandleNotFound, InvalidHandle
from salon.core.handles import HandleName
from salon.mcard import CardCollection, MCard

LATEST = "chapter/gravity/latest"


def _sql(collection: CardCollection, query: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(collection.archive.path))
    rows = connection.execute(query).fetchall()
    connection.close()
    return [tuple(row) for row in rows]


@pytest.mark.requirement("council/mcard/handle")
def test_a_handle_resolves_to_its_current_card_and_keeps_its_name(
    collection: CardCollection,
) -> None:
    first = collection.add_with_handle(MCard("draft"), LATEST)
    assert collection.resolve_handle(LATEST) == first
    second = collection.update_handle(LATEST, MCard("final"))
    assert collection.resolve_handle(LATEST) == second
    assert collection.get_by_handle(LATEST) == MCard("final")
    assert collection.engine.get_all_handles() == [{"handle": LATEST, "hash": second}]


def test_names_are_stripped_and_composed_and_keep_their_case(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "  Cafe\u0301 ")
    assert collection.resolve_handle("Café") == MCard("v1").hash
    assert collection.resolve_handle("café") is None


@pytest.mark.parametrize("name", ["", "1st", "a@b", "x" * 256, "a\nb", "-x"])
def test_an_invalid_name_is_refused_and_nothing_is_stored(
    collection: CardCollection, name: str
) -> None:
    with pytest.raises(InvalidHandle) as caught:
        collection.add_with_handle(MCard("v1"), name)
    assert isinstance(caught.value, ValueError)
    assert collection.count() == 0
    assert collection.resolve_handle(name) is None
    assert collection.get_by_handle(name) is None
    with pytest.raises(ValueError, match="handle"):
        collection.get_handle_history(name)


@pytest.mark.requirement("council/mcard/handle-transaction")
def test_a_taken_name_is_refused_and_the_card_is_not_stored(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "doc")
    entries = collection.archive.checkpoint().seq
    with pytest.raises(HandleExists) as caught:
        collection.add_with_handle(MCard("v2"), "doc")
    assert isinstance(caught.value, ValueError)
    assert collection.get(MCard("v2").hash) is None
    assert collection.get_by_handle("doc") == MCard("v1")
    assert collection.archive.checkpoint().seq == entries


@pytest.mark.requirement("council/mcard/handle-transaction")
def test_a_move_that_fails_after_the_card_was_stored_undoes_both(
    collection: CardCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.add_with_handle(MCard("v1"), "doc")

    def broken(self: SqliteTransaction, name: HandleName) -> None:
        raise RuntimeError("after everything was written")

    monkeypatch.setattr(SqliteTransaction, "_get_handle", broken)
    with pytest.raises(RuntimeError):
        collection.update_handle("doc", MCard("v2"))
    monkeypatch.undo()
    assert collection.get(MCard("v2").hash) is None
    assert collection.get_by_handle("doc") == MCard("v1")
    assert collection.get_handle_history("doc") == []
    assert collection.archive.verify().problems == ()


@pytest.mark.requirement("council/mcard/handle-history")
def test_every_move_is_in_handle_history_with_the_hash_it_left_and_the_time(
    collection: CardCollection,
) -> None:
    hashes = [collection.add_with_handle(MCard("v0"), LATEST)]
    collection.add_with_handle(MCard("v0"), "other")
    hashes += [collection.update_handle(LATEST, MCard(f"v{number}")) for number in (1, 2, 3)]
    history = collection.get_handle_history(LATEST)
    assert [step["previous_hash"] for step in history] == hashes[2::-1]
    times = [parse_instant(step["changed_at"]) for step in history]
    assert times == sorted(times, reverse=True)
    assert all(step["changed_at"].endswith("+00:00") for step in history)
    stored = "SELECT handle, previous_hash, changed_at FROM handle_history ORDER BY id DESC"
    assert _sql(collection, stored) == [
        (LATEST, step["previous_hash"], step["changed_at"]) for step in history
    ]
    assert collection.get_handle_history("other") == []
    assert collection.get_handle_history("unknown") == []


def test_a_move_to_the_same_card_writes_no_history(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "doc")
    entries = collection.archive.checkpoint().seq
    assert collection.update_handle("doc", MCard("v1")) == MCard("v1").hash
    assert collection.get_handle_history("doc") == []
    assert collection.archive.checkpoint().seq == entries


def test_an_unknown_handle_cannot_be_moved_and_nothing_is_stored(
    collection: CardCollection,
) -> None:
    with pytest.raises(HandleNotFound) as caught:
        collection.update_handle("doc", MCard("v1"))
    assert isinstance(caught.value, ValueError)
    assert collection.count() == 0


def test_of_two_that_move_at_once_the_last_one_wins_and_both_are_kept(
    collection: CardCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.add_with_handle(MCard("v1"), "doc")
    point = CardCollection._point
    raced: list[str] = []

    def interrupted(self: CardCollection, *arguments: object, **named: object) -> object:
        if not raced:
            raced.append("once")
            collection.update_handle("doc", MCard("from another process"))
        return point(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(CardCollection, "_point", interrupted)
    collection.update_handle("doc", MCard("v2"))
    assert collection.get_by_handle("doc") == MCard("v2")
    left = [step["previous_hash"] for step in collection.get_handle_history("doc")]
    assert left == [MCard("from another process").hash, MCard("v1").hash]


def test_a_past_can_be_pruned_by_time_or_whole(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v0"), "doc")
    for number in (1, 2, 3):
        collection.update_handle("doc", MCard(f"v{number}"))
    middle = collection.get_handle_history("doc")[0]["changed_at"]
    assert collection.prune_handle_history("doc") == 0
    assert collection.prune_handle_history("doc", older_than=middle) == 2
    assert [step["changed_at"] for step in collection.get_handle_history("doc")] == [middle]
    assert collection.prune_handle_history("doc", older_than=middle) == 0
    future = datetime.now(UTC) + timedelta(days=1)
    assert collection.prune_handle_history("doc", older_than=future) == 1
    collection.update_handle("doc", MCard("v4"))
    assert collection.prune_handle_history("doc", delete_all=True) == 1
    assert collection.get_by_handle("doc") == MCard("v4")
    assert collection.delete(MCard("v0").hash)
    with pytest.raises(ValueError, match="moment"):
        collection.prune_handle_history("doc", older_than="last Tuesday")
    with pytest.raises(ValueError, match="unknown"):
        collection.prune_handle_history("unknown", delete_all=True)


def test_a_handle_can_be_renamed_with_its_history(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "doc")
    collection.update_handle("doc", MCard("v2"))
    collection.engine.rename_handle("doc", "paper")
    assert collection.resolve_handle("doc") is None
    assert collection.get_by_handle("paper") == MCard("v2")
    assert len(collection.get_handle_history("paper")) == 1
    collection.add_with_handle(MCard("v3"), "doc")
    with pytest.raises(ValueError, match="paper"):
        collection.engine.rename_handle("doc", "paper")
    with pytest.raises(ValueError, match="unknown"):
        collection.engine.rename_handle("unknown", "name")


def test_a_removed_handle_leaves_its_card(collection: CardCollection) -> None:
    stored = collection.add_with_handle(MCard("v1"), "doc")
    collection.engine.remove_handle("doc")
    collection.engine.remove_handle("doc")
    assert collection.resolve_handle("doc") is None
    assert collection.get(stored) == MCard("v1")
    assert collection.add_with_handle(MCard("v2"), "doc") == MCard("v2").hash
    assert collection.get_handle_history("doc") == []


def test_setting_a_handle_keeps_the_move(collection: CardCollection) -> None:
    first, second = (collection.add(MCard(text)) for text in ("v1", "v2"))
    collection.engine.set_handle("doc", first)
    collection.engine.set_handle("doc", second)
    assert collection.resolve_handle("doc") == second
    assert [step["previous_hash"] for step in collection.get_handle_history("doc")] == [first]
    with pytest.raises(CardNotFound):
        collection.engine.set_handle("doc", "0" * 64)


def test_all_handles_can_be_dumped_with_their_content(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "one")
    collection.add_with_handle(MCard("v2"), "two")
    assert collection.engine.get_handle_dump() == [("one", b"v1"), ("two", b"v2")]


def test_a_compare_and_swap_by_the_archive_still_sees_the_moves(
    collection: CardCollection,
) -> None:
    first = collection.add_with_handle(MCard("v1"), "doc")
    collection.update_handle("doc", MCard("v2"))
    with pytest.raises(HandleMoved):
        collection.archive.put("doc", b"v3", expected_current=first)  # type: ignore[arg-type]
