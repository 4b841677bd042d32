"""Spans of cards: checked once, never stale, bounded in memory."""

from salon.archive.sqlite_archive import SqliteArchive
from salon.retrieval.card_texts import CardTexts
from tests.archive.raw import damage


def test_a_span_is_read_from_its_card(archive: SqliteArchive) -> None:
    card = archive.add("Über die Freiheit".encode()).hash
    texts = CardTexts(archive)
    assert texts.find_span(card, 0, 5) == "Über"
    assert texts.find_span(card, 6, 9) == "die"


def test_a_deleted_card_is_gone_although_it_was_remembered(archive: SqliteArchive) -> None:
    card = archive.add(b"Soon forgotten.").hash
    texts = CardTexts(archive)
    assert texts.find_span(card, 0, 4) == "Soon"
    archive.write(lambda tx: tx.delete(card, reason="test"))
    assert texts.find_span(card, 0, 4) is None
    assert texts.find_span(card, 0, 4) is None


def test_a_damaged_card_is_never_served(archive: SqliteArchive) -> None:
    card = archive.add(b"As it was written.").hash
    damage(archive.path, card)
    assert CardTexts(archive).find_span(card, 0, 2) is None


def test_what_was_checked_stays_as_it_was_checked(archive: SqliteArchive) -> None:
    card = archive.add(b"As it was written.").hash
    texts = CardTexts(archive)
    assert texts.find_span(card, 0, 2) == "As"
    damage(archive.path, card)
    assert texts.find_span(card, 3, 5) == "it"


def test_only_so_much_is_remembered(archive: SqliteArchive) -> None:
    cards = [added.hash for added in archive.add_many([bytes([65 + n]) * 40 for n in range(5)])]
    texts = CardTexts(archive, limit=100)
    for card in cards:
        assert texts.find_span(card, 0, 3) is not None
    damage(archive.path, cards[0])  # long forgotten, so read again
    damage(archive.path, cards[4])  # still remembered
    assert texts.find_span(cards[0], 0, 3) is None
    assert texts.find_span(cards[4], 0, 3) == "EEE"
    large = archive.add(b"L" * 200).hash
    assert texts.find_span(large, 0, 2) == "LL"
