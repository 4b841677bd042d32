"""The audit log over HTTP: its entries, its head, and whether the chain holds."""

from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from salon.api.service import LibraryService
from salon.api.shapes import Shape, responses
from salon.api.talking import Talking
from salon.core.errors import AuditBroken
from salon.core.events import Checkpoint, Event

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
    """Entries of the audit log in order, and its head."""

    entries: list[EntryShown]
    head: Head
    kinds: list[str] = Field(description="Every kind of entry that there can be")


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
    async def list_entries(
        after: Annotated[int, Query(ge=0, le=2**62, description="Entries after this one.")] = 0,
        limit: Annotated[int, Query(ge=1, le=MOST_ENTRIES)] = 100,
    ) -> Ledger:
        """Return entries of the log; with `after` = head - n, the latest n."""

        def find() -> Ledger:
            head = service.archive.checkpoint()
            entries = islice(service.archive.audit_entries(after=after), limit)
            names = EntryShown.model_fields
            return Ledger(
                entries=[EntryShown(**{n: getattr(one, n) for n in names}) for one in entries],
                head=_head(head),
                kinds=sorted(_kinds(Event)),
            )

        return await talking.look(find)

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


def _kinds(family: type[Event]) -> set[str]:
    below = (kind for one in family.__subclasses__() for kind in _kinds(one))
    return {*below, *({family.kind} if family.kind else ())}


def _head(checkpoint: Checkpoint) -> Head:
    return Head(**{name: getattr(checkpoint, name) for name in Head.model_fields})
