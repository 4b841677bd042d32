"""Deletion, in every backend: refused while needed, thorough when forced, never a mystery."""

import pytest

from salon.core.archive import Archive, ArchiveTransaction, Deletion, Needs
from salon.core.documents import Provenance, Span
from salon.core.errors import (
    CardDeleted,
    CardInUse,
    CardNotFound,
    DocumentNotFound,
    InvalidInput,
)
from salon.core.hashing import CardHash, content_hash
from tests.archive.samples import NOBODY, add_document, delete, kinds, last_event


def add(archive: Archive, *contents: bytes) -> list[CardHash]:
    return [added.hash for added in archive.add_many(contents)]


def derive(archive: Archive, card: CardHash, *sources: CardHash) -> None:
    def work(tx: ArchiveTransaction) -> None:
        for source in sources:
            tx.mark_derived(card, from_card=source)

    archive.write(work)


def cite(archive: Archive, citing: CardHash, cited: CardHash) -> None:
    archive.write(lambda tx: tx.cite(citing, [Span(hash=cited, start=0, end=1)]))


def refused(archive: Archive, card: CardHash) -> CardInUse:
    """Try to delete a card that is needed; return the refusal after checking it was clean."""
    before = archive.stats()
    with pytest.raises(CardInUse) as caught:
        delete(archive, card)
    assert archive.stats() == before
    assert archive.has(card)
    assert archive.find_tombstone(card) is None
    assert caught.value.details["hash"] == card
    assert caught.value.hint
    return caught.value


# Plain deletion


def test_a_card_that_nothing_needs_goes_and_leaves_a_tombstone(archive: Archive) -> None:
    (card,) = add(archive, b"secret")
    assert delete(archive, card, reason="asked by its author") == Deletion(hash=card)
    assert not archive.has(card)
    assert archive.find(card) is None
    assert list(archive.cards()) == []
    tombstone = archive.find_tombstone(card)
    assert tombstone is not None
    assert (tombstone.hash, tombstone.deleted_by) == (card, "tester")
    assert tombstone.reason == "asked by its author"
    assert tombstone.deleted_at.startswith("2026-11-15T")
    assert archive.stats().tombstones == 1


def test_reading_a_deleted_card_says_who_deleted_it_when_and_why(archive: Archive) -> None:
    (card,) = add(archive, b"secret")
    archive.write(lambda tx: tx.delete(card, reason="asked by its author"), by="curator")
    tombstone = archive.find_tombstone(card)
    assert tombstone is not None
    for read in (archive.get, archive.open, archive.info, archive.content_type):
        with pytest.raises(CardDeleted) as caught:
            read(card)
        assert caught.value.details == {
            "hash": card,
            "deleted_at": tombstone.deleted_at,
            "deleted_by": "curator",
            "reason": "asked by its author",
        }
        for part in (card, "curator", tombstone.deleted_at, "asked by its author"):
            assert part in caught.value.message


def test_the_log_says_what_went_but_not_why_in_words(archive: Archive) -> None:
    (card,) = add(archive, b"secret")
    delete(archive, card, reason="a private matter")
    assert last_event(archive) == {
        "kind": "cards_deleted",
        "hash": card,
        "also_deleted": [],
        "handles_removed": [],
        "documents_removed": [],
        "forced": False,
        "reason_sha256": content_hash(b"a private matter"),
    }


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_a_deletion_needs_a_reason(archive: Archive, reason: str) -> None:
    (card,) = add(archive, b"x")
    for force in (False, True):
        with pytest.raises(InvalidInput, match="reason"):
            delete(archive, card, reason=reason, force=force)
    assert archive.has(card)


def test_what_is_not_there_cannot_be_deleted(archive: Archive) -> None:
    (card,) = add(archive, b"x")
    delete(archive, card)
    before = archive.stats()
    for force in (False, True):
        with pytest.raises(CardNotFound):
            delete(archive, NOBODY, force=force)
        with pytest.raises(CardDeleted):
            delete(archive, card, force=force)
    assert archive.stats() == before


def test_deleted_content_can_be_added_again_and_deleted_again(archive: Archive) -> None:
    (card,) = add(archive, b"x")
    delete(archive, card, reason="first")
    again = archive.add(b"x")
    assert again.created
    assert archive.get(card).content == b"x"
    assert kinds(archive) == ["cards_added", "cards_deleted", "cards_added"]
    delete(archive, card, reason="second")
    with pytest.raises(CardDeleted, match="second"):
        archive.get(card)


# Refusals


