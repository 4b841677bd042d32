"""The records of an export other than bytes: from rows to JSON, and from hostile JSON to values.

An export comes from anywhere, so every record is validated before it touches the archive.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Literal, Self, TypeAlias

import apsw
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from salon.archive.export.format import Record
from salon.archive.handle_steps import follow_each_other
from salon.core.cards import MAX_CARD_BYTES
from salon.core.clock import GTime, parse_instant
from salon.core.documents import DocumentType, VerificationStatus
from salon.core.errors import InvalidExport, SalonError
from salon.core.handles import as_handle_name
from salon.core.hashing import Algorithm, CardHash, algorithm_of, as_card_hash
from salon.core.text import require_text


def _proper_hash(text: str) -> CardHash:
    try:
        return as_card_hash(text)
    except SalonError as error:
        raise ValueError(error.message) from error


def _proper_handle(text: str) -> str:
    try:
        name = as_handle_name(text)
    except SalonError as error:
        raise ValueError(error.message) from error
    if name != text:
        raise ValueError("a handle is written stripped and in NFC")
    return text


def _proper_time(text: str) -> str:
    parse_instant(text)
    return text


def _proper_text(text: str) -> str:
    text.encode()  # raises a ValueError for half a character
    return text


Hash: TypeAlias = Annotated[CardHash, AfterValidator(_proper_hash)]
HandleText: TypeAlias = Annotated[str, AfterValidator(_proper_handle)]
Time: TypeAlias = Annotated[str, AfterValidator(_proper_time)]
Text: TypeAlias = Annotated[str, AfterValidator(_proper_text)]
Offset: TypeAlias = Annotated[int, Field(ge=0, le=MAX_CARD_BYTES)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CardRecord(_Record):
    """A card; its bytes follow the line."""

    kind: Literal["card"]
    hash: Hash
    size: int
    g_time: GTime

    @property
    def algorithm(self) -> Algorithm:
        """Return the algorithm that the hash tells."""
        return algorithm_of(CardHash(self.hash))


class MoveRecord(_Record):
    """One step of a handle."""

    previous: Hash | None
    current: Hash | None
    moved_at: Time


class PastRecord(_Record):
    """One row of MCard's history: the card that the handle left."""

    previous: Hash
    changed_at: Time


class HandleRecord(_Record):
    """A handle with its moves, oldest first; one that was removed has no `current`.

    `past` is what MCard's own history holds, which a forced deletion may have thinned.
    """

    kind: Literal["handle"]
    name: HandleText
    current: Hash | None
    created_at: Time | None
    updated_at: Time | None
    moves: list[MoveRecord]
    past: list[PastRecord]

    @model_validator(mode="after")
    def _steps_follow_each_other(self) -> Self:
        steps = [(move.previous, move.current) for move in self.moves]
        if not follow_each_other(steps, self.current):
            raise ValueError("the moves of a handle do not lead to where it points")
        if self.current is None and self.past:
            raise ValueError("a removed handle has no past in MCard's history")
        return self


class JudgementRecord(_Record):
    """One judgement on a document."""

    status: Literal["verified", "pending", "disputed"]
    by: Text
    at: Time
    notes: Text


class DocumentRecord(_Record):
    """A document with its judgements, oldest first."""

    kind: Literal["document"]
    id: Annotated[str, Field(pattern=r"^doc_[0-9a-z]{1,40}$")]
    title: Annotated[Text, Field(pattern=r"\S")]
    type: Annotated[str, AfterValidator(lambda text: DocumentType(text).value)]
    authors: list[Text]
    year: Annotated[int, Field(ge=-4000, le=9999)] | None
    url: Text | None
    archive_url: Text | None
    licence: Text | None
    doi: Text | None
    derived: bool
    source: Hash
    text: Hash
    layout: Hash | None
    added_at: Time
    judgements: Annotated[list[JudgementRecord], Field(min_length=1)]


class CitationRecord(_Record):
    """One span of a card, cited by another card."""

    kind: Literal["citation"]
    citing: Hash
    cited: Hash
    start: Offset
    end: Offset


class DerivationRecord(_Record):
    """A card that was made from another."""

    kind: Literal["derivation"]
    card: Hash
    from_card: Hash


class TombstoneRecord(_Record):
    """What stayed of a deleted card."""

    kind: Literal["tombstone"]
    hash: Hash
    deleted_at: Time
    deleted_by: Text
    reason: Text


