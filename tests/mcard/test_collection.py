"""Cards in a collection: stored, read, listed, searched, deleted, never changed."""

import asyncio
import itertools
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import parse_instant
from salon.core.documents import Span
from salon.core.errors import CardInUse, HashMismatch, InvalidInput
from salon.core.hashing import CardHash
from salon.mcard import CardCollection, MCard
from salon.mcard.maybe import Just, Nothing
from tests.collisions import COLLIDING, COLLIDING_MD5


def _tombstone_reason(collection: CardCollection, card: str) -> str:
    tombstone = collection.archive.find_tombstone(CardHash(card))
    assert tombstone is not None
    return tombstone.reason


@pytest.mark.requirement("council/mcard/create-read-delete")
def test_cards_are_created_read_and_deleted(collection: CardCollection) -> None:
    card = MCard("v1")
    assert collection.add(card) == card.hash
    assert collection.get(card.hash) == card
    assert collection.count() == 1
    assert collection.delete(card.hash) is True
    assert collection.get(card.hash) is None
    assert collection.delete(card.hash) is False
    assert collection.delete("no such hash") is False


@pytest.mark.requirement("council/mcard/create-read-delete")
def test_a_card_keeps_the_moment_it_was_made(collection: CardCollection) -> None:
    cards = [MCard("one"), MCard("two"), MCard("three")]
    collection.add(cards[0])
    collection.add_with_handle(cards[1], "h")
    collection.update_handle("h", cards[2])
    for card in cards:
        found = collection.get(card.hash)
        assert found is not None
        assert found.g_time == card.g_time


def test_no_method_updates_a_card() -> None:
    changing = ("update", "set", "replace", "put", "edit", "modify", "write")
    methods = [name for name in dir(CardCollection) if name.startswith(changing)]
    assert methods == ["update_handle"]  # which moves a handle and leaves both cards as they are


@pytest.mark.requirement("council/mcard/immutable")
def test_content_under_a_hash_stays_whatever_is_added_or_moved(collection: CardCollection) -> None:
    kept = collection.add_with_handle(MCard("v1"), "doc")
    stamp = collection.archive.info(CardHash(kept)).g_time
    collection.add(MCard("v1"))
    collection.update_handle("doc", MCard("v2"))
    collection.engine.rename_handle("doc", "paper")
    found = collection.get(kept)
    assert found is not None
    assert (found.content, found.g_time) == (b"v1", stamp)


@pytest.mark.requirement("council/mcard/persistent")
def test_what_was_acknowledged_is_there_again_after_reopening(tmp_path: Path) -> None:
    with CardCollection(db_path=str(tmp_path / "cards.db")) as collection:
        first = collection.add(MCard("v1"))
        second = collection.add_with_handle(MCard(b"\0binary\xff"), "doc")
        third = collection.update_handle("doc", MCard("v3"))
        stamps = [card.g_time for card in collection.get_all_mcards_raw()]
    with CardCollection(db_path=str(tmp_path / "cards.db")) as collection:
        assert collection.get_m(first).map(lambda card: card.content) == Just(b"v1")
        assert collection.get_m(second).map(lambda card: card.content) == Just(b"\0binary\xff")
        assert collection.resolve_handle("doc") == third
        assert [step["previous_hash"] for step in collection.get_handle_history("doc")] == [second]
        assert [card.g_time for card in collection.get_all_mcards_raw()] == stamps


@pytest.mark.requirement("council/mcard/duplicates")
def test_known_content_gives_its_hash_and_writes_nothing(collection: CardCollection) -> None:
    first = collection.add(MCard("v1"))
    entries = collection.archive.checkpoint().seq
    watcher = apsw.Connection(str(collection.archive.path))
    version = watcher.execute("PRAGMA data_version").get
    assert collection.add(MCard("v1")) == first
    assert collection.add(MCard(b"v1")) == first
    assert watcher.execute("PRAGMA data_version").get == version  # the file is untouched
    watcher.close()
    assert collection.count() == 1
    assert collection.archive.checkpoint().seq == entries


@pytest.mark.requirement("council/mcard/collisions")
def test_a_collision_is_stored_under_the_next_algorithm_and_that_hash_is_returned(
    collection: CardCollection,
) -> None:
    one, other = (MCard(content, hash_function="md5") for content in COLLIDING)
    assert one.hash == other.hash == COLLIDING_MD5
    assert one != other
    assert collection.add(one) == COLLIDING_MD5
    stronger = collection.add(other)
    assert stronger == MCard(COLLIDING[1], hash_function="sha1").hash
    assert collection.add(other) == stronger
    assert collection.count() == 2
    first, second = collection.get(COLLIDING_MD5), collection.get(stronger)
    assert first is not None
    assert second is not None
    assert (first.content, second.content) == COLLIDING
    assert second.hash_function == "sha1"
    assert second.g_time.startswith("sha1|")