def test_the_current_card_of_a_handle_is_kept(archive: Archive) -> None:
    card = archive.put("notes", b"v1").current
    error = refused(archive, card)
    assert error.details["handles"] == ["notes"]
    assert "current card of handle notes" in error.message
    assert archive.needs(card) == Needs(handles=(archive.resolve("notes").name,))


def test_a_card_in_the_past_of_a_handle_is_kept(archive: Archive) -> None:
    card = archive.put("notes", b"v1").current
    archive.put("notes", b"v2")
    error = refused(archive, card)
    assert error.details["past_of_handles"] == ["notes"]
    assert error.details["handles"] == []
    assert "history of handle notes" in error.message


def test_a_cited_card_is_kept(archive: Archive) -> None:
    card, citing = add(archive, b"source", b"reply")
    cite(archive, citing, card)
    error = refused(archive, card)
    assert error.details["citing_cards"] == [citing]
    assert f"cited by card {citing}" in error.message
    delete(archive, citing)
    delete(archive, card)


@pytest.mark.parametrize("role", ["source", "text", "layout"])
def test_every_card_of_a_document_is_kept(archive: Archive, role: str) -> None:
    source, text, layout = add(archive, b"source", b"text", b"layout")
    document = archive.write(
        lambda tx: tx.add_document(Provenance(title="T"), source=source, text=text, layout=layout)
    )
    card = {"source": source, "text": text, "layout": layout}[role]
    error = refused(archive, card)
    assert error.details["documents"] == [document.id]
    assert f"part of document {document.id}" in error.message
    archive.write(lambda tx: tx.remove_document(document.id))
    delete(archive, card)


def test_all_reasons_are_named_together(archive: Archive) -> None:
    card = archive.put("now", b"v1").current
    archive.put("then", b"v1")
    archive.put("then", b"v2")
    (citing,) = add(archive, b"reply")
    cite(archive, citing, card)
    document = add_document(archive, card)
    error = refused(archive, card)
    needs = archive.needs(card)
    assert needs.handles == ("now",)
    assert needs.past_of_handles == ("then",)
    assert needs.citing_cards == (citing,)
    assert needs.documents == (document.id,)
    for part in ("now", "then", citing, document.id):
        assert part in error.message


def test_a_card_whose_derived_card_is_needed_is_kept(archive: Archive) -> None:
    source = add(archive, b"source")[0]
    derived = archive.put("summary", b"made from it").current
    derive(archive, derived, source)
    assert refused(archive, source).details["handles"] == ["summary"]
    assert archive.has(derived)


def test_a_card_that_cites_itself_does_not_keep_itself(archive: Archive) -> None:
    (card,) = add(archive, b"I quote myself")
    cite(archive, card, card)
    delete(archive, card)
    assert archive.stats().citations == 0


def test_a_handle_that_was_removed_keeps_nothing(archive: Archive) -> None:
    card = archive.put("notes", b"v1").current
    archive.write(lambda tx: tx.remove_handle("notes"))
    assert not archive.needs(card)
    delete(archive, card)


# Forced deletion


def test_force_takes_handles_and_documents_along(archive: Archive) -> None:
    card = archive.put("one", b"v1").current
    archive.put("two", b"v1")
    archive.put("moved on", b"v1")
    kept = archive.put("moved on", b"v2").current
    document = add_document(archive, card)
    deleted = delete(archive, card, reason="unlawful", force=True)
    assert deleted == Deletion(
        hash=card, handles_removed=deleted.handles_removed, documents_removed=(document.id,)
    )
    assert sorted(deleted.handles_removed) == ["one", "two"]
    assert [handle.name for handle in archive.handles()] == ["moved on"]
    with pytest.raises(DocumentNotFound):
        archive.get_document(document.id)
    assert last_event(archive) == {
        "kind": "cards_deleted",
        "hash": card,
        "also_deleted": [],
        "handles_removed": ["one", "two"],
        "documents_removed": [document.id],
        "forced": True,
        "reason_sha256": content_hash(b"unlawful"),
    }
    assert archive.has(kept)


def test_histories_remember_the_hash_of_a_card_that_was_deleted_by_force(
    archive: Archive,
) -> None:
    first = archive.put("notes", b"v1").current
    second = archive.put("notes", b"v2").current
    delete(archive, first, force=True)
    assert [(m.previous, m.current) for m in archive.history("notes")] == [
        (first, second),
        (None, first),
    ]
    delete(archive, second, force=True)
    assert [(m.previous, m.current) for m in archive.history("notes")] == [
        (second, None),
        (first, second),
        (None, first),
    ]
    assert archive.put("notes", b"v3").name == "notes"


