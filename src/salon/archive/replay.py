"""Replaying the audit log: which cards, handles and documents should there be?

The log accounts for everything, so what it says must agree with what the tables hold. The cards
go into a temporary table, not into memory: there may be millions.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import apsw

from salon.archive.audit_log import read_entries
from salon.core.events import EventField

Body: TypeAlias = Mapping[str, EventField]


@dataclass(slots=True)
class ReplayedState:
    """What the log says there is."""

    connection: apsw.Connection
    handles: dict[str, str] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)

    def cards_never_logged(self) -> Iterator[str]:
        """Walk the cards that are there although no entry speaks of them."""
        return self._hashes(
            "SELECT hash FROM card WHERE hash NOT IN (SELECT hash FROM temp.logged) ORDER BY rowid"
        )

    def cards_missing(self) -> Iterator[str]:
        """Walk the cards that should be there and are not."""
        return self._hashes(
            "SELECT hash FROM temp.logged WHERE hash NOT IN (SELECT hash FROM card)"
        )

    def add_cards(self, hashes: list[str]) -> None:
        """Take note of cards that came."""
        self.connection.executemany(
            "INSERT OR IGNORE INTO temp.logged VALUES (?)", ((card,) for card in hashes)
        )

    def remove_cards(self, hashes: list[str]) -> None:
        """Take note of cards that went."""
        self.connection.executemany(
            "DELETE FROM temp.logged WHERE hash = ?", ((card,) for card in hashes)
        )

    def _hashes(self, sql: str) -> Iterator[str]:
        return (cast("str", row[0]) for row in self.connection.execute(sql))


def replay(
    connection: apsw.Connection, on_entry: Callable[[], None] = lambda: None
) -> ReplayedState:
    """Run through the whole log and return what it amounts to."""
    connection.execute("DROP TABLE IF EXISTS temp.logged")
    connection.execute("CREATE TEMP TABLE logged (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    state = ReplayedState(connection)
    for entry in read_entries(connection):
        apply = _APPLY.get(str(entry.body.get("kind")))
        if apply:
            apply(state, entry.body)
        on_entry()
    return state


def _cards_added(state: ReplayedState, body: Body) -> None:
    state.add_cards(_strings(body["hashes"]))


def _cards_deleted(state: ReplayedState, body: Body) -> None:
    state.remove_cards([str(body["hash"]), *_strings(body["also_deleted"])])
    for handle in _strings(body["handles_removed"]):
        state.handles.pop(handle, None)
    state.documents.difference_update(_strings(body["documents_removed"]))


def _handle_set(state: ReplayedState, body: Body) -> None:
    state.handles[str(body["handle"])] = str(body["current"])


def _handles_given(state: ReplayedState, body: Body) -> None:
    state.handles.update((name, card) for name, card in _pairs(body["handles"]))


def _handle_renamed(state: ReplayedState, body: Body) -> None:
    state.handles[str(body["renamed_to"])] = state.handles.pop(str(body["handle"]), "")


def _handle_removed(state: ReplayedState, body: Body) -> None:
    state.handles.pop(str(body["handle"]), None)


def _document_added(state: ReplayedState, body: Body) -> None:
    state.documents.add(str(body["document"]))


def _document_removed(state: ReplayedState, body: Body) -> None:
    state.documents.discard(str(body["document"]))


def _export_imported(state: ReplayedState, body: Body) -> None:
    _handles_given(state, body)
    state.documents.update(_strings(body["documents"]))


# Events that are not here change nothing that a replay rebuilds.
_APPLY: dict[str, Callable[[ReplayedState, Body], None]] = {
    "cards_added": _cards_added,
    "cards_adopted": _cards_added,
    "cards_deleted": _cards_deleted,
    "handle_set": _handle_set,
    "handles_adopted": _handles_given,
    "handle_renamed": _handle_renamed,
    "handle_removed": _handle_removed,
    "document_added": _document_added,
    "document_removed": _document_removed,
    "export_imported": _export_imported,
}


def _strings(value: EventField) -> list[str]:
    return cast("list[str]", value)


def _pairs(value: EventField) -> list[list[str]]:
    return cast("list[list[str]]", value)