@pytest.mark.requirement("council/mcard/guarded-delete")
def test_a_card_that_a_handle_needs_is_not_deleted(collection: CardCollection) -> None:
    past = collection.add_with_handle(MCard("v1"), "doc")
    head = collection.update_handle("doc", MCard("v2"))
    for needed in (past, head):
        with pytest.raises(CardInUse, match="doc"):
            collection.delete(needed)
        assert collection.get(needed) is not None
    assert collection.resolve_handle("doc") == head


@pytest.mark.requirement("council/mcard/guarded-delete")
def test_a_cited_card_is_deleted_only_by_force_and_leaves_a_tombstone(
    collection: CardCollection,
) -> None:
    source, essay = (CardHash(collection.add(MCard(text))) for text in ("a source", "an essay"))
    span = Span(hash=source, start=0, end=3)
    collection.archive.write(lambda tx: tx.cite(essay, [span]))
    with pytest.raises(CardInUse):
        collection.delete(source)
    collection.archive.write(lambda tx: tx.delete(source, reason="a court order", force=True))
    assert collection.get(source) is None
    assert _tombstone_reason(collection, source) == "a court order"


def test_an_ordinary_deletion_leaves_a_tombstone_too(collection: CardCollection) -> None:
    gone = collection.add(MCard("v1"))
    collection.delete(gone)
    assert _tombstone_reason(collection, gone) == "CardCollection.delete"


@pytest.mark.requirement("council/mcard/hash-as-citation")
@settings(max_examples=15)
@given(contents=st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=8))
def test_a_hash_leads_to_exactly_the_bytes_it_names(contents: list[bytes]) -> None:
    with CardCollection() as collection:
        named = {collection.add(MCard(content)): content for content in contents}
        for card, content in named.items():
            found = collection.get(card)
            assert found is not None
            assert found.content == content


@pytest.mark.requirement("council/mcard/hash-as-citation")
def test_bytes_that_no_longer_fit_their_hash_are_detected(collection: CardCollection) -> None:
    card = collection.add(MCard("the original words"))
    behind = apsw.Connection(str(collection.archive.path))
    behind.execute("UPDATE card SET content = ? WHERE hash = ?", (b"other words", card))
    behind.close()
    with pytest.raises(HashMismatch, match=card):
        collection.get(card)
    with pytest.raises(HashMismatch):
        collection.get_all_mcards_raw()


@pytest.mark.requirement("council/mcard/temporal-order")
def test_g_time_tells_when_a_card_was_stored_and_puts_cards_in_order(
    collection: CardCollection,
) -> None:
    hashes = [
        collection.add(MCard(f"card {number}", hash_function=algorithm))
        for number, algorithm in enumerate(["sha512", "md5", "sha256", "sha1"])
    ]
    cards = [collection.get(card) for card in hashes]
    times = [parse_instant(card.g_time.split("|")[1]) for card in cards if card is not None]
    assert times == sorted(times)
    assert len(set(times)) == 4
    newest_first = [card.hash for card in collection.get_all_mcards_raw()]
    assert newest_first == hashes[::-1]


