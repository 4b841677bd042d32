"""Filters: which documents a search may use, and what is not known is not inside."""

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.ids import AvatarId
from salon.corpus.filters import EVERYTHING, DocumentFilter, Where
from salon.corpus.language import detect_language
from salon.corpus.manifest import Period, add_to_corpus, set_period
from tests.documents import add_document


@pytest.fixture
def documents(archive: SqliteArchive) -> dict[str, Document]:
    made = {
        "old": add_document(archive, "An old text.", year=1862),
        "new": add_document(archive, "A new text.", year=1999),
        "undated": add_document(archive, "A text without a date."),
        "derived": add_document(archive, "A chapter made here.", year=1862, derived=True),
    }
    archive.write(lambda tx: tx.set_verification(made["old"].id, VerificationStatus.VERIFIED))
    return {name: archive.get_document(document.id) for name, document in made.items()}


def _passing(archive: SqliteArchive, documents: dict[str, Document], where: Where) -> list[str]:
    rule = DocumentFilter(archive, where, lambda _: None)
    return [name for name, document in documents.items() if rule.passes(document)]


@pytest.mark.parametrize(
    ("where", "passing"),
    [
        (EVERYTHING, ["old", "new", "undated", "derived"]),
        (Where(period=Period(last=1900)), ["old", "derived"]),
        (Where(period=Period(first=1900)), ["new"]),
        (Where(derived=True), ["derived"]),
        (Where(derived=False), ["old", "new", "undated"]),
        (Where(verification=frozenset({VerificationStatus.VERIFIED})), ["old"]),
        (
            Where(verification=frozenset({VerificationStatus.PENDING}), derived=False),
            ["new", "undated"],
        ),
        (Where(language="en"), []),
    ],
)
def test_each_filter_lets_through_what_is_known_to_fit(
    archive: SqliteArchive, documents: dict[str, Document], where: Where, passing: list[str]
) -> None:
    assert _passing(archive, documents, where) == passing


def test_documents_can_be_named(archive: SqliteArchive, documents: dict[str, Document]) -> None:
    wanted = frozenset({documents["new"].id, DocumentId("doc_unknown")})
    assert _passing(archive, documents, Where(documents=wanted)) == ["new"]


@pytest.mark.requirement("cap/concepts/own-corpus-only", "sdk/grounding/time-bound-retrieval")
def test_an_avatar_has_its_own_documents_within_its_own_period(
    archive: SqliteArchive, documents: dict[str, Document]
) -> None:
    avatar = AvatarId("abraham-lincoln")
    add_to_corpus(archive, avatar, [documents["old"].id, documents["new"].id])
    assert _passing(archive, documents, Where(avatar=avatar)) == ["old", "new"]
    set_period(archive, avatar, Period(last=1865))
    assert _passing(archive, documents, Where(avatar=avatar)) == ["old"]
    assert _passing(archive, documents, Where(avatar=avatar, period=Period(first=1900))) == []


def test_languages_are_told_only_where_that_is_safe() -> None:
    english = "The history of the republic is long, and nobody has told all of it."
    german = "Die Geschichte der Republik ist lang, und niemand hat sie ganz erzählt."
    assert detect_language(english) == "en"
    assert detect_language(german) == "de"
    assert detect_language("") is None
    assert detect_language("12345 67890 !!") is None


def test_a_filter_by_language_uses_what_was_detected(
    archive: SqliteArchive, documents: dict[str, Document]
) -> None:
    known = {documents["old"].text: "en", documents["new"].text: "de"}
    rule = DocumentFilter(archive, Where(language="de"), known.get)
    assert [name for name, document in documents.items() if rule.passes(document)] == ["new"]
    assert rule.cards(documents.values()) == {documents["new"].text}
