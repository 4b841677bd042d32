"""Export and import: the whole archive through one stream, byte for byte, and back."""

import io
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, cast

import pytest
from hypothesis import given, settings

from salon.archive.export import transfer
from salon.archive.export.transfer import Imported, OnConflict, export_archive, import_archive
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.documents import Provenance, VerificationStatus
from salon.core.errors import Conflict, HandleMoved, InvalidExport, SalonError
from salon.core.hashing import content_hash
from tests.archive.crowds import in_time
from tests.archive.deeds import BEGINNING, DEEDS, Deed, perform, picture
from tests.archive.exports import exported, imported, put_together, take_apart
from tests.archive.raw import tamper
from tests.archive.samples import Trickle, add_document, delete, kinds, last_event
from tests.archive.scratch import scratch_archive
from tests.collisions import COLLIDING

EVERYTHING = [
    *BEGINNING,
    Deed("put", 3, 0, 0),
    Deed("judge", 0, 3, 0),
    Deed("remove", 0, 0, 1),
    Deed("force", 1, 1, 0),
    Deed("prune", 0, 0, 2),
]


@pytest.fixture
def target() -> Iterator[SqliteArchive]:
    """A second archive, to import into."""
    with scratch_archive() as archive:
        yield archive


@pytest.fixture
def full(sqlite: SqliteArchive) -> SqliteArchive:
    """An archive with a little of everything in it."""
    perform(sqlite, EVERYTHING)
    return sqlite


# Round trips


@settings(max_examples=50)
@given(DEEDS)
def test_importing_and_exporting_again_gives_the_same_bytes(deeds: list[Deed]) -> None:
    with scratch_archive() as one, scratch_archive() as other:
        perform(one, BEGINNING)
        perform(one, deeds)
        data = exported(one)
        imported(other, data)
        assert exported(other) == data
        assert picture(other) == picture(one)
        assert other.verify().problems == ()


def test_an_empty_archive_is_two_lines(sqlite: SqliteArchive, target: SqliteArchive) -> None:
    data = exported(sqlite)
    assert data.startswith(b'{"salon_export":1}\n{"kind":"end","records":0,"sha256":"')
    assert imported(target, data).cards_added == 0
    assert target.stats().audit_entries == 0
    assert exported(target) == data


def test_the_format_is_as_described(sqlite: SqliteArchive) -> None:
    card = sqlite.put("notes", b"5 byt").current
    lines = exported(sqlite).splitlines()
    stamp = sqlite.get(card).g_time
    assert lines[0] == b'{"salon_export":1}'
    assert lines[1].decode() == f'{{"g_time":"{stamp}","hash":"{card}","kind":"card","size":5}}'
    assert lines[2] == b"5 byt"
    assert lines[3].startswith(b'{"created_at":"')
    assert b'"kind":"handle","moves":[{"current":"' in lines[3]
    assert lines[4].startswith(b'{"kind":"end","records":2,"sha256":"')