def test_what_is_no_card_is_refused(collection: CardCollection) -> None:
    with pytest.raises(ValueError, match="no card"):
        collection.add(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        collection.add("text")  # type: ignore[arg-type]


def test_the_asynchronous_methods_do_the_same(collection: CardCollection) -> None:
    async def store_and_read() -> tuple[str, MCard | None]:
        stored = await collection.aadd(MCard("v1"))
        return stored, await collection.aget(stored)

    stored, found = asyncio.run(store_and_read())
    assert stored == MCard("v1").hash
    assert found == MCard("v1")


def test_maybe_stands_for_a_missing_card(collection: CardCollection) -> None:
    stored = collection.add_with_handle(MCard("v1"), "doc")
    assert collection.get_m(stored) == Just(MCard("v1"))
    assert collection.get_m("0" * 64) == Nothing()
    assert collection.resolve_handle_m("doc") == Just(stored)
    assert collection.resolve_and_get_m("doc") == collection.get_by_handle_m("doc")
    assert collection.get_by_handle_m("doc").map(MCard.get_hash).or_else("") == stored
    assert not collection.get_by_handle_m("other")
    assert collection.resolve_and_get_m("other").map(MCard.get_hash).or_else("none") == "none"


def test_clear_deletes_everything_and_the_log_knows(collection: CardCollection) -> None:
    collection.add_with_handle(MCard("v1"), "doc")
    collection.update_handle("doc", MCard("v2"))
    cards = [collection.add(MCard(f"card {number}")) for number in range(5)]
    made, source = CardHash(cards[0]), CardHash(cards[1])
    collection.archive.write(lambda tx: tx.mark_derived(made, from_card=source))
    collection.clear()
    assert collection.count() == 0
    assert collection.engine.get_all_handles() == []
    assert _tombstone_reason(collection, cards[3]) == "CardCollection.clear"
    assert collection.archive.verify().problems == ()
    collection.clear()
    assert collection.add(MCard("v1")) == MCard("v1").hash


@pytest.mark.parametrize("path", [None, ":memory:", ""])
def test_without_a_path_a_collection_is_temporary_and_leaves_no_file(
    path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with CardCollection(db_path=path) as collection:
        collection.add(MCard("v1"))
        assert collection.count() == 1
        place = collection.engine.db_path
    assert not place.exists()
    assert list(tmp_path.iterdir()) == []


def test_collections_can_share_an_engine_that_its_owner_closes(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "cards.db") as archive:
        with CardCollection(engine=archive) as one:
            stored = one.add(MCard("v1"))
        with CardCollection(engine=one.engine) as other:
            assert other.get(stored) == MCard("v1")


def test_only_the_sqlite_engine_exists() -> None:
    with pytest.raises(InvalidInput, match="duckdb") as caught:
        CardCollection(engine_type="duckdb")
    assert isinstance(caught.value, ValueError)


def test_pages_divide_all_cards_newest_first(collection: CardCollection) -> None:
    hashes = [collection.add(MCard(f"card {number}")) for number in range(23)]
    first = collection.get_page()
    assert (first.page_number, first.page_size, len(first.items)) == (1, 10, 10)
    assert (first.total_items, first.total_pages) == (23, 3)
    assert (first.has_next, first.has_previous) == (True, False)
    last = collection.get_mcards_at_page(3, 10)
    assert (last.has_next, last.has_previous, len(last.items)) == (False, True, 3)
    assert (last.next_page_number, last.previous_page_number) == (None, 2)
    pages = [collection.get_page(number, 7).items for number in (1, 2, 3, 4)]
    assert [card.hash for card in itertools.chain(*pages)] == hashes[::-1]
    assert collection.get_page(9).items == []
    for number, size in ((0, 10), (1, 0), (-1, 5)):
        with pytest.raises(ValueError, match="page"):
            collection.get_page(number, size)


def test_all_cards_come_at_once_with_their_number(collection: CardCollection) -> None:
    for number in range(12):
        collection.add(MCard(f"card {number}"))
    cards, count = collection.get_all_cards(page_size=5)
    assert (len(cards), count) == (12, 12)
    assert cards == collection.get_all_mcards_raw()
    texts, count = collection.get_all_cards(process_callback=lambda card: card.content.decode())
    assert (texts[0], count) == ("card 11", 12)


def test_a_search_by_string_looks_at_content_hash_and_time_in_any_case(
    collection: CardCollection,
) -> None:
    gravity = collection.add(MCard("On GRAVITY and Ärger"))
    binary = collection.add(MCard(b"\0gravity\xff"))
    collection.add(MCard("100% of it"))
    found = collection.search_by_string("gravity")
    assert [card.hash for card in found.items] == [binary, gravity]
    assert found.total_items == 2
    assert [card.hash for card in collection.search_by_string("äRGER").items] == [gravity]
    assert collection.search_by_string(gravity[:9].upper()).total_items == 1
    assert collection.search_by_string("sha256|20").total_items == 3
    assert collection.search_by_string("0%").total_items == 1  # no wildcard
    assert collection.search_by_string("_").total_items == 0
    assert collection.search_by_string("gravity", page_number=2, page_size=1).items[0] == MCard(
        "On GRAVITY and Ärger"
    )


def test_a_search_by_content_takes_text_or_bytes(collection: CardCollection) -> None:
    stored = collection.add(MCard(b"\0\x01Gravity\xff"))
    assert collection.search_by_content("gravity").items[0].hash == stored
    assert collection.search_by_content(b"\x01Gravity\xff").total_items == 1
    assert collection.search_by_content(b"gravity").total_items == 0
    assert collection.search_by_content(stored).total_items == 0
    with pytest.raises(ValueError, match="nothing"):
        collection.search_by_content("")


def test_a_search_by_hash_takes_a_whole_one_or_a_part(collection: CardCollection) -> None:
    stored = collection.add(MCard("v1"))
    collection.add(MCard("v2"))
    assert [card.hash for card in collection.search_by_hash(stored).items] == [stored]
    assert [card.hash for card in collection.search_by_hash("3BFC26").items] == [stored]
    assert collection.search_by_hash("sha").total_items == 0


def test_all_cards_can_be_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CardCollection(db_path=tmp_path / "cards.db") as collection:
        for number in range(12):
            collection.add(MCard(f"card\n{number} " + "x" * 90))
    CardCollection.print_all_cards(db_path=tmp_path / "cards.db", page_size=5)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1 + 12 + 1
    assert "card 11 xxx" in printed[1]
    assert printed[-1] == "12 cards"
