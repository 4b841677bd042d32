"""Handles, in every backend: compare-and-swap moves, and a history that forgets nothing."""

import io
from datetime import timedelta
from itertools import pairwise

import pytest

from salon.core.archive import Archive
from salon.core.cards import AddedCard
from salon.core.clock import mcard_instant, parse_instant
from salon.core.errors import (
    CardDeleted,
    CardNotFound,
    EmptyContent,
    HandleExists,
    HandleMoved,
    HandleNotFound,
    InvalidHandle,
)
from salon.core.handles import ANYTHING, Anything, HandleMove
from salon.core.hashing import Algorithm, CardHash, content_hash
from tests.archive.backends import START, Place
from tests.archive.samples import NOBODY, delete, kinds, last_event, prune
from tests.collisions import COLLIDING

V1, V2, V3 = (content_hash(content) for content in (b"v1", b"v2", b"v3"))


def steps(archive: Archive, handle: str) -> list[tuple[CardHash | None, CardHash | None]]:
    """Return both ends of every step, newest first."""
    return [(move.previous, move.current) for move in archive.history(handle)]


def put_versions(archive: Archive, handle: str, *contents: bytes) -> None:
    for content in contents:
        archive.put(handle, content)


# Making and moving


def test_a_handle_is_made_with_its_card_in_one_transaction(archive: Archive) -> None:
    handle = archive.put("notes", b"v1")
    assert (handle.name, handle.current) == ("notes", V1)
    assert handle.created_at == handle.updated_at
    assert archive.resolve("notes") == archive.find_handle("notes") == handle
    assert archive.get(handle.current).content == b"v1"
    assert kinds(archive) == ["cards_added", "handle_set"]


def test_a_handle_moves_and_keeps_its_birthday(archive: Archive) -> None:
    made = archive.put("notes", b"v1")
    moved = archive.put("notes", b"v2")
    assert moved.current == V2
    assert moved.created_at == made.created_at
    assert parse_instant(moved.updated_at) > parse_instant(made.updated_at)
    assert last_event(archive) == {
        "kind": "handle_set",
        "handle": "notes",
        "previous": V1,
        "current": V2,
    }


def test_a_handle_can_point_at_a_card_that_was_there_before(archive: Archive) -> None:
    card = archive.add(b"v1").hash
    assert archive.write(lambda tx: tx.set_handle("notes", card)).current == card
    assert archive.write(lambda tx: tx.set_handle("copy", card)).current == card


def test_names_are_normalised_before_they_are_used(archive: Archive) -> None:
    archive.put("  cafe\u0301 ", b"v1")
    assert archive.resolve("café").name == "café"
    archive.put("café", b"v2")
    assert [handle.name for handle in archive.handles()] == ["café"]
    assert len(archive.history("cafe\u0301")) == 2


def test_names_that_differ_in_case_are_two_handles(archive: Archive) -> None:
    archive.put("Notes", b"v1")
    archive.put("notes", b"v2")
    assert archive.resolve("Notes").current == V1
    assert archive.resolve("notes").current == V2


@pytest.mark.parametrize("bad", ["", "  ", "1st", "a@b", "a" * 256, "a\0b", "x*y"])
def test_an_improper_name_is_refused_everywhere_and_nothing_is_kept(
    archive: Archive, bad: str
) -> None:
    archive.put("notes", b"v1")
    before = archive.stats()
    for attempt in (
        lambda: archive.put(bad, b"v2"),
        lambda: archive.write(lambda tx: tx.set_handle(bad, V1)),
        lambda: archive.write(lambda tx: tx.rename_handle("notes", bad)),
        lambda: archive.write(lambda tx: tx.rename_handle(bad, "other")),
        lambda: archive.write(lambda tx: tx.remove_handle(bad)),
        lambda: archive.write(lambda tx: tx.prune_history(bad)),
        lambda: archive.resolve(bad),
        lambda: archive.find_handle(bad),
        lambda: archive.history(bad),
    ):
        with pytest.raises(InvalidHandle):
            attempt()
    assert archive.stats() == before
    assert not archive.has(V2)


