"""Documents for tests, straight into an archive."""

from typing import Any

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import Document, Provenance


def add_document(archive: Archive, text: str, **about: Any) -> Document:
    """Store a text as a document; its title is its beginning unless said otherwise."""

    def work(tx: ArchiveTransaction) -> Document:
        card = tx.add(text.encode()).hash
        return tx.add_document(Provenance(**{"title": text[:40]} | about), source=card)

    return archive.write(work)


def add_documents(archive: Archive, texts: list[str]) -> list[Document]:
    """Store texts as documents in one transaction."""

    def work(tx: ArchiveTransaction) -> list[Document]:
        cards = tx.add_many([text.encode() for text in texts])
        return [
            tx.add_document(Provenance(title=text[:40]), source=card.hash)
            for text, card in zip(texts, cards, strict=True)
        ]

    return archive.write(work)
