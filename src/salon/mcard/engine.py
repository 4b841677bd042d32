"""What MCard calls the engine of a collection: the archive, and its handles as plain values.

Most callers use `CardCollection`; here is what MCard offers only one level down. `set_handle` is
not MCard's: theirs moves a handle without a trace, this one keeps every move in the history.
"""

from pathlib import Path

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import HandleNotFound
from salon.core.hashing import CardHash
from salon.mcard.errors import value_errors


class SqliteEngine:
    """The archive under one or more collections."""

    def __init__(self, archive: SqliteArchive) -> None:
        self.archive = archive

    @property
    def db_path(self) -> Path:
        """The file."""
        return self.archive.path

    def get_all_handles(self) -> list[dict[str, str]]:
        """Return every handle with the hash it points at, by name."""
        return [
            {"handle": handle.name, "hash": handle.current} for handle in self.archive.handles()
        ]

    def get_handle_dump(self) -> list[tuple[str, bytes]]:
        """Return every handle with the content it points at; one whose card is gone is left out."""
        handles = list(self.archive.handles())
        found = ((handle.name, self.archive.find(handle.current)) for handle in handles)
        return [(name, card.content) for name, card in found if card is not None]

    def set_handle(self, handle: str, target_hash: str) -> None:
        """Make or move a handle to a card that is stored already; the move is kept in history."""
        with value_errors():
            self.archive.write(lambda tx: tx.set_handle(handle, CardHash(target_hash)))

    def rename_handle(self, old_handle: str, new_handle: str) -> None:
        """Give a handle another name; its history goes along."""
        with value_errors():
            self.archive.write(lambda tx: tx.rename_handle(old_handle, new_handle))

    def remove_handle(self, handle: str) -> None:
        """Forget a handle; its card stays. An unknown one is forgotten already."""
        with value_errors():
            try:
                self.archive.write(lambda tx: tx.remove_handle(handle))
            except HandleNotFound:
                return