def test_an_unknown_handle_is_an_error_or_none(archive: Archive) -> None:
    assert archive.find_handle("nobody") is None
    for attempt in (
        lambda: archive.resolve("nobody"),
        lambda: archive.history("nobody"),
        lambda: archive.write(lambda tx: tx.remove_handle("nobody")),
        lambda: archive.write(lambda tx: tx.rename_handle("nobody", "somebody")),
        lambda: prune(archive, "nobody"),
    ):
        with pytest.raises(HandleNotFound) as caught:
            attempt()
        assert caught.value.details["handle"] == "nobody"
    assert archive.stats().audit_entries == 0


def test_a_handle_cannot_point_at_a_card_that_is_not_there(archive: Archive) -> None:
    archive.put("notes", b"v1")
    with pytest.raises(CardNotFound):
        archive.write(lambda tx: tx.set_handle("notes", NOBODY))
    gone = archive.add(b"gone").hash
    delete(archive, gone)
    with pytest.raises(CardDeleted):
        archive.write(lambda tx: tx.set_handle("notes", gone))
    assert archive.resolve("notes").current == V1


def test_empty_content_leaves_the_handle_alone(archive: Archive) -> None:
    archive.put("notes", b"v1")
    with pytest.raises(EmptyContent):
        archive.put("notes", b"")
    assert steps(archive, "notes") == [(None, V1)]


def test_a_handle_is_made_from_a_stream_in_one_transaction(archive: Archive) -> None:
    added, handle = archive.put_stream("notes", io.BytesIO(b"v1"))
    assert added == AddedCard(V1, True)
    assert handle == archive.resolve("notes")
    added, handle = archive.put_stream("notes", io.BytesIO(b"v2"), expected_current=V1)
    assert steps(archive, "notes") == [(V1, V2), (None, V1)]
    assert kinds(archive) == ["cards_added", "handle_set"] * 2
    assert archive.put_stream("notes", io.BytesIO(b"v2"))[0] == AddedCard(V2, False)
    assert len(kinds(archive)) == 4


@pytest.mark.parametrize("algorithm", ["md5", "sha512"])
def test_a_stream_behind_a_handle_may_have_another_algorithm(
    archive: Archive, algorithm: Algorithm
) -> None:
    added, handle = archive.put_stream("notes", io.BytesIO(b"v1"), algorithm=algorithm, by="ann")
    assert added.hash == handle.current == content_hash(b"v1", algorithm)
    assert {entry.by for entry in archive.audit_entries()} == {"ann"}


def test_a_stream_that_comes_too_late_for_its_handle_is_not_kept(archive: Archive) -> None:
    archive.put("notes", b"v1")
    before = archive.stats()
    with pytest.raises(HandleMoved):
        archive.put_stream("notes", io.BytesIO(b"v2"), expected_current=None)
    with pytest.raises(InvalidHandle):
        archive.put_stream("@", io.BytesIO(b"v2"))
    with pytest.raises(EmptyContent):
        archive.put_stream("notes", io.BytesIO(b""))
    assert archive.stats() == before
    assert not archive.has(V2)


def test_a_stream_that_collides_is_kept_under_a_stronger_name_and_the_handle_finds_it(
    archive: Archive,
) -> None:
    archive.add(COLLIDING[0], algorithm="md5")
    added, handle = archive.put_stream("notes", io.BytesIO(COLLIDING[1]), algorithm="md5")
    assert handle.current == added.hash == content_hash(COLLIDING[1], "sha1")
    assert archive.get(handle.current).content == COLLIDING[1]


# Compare and swap


@pytest.mark.parametrize("expected", [ANYTHING, None])
def test_a_new_handle_may_be_expected_nowhere(archive: Archive, expected: Anything | None) -> None:
    assert archive.put("notes", b"v1", expected_current=expected).current == V1


@pytest.mark.parametrize("expected", [ANYTHING, V1])
def test_a_move_succeeds_if_the_handle_is_where_it_is_expected(
    archive: Archive, expected: CardHash | Anything
) -> None:
    archive.put("notes", b"v1")
    assert archive.put("notes", b"v2", expected_current=expected).current == V2