def test_what_was_exported_and_imported_is_counted(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    stream = io.BytesIO()
    out: list[int] = []
    into: list[int] = []
    done = export_archive(full, stream, on_bytes=out.append)
    stats = full.stats()
    assert done.cards == stats.cards
    assert done.records == len(take_apart(stream.getvalue()))
    stream.seek(0)
    result = import_archive(target, stream, on_bytes=into.append)
    assert sum(out) == sum(into) == stats.bytes
    assert result == Imported(
        cards_added=stats.cards,
        cards_known=0,
        handles=stats.handles,
        documents=stats.documents,
        sha256=done.sha256,
    )


def test_an_import_leaves_its_trace_in_the_log(full: SqliteArchive, target: SqliteArchive) -> None:
    result = imported(target, exported(full))
    assert kinds(target) == ["cards_added", "export_imported"]
    event = last_event(target)
    assert event["export_sha256"] == result.sha256
    assert event["handles"] == [[handle.name, handle.current] for handle in full.handles()]
    assert event["documents"] == [document.id for document in full.documents()]


def test_whoever_imports_is_named(full: SqliteArchive, target: SqliteArchive) -> None:
    import_archive(target, io.BytesIO(exported(full)), by="mover")
    assert {entry.by for entry in target.audit_entries()} == {"mover"}


def test_a_second_import_of_the_same_export_changes_nothing(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    data = exported(full)
    first = imported(target, data)
    before, head = picture(target), target.checkpoint()
    second = imported(target, data)
    assert (second.cards_added, second.cards_known) == (0, first.cards_added)
    assert (second.handles, second.documents) == (0, 0)
    assert picture(target) == before
    assert target.checkpoint() == head


def test_an_export_shows_one_moment_while_writers_go_on(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    class Busy(io.BytesIO):
        written = 0

        def write(self, piece: bytes, /) -> int:  # type: ignore[override]
            self.written += 1
            if self.written > 1:  # the first line comes before the first look at the archive
                full.put("busy", b"written while exporting %d" % self.written)
            return super().write(piece)

    before = exported(full)
    stream = Busy()
    export_archive(full, stream)
    assert stream.getvalue() == before
    imported(target, before)
    assert target.find_handle("busy") is None


# Large and odd things


@pytest.mark.parametrize("batch", [1, 10, 1000])
def test_large_cards_go_through_in_pieces(
    sqlite: SqliteArchive,
    target: SqliteArchive,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
) -> None:
    monkeypatch.setattr(transfer, "BATCH_BYTES", batch)
    for number in range(1, 6):
        sqlite.add(bytes([number]) * 10**number)
    sqlite.add(b"weak" * 400_000, algorithm="md5")
    data = exported(sqlite)
    assert imported(target, data).cards_added == 6
    assert exported(target) == data
    assert target.verify().problems == ()
    assert imported(target, data).cards_known == 6


def test_a_card_larger_than_a_piece_is_written_and_read_in_pieces(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    card = sqlite.add(bytes(range(256)) * 10_000).hash
    imported(target, exported(sqlite))
    assert target.get(card) == sqlite.get(card)


def test_small_batches_are_durable_one_by_one(
    full: SqliteArchive, target: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "BATCH_CARDS", 2)
    imported(target, exported(full))
    added = [kind for kind in kinds(target) if kind == "cards_added"]
    assert len(added) == (full.stats().cards + 1) // 2
    assert picture(target) == picture(full)


LONG = "long words, " * 20_000


@pytest.mark.parametrize("where", ["title", "author", "url", "notes", "reason", "actor"])
def test_whatever_the_archive_accepts_can_be_exported_and_imported(
    sqlite: SqliteArchive, target: SqliteArchive, where: str
) -> None:
    text = {part: LONG if part == where else "short" for part in ("title", "author", "url")}
    card, gone = (added.hash for added in sqlite.add_many([b"x", b"gone"]))
    about = Provenance(title=text["title"], authors=(text["author"],), url=text["url"])
    by = LONG if where == "actor" else None
    document = sqlite.write(lambda tx: tx.add_document(about, source=card), by=by)
    notes = LONG if where == "notes" else ""
    sqlite.write(
        lambda tx: tx.set_verification(document.id, VerificationStatus.VERIFIED, notes=notes)
    )
    delete(sqlite, gone, reason=LONG if where == "reason" else "short")
    data = exported(sqlite)
    imported(target, data)
    assert exported(target) == data


def test_a_card_with_a_long_place_in_its_time_goes_through(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    card = sqlite.add(b"x").hash
    stamp = f"sha256|2026-11-15T00:23:23.229924Z|did:peer:{'z' * 400}"
    tamper(sqlite.path, "UPDATE card SET g_time = ?", (stamp,))
    imported(target, exported(sqlite))
    assert target.get(card).g_time == stamp


def test_a_handle_with_a_long_history_goes_through(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    one, two = (added.hash for added in sqlite.add_many([b"1", b"2"]))
    sqlite.write(lambda tx: [tx.set_handle("h", (one, two)[n % 2]) for n in range(2000)])
    imported(target, exported(sqlite))
    assert target.history("h") == sqlite.history("h")


def test_mcards_own_history_holds_the_steps_since_the_handle_was_made(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    for content in (b"1", b"2"):
        sqlite.put("h", content)
    sqlite.write(lambda tx: tx.remove_handle("h"))
    for content in (b"3", b"4", b"5"):
        sqlite.put("h", content)
    delete(sqlite, content_hash(b"3"), force=True)
    imported(target, exported(sqlite))
    read = "SELECT handle, previous_hash, changed_at FROM handle_history ORDER BY id"
    here, there = (a.read_sqlite().execute(read).fetchall() for a in (sqlite, target))
    assert there == here
    assert [row[1] for row in there] == [content_hash(b"4")]


def test_a_copy_lets_go_of_the_same_cards_as_the_original(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    """A card in a handle's past was deleted by force and came back under its old name."""
    card = sqlite.put("h", b"1").current
    sqlite.put("h", b"2")
    delete(sqlite, card, force=True)
    sqlite.add(b"1")
    imported(target, exported(sqlite))
    assert target.needs(card) == sqlite.needs(card)


# Streams


def test_both_ways_go_through_a_pipe(full: SqliteArchive, target: SqliteArchive) -> None:
    full.add(os.urandom(300_000))
    read_end, write_end = os.pipe()

    def send() -> None:
        with os.fdopen(write_end, "wb") as writer:
            export_archive(full, writer)

    with ThreadPoolExecutor(1) as pool, os.fdopen(read_end, "rb") as reader:
        sending = pool.submit(send)
        import_archive(target, reader)
        in_time(sending)
    assert picture(target) == picture(full)


def test_a_stream_that_gives_few_bytes_at_a_time_is_read_whole(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    stream = Trickle(exported(full), most=3)
    import_archive(target, cast("BinaryIO", stream))
    assert picture(target) == picture(full)


def test_a_reader_that_goes_away_stops_the_export_and_nothing_else(full: SqliteArchive) -> None:
    class Closed(io.BytesIO):
        def write(self, piece: bytes, /) -> int:  # type: ignore[override]
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        export_archive(full, Closed())
    assert full.verify().problems == ()
    assert full.add(b"goes on").created


# Cuts and second attempts


def test_an_import_that_was_cut_is_picked_up_where_it_stopped(
    full: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "BATCH_CARDS", 1)
    data = exported(full)
    cards = full.stats().cards
    for cut in range(0, len(data), max(1, len(data) // 40)):
        with scratch_archive() as target:
            with pytest.raises(InvalidExport):
                imported(target, data[:cut])
            kept = target.stats().cards
            assert list(target.handles()) == []
            assert list(target.documents()) == []
            assert target.verify().problems == ()
            second = imported(target, data)
            assert (second.cards_known, second.cards_added) == (kept, cards - kept)
            assert exported(target) == data


def test_a_cut_says_that_it_is_a_cut(full: SqliteArchive, target: SqliteArchive) -> None:
    data = exported(full)
    for cut in (0, 5, len(data) // 2, len(data) - 1):
        with pytest.raises(InvalidExport, match="ends in the middle") as caught:
            imported(target, data[:cut])
        assert caught.value.hint


# Into an archive that has something already


def test_importing_adds_to_what_is_there(full: SqliteArchive, target: SqliteArchive) -> None:
    target.put("mine", b"my own")
    target.add(b"a")
    own = add_document(target, content_hash(b"my own"), title="Mine")
    target.write(lambda tx: tx.remove_document(own.id))  # its number must not be taken again
    mine = target.resolve("mine")
    result = imported(target, exported(full))
    assert result.cards_known == 1
    assert target.resolve("mine") == mine
    for handle in full.handles():
        assert target.resolve(handle.name) == handle
        assert target.history(handle.name) == full.history(handle.name)
    assert target.verify().problems == ()


CONFLICTS: list[tuple[OnConflict, bytes]] = [("keep", b"here"), ("move", b"there")]


@pytest.mark.parametrize(("on_conflict", "wins"), CONFLICTS)
def test_a_handle_that_points_elsewhere_is_kept_or_moved(
    sqlite: SqliteArchive, target: SqliteArchive, on_conflict: OnConflict, wins: bytes
) -> None:
    sqlite.put("h", b"there")
    sqlite.put("only there", b"there")
    target.put("h", b"here")
    imported(target, exported(sqlite), on_conflict=on_conflict)
    assert target.resolve("h").current == content_hash(wins)
    assert target.resolve("only there").current == content_hash(b"there")
    steps = [(move.previous, move.current) for move in target.history("h")]
    made = (None, content_hash(b"here"))
    moved = (content_hash(b"here"), content_hash(b"there"))
    assert steps == ([made] if on_conflict == "keep" else [moved, made])
    assert target.verify().problems == ()


def test_a_handle_that_points_elsewhere_refuses_all_records_but_keeps_the_cards(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    sqlite.put("a", b"there")
    sqlite.put("h", b"there")
    add_document(sqlite, content_hash(b"there"))
    target.put("h", b"here")
    head = target.checkpoint().seq
    with pytest.raises(HandleMoved) as caught:
        imported(target, exported(sqlite))
    assert "--on-conflict" in (caught.value.hint or "")
    assert content_hash(b"here") in caught.value.message
    assert content_hash(b"there") in caught.value.message
    assert target.find_handle("a") is None
    assert list(target.documents()) == []
    assert target.has(content_hash(b"there"))
    assert kinds(target, after=head) == ["cards_added"]


def test_a_handle_that_points_to_the_same_card_is_no_conflict(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    sqlite.put("h", b"same")
    target.put("h", b"other")
    target.put("h", b"same")
    before = target.history("h")
    assert imported(target, exported(sqlite)).handles == 0
    assert target.history("h") == before


def test_a_document_that_is_another_one_here_is_refused(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    theirs = add_document(sqlite, sqlite.add(b"x").hash, title="Theirs")
    ours = add_document(target, target.add(b"y").hash, title="Ours")
    assert theirs.id == ours.id
    with pytest.raises(Conflict, match=ours.id):
        imported(target, exported(sqlite))
    assert target.get_document(ours.id) == ours


def test_a_card_that_was_deleted_here_comes_back_with_an_import(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    data = exported(full)
    imported(target, data)
    perform(target, [Deed("force", 0, 1, 0)])
    assert not target.has(content_hash(b"a"))
    imported(target, data)
    assert target.get(content_hash(b"a")).content == b"a"
    assert target.verify().problems == ()


def test_a_name_that_means_another_content_here_is_never_used_for_it(
    sqlite: SqliteArchive, target: SqliteArchive
) -> None:
    """MD5 collides: the export's card has a name that another card has here."""
    one, other = COLLIDING
    card = sqlite.add(one, algorithm="md5").hash
    sqlite.write(lambda tx: tx.set_handle("h", card))
    target.add(other, algorithm="md5")
    try:
        imported(target, exported(sqlite))
    except SalonError:
        assert target.find_handle("h") is None
    else:
        assert target.get(target.resolve("h").current).content == one
    assert target.verify().problems == ()


def test_two_imports_at_once_agree(full: SqliteArchive, target: SqliteArchive) -> None:
    data = exported(full)
    problems: list[BaseException] = []

    def work() -> None:
        try:
            imported(target, data)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert picture(target) == picture(full)
    assert target.verify().problems == ()


def test_taking_apart_and_putting_together_is_honest(
    full: SqliteArchive, target: SqliteArchive
) -> None:
    imported(target, put_together(take_apart(exported(full))))
    assert picture(target) == picture(full)
