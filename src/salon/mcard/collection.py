"""A collection of cards as MCard's callers know it, over one archive.

It keeps MCard's methods and drops its defects: known content writes nothing, a collision gives
back the hash of the content, a card and its handle are stored together or not at all, a card that
is needed is not deleted, and `:memory:` never becomes the name of a file.

Invariant: there is no way to change a card; every change of state goes through the archive and is
in its audit log.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar, overload

from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.transaction import SqliteTransaction
from salon.core.archive import ArchiveTransaction
from salon.core.clock import parse_instant
from salon.core.closing import Closable
from salon.core.errors import HandleMoved, InvalidHandle, NotFound
from salon.core.handles import Handle, as_handle_name
from salon.core.hashing import CardHash
from salon.mcard import scan
from salon.mcard.card import MCard
from salon.mcard.engine import SqliteEngine
from salon.mcard.errors import CardHandleExists, InvalidArgument, value_errors
from salon.mcard.maybe import Maybe
from salon.mcard.page import Page, page_bounds

T = TypeVar("T")


class CardCollection(Closable):
    """Cards and handles in one SQLite file; without a path, in a temporary one."""

    def __init__(
        self,
        engine: SqliteEngine | SqliteArchive | None = None,
        engine_type: str = "sqlite",
        db_path: str | Path | None = None,
    ) -> None:
        if engine_type != "sqlite":
            raise InvalidArgument(
                f"there is no engine {engine_type!r}", hint="the only engine here is 'sqlite'"
            )
        self._owns_archive = engine is None
        if engine is None:
            engine = SqliteEngine(_open_archive(db_path))
        elif isinstance(engine, SqliteArchive):
            engine = SqliteEngine(engine)
        self.engine = engine
        self.archive = engine.archive

    def close(self) -> None:
        """Let go of the file, unless it came from outside with `engine`."""
        if self._owns_archive:
            self.archive.close()

    # Cards

    def add(self, card: MCard) -> str:
        """Store a card and return the hash it is stored under.

        Known content writes nothing. Content that collides with another under the card's
        algorithm is stored under the next stronger one, so the hash can differ from `card.hash`.
        """
        _require_card(card)
        return self.archive.add_rows([card.as_row()])[0].hash

    async def aadd(self, card: MCard) -> str:
        """Store a card without blocking the event loop."""
        return await asyncio.to_thread(self.add, card)

    def get(self, hash_value: str) -> MCard | None:
        """Return a card, checked against its hash, or `None`."""
        found = self.archive.find(CardHash(hash_value))
        return None if found is None else MCard.from_stored(found)

    async def aget(self, hash_value: str) -> MCard | None:
        """Return a card without blocking the event loop."""
        return await asyncio.to_thread(self.get, hash_value)

    def get_m(self, hash_value: str) -> Maybe[MCard]:
        """Return a card, if there is one."""
        return Maybe.of(self.get(hash_value))

    def delete(self, hash_value: str) -> bool:
        """Delete a card, leaving a tombstone; tell whether it was there.

        A card that a handle, its history, a citation or a document needs raises `CardInUse`.
        """
        try:
            self.archive.write(
                lambda tx: tx.delete(CardHash(hash_value), reason="CardCollection.delete")
            )
        except NotFound:
            return False
        return True

    def clear(self) -> None:
        """Delete every handle and every card in one transaction; tombstones and audit stay."""
        handles = [handle.name for handle in self.archive.handles()]
        cards = scan.newest_first(self.archive)

        def clear_all(tx: ArchiveTransaction) -> None:
            for handle in handles:
                with suppress(NotFound):
                    tx.remove_handle(handle)
            for card in cards:
                with suppress(NotFound):  # it went with the one that it was made from
                    tx.delete(card, reason="CardCollection.clear", force=True)

        self.archive.write(clear_all)

    def count(self) -> int:
        """Return how many cards there are."""
        return scan.count_cards(self.archive)

    # Lists, newest first

    def get_page(self, page_number: int = 1, page_size: int | None = None) -> Page[MCard]:
        """Return one page of all cards."""
        size, before = page_bounds(page_number, page_size)
        cards = scan.newest_first(self.archive, limit=size, skip=before)
        return Page.create(self._load(cards), self.count(), page_number, size)

    def get_mcards_at_page(self, page_number: int = 1, page_size: int = 10) -> Page[MCard]:
        """Return one page of all cards."""
        return self.get_page(page_number, page_size)

    def get_all_mcards_raw(self) -> list[MCard]:
        """Return all cards."""
        return self._load(scan.newest_first(self.archive))

    @overload
    def get_all_cards(self, page_size: int = 10) -> tuple[list[MCard], int]: ...
    @overload
    def get_all_cards(
        self, page_size: int = 10, process_callback: Callable[[MCard], T] = ...
    ) -> tuple[list[T], int]: ...
    @overload
    def get_all_cards(
        self, page_size: int = 10, process_callback: None = None
    ) -> tuple[list[MCard], int]: ...
    def get_all_cards(
        self, page_size: int = 10, process_callback: Callable[[MCard], T] | None = None
    ) -> tuple[list[MCard] | list[T], int]:
        """Return all cards, or what the callback makes of each; and how many there are.

        They come from one list, so `page_size` changes nothing but must be at least 1.
        """
        page_bounds(1, page_size)
        cards = self.get_all_mcards_raw()
        if process_callback is None:
            return cards, len(cards)
        return [process_callback(card) for card in cards], len(cards)

    @staticmethod
    def print_all_cards(db_path: str | Path | None = None, page_size: int = 10) -> None:
        """Write a table of the cards in a file to standard output."""
        with CardCollection(db_path=db_path) as collection:
            sys.stdout.write(f"{'Hash':<10} | {'Content':<53} | {'Created':<19} | Type\n")
            for page in collection._pages(page_size):
                for shown in map(MCard.to_display_dict, page.items):
                    preview = " ".join(shown["content_preview"].split())
                    sys.stdout.write(
                        f"{shown['hash'][:7] + '...':<10} | {preview:<53} |"
                        f" {shown['created_at']:<19} | {shown['content_type']}\n"
                    )
            sys.stdout.write(f"{collection.count()} cards\n")

    # Searches, newest first

    def search_by_string(
        self, search_string: str, page_number: int = 1, page_size: int | None = None
    ) -> Page[MCard]:
        """Search for text in content, hash or g_time, upper and lower case alike."""
        has = scan.has_text(search_string)
        return self._search(lambda *fields: any(map(has, fields)), page_number, page_size)

    def search_by_content(
        self, search_string: str | bytes, page_number: int = 1, page_size: int | None = None
    ) -> Page[MCard]:
        """Search in content: for text, upper and lower case alike, or for exactly these bytes."""
        if not search_string:
            raise InvalidArgument("there is nothing to search for")
        if isinstance(search_string, bytes):
            return self._search(
                lambda _hash, _g_time, content: search_string in content, page_number, page_size
            )
        has = scan.has_text(search_string)
        return self._search(lambda _hash, _g_time, content: has(content), page_number, page_size)

    def search_by_hash(
        self, hash_value: str, page_number: int = 1, page_size: int | None = None
    ) -> Page[MCard]:
        """Search in hashes: a whole one finds its card, a part of one every card that has it."""
        has = scan.has_text(hash_value)
        return self._search(lambda card, _g_time, _content: has(card), page_number, page_size)

    # Handles

    def add_with_handle(self, card: MCard, handle: str) -> str:
        """Store a card and make a handle for it, both or neither; return the card's hash."""
        _require_card(card)
        try:
            return self._point(handle, card, expected_current=None).current
        except HandleMoved as error:
            raise CardHandleExists(error.message, hint="use update_handle to move it") from error

    def update_handle(self, handle: str, new_card: MCard) -> str:
        """Store a card and move a handle to it, both or neither; return the card's hash.

        A handle that points there already stays as it is, without an entry in its history.
        """
        _require_card(new_card)
        while True:
            with value_errors():
                current = self.archive.resolve(handle).current
            try:
                return self._point(handle, new_card, expected_current=current).current
            except HandleMoved:
                continue  # somebody else moved it in between, and the last one wins

    def resolve_handle(self, handle: str) -> str | None:
        """Return the hash that a handle points at, or `None`; no handle has an invalid name."""
        try:
            found = self.archive.find_handle(handle)
        except InvalidHandle:
            return None
        return None if found is None else found.current

    def resolve_handle_m(self, handle: str) -> Maybe[str]:
        """Return the hash that a handle points at, if there is such a handle."""
        return Maybe.of(self.resolve_handle(handle))

    def get_by_handle(self, handle: str) -> MCard | None:
        """Return the card that a handle points at, or `None`."""
        return self.resolve_and_get_m(handle).or_none()

    def get_by_handle_m(self, handle: str) -> Maybe[MCard]:
        """Return the card that a handle points at, if there is one."""
        return self.resolve_and_get_m(handle)

    def resolve_and_get_m(self, handle: str) -> Maybe[MCard]:
        """Return the card that a handle points at, if there is one."""
        return self.resolve_handle_m(handle).bind(self.get_m)

    def get_handle_history(self, handle: str) -> list[dict[str, str]]:
        """Return what a handle pointed at before, newest first, each with when it left that."""
        with value_errors():
            return scan.read_left_hashes(self.archive, as_handle_name(handle))

    def prune_handle_history(
        self,
        handle: str,
        older_than: str | datetime | None = None,
        delete_all: bool = False,  # noqa: FBT001, FBT002 - MCard's signature
    ) -> int:
        """Drop what a handle left before a moment, or ever; return how many entries went.

        With neither argument nothing happens.
        """
        if not delete_all and older_than is None:
            return 0
        limit = None if delete_all else _as_moment(older_than)
        before = len(self.get_handle_history(handle))
        with value_errors():
            self.archive.write(lambda tx: tx.prune_history(handle, older_than=limit))
        return before - len(self.get_handle_history(handle))

    def _point(self, handle: str, card: MCard, *, expected_current: CardHash | None) -> Handle:
        def store_and_point(tx: SqliteTransaction) -> Handle:
            stored = tx.add_rows([card.as_row()])[0].hash
            return tx.set_handle(handle, stored, expected_current=expected_current)

        with value_errors():
            return self.archive.write_sqlite(store_and_point)

    def _search(
        self, matches: scan.Matches, page_number: int, page_size: int | None
    ) -> Page[MCard]:
        size, before = page_bounds(page_number, page_size)
        found = scan.find_cards(self.archive, matches)
        return Page.create(self._load(found[before : before + size]), len(found), page_number, size)

    def _load(self, cards: Iterable[CardHash]) -> list[MCard]:
        found = map(self.get, cards)
        return [card for card in found if card is not None]

    def _pages(self, page_size: int) -> Iterator[Page[MCard]]:
        number: int | None = 1
        while number is not None:
            page = self.get_page(number, page_size)
            yield page
            number = page.next_page_number


def _open_archive(db_path: str | Path | None) -> SqliteArchive:
    # MCard 0.1.22 makes a file with the name ":memory:"; nobody ever wants that.
    if db_path is None or str(db_path) in ("", ":memory:"):
        return SqliteArchive.temporary()
    return SqliteArchive(db_path)


def _require_card(card: MCard) -> None:
    if card is None:
        raise InvalidArgument("there is no card to store")
    if not isinstance(card, MCard):
        raise TypeError(f"a collection stores MCards, not {type(card).__name__}")


def _as_moment(moment: str | datetime | None) -> datetime:
    try:
        return parse_instant(moment.isoformat() if isinstance(moment, datetime) else str(moment))
    except ValueError as error:
        raise InvalidArgument(
            f"{moment!r} is not a moment", hint="write it as 2026-11-15T00:23:23+00:00"
        ) from error