@pytest.mark.parametrize("target", [b"v1", b"v3"], ids=["same card", "new card"])
@pytest.mark.parametrize("expected", [None, V2, NOBODY], ids=["nowhere", "elsewhere", "unknown"])
def test_a_move_that_was_overtaken_changes_nothing_and_names_both_hashes(
    archive: Archive, expected: CardHash | None, target: bytes
) -> None:
    archive.put("notes", b"v1")
    before, history = archive.stats(), archive.history("notes")
    with pytest.raises(HandleMoved) as caught:
        archive.put("notes", target, expected_current=expected)
    details = caught.value.details
    assert (details["handle"], details["expected"], details["actual"]) == ("notes", expected, V1)
    assert V1 in caught.value.message
    assert expected is None or expected in caught.value.message
    assert archive.stats() == before
    assert archive.history("notes") == history
    assert archive.resolve("notes").current == V1


def test_a_handle_that_is_expected_somewhere_but_does_not_exist_is_not_made(
    archive: Archive,
) -> None:
    with pytest.raises(HandleMoved) as caught:
        archive.put("notes", b"v1", expected_current=V2)
    assert caught.value.details["actual"] is None
    assert caught.value.details["expected"] == V2
    assert archive.find_handle("notes") is None
    assert archive.stats().cards == 0


def test_moving_to_the_same_card_writes_no_history(archive: Archive) -> None:
    made = archive.put("notes", b"v1")
    before = archive.stats()
    assert archive.put("notes", b"v1") == made
    assert archive.put("notes", b"v1", expected_current=V1) == made
    assert archive.write(lambda tx: tx.set_handle("notes", V1)) == made
    assert archive.stats() == before
    assert steps(archive, "notes") == [(None, V1)]


# History


