"""The typed events of the audit log.

An event refers to content by hash and never contains it: free text (a reason, a note) appears as
its digest, with the text itself beside the thing it describes, where it can be deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, TypeAlias, cast

from salon.core.hashing import CardHash

GENESIS = "0" * 64
"""What the first entry of a chain names as its predecessor."""

EventField: TypeAlias = str | int | bool | list[str] | list[list[str | int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The root of all events; `kind` is its stable name in the log."""

    kind: ClassVar[str] = ""

    def body(self) -> dict[str, EventField]:
        """Return the event as it is written to the log."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _as_lists(value) for name, value in found.items()} | {"kind": self.kind}


def _as_lists(value: object) -> EventField:
    if isinstance(value, tuple):
        return [list(item) if isinstance(item, tuple) else item for item in value]
    return cast("EventField", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsAdded(Event):
    """These cards are new."""

    kind = "cards_added"
    hashes: tuple[CardHash, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsAdopted(Event):
    """These cards were found in the file: another program had written them."""

    kind = "cards_adopted"
    hashes: tuple[CardHash, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDeleted(Event):
    """One card was deleted, and with it what only existed because of it."""

    kind = "cards_deleted"
    hash: CardHash
    also_deleted: tuple[CardHash, ...] = ()
    handles_removed: tuple[str, ...] = ()
    documents_removed: tuple[str, ...] = ()
    forced: bool = False
    reason_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleSet(Event):
    """A handle was made (no `previous`) or moved."""

    kind = "handle_set"
    handle: str
    previous: CardHash | None
    current: CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlesAdopted(Event):
    """These handles were found in the file, each with the card that it points at."""

    kind = "handles_adopted"
    handles: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleRenamed(Event):
    """A handle has another name now; its history went along."""

    kind = "handle_renamed"
    handle: str
    renamed_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleRemoved(Event):
    """A handle is gone; the card it pointed at is not."""

    kind = "handle_removed"
    handle: str
    previous: CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleHistoryPruned(Event):
    """Old steps of a handle's history were dropped."""

    kind = "handle_history_pruned"
    handle: str
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentAdded(Event):
    """A source entered the corpus."""

    kind = "document_added"
    document: str
    source: CardHash
    text: CardHash
    layout: CardHash | None
    derived: bool
    provenance_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRemoved(Event):
    """A source left the corpus; its cards may still be there."""

    kind = "document_removed"
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVerified(Event):
    """Somebody judged a source."""

    kind = "document_verified"
    document: str
    previous: str
    status: str
    notes_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansCited(Event):
    """One card cites spans of others (hash, start, end), which are needed from now on."""

    kind = "spans_cited"
    citing: CardHash
    spans: tuple[tuple[CardHash, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationMarked(Event):
    """A card was made from another and goes when that one goes."""

    kind = "derivation_marked"
    card: CardHash
    from_card: CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Event):
    """Something that happened and changed no card by itself; `turn` is the record of the turn."""

    turn: CardHash | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AvatarUsed(Note):
    """Somebody queried, asked or looked at an avatar; what was asked appears as its digest."""

    kind = "avatar_used"
    avatar: str
    act: str
    question_sha256: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken(Note):
    """A person and a companion or an assistant took a turn; `absent` names the steps that failed.

    Each of `absent` is `slot: reason`. The message appears as its digest.
    """

    kind = "turn_taken"
    avatar: str
    session: str
    number: int
    message_sha256: str
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionMoved(Note):
    """An action went one step on: offered, approved, executed, cancelled and so on.

    `arguments_sha256` is the digest that the approval is bound to; `rule` is why it moved.
    """

    kind = "action_moved"
    action: str
    flow: str
    session: str
    moved_to: str
    rule: str
    arguments_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilMoved(Note):
    """A seat or the system acted in a round; `artefact` is the card that the act left.

    `phase` is where the round stands afterwards, `rule` why the system moved it.
    """

    kind = "council_moved"
    round: str
    act: str
    seat: str
    phase: str
    artefact: CardHash | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportImported(Event):
    """What an export held besides cards was taken in: what is new here is listed.

    Handles with their cards; documents with their digests; citations as (citing, cited, start,
    end); derivations as (card, from card); tombstones as (hash, who, when, digest of why).
    """

    kind = "export_imported"
    export_sha256: str
    handles: tuple[tuple[str, str], ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    citations: tuple[tuple[str, str, int, int], ...] = ()
    derivations: tuple[tuple[str, str], ...] = ()
    tombstones: tuple[tuple[str, str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One link of the chain. `hash` covers everything else, `previous` included."""

    seq: int
    at: str
    by: str
    body: Mapping[str, EventField]
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The head of the chain at one moment; keep it elsewhere and a cut tail shows."""

    seq: int
    hash: str
    key: str | None = None
    signature: str | None = None
