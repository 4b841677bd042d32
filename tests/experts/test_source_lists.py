"""`sources.json` beside the files: what it says of a source is taken in, and nothing is guessed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.documents import Document, DocumentType, VerificationStatus
from salon.core.errors import InvalidInput
from salon.corpus.ingest import Ingested
from salon.corpus.sources import FileSource, UrlSource, expand
from salon.experts.profile import load_profile, save_profile
from salon.experts.source_lists import SourceLists, read_source_list
from salon.settings import load_settings
from tests.experts.profiles import config, profile

ENTRY = {
    "id": "engine-notes",
    "title": "Notes on the Engine",
    "authors": ["A. A. L."],
    "year": 1843,
    "type": "paper",
    "description": "Seven notes.",
    "url": "https://example.org/notes",
    "archive_url": "https://example.org/copy",
    "license": "Public domain",
    "format": "TXT",
    "verified": True,
    "priority": "primary",
    "topics": ["engines"],
    "doi": "10.1000/1",
    "sha256": "0" * 64,
    "doi_checked_by": "somebody",
}
LIST = {
    "avatar": "ada",
    "corpus_description": "Texts.",
    "last_updated": "2026-01-01",
    "sources": [ENTRY, {"title": "Never fetched", "type": "book", "year": 1850, "doi": None}],
    "excluded_sources": [{"title": "A novel", "reason": "fiction"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Lay files out as the Avatar SDK does."""
    place = tmp_path / "ada"
    (place / "corpus" / "open-access").mkdir(parents=True)
    text = "The engine weaves algebraic patterns as the loom weaves flowers and leaves.\n"
    (place / "corpus" / "open-access" / "engine-notes.txt").write_text(text)
    (place / "corpus" / "open-access" / "letter.txt").write_text("Bernoulli's numbers are done.\n")
    (place / "corpus" / "sources.json").write_text(json.dumps(LIST))
    return place


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    flags = {"index": {"embedder": "hashing:256"}}
    with Salon(load_settings(home=tmp_path / "home", environment={}, flags=flags)) as opened:
        yield opened


def _by_title(results: object) -> dict[str, Document]:
    assert isinstance(results, list)
    assert all(isinstance(one, Ingested) for one in results)
    return {one.document.provenance.title: one.document for one in results}


def _check_notes(salon: Salon, document: Document) -> None:
    about = document.provenance
    assert (about.authors, about.year, about.type) == (("A. A. L.",), 1843, DocumentType.PAPER)
    assert (about.url, about.archive_url) == (ENTRY["url"], ENTRY["archive_url"])
    assert (about.licence, about.doi) == ("Public domain", "10.1000/1")
    judged = salon.archive.get_document(document.id).verification
    assert judged.status is VerificationStatus.VERIFIED
    assert judged.notes == "sources.json of the corpus says so"


def test_what_the_list_says_is_recorded_and_listed(salon: Salon, folder: Path) -> None:
    salon.new_avatar(profile())
    found = _by_title(list(salon.add_sources("ada", expand([folder]).sources)))
    _check_notes(salon, found["Notes on the Engine"])
    (letter,) = (one for title, one in found.items() if title != "Notes on the Engine")
    assert letter.provenance.year is None
    listed = load_profile(salon.avatar_folder("ada")).corpus.sources
    notes = next(one for one in listed if one.title == "Notes on the Engine")
    assert (notes.id, notes.topics, notes.priority) == ("engine-notes", ("engines",), "primary")
    assert len(listed) == 2
    list(salon.add_sources("ada", expand([folder]).sources))
    assert load_profile(salon.avatar_folder("ada")).corpus.sources == listed


def test_a_folder_of_the_sdk_becomes_an_avatar(salon: Salon, folder: Path) -> None:
    save_profile(profile(), folder)
    found = _by_title(list(salon.import_avatar(folder)))
    _check_notes(salon, found["Notes on the Engine"])
    assert salon.avatar_info("ada").verified_count == 1


def test_an_avatars_own_folder_may_be_laid_out_so(salon: Salon, folder: Path) -> None:
    salon.new_avatar(profile())
    (folder / "corpus").rename(salon.avatar_folder("ada") / "corpus")
    places = salon.sources_in_folder("ada")
    found = _by_title(list(salon.add_sources("ada", expand(places).sources)))
    _check_notes(salon, found["Notes on the Engine"])


def test_the_profile_counts_before_the_list(salon: Salon, folder: Path) -> None:
    own = {"id": "engine-notes", "title": "My own title", "type": "letter", "year": 1844}
    salon.new_avatar(profile(corpus={**config()["corpus"], "sources": [own]}))
    found = _by_title(list(salon.add_sources("ada", expand([folder]).sources)))
    assert found["My own title"].provenance.year == 1844
    assert "Notes on the Engine" not in found


@pytest.mark.parametrize(
    "content", [b"[1]", b"{", b'{"sources": 3}', b'{"name": "x"}', b"\xff", b" " * 10_000_001]
)
def test_a_file_of_that_name_that_is_no_list_is_passed_over(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sources.json"
    path.write_bytes(content)
    assert read_source_list(path) == ()
    assert SourceLists().find(FileSource(path=tmp_path / "notes.txt")) is None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"type": "book"}, "source 1: title"),
        ({"title": "x", "type": "tapestry"}, "source 1: type"),
        ({"title": "x", "type": "book", "year": "old"}, "source 1: year"),
        ({"title": "x", "type": "book", "url": "ftp://x"}, "source 1: url"),
        (3, "source 1: title"),
    ],
)
def test_an_entry_that_cannot_be_is_named(tmp_path: Path, entry: object, said: str) -> None:
    path = tmp_path / "sources.json"
    path.write_text(json.dumps({"sources": [entry]}))
    with pytest.raises(InvalidInput, match=said) as caught:
        read_source_list(path)
    assert str(path) in caught.value.message


def test_pages_have_no_list_beside_them() -> None:
    assert SourceLists().find(UrlSource(url="https://example.org/notes")) is None