def test_history_has_both_hashes_newest_first_with_the_making(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2", b"v3", b"v1")
    assert steps(archive, "notes") == [(V3, V1), (V2, V3), (V1, V2), (None, V1)]
    moves = archive.history("notes")
    assert all(move.handle == "notes" for move in moves)
    times = [parse_instant(move.moved_at) for move in moves]
    assert all(later > earlier for later, earlier in pairwise(times))
    assert moves[0].moved_at == archive.resolve("notes").updated_at
    assert moves[-1].moved_at == archive.resolve("notes").created_at


def test_removal_stands_in_the_history_and_the_card_stays(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2")
    archive.write(lambda tx: tx.remove_handle("notes"))
    assert archive.find_handle("notes") is None
    assert steps(archive, "notes") == [(V2, None), (V1, V2), (None, V1)]
    assert archive.has(V1)
    assert archive.has(V2)
    assert last_event(archive) == {"kind": "handle_removed", "handle": "notes", "previous": V2}


def test_a_removed_handle_can_be_made_again_and_its_history_goes_on(archive: Archive) -> None:
    first = archive.put("notes", b"v1")
    archive.write(lambda tx: tx.remove_handle("notes"))
    again = archive.put("notes", b"v2", expected_current=None)
    assert again.created_at > first.created_at
    assert steps(archive, "notes") == [(None, V2), (V1, None), (None, V1)]


def test_every_time_in_a_history_has_one_spelling(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2")
    archive.write(lambda tx: tx.remove_handle("notes"))
    put_versions(archive, "notes", b"v3")
    delete(archive, V3, force=True)
    put_versions(archive, "notes", b"v1")
    times = [move.moved_at for move in archive.history("notes")]
    assert [mcard_instant(parse_instant(at)) for at in times] == times


def test_histories_do_not_mix(archive: Archive) -> None:
    put_versions(archive, "one", b"v1", b"v2")
    put_versions(archive, "two", b"v3", b"v1")
    assert steps(archive, "one") == [(V1, V2), (None, V1)]
    assert steps(archive, "two") == [(V3, V1), (None, V3)]


def test_pruning_drops_the_whole_past_and_keeps_the_present(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2", b"v3")
    put_versions(archive, "other", b"v1", b"v2")
    handle = archive.resolve("notes")
    assert prune(archive, "notes") == 2
    assert archive.history("notes") == []
    assert archive.resolve("notes") == handle
    assert len(archive.history("other")) == 2
    assert last_event(archive) == {
        "kind": "handle_history_pruned",
        "handle": "notes",
        "removed": 2,
    }
    archive.put("notes", b"v1")
    assert steps(archive, "notes") == [(V3, V1)]


def test_pruning_by_age_keeps_what_is_younger_and_the_line_unbroken(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2", b"v3", b"v1", b"v2")
    moves = archive.history("notes")
    older = parse_instant(moves[1].moved_at)
    assert prune(archive, "notes", older_than=older) == 2
    assert archive.history("notes") == moves[:2]
    assert prune(archive, "notes", older_than=older) == 0
    younger = parse_instant(moves[0].moved_at) + timedelta(microseconds=1)
    assert prune(archive, "notes", older_than=younger) == 2
    assert archive.history("notes") == []


@pytest.mark.parametrize("age", range(-1, 12))
def test_whatever_age_is_pruned_the_rest_is_the_young_end_of_the_line(
    archive: Archive, age: int
) -> None:
    put_versions(archive, "notes", b"v1", b"v2")
    archive.write(lambda tx: tx.remove_handle("notes"))
    put_versions(archive, "notes", b"v3", b"v1")
    moves = archive.history("notes")
    older = parse_instant(moves[-1].moved_at) + timedelta(seconds=2 * age)
    removed = prune(archive, "notes", older_than=older)
    left = archive.history("notes")
    assert left == moves[: len(left)]
    dropped = moves[len(left) :]
    assert removed == sum(move.previous is not None for move in dropped)
    assert all(parse_instant(move.moved_at) >= older for move in left if move.previous is not None)


def test_pruning_what_has_no_past_is_nothing(archive: Archive) -> None:
    archive.put("new", b"v1")
    put_versions(archive, "pruned", b"v1", b"v2")
    prune(archive, "pruned")
    before, made = archive.stats(), archive.history("new")
    for handle in ("new", "pruned"):
        assert prune(archive, handle) == 0
        assert prune(archive, handle, older_than=START) == 0
    assert archive.stats() == before
    assert archive.history("new") == made


def test_a_pruned_past_no_longer_keeps_its_cards(archive: Archive) -> None:
    put_versions(archive, "notes", b"v1", b"v2")
    prune(archive, "notes")
    delete(archive, V1)
    assert not archive.has(V1)


# Renaming


def test_renaming_takes_the_history_along(archive: Archive) -> None:
    put_versions(archive, "old", b"v1", b"v2")
    before = archive.resolve("old")
    renamed = archive.write(lambda tx: tx.rename_handle("old", "new"))
    assert (renamed.name, renamed.current) == ("new", V2)
    assert (renamed.created_at, renamed.updated_at) == (before.created_at, before.updated_at)
    assert archive.find_handle("old") is None
    assert steps(archive, "new") == [(V1, V2), (None, V1)]
    assert [move.handle for move in archive.history("new")] == ["new", "new"]
    with pytest.raises(HandleNotFound):
        archive.history("old")
    assert last_event(archive) == {"kind": "handle_renamed", "handle": "old", "renamed_to": "new"}
    put_versions(archive, "new", b"v3")
    assert steps(archive, "new")[0] == (V2, V3)


def test_renaming_onto_a_name_that_is_taken_is_refused(archive: Archive) -> None:
    archive.put("one", b"v1")
    archive.put("two", b"v2")
    before = archive.stats()
    with pytest.raises(HandleExists, match="two"):
        archive.write(lambda tx: tx.rename_handle("one", "two"))
    assert archive.stats() == before
    assert [(h.name, h.current) for h in archive.handles()] == [("one", V1), ("two", V2)]


def test_renaming_to_its_own_name_is_nothing(archive: Archive) -> None:
    archive.put("café", b"v1")
    before = archive.stats()
    assert archive.write(lambda tx: tx.rename_handle("café", "café")).name == "café"
    assert archive.write(lambda tx: tx.rename_handle("café", " cafe\u0301 ")).name == "café"
    assert archive.stats() == before


def test_the_old_name_is_free_after_renaming(archive: Archive) -> None:
    archive.put("old", b"v1")
    archive.write(lambda tx: tx.rename_handle("old", "new"))
    archive.put("old", b"v2", expected_current=None)
    assert steps(archive, "old") == [(None, V2)]
    assert steps(archive, "new") == [(None, V1)]


def test_two_handles_can_swap_names_in_one_transaction(archive: Archive) -> None:
    put_versions(archive, "one", b"v1")
    put_versions(archive, "two", b"v2", b"v3")

    archive.write(
        lambda tx: [
            tx.rename_handle("one", "between"),
            tx.rename_handle("two", "one"),
            tx.rename_handle("between", "two"),
        ]
    )
    assert steps(archive, "one") == [(V2, V3), (None, V2)]
    assert steps(archive, "two") == [(None, V1)]


def test_a_history_is_one_unbroken_line_also_under_a_name_that_was_used_before(
    archive: Archive,
) -> None:
    archive.put("name", b"v1")
    archive.put("other", b"v2")
    archive.write(lambda tx: tx.remove_handle("name"))
    archive.write(lambda tx: tx.rename_handle("other", "name"))
    moves = archive.history("name")
    assert moves[0].current == archive.resolve("name").current == V2
    check_unbroken(moves)


def test_the_newest_step_leads_to_the_card_even_if_the_past_was_pruned_before_renaming(
    archive: Archive,
) -> None:
    archive.put("name", b"v1")
    archive.write(lambda tx: tx.remove_handle("name"))
    put_versions(archive, "other", b"v2", b"v3")
    prune(archive, "other")
    archive.write(lambda tx: tx.rename_handle("other", "name"))
    moves = archive.history("name")
    assert not moves or moves[0].current == archive.resolve("name").current


def check_unbroken(newest_first: list[HandleMove]) -> None:
    assert all(newer.previous == older.current for newer, older in pairwise(newest_first))


# Listing


def test_handles_are_listed_by_name(archive: Archive) -> None:
    for name in ("b", "a", "É", "a/b", "B", "日"):
        archive.put(name, name.encode())
    assert [handle.name for handle in archive.handles()] == sorted(
        ["b", "a", "É", "a/b", "B", "日"]
    )


NAMES = ["a", "a_b", "axb", "a.b", "a-b", "ab", "A", "a/b", "a b", "b", "é", "éa", "e"]


@pytest.mark.parametrize(
    "prefix", ["", "a", "a_", "a.", "a/", "a ", "A", "é", "b", "z", "%", "*", "a%", "a?", "a[", "["]
)
def test_a_prefix_is_taken_literally(archive: Archive, prefix: str) -> None:
    for name in NAMES:
        archive.put(name, b"v1")
    listed = [handle.name for handle in archive.handles(prefix=prefix)]
    assert listed == sorted(name for name in NAMES if name.startswith(prefix))


def test_a_prefix_in_another_normal_form_finds_the_same_handles(archive: Archive) -> None:
    archive.put("café/menu", b"v1")
    assert [handle.name for handle in archive.handles(prefix="cafe\u0301")] == ["café/menu"]


def test_the_longest_name_works(archive: Archive) -> None:
    name = "é" * 255
    archive.put(name, b"v1")
    assert archive.resolve(name).name == name
    assert [handle.name for handle in archive.handles(prefix=name)] == [name]


def test_handles_and_history_survive_opening_again(place: Place) -> None:
    archive = place.open()
    put_versions(archive, "notes", b"v1", b"v2")
    handle, moves = archive.resolve("notes"), archive.history("notes")
    archive.close()
    again = place.open(start=START + timedelta(days=1))
    assert again.resolve("notes") == handle
    assert again.history("notes") == moves