def test_a_citation_of_a_card_that_was_deleted_by_force_stays(archive: Archive) -> None:
    card, citing = add(archive, b"source", b"reply")
    cite(archive, citing, card)
    delete(archive, card, force=True)
    assert archive.has(citing)
    assert archive.stats().citations == 1
    with pytest.raises(CardDeleted):
        archive.get(card)


def test_force_is_only_noted_where_it_was_given_not_where_it_was_needed(archive: Archive) -> None:
    one, two = add(archive, b"one", b"two")
    delete(archive, one, force=True)
    assert last_event(archive)["forced"] is True
    delete(archive, two)
    assert last_event(archive)["forced"] is False


# Derived cards


def test_what_was_made_from_a_card_goes_with_it_down_to_the_last(archive: Archive) -> None:
    root, child, grandchild, sibling, bystander = add(archive, b"r", b"c", b"g", b"s", b"b")
    derive(archive, child, root)
    derive(archive, sibling, root)
    derive(archive, grandchild, child)
    deleted = delete(archive, root, reason="all of it")
    assert deleted.hash == root
    assert set(deleted.also_deleted) == {child, sibling, grandchild}
    assert [info.hash for info in archive.cards()] == [bystander]
    for card in deleted.also_deleted:
        tombstone = archive.find_tombstone(card)
        assert tombstone is not None
        assert root in tombstone.reason
        assert "all of it" in tombstone.reason
    assert set(last_event(archive)["also_deleted"] or ()) == set(deleted.also_deleted)  # type: ignore[arg-type]


def test_what_has_another_source_that_still_stands_stays(archive: Archive) -> None:
    one, two, mixed, below = add(archive, b"1", b"2", b"mixed", b"below")
    derive(archive, mixed, one, two)
    derive(archive, below, mixed)
    assert delete(archive, one).also_deleted == ()
    assert archive.has(mixed)
    assert archive.has(below)
    assert set(delete(archive, two).also_deleted) == {mixed, below}


def test_a_diamond_goes_when_its_top_goes(archive: Archive) -> None:
    top, left, right, bottom = add(archive, b"t", b"l", b"r", b"b")
    derive(archive, left, top)
    derive(archive, right, top)
    derive(archive, bottom, left, right)
    assert set(delete(archive, top).also_deleted) == {left, right, bottom}
    assert archive.stats().cards == 0


def test_a_ring_of_derivations_ends(archive: Archive) -> None:
    one, two = add(archive, b"1", b"2")
    derive(archive, one, two)
    derive(archive, two, one)
    assert delete(archive, one).also_deleted == (two,)


def test_deleting_the_derived_leaves_the_source(archive: Archive) -> None:
    source, derived = add(archive, b"s", b"d")
    derive(archive, derived, source)
    assert delete(archive, derived).also_deleted == ()
    assert archive.has(source)


def test_needs_among_the_cards_that_go_together_do_not_keep_them(archive: Archive) -> None:
    source, derived = add(archive, b"source", b"derived")
    derive(archive, derived, source)
    cite(archive, derived, source)
    assert delete(archive, source).also_deleted == (derived,)


def test_force_removes_what_needs_the_derived_cards_too(archive: Archive) -> None:
    (source,) = add(archive, b"source")
    derived = archive.put("summary", b"derived").current
    derive(archive, derived, source)
    document = add_document(archive, derived)
    deleted = delete(archive, source, force=True)
    assert deleted.also_deleted == (derived,)
    assert deleted.handles_removed == ("summary",)
    assert deleted.documents_removed == (document.id,)


def test_a_card_added_again_after_deletion_has_no_derivations_left(archive: Archive) -> None:
    source, derived = add(archive, b"s", b"d")
    derive(archive, derived, source)
    delete(archive, source)
    add(archive, b"s", b"d")
    assert delete(archive, source).also_deleted == ()
    assert archive.has(derived)


@pytest.mark.parametrize("missing", ["card", "source"])
def test_a_derivation_needs_both_cards(archive: Archive, missing: str) -> None:
    (card,) = add(archive, b"x")
    pair = (NOBODY, card) if missing == "card" else (card, NOBODY)
    with pytest.raises(CardNotFound):
        derive(archive, *pair)
    assert kinds(archive) == ["cards_added"]


def test_a_transaction_can_tell_what_is_derived(archive: Archive) -> None:
    source, derived = add(archive, b"s", b"d")
    derive(archive, derived, source)
    told = archive.write(lambda tx: [tx.is_derived(card) for card in (derived, source, NOBODY)])
    assert told == [True, False, False]


def test_a_card_is_not_derived_from_itself(archive: Archive) -> None:
    (card,) = add(archive, b"x")
    derive(archive, card, card)
    assert kinds(archive) == ["cards_added"]
    assert delete(archive, card) == Deletion(hash=card)
