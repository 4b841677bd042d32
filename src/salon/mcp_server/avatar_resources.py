"""What of an avatar can be read: its sources, their texts, cards by hash, and how they stand.

Only cards of this avatar's own corpus are handed out, so whoever may talk to an avatar learns
nothing else of the archive.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import quote

from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.errors import CardNotFound, DocumentNotFound, IntegrityFailed, InvalidInput
from salon.core.hashing import CardHash, as_card_hash, names
from salon.corpus.manifest import as_avatar_id, corpus_handle
from salon.mcp_server.handle_resources import handle_template
from salon.mcp_server.service import AvatarService
from salon.mcp_server.tables import ONE_DAY_MS, Content, Resource, ResourceTemplate

TEXT, JSON = "text/plain", "application/json"


class Readable:
    """The resources of one avatar."""

    def __init__(self, service: AvatarService, avatar: str) -> None:
        self._service = service
        self._avatar = avatar
        self._place = f"avatar://{avatar}"

    def fixed(self) -> tuple[Resource, ...]:
        """Return the resources that every avatar has."""
        return (
            Resource(
                uri=f"{self._place}/sources",
                name="sources",
                title="Sources",
                description="Every document of the corpus, with its address and verification.",
                mime_type=JSON,
                read=self._sources,
            ),
            Resource(
                uri=f"{self._place}/verification",
                name="verification",
                title="Verification report",
                description="Who confirmed each document, and whether its bytes are intact.",
                mime_type=JSON,
                read=self._verification,
            ),
        )

    def documents(self) -> Sequence[Resource]:
        """Return the text of each document as a resource."""
        return [
            Resource(
                uri=self._uri(document),
                name=document.id,
                title=document.provenance.title,
                description=_described(document),
                mime_type=TEXT,
                read=partial(self._text, document.id),
                fresh_ms=ONE_DAY_MS,
            )
            for document in self._own()
        ]

    def templates(self) -> tuple[ResourceTemplate, ...]:
        """Return the families of addresses."""
        return (
            ResourceTemplate(
                uri_template=f"{self._place}/documents/{{document}}",
                name="document",
                title="Document",
                description="The text of a document of the corpus.",
                mime_type=TEXT,
                read=lambda parts: self._text(parts["document"]),
                fresh_ms=ONE_DAY_MS,
            ),
            ResourceTemplate(
                uri_template="card://{hash}{?start,end}",
                name="card",
                title="Card",
                description="A card of the corpus by its hash; with start and end, these bytes "
                "of it: what a citation points at.",
                mime_type=None,
                read=self._card,
                fresh_ms=ONE_DAY_MS,
            ),
            self._handles(),
        )

    def _handles(self) -> ResourceTemplate:
        corpus = corpus_handle(as_avatar_id(self._avatar))
        return handle_template(
            self._service.archive,
            description="A name that leads to a card of the corpus, or the corpus itself "
            f"({corpus}): the hash it leads to now, and every one before.",
            tells=lambda one: one.name == corpus or one.current in self._cards(),
            tells_card=lambda one, card: one.name == corpus or card in self._cards(),
            reads_card=lambda card: card in self._cards(),
        )

    # Reading

    def _own(self) -> list[Document]:
        return self._service.documents(avatar=self._avatar)

    def _cards(self) -> dict[CardHash, Document]:
        """Return every card of the corpus, with its document."""
        return {
            one: document
            for document in self._own()
            for one in (document.layout, document.source, document.text)
            if one is not None
        }

    def _uri(self, document: Document) -> str:
        return f"{self._place}/documents/{quote(document.id, safe='')}"

    def _text(self, document: str) -> str:
        wanted = DocumentId(document)
        found = next((one for one in self._own() if one.id == wanted), None)
        if found is None:
            raise DocumentNotFound(
                f"the corpus of {self._avatar} has no document {document[:100]!r}",
                hint=f"{self._place}/sources lists them",
            )
        return self._service.archive.get(found.text).content.decode()

    def _card(self, parts: Mapping[str, str]) -> Content:
        card = as_card_hash(parts["hash"])
        mine = self._cards()
        if card not in mine:
            raise CardNotFound(f"the corpus of {self._avatar} has no card {card}")
        content = self._service.archive.get(card).content
        start, end = byte_range(parts, len(content))
        document = mine[card]
        if card == document.layout:
            return Content(data=content[start:end].decode(errors="replace"), mime_type=JSON)
        if card != document.text:
            kind = self._service.archive.content_type(card)
            return Content(data=content[start:end], mime_type=kind)
        try:
            return Content(data=content[start:end].decode(), mime_type=TEXT)
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"bytes {start} to {end} begin or end inside a character",
                hint="spans count bytes, not characters",
            ) from error

    def _sources(self) -> str:
        listed = [
            {
                **document.provenance.as_record(),
                "id": document.id,
                "verification": str(document.verification.status),
                "text": document.text,
                "uri": self._uri(document),
            }
            for document in self._own()
        ]
        return _json({"avatar": self._avatar, "sources": listed})

    def _verification(self) -> str:
        documents = [self._standing(document) for document in self._own()]
        counts = {
            str(status): sum(one["status"] == str(status) for one in documents)
            for status in VerificationStatus
        }
        intact = all(one["text_intact"] and one["source_intact"] for one in documents)
        return _json(
            {"avatar": self._avatar, "intact": intact, "counts": counts, "documents": documents}
        )

    def _standing(self, document: Document) -> dict[str, object]:
        judged = document.verification
        return {
            "id": document.id,
            "title": document.provenance.title,
            "status": str(judged.status),
            "by": judged.by,
            "at": judged.at,
            "notes": judged.notes,
            "text": document.text,
            "text_intact": self._is_intact(document.text),
            "source": document.source,
            "source_intact": self._is_intact(document.source),
        }

    def _is_intact(self, card: CardHash) -> bool:
        try:
            found = self._service.archive.find(card)
        except IntegrityFailed:
            return False
        return found is not None and names(card, found.content)


def _described(document: Document) -> str:
    about = document.provenance
    by = f" by {', '.join(about.authors)}" if about.authors else ""
    year = f", {about.year}" if about.year is not None else ""
    return f"{str(about.type).capitalize()}{by}{year}; {document.verification.status}."


def byte_range(parts: Mapping[str, str], size: int) -> tuple[int, int]:
    """Return the bytes of a card that an address asks for, all of them where it does not say."""
    given = {name: parts[name] for name in ("start", "end") if parts.get(name)}
    if not all(value.isascii() and value.isdigit() for value in given.values()):
        raise InvalidInput("`start` and `end` are numbers of bytes")
    start, end = int(given.get("start", 0)), int(given.get("end", size))
    if not 0 <= start <= end <= size:
        raise InvalidInput(
            f"bytes {start} to {end} are not all in this card", hint=f"it has {size:,} bytes"
        )
    return start, end


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
