"""Archives built by chance: short deeds that hypothesis can draw, shrink and repeat.

A deed that the archive refuses (a rename onto a taken name, a deletion of what is needed) is
simply not done, so any list of deeds leads to some proper archive.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import strategies as st

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import DocumentId, DocumentType, Provenance, Span, VerificationStatus
from salon.core.errors import SalonError
from salon.core.hashing import ALGORITHMS, CardHash, content_hash
from tests.archive.backends import START

CONTENTS = (b"a", b"\0\xff", "é😀\n".encode(), b'{"kind":"end"}\n', b"x" * 3000, b"y" * 40, b"\n")
HANDLES = ("a", "b/c", "é", "日本 語", "A", "z" * 255)
WORDS = ("", "plain", 'a "quote"\n\\', "Ünïcode 😀\u2028", "\0\x7f")


@dataclass(frozen=True, slots=True)
class Deed:
    """One step: a verb and three numbers that it reads as it likes."""

    verb: str
    one: int
    two: int
    three: int

    @property
    def content(self) -> bytes:
        return CONTENTS[self.one % len(CONTENTS)]

    @property
    def card(self) -> CardHash:
        return content_hash(self.content)

    @property
    def other(self) -> CardHash:
        return content_hash(CONTENTS[self.two % len(CONTENTS)])

    @property
    def handle(self) -> str:
        return HANDLES[self.three % len(HANDLES)]

    @property
    def words(self) -> str:
        return WORDS[self.two % len(WORDS)]


def _document_of(archive: Archive, deed: Deed) -> DocumentId:
    documents = list(archive.documents())
    return documents[deed.one % len(documents)].id if documents else DocumentId("doc_none")


def _provenance(deed: Deed) -> Provenance:
    return Provenance(
        title=deed.words.strip("\0\n ") or "Untitled",
        type=list(DocumentType)[deed.three % len(DocumentType)],
        authors=WORDS[: deed.two % 3],
        year=[None, 1990, -44][deed.three % 3],
        url=[None, "https://example.org/é"][deed.one % 2],
        archive_url=[None, deed.words][deed.two % 2],
        licence=[None, "CC0"][deed.three % 2],
        derived=bool(deed.three % 2),
    )


def _add(archive: Archive, deed: Deed) -> None:
    archive.add(deed.content, algorithm=ALGORITHMS[deed.two % len(ALGORITHMS)])


def _in(verb: Callable[[ArchiveTransaction, Deed], object]) -> Callable[[Archive, Deed], None]:
    def act(archive: Archive, deed: Deed) -> None:
        archive.write(lambda tx: verb(tx, deed), by=f"actor {deed.one % 2}")

    return act


def _judge(archive: Archive, deed: Deed) -> None:
    document = _document_of(archive, deed)
    status = list(VerificationStatus)[deed.three % 3]
    archive.write(lambda tx: tx.set_verification(document, status, notes=deed.words))


def _remove_document(archive: Archive, deed: Deed) -> None:
    document = _document_of(archive, deed)
    archive.write(lambda tx: tx.remove_document(document))


VERBS: dict[str, Callable[[Archive, Deed], object]] = {
    "add": _add,
    "put": lambda archive, deed: archive.put(deed.handle, deed.content),
    "remove": _in(lambda tx, deed: tx.remove_handle(deed.handle)),
    "rename": _in(lambda tx, deed: tx.rename_handle(HANDLES[deed.one % len(HANDLES)], deed.handle)),
    "prune": _in(lambda tx, deed: tx.prune_history(deed.handle)),
    "prune old": _in(
        lambda tx, deed: tx.prune_history(
            deed.handle, older_than=START + timedelta(seconds=deed.one * 7)
        )
    ),
    "document": _in(
        lambda tx, deed: tx.add_document(
            _provenance(deed),
            source=deed.card,
            text=deed.other,
            layout=[None, deed.card][deed.two % 2],
        )
    ),
    "judge": _judge,
    "remove document": _remove_document,
    "cite": _in(lambda tx, deed: tx.cite(deed.card, [Span(hash=deed.other, start=0, end=1)])),
    "derive": _in(lambda tx, deed: tx.mark_derived(deed.card, from_card=deed.other)),
    "delete": _in(lambda tx, deed: tx.delete(deed.card, reason=deed.words)),
    "force": _in(lambda tx, deed: tx.delete(deed.card, reason=deed.words, force=True)),
}

NUMBERS = st.integers(0, 11)
DEEDS = st.lists(st.builds(Deed, st.sampled_from(sorted(VERBS)), NUMBERS, NUMBERS, NUMBERS))
# Chance alone rarely gets far, so every archive begins with something to work on.
BEGINNING = [
    *(Deed("put", number, 0, number) for number in range(5)),
    *(Deed("document", number, number + 1, number) for number in range(2)),
    Deed("cite", 0, 1, 0),
    Deed("derive", 2, 1, 0),
]


def perform(archive: Archive, deeds: Iterable[Deed]) -> None:
    """Do what can be done."""
    for deed in deeds:
        with suppress(SalonError):
            VERBS[deed.verb](archive, deed)


def picture(archive: Archive) -> dict[str, object]:
    """Return everything that an archive's readers can see, except its diary."""
    cards = list(archive.cards())
    handles = list(archive.handles())
    return {
        "cards": [archive.get(info.hash) for info in cards],
        "handles": handles,
        "histories": {handle.name: archive.history(handle.name) for handle in handles},
        "documents": [(doc, archive.verifications(doc.id)) for doc in archive.documents()],
        # Whether a handle's past needs a card has a test of its own: it asks for more than this.
        "needs": {
            info.hash: replace(archive.needs(info.hash), past_of_handles=()) for info in cards
        },
        "tombstones": [archive.find_tombstone(content_hash(content)) for content in CONTENTS],
        "counts": (archive.stats().citations, archive.stats().tombstones),
    }
