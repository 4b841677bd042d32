"""The manifest of an avatar's corpus: versions behind a handle, nothing lost between writers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.documents import DocumentId
from salon.core.errors import AvatarNotFound, InvalidDocument, InvalidInput
from salon.core.ids import AvatarId
from salon.corpus.manifest import (
    CorpusManifest,
    Period,
    add_to_corpus,
    as_avatar_id,
    corpus_handle,
    find_manifest,
    get_manifest,
    remove_from_corpus,
    set_period,
)

LINCOLN = AvatarId("abraham-lincoln")
ONE, TWO, THREE = DocumentId("doc_1"), DocumentId("doc_2"), DocumentId("doc_3")


def test_a_corpus_begins_with_its_first_document_and_keeps_their_order(
    archive: SqliteArchive,
) -> None:
    assert find_manifest(archive, LINCOLN) is None
    add_to_corpus(archive, LINCOLN, [TWO])
    add_to_corpus(archive, LINCOLN, [ONE, TWO, THREE])
    assert get_manifest(archive, LINCOLN).documents == (TWO, ONE, THREE)


def test_adding_what_is_there_makes_no_new_version(archive: SqliteArchive) -> None:
    add_to_corpus(archive, LINCOLN, [ONE])
    before = archive.checkpoint()
    add_to_corpus(archive, LINCOLN, [ONE])
    assert archive.checkpoint() == before


def test_every_version_of_a_corpus_is_kept(archive: SqliteArchive) -> None:
    add_to_corpus(archive, LINCOLN, [ONE])
    first = archive.resolve(corpus_handle(LINCOLN)).current
    remove_from_corpus(archive, LINCOLN, [ONE])
    assert get_manifest(archive, LINCOLN).documents == ()
    assert CorpusManifest.from_json(archive.get(first).content).documents == (ONE,)


def test_a_period_survives_changes_of_the_documents(archive: SqliteArchive) -> None:
    add_to_corpus(archive, LINCOLN, [ONE])
    set_period(archive, LINCOLN, Period(first=1861, last=1865))
    add_to_corpus(archive, LINCOLN, [TWO])
    assert get_manifest(archive, LINCOLN).period == Period(first=1861, last=1865)


def test_writers_at_the_same_time_lose_nothing(archive: SqliteArchive) -> None:
    documents = [DocumentId(f"doc_{number}") for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: add_to_corpus(archive, LINCOLN, [one]), documents))
    assert sorted(get_manifest(archive, LINCOLN).documents) == sorted(documents)


def test_an_unknown_avatar_is_named_beside_the_known_ones(archive: SqliteArchive) -> None:
    with pytest.raises(AvatarNotFound) as nobody:
        get_manifest(archive, LINCOLN)
    assert "corpus add" in str(nobody.value.hint)
    add_to_corpus(archive, LINCOLN, [ONE])
    with pytest.raises(AvatarNotFound) as unknown:
        set_period(archive, AvatarId("lincoln"), Period())
    assert "abraham-lincoln" in str(unknown.value.hint)
    with pytest.raises(AvatarNotFound):
        remove_from_corpus(archive, AvatarId("lincoln"), [ONE])


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a--b", "a/b", "é", "x" * 65])
def test_a_name_that_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        as_avatar_id(name)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        CorpusManifest().to_json().replace(b"salon.corpus", b"salon.layout"),
        CorpusManifest().to_json().replace(b"[]", b"3"),
    ],
)
def test_a_card_that_is_no_manifest_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidDocument):
        CorpusManifest.from_json(content)


def test_a_period_holds_the_years_between_its_ends_and_no_unknown_year() -> None:
    period = Period(first=1861, last=1865)
    assert [year for year in range(1858, 1870) if period.holds(year)] == list(range(1861, 1866))
    assert not period.holds(None)
    assert Period().holds(None)
    assert Period(last=1865).holds(-44)
    with pytest.raises(InvalidInput):
        Period(first=1900, last=1899)
