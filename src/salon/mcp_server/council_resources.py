"""What a seat can read: the cards that sources are made of, so that it can check any citation.

Drafts, ballots and rounds are cards too; they are not handed out here, because they show who wrote
what.
"""

from collections.abc import Mapping

from salon.core.archive import Archive
from salon.core.errors import CardNotFound, InvalidInput
from salon.core.hashing import as_card_hash
from salon.mcp_server.avatar_resources import byte_range
from salon.mcp_server.handle_resources import handle_template
from salon.mcp_server.tables import ONE_DAY_MS, Content, ResourceTemplate

TEXT = "text/plain"
_PUBLISHED = ("completed/", "souls/")


def card_template(archive: Archive) -> ResourceTemplate:
    """Return the family of addresses under which the texts of documents can be read."""

    def read(parts: Mapping[str, str]) -> Content:
        return _card(archive, parts)

    return ResourceTemplate(
        uri_template="card://{hash}{?start,end}",
        name="card",
        title="Card",
        description="The text of a document by its hash; with start and end, these bytes of it: "
        "what a citation points at.",
        mime_type=TEXT,
        read=read,
        fresh_ms=ONE_DAY_MS,
    )


def published_handles(archive: Archive) -> ResourceTemplate:
    """Return the family of addresses of what the council published, and of the souls."""
    return handle_template(
        archive,
        description="Where a published chapter (completed/TOPIC) or a soul (souls/active/SEAT) "
        "leads now, and every hash before. A seat reads the chapter itself as card://.",
        tells=lambda one: one.name.startswith(_PUBLISHED),
        tells_card=lambda _handle, _card: True,
        reads_card=lambda card: bool(archive.documents_of(card)),
    )


def _card(archive: Archive, parts: Mapping[str, str]) -> Content:
    card = as_card_hash(parts["hash"])
    if not archive.documents_of(card):
        raise CardNotFound(f"no document has the text {card}", hint="search gives hashes that do")
    content = archive.get(card).content
    start, end = byte_range(parts, len(content))
    try:
        return Content(data=content[start:end].decode(), mime_type=TEXT)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"bytes {start} to {end} begin or end inside a character",
            hint="spans count bytes, not characters",
        ) from error
