"""The audit log over HTTP: its entries, its head, and whether the chain holds."""

from functools import partial
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from salon.api import examples
from salon.api.service import LibraryService
from salon.api.shapes import Shape, responses
from salon.api.talking import Talking
from salon.core.archive import Archive
from salon.core.entries import EntryFilter, as_since, as_until, event_kinds
from salon.core.errors import AuditBroken
from salon.core.events import Checkpoint

MOST_ENTRIES = 1_000


class EntryShown(Shape):
    """One link of the chain; `body` refers to content by hash and never contains it."""

    seq: int
    at: str
    by: str
    body: dict[str, Any]
    previous: str
    hash: str


class Head(Shape):
    """The head of the chain at this moment."""

    seq: int
    hash: str
    key: str | None
    signature: str | None


class Ledger(Shape):
    """Entries of the audit log in the order that was asked for, and its head."""

    entries: list[EntryShown]
    next: int | None = Field(
        description="What to give as `after` for more, or as `before` where the newest come first; "
        "null where that is all"
    )
    matching: int | None = Field(
        description="How many entries of the whole log match, whatever `after` and `before` are; "
        "null where counting takes more than a moment"
    )
    head: Head
    kinds: list[str] = Field(description="Every kind of entry that there can be")


_Number = Annotated[int, Field(ge=0, le=2**62)]
_Name = Annotated[str, Field(min_length=1, max_length=255)]


class Wanted(Shape):
    """Which entries, in which order; a parameter that does not exist is refused."""

    after: _Number = Field(default=0, description="Entries after this number.")
    before: _Number | None = Field(default=None, description="Entries before this number.")
    order: Literal["oldest", "newest"] = Field(
        default="oldest", description="Which come first.", examples=["newest"]
    )
    limit: int = Field(default=100, ge=1, le=MOST_ENTRIES)
    kind: list[Annotated[str, Field(json_schema_extra={"enum": list(event_kinds())})]] = Field(
        default=[],
        max_length=64,
        description="Entries of this kind; given several times, of any of these.",
        examples=[["turn_taken", "action_moved"]],
    )
    session: _Name | None = Field(
        default=None,
        description="Turns and actions of this session.",
        examples=[examples.SESSION],
    )
    round: _Name | None = Field(default=None, description="Moves of this round of the council.")
    handle: _Name | None = Field(default=None, description="Steps of this handle.")
    document: _Name | None = Field(default=None, description="What became of this document.")
    avatar: _Name | None = Field(default=None, description="Turns with and uses of this avatar.")
    by: _Name | None = Field(default=None, description="What was done on behalf of this actor.")
    since: str | None = Field(
        default=None,
        max_length=64,
        description="Not before this day (2026-11-15) or moment (2026-11-15T08:30:00Z).",
    )
    until: str | None = Field(
        default=None, max_length=64, description="Not after this day, all of it, or moment."
    )

    def as_filter(self) -> EntryFilter:
        """Return what an entry must be, or raise `InvalidInput`."""
        return EntryFilter(
            kinds=tuple(self.kind),
            since=None if self.since is None else as_since(self.since),
            until=None if self.until is None else as_until(self.until),
            **{name: getattr(self, name) for name in _SAME_NAMES},
        )


_SAME_NAMES = ("session", "round", "handle", "document", "avatar", "by")


class Verdict(Shape):
    """Whether every entry follows from the one before it, up to the head."""

    holds: bool
    head: Head
    entry: int | None = Field(description="The first entry that does not hold, if any")
    reason: str | None


def ledger_routes(talking: Talking, service: LibraryService) -> APIRouter:
    """Return the routes about the audit log."""
    routes = APIRouter(prefix="/api/audit", tags=["audit"])

    @routes.get("", responses=responses())
    async def list_entries(wanted: Annotated[Wanted, Query()]) -> Ledger:
        """Return entries of the log, all or those that match every parameter given.

        A page costs what it shows, however long the log is.
        """
        where = wanted.as_filter()
        return await talking.look(partial(_page, service.archive, wanted, where))

    @routes.post("/verify", responses=responses())
    async def verify() -> Verdict:
        """Walk the whole chain and say whether it holds."""

        def check() -> Verdict:
            try:
                head = service.verify_audit()
            except AuditBroken as error:
                entry = error.details.get("entry")
                return Verdict(
                    holds=False,
                    head=_head(service.archive.checkpoint()),
                    entry=entry if isinstance(entry, int) else None,
                    reason=error.message,
                )
            return Verdict(holds=True, head=_head(head), entry=None, reason=None)

        return await talking.ask(check)

    return routes


def _page(archive: Archive, wanted: Wanted, where: EntryFilter) -> Ledger:
    found = archive.audit_entries(
        after=wanted.after,
        before=wanted.before,
        where=where,
        newest_first=wanted.order == "newest",
    )
    entries = list(islice(found, wanted.limit + 1))
    shown = [
        EntryShown(**{name: getattr(one, name) for name in EntryShown.model_fields})
        for one in entries[: wanted.limit]
    ]
    return Ledger(
        entries=shown,
        next=shown[-1].seq if len(entries) > wanted.limit else None,
        matching=archive.count_audit_entries(where),
        head=_head(archive.checkpoint()),
        kinds=list(event_kinds()),
    )


def _head(checkpoint: Checkpoint) -> Head:
    return Head(**{name: getattr(checkpoint, name) for name in Head.model_fields})
