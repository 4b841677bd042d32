"""Documents and citations, in every backend: where text comes from, and who vouches for it."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.archive.audit.digests import provenance_sha256
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import (
    DocumentId,
    DocumentType,
    Provenance,
    Span,
    VerificationStatus,
)
from salon.core.errors import CardDeleted, CardNotFound, DocumentNotFound, InvalidInput
from salon.core.hashing import CardHash, content_hash
from tests.archive.backends import Place
from tests.archive.samples import NOBODY, add_document, delete, judge, kinds, last_event, log

FULL = Provenance(
    title="Governing the Commons: «Évolution» of Institutions",
    type=DocumentType.BOOK,
    authors=("Elinor Ostrom", "Ömer Ö.", 'a "quoted" name'),
    year=1990,
    url="https://example.org/a?b=c&d=é",
    archive_url="https://web.archive.org/web/2020/https://example.org/a",
    licence="CC-BY-4.0",
    doi="10.1017/CBO9780511807763",
    derived=True,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PROVENANCES = st.builds(
    Provenance,
    title=TEXT.filter(str.strip),
    type=st.sampled_from(DocumentType),
    authors=st.lists(TEXT, max_size=3).map(tuple),
    year=st.none() | st.integers(-4000, 9999),
    url=st.none() | TEXT,
    archive_url=st.none() | TEXT,
    licence=st.none() | TEXT,
    doi=st.none() | TEXT,
    derived=st.booleans(),
)


@pytest.mark.requirement("cap/verification/document-links")
def test_every_field_of_a_document_comes_back(place: Place) -> None:
    archive = place.open()
    source, text, layout = (card.hash for card in archive.add_many([b"pdf", b"text", b"layout"]))
    added = archive.write(lambda tx: tx.add_document(FULL, source=source, text=text, layout=layout))
    assert added.provenance == FULL
    assert (added.source, added.text, added.layout) == (source, text, layout)
    assert added.added_at.startswith("2026-11-15T")
    archive.close()
    again = place.open()
    assert again.get_document(added.id) == added
    assert list(again.documents()) == [added]
    assert again.find_document_by_source(source) == added
    assert again.documents_of(text) == [added]
    assert again.documents_of(source) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(provenance=PROVENANCES)
def test_any_provenance_comes_back(archive: Archive, provenance: Provenance) -> None:
    source = archive.add(b"source").hash
    added = archive.write(lambda tx: tx.add_document(provenance, source=source))
    assert archive.get_document(added.id).provenance == provenance


@pytest.mark.requirement("cap/verification/document-links")
def test_what_is_unknown_about_a_document_stays_unknown(archive: Archive) -> None:
    document = add_document(archive, archive.add(b"source").hash)
    about = archive.get_document(document.id).provenance
    assert about == Provenance(title="A title")
    assert (about.url, about.archive_url, about.licence, about.year) == (None,) * 4


@pytest.mark.requirement("cap/concepts/document-kinds")
@pytest.mark.parametrize("kind", list(DocumentType))
def test_every_kind_of_document_is_recorded(archive: Archive, kind: DocumentType) -> None:
    source = archive.add(b"source").hash
    provenance = Provenance(title="A title", type=kind)
    added = archive.write(lambda tx: tx.add_document(provenance, source=source))
    assert archive.get_document(added.id).provenance.type is kind


def test_text_that_was_text_already_is_its_own_source(archive: Archive) -> None:
    source = archive.add(b"plain text").hash
    document = add_document(archive, source)
    assert (document.source, document.text, document.layout) == (source, source, None)
    assert last_event(archive) == {
        "kind": "document_added",
        "document": document.id,
        "source": source,
        "text": source,
        "layout": None,
        "derived": False,
        "provenance_sha256": provenance_sha256(document.provenance),
    }


def add_titled(tx: ArchiveTransaction, cards: dict[str, CardHash]) -> None:
    tx.add_document(
        Provenance(title="T"),
        source=cards["source"],
        text=cards["text"],
        layout=cards["layout"],
    )


@pytest.mark.parametrize("role", ["source", "text", "layout"])
def test_a_document_needs_all_its_cards(archive: Archive, role: str) -> None:
    card = archive.add(b"x").hash
    gone = archive.add(b"gone").hash
    delete(archive, gone)
    before = archive.stats()
    for absent, error in ((NOBODY, CardNotFound), (gone, CardDeleted)):
        cards = {"source": card, "text": card, "layout": card} | {role: absent}
        with pytest.raises(error):
            archive.write(partial(add_titled, cards=cards))
    assert archive.stats() == before


def test_documents_come_in_the_order_of_their_arrival(archive: Archive) -> None:
    source = archive.add(b"x").hash
    made = [add_document(archive, source, title=title) for title in ("c", "a", "b")]
    assert list(archive.documents()) == made
    assert len({document.id for document in made}) == 3


def test_the_first_document_of_a_source_is_the_one_that_is_found(archive: Archive) -> None:
    source, other = (card.hash for card in archive.add_many([b"x", b"y"]))
    first = add_document(archive, source, title="first")
    add_document(archive, source, title="second")
    assert archive.find_document_by_source(source) == first
    assert archive.find_document_by_source(other) is None
    archive.write(lambda tx: tx.remove_document(first.id))
    found = archive.find_document_by_source(source)
    assert found is not None
    assert found.provenance.title == "second"


def test_a_transaction_finds_the_documents_that_it_added_itself(archive: Archive) -> None:
    source = archive.add(b"x").hash

    def work(tx: ArchiveTransaction) -> bool:
        assert tx.find_document_by_source(source) is None
        document = tx.add_document(Provenance(title="T"), source=source)
        return tx.find_document_by_source(source) == document

    assert archive.write(work)


def test_a_removed_document_is_gone_and_its_cards_are_not(archive: Archive) -> None:
    source = archive.add(b"x").hash
    document = add_document(archive, source)
    archive.write(lambda tx: tx.remove_document(document.id))
    assert list(archive.documents()) == []
    assert archive.has(source)
    assert last_event(archive) == {"kind": "document_removed", "document": document.id}


def test_an_unknown_document_is_an_error_everywhere(archive: Archive) -> None:
    nobody = DocumentId("doc_0")
    attempts: list[Callable[[], object]] = [
        lambda: archive.get_document(nobody),
        lambda: archive.verifications(nobody),
        lambda: archive.write(lambda tx: tx.remove_document(nobody)),
        lambda: archive.write(lambda tx: tx.set_verification(nobody, VerificationStatus.VERIFIED)),
    ]
    for attempt in attempts:
        with pytest.raises(DocumentNotFound, match="doc_0"):
            attempt()
    assert log(archive) == []


# Verification


@pytest.mark.requirement("cap/verification/document-status")
def test_a_new_document_is_pending_with_who_and_when(archive: Archive) -> None:
    source = archive.add(b"x").hash
    document = archive.write(
        lambda tx: tx.add_document(Provenance(title="T"), source=source), by="librarian"
    )
    verification = document.verification
    assert verification.status is VerificationStatus.PENDING
    assert verification.by == "librarian"
    assert verification.at.startswith("2026-11-15T")
    assert archive.verifications(document.id) == [verification]


@pytest.mark.requirement("cap/verification/document-status")
def test_every_judgement_is_kept_with_who_when_and_why(place: Place) -> None:
    archive = place.open()
    document = add_document(archive, archive.add(b"x").hash)
    judged = [
        (VerificationStatus.VERIFIED, "ann", "compared with the printed edition"),
        (VerificationStatus.DISPUTED, "ben", "page 12 is missing"),
        (VerificationStatus.DISPUTED, "cem", "so is page 13"),
        (VerificationStatus.VERIFIED, "ann", ""),
        (VerificationStatus.PENDING, "dee", "a new scan came in ✓"),
    ]
    for number, (status, by, notes) in enumerate(judged, start=2):
        after = judge(archive, document.id, status, notes=notes, by=by)
        assert (after.verification.status, after.verification.by) == (status, by)
        assert after.verification.notes == notes
        assert archive.verifications(document.id)[0] == after.verification
        assert len(archive.verifications(document.id)) == number
    archive.close()
    again = place.open()
    kept = again.verifications(document.id)
    assert [(one.status, one.by, one.notes) for one in reversed(kept[:-1])] == judged
    times = [one.at for one in kept]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == len(times)
    assert again.get_document(document.id).verification == kept[0]


@pytest.mark.requirement("cap/verification/document-status")
def test_a_judgement_is_logged_with_before_and_after_but_without_its_words(
    archive: Archive,
) -> None:
    document = add_document(archive, archive.add(b"x").hash)
    archive.write(
        lambda tx: tx.set_verification(
            document.id, VerificationStatus.VERIFIED, notes="by comparison"
        )
    )
    assert last_event(archive) == {
        "kind": "document_verified",
        "document": document.id,
        "previous": "pending",
        "status": "verified",
        "notes_sha256": content_hash(b"by comparison"),
    }


def test_judging_one_document_leaves_the_others_alone(archive: Archive) -> None:
    source = archive.add(b"x").hash
    one, other = (add_document(archive, source, title=title) for title in ("one", "other"))
    judge(archive, one.id, VerificationStatus.VERIFIED)
    assert archive.get_document(other.id) == other
    assert [d.verification.status for d in archive.documents()] == ["verified", "pending"]


def test_the_judgements_of_a_removed_document_are_not_given_to_the_next(archive: Archive) -> None:
    source = archive.add(b"x").hash
    first = add_document(archive, source)
    judge(archive, first.id, VerificationStatus.VERIFIED)
    archive.write(lambda tx: tx.remove_document(first.id))
    second = add_document(archive, source)
    assert second.id != first.id
    assert second.verification.status is VerificationStatus.PENDING
    assert len(archive.verifications(second.id)) == 1


# Citations


@pytest.fixture
def cited(archive: Archive) -> tuple[CardHash, CardHash]:
    """A card of ten bytes and a card that will cite it."""
    source, reply = archive.add_many([b"0123456789", b"the reply"])
    return source.hash, reply.hash


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 10), (9, 10), (3, 7)])
def test_a_span_inside_a_card_can_be_cited(
    archive: Archive, cited: tuple[CardHash, CardHash], start: int, end: int
) -> None:
    source, reply = cited
    archive.write(lambda tx: tx.cite(reply, [Span(hash=source, start=start, end=end)]))
    assert archive.needs(source).citing_cards == (reply,)
    assert archive.stats().citations == 1
    assert last_event(archive) == {
        "kind": "spans_cited",
        "citing": reply,
        "spans": [[source, start, end]],
    }


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, 0), (5, 5), (5, 4), (-1, 3), (0, 11), (10, 11), (11, 12), (-5, -1), (0, 2**70)],
)
def test_a_span_outside_a_card_is_refused(
    archive: Archive, cited: tuple[CardHash, CardHash], start: int, end: int
) -> None:
    source, reply = cited
    before = archive.stats()
    good = Span(hash=source, start=0, end=1)
    with pytest.raises(InvalidInput, match="10 bytes"):
        archive.write(lambda tx: tx.cite(reply, [good, Span(hash=source, start=start, end=end)]))
    assert archive.stats() == before
    assert not archive.needs(source)


def test_a_citation_needs_both_cards(archive: Archive, cited: tuple[CardHash, CardHash]) -> None:
    source, reply = cited
    before = archive.stats()
    with pytest.raises(CardNotFound):
        archive.write(lambda tx: tx.cite(reply, [Span(hash=NOBODY, start=0, end=1)]))
    with pytest.raises(CardNotFound):
        archive.write(lambda tx: tx.cite(NOBODY, [Span(hash=source, start=0, end=1)]))
    delete(archive, source)
    with pytest.raises(CardDeleted):
        archive.write(lambda tx: tx.cite(reply, [Span(hash=source, start=0, end=1)]))
    assert archive.stats().citations == before.citations


def test_many_spans_of_many_cards_are_one_event(archive: Archive) -> None:
    one, two, reply = (card.hash for card in archive.add_many([b"one", b"two", b"reply"]))
    before = archive.checkpoint().seq
    spans = [
        Span(hash=two, start=0, end=1),
        Span(hash=one, start=0, end=1),
        Span(hash=one, start=1, end=2),
        Span(hash=one, start=0, end=1),
    ]
    archive.write(lambda tx: tx.cite(reply, iter(spans)))
    assert archive.stats().citations == 3
    assert kinds(archive, after=before) == ["spans_cited"]
    assert last_event(archive)["spans"] == [[two, 0, 1], [one, 0, 1], [one, 1, 2]]


def test_deleting_the_citing_card_frees_what_it_cited(
    archive: Archive, cited: tuple[CardHash, CardHash]
) -> None:
    source, reply = cited
    archive.write(lambda tx: tx.cite(reply, [Span(hash=source, start=0, end=1)]))
    delete(archive, reply)
    assert not archive.needs(source)
    assert archive.stats().citations == 0