AnyRecord: TypeAlias = (
    CardRecord | HandleRecord | DocumentRecord | CitationRecord | DerivationRecord | TombstoneRecord
)
_ANY: TypeAdapter[AnyRecord] = TypeAdapter(Annotated[AnyRecord, Field(discriminator="kind")])


def parse_record(raw: Record) -> AnyRecord:
    """Return a record as a value, or raise `InvalidExport` with the place and the reason."""
    if raw.get("kind") == "card":  # millions of these, so without the full machinery
        return _parse_card(raw)
    try:
        return _ANY.validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidExport(
            f"a record of the export is wrong at {place}: {first['msg']}"
        ) from error


def _parse_card(raw: Record) -> CardRecord:
    card, stamp = raw.get("hash"), raw.get("g_time")
    if not isinstance(card, str) or not isinstance(stamp, str) or raw.keys() != _CARD_KEYS:
        raise InvalidExport("a card's record has hash, size and g_time, and nothing else")
    if not stamp:
        raise InvalidExport("a card has no g_time")
    try:
        as_card_hash(card)
        require_text(stamp, "the g_time of a card")
    except SalonError as error:
        raise InvalidExport(error.message) from error
    return CardRecord.model_construct(kind="card", hash=card, size=raw["size"], g_time=GTime(stamp))


_CARD_KEYS = {"kind", "hash", "size", "g_time"}


# From rows to records


def read_records(connection: apsw.Connection) -> Iterator[Record]:
    """Yield every record that is not a card, tombstones before what may refer to them."""
    for card, at, by, reason in connection.execute(
        "SELECT hash, deleted_at, deleted_by, reason FROM tombstone ORDER BY hash"
    ):
        yield {
            "kind": "tombstone",
            "hash": card,
            "deleted_at": at,
            "deleted_by": by,
            "reason": reason,
        }
    yield from _read_handles(connection)
    yield from _read_documents(connection)
    for citing, cited, start, stop in connection.execute(
        "SELECT citing_hash, cited_hash, start, stop FROM citation"
        " ORDER BY citing_hash, cited_hash, start, stop"
    ):
        yield {"kind": "citation", "citing": citing, "cited": cited, "start": start, "end": stop}
    for card, source in connection.execute(
        "SELECT derived_hash, source_hash FROM derivation ORDER BY derived_hash, source_hash"
    ):
        yield {"kind": "derivation", "card": card, "from_card": source}


def _read_handles(connection: apsw.Connection) -> Iterator[Record]:
    for name, current, created_at, updated_at in connection.execute(
        "SELECT name, current_hash, created_at, updated_at FROM"
        " (SELECT handle AS name FROM handle_registry UNION SELECT handle FROM handle_move)"
        " LEFT JOIN handle_registry ON handle = name ORDER BY name"
    ):
        moves = connection.execute(
            "SELECT previous_hash, current_hash, moved_at FROM handle_move"
            " WHERE handle = ? ORDER BY id",
            (name,),
        )
        past = connection.execute(
            "SELECT previous_hash, changed_at FROM handle_history WHERE handle = ? ORDER BY id",
            (name,),
        )
        yield {
            "kind": "handle",
            "name": name,
            "current": current,
            "created_at": created_at,
            "updated_at": updated_at,
            "moves": [
                {"previous": previous, "current": to, "moved_at": at} for previous, to, at in moves
            ],
            "past": [{"previous": previous, "changed_at": at} for previous, at in past],
        }


def _read_documents(connection: apsw.Connection) -> Iterator[Record]:
    columns = (
        "id, title, type, authors, year, url, archive_url, licence, doi, derived,"
        " source_hash AS source, text_hash AS text, layout_hash AS layout, added_at"
    )
    names = [part.split(" AS ")[-1].strip() for part in columns.split(",")]
    for row in connection.execute(f"SELECT {columns} FROM document ORDER BY rowid"):
        record: Record = dict(zip(names, row, strict=True))
        judged = connection.execute(
            "SELECT status, judged_by, judged_at, notes FROM document_verification"
            " WHERE document_id = ? ORDER BY id",
            (record["id"],),
        )
        yield record | {
            "kind": "document",
            "authors": json.loads(str(record["authors"])),
            "derived": bool(record["derived"]),
            "judgements": [
                {"status": VerificationStatus(status).value, "by": by, "at": at, "notes": notes}
                for status, by, at, notes in judged
            ],
        }
