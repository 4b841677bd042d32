"""Avatars through the application: made, fed, checked, described and carried elsewhere."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.documents import VerificationStatus
from salon.core.errors import (
    AvatarNotFound,
    Conflict,
    FetchFailed,
    HandleExists,
    InvalidProfile,
)
from salon.corpus.fetch import Fetcher
from salon.corpus.filters import Where
from salon.corpus.ingest import Details, Failed, Ingested
from salon.corpus.manifest import Period, get_manifest
from salon.corpus.sources import UrlSource, expand
from salon.experts.checking import AvatarCheck, denies_being_an_ai
from salon.experts.profile import find_profile, load_profile, make_profile, save_profile
from salon.settings import load_settings
from tests.documents import add_document
from tests.experts.profiles import config, profile

NOTES = "The engine weaves algebraic patterns as the loom weaves flowers and leaves.\n"
LETTER = (
    "# A letter\n\nI have been at work on the numbers of Bernoulli.\n\n## Later\n\nIt is done.\n"
)


def _open(home: Path) -> Salon:
    return Salon(
        load_settings(home=home, environment={}, flags={"index": {"embedder": "hashing:256"}})
    )


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    with _open(tmp_path / "home") as opened:
        yield opened


def _files(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir(exist_ok=True)
    (folder / "notes.txt").write_text(NOTES)
    (folder / "letter.md").write_text(LETTER)
    return folder


def _add(salon: Salon, *places: Path | str, avatar: str = "ada", **about: object) -> list[str]:
    details = Details(**about)  # type: ignore[arg-type]
    results = list(salon.add_sources(avatar, expand(places).sources, details=details))
    assert all(isinstance(result, Ingested) for result in results)
    return [result.document.provenance.title for result in results if isinstance(result, Ingested)]


def test_a_new_avatar_works_at_once_and_is_made_only_once(salon: Salon) -> None:
    salon.new_avatar(profile())
    folder = salon.avatar_folder("ada")
    assert load_profile(folder) == find_profile(salon.archive, "ada")
    assert (folder / "sources").is_dir()
    assert salon.search("engine", where=Where(avatar=profile().avatar)).passages == ()
    assert salon.avatar_info("ada").document_count == 0
    with pytest.raises(HandleExists, match="already"):
        salon.new_avatar(profile(name="Another"))
    assert load_profile(folder).name == "Ada Lovelace"


def test_sources_come_into_the_corpus_and_onto_the_public_list(
    salon: Salon, tmp_path: Path
) -> None:
    salon.new_avatar(profile())
    assert sorted(_add(salon, _files(tmp_path), year=1843)) == ["A letter", "notes"]
    listed = load_profile(salon.avatar_folder("ada")).corpus.sources
    assert {(one.title, one.year, one.verified) for one in listed} == {
        ("A letter", 1843, False),
        ("notes", 1843, False),
    }
    assert find_profile(salon.archive, "ada") == load_profile(salon.avatar_folder("ada"))
    _add(salon, tmp_path / "papers")
    assert len(load_profile(salon.avatar_folder("ada")).corpus.sources) == 2, "listed once"
    found = salon.search("loom", where=Where(avatar=profile().avatar)).passages
    assert [one.source for one in found][:1] == ["notes"]


@pytest.mark.requirement("cap/verification/document-status")
def test_what_the_profile_says_of_a_source_is_recorded_with_it(
    salon: Salon, tmp_path: Path
) -> None:
    papers = _files(tmp_path)
    listed = [
        {
            "id": "NOTES",
            "title": "Notes by the translator",
            "type": "article",
            "authors": ["A. A. L."],
            "year": 1843,
            "url": "https://nowhere.io/notes",
            "license": "Public domain",
            "doi": "10.1/x",
            "verified": True,
            "notes": "compared with the print",
        },
        {"title": "Letter", "type": "letter", "verified": True, "file": "sources/own.md"},
    ]
    salon.new_avatar(profile(corpus={"description": "x", "sources": listed}))
    own = salon.avatar_folder("ada") / "sources" / "own.md"
    own.write_text(LETTER)
    _add(salon, papers / "notes.txt", *salon.sources_in_folder("ada"))
    documents = {one.provenance.title: one for one in salon.documents(avatar="ada")}
    notes = documents["Notes by the translator"]
    assert notes.provenance.authors == ("A. A. L.",)
    assert (notes.provenance.licence, notes.provenance.doi) == ("Public domain", "10.1/x")
    assert notes.verification.status is VerificationStatus.VERIFIED
    assert notes.verification.notes == "compared with the print"
    assert documents["Letter"].verification.notes == "the avatar's profile says so"
    # A later judgement is stronger than the profile.
    salon.archive.write(lambda tx: tx.set_verification(notes.id, VerificationStatus.DISPUTED))
    _add(salon, papers / "notes.txt")
    assert salon.archive.get_document(notes.id).verification.status == "disputed"


def test_a_page_is_known_by_its_address(salon: Salon, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://nowhere.io/notes"
    listed = [{"title": "Notes", "type": "article", "archiveUrl": url, "year": 1843}]
    salon.new_avatar(profile(corpus={"description": "x", "sources": listed}))

    def away(_self: Fetcher, _url: str) -> None:
        raise FetchFailed("away")

    monkeypatch.setattr(Fetcher, "fetch", away)
    sources = [UrlSource(url=url), UrlSource(url="https://nowhere.io/other")]
    results = list(salon.add_sources("ada", sources))
    assert all(isinstance(result, Failed) for result in results)
    add_document(salon.archive, NOTES, title="Notes", url=url)
    (known,) = salon.add_sources("ada", sources[:1])
    assert isinstance(known, Ingested)
    assert known.already_there
    assert [one.id for one in salon.documents(avatar="ada")] == [known.document.id]


def test_who_stops_half_way_keeps_what_was_read(salon: Salon, tmp_path: Path) -> None:
    salon.new_avatar(profile())
    reading = salon.add_sources("ada", expand([_files(tmp_path)]).sources)
    next(iter(reading))
    reading.close()  # type: ignore[attr-defined]
    assert len(salon.documents(avatar="ada")) == 1
    assert len(load_profile(salon.avatar_folder("ada")).corpus.sources) == 1


@pytest.mark.requirement("sdk/configuration/config-file")
def test_what_is_edited_in_the_folder_counts_from_the_next_time_on(salon: Salon) -> None:
    salon.new_avatar(profile())
    folder = salon.avatar_folder("ada")
    days = {"dateRange": {"start": "1840-01-01", "end": "1852-11-27"}}
    edited = make_profile(config(name="A. Lovelace", corpus=config()["corpus"] | days))
    save_profile(edited, folder)
    assert salon.avatar_info("ada").name == "Ada Lovelace"
    assert salon.refresh_avatar("ada") == edited
    assert salon.avatar_info("ada").name == "A. Lovelace"
    assert salon.avatar_info("ada").period == (1840, 1852)
    manifest = get_manifest(salon.archive, edited.avatar)
    assert manifest.period == Period(first=1840, last=1852)
    (folder / "config.json").write_text("{}")
    with pytest.raises(InvalidProfile):
        salon.refresh_avatar("ada")
    save_profile(make_profile(config(id="bob")), folder)
    with pytest.raises(HandleExists, match="describes 'bob'"):
        salon.refresh_avatar("ada")
    (folder / "config.json").unlink()
    assert salon.refresh_avatar("ada") == edited, "the archive knows it without the folder"
    with pytest.raises(AvatarNotFound):
        salon.refresh_avatar("nobody")


def test_a_folder_that_is_put_in_place_becomes_an_avatar_when_it_is_used(salon: Salon) -> None:
    save_profile(profile(), salon.avatar_folder("ada"))
    assert find_profile(salon.archive, "ada") is None
    with pytest.raises(HandleExists, match="already holds a profile"):
        salon.new_avatar(profile(name="Another"))
    assert salon.ensure_avatar("ada") is False
    assert salon.avatar_info("ada").name == "Ada Lovelace"
    save_profile(profile(name="A. Lovelace"), salon.avatar_folder("ada"))
    salon.ensure_avatar("ada")
    assert salon.avatar_info("ada").name == "A. Lovelace"


@pytest.mark.requirement(
    "sdk/get-avatar-info/corpus-size",
    "sdk/get-avatar-info/document-count",
    "cap/verification/ai-label",
)
def test_a_description_counts_words_and_documents_as_they_are_now(
    salon: Salon, tmp_path: Path
) -> None:
    salon.new_avatar(profile(expertise=["engines"], mcp={"tools": ["query_corpus"]}))
    papers = _files(tmp_path)
    _add(salon, papers / "notes.txt")
    first = salon.avatar_info("ada")
    assert (first.corpus_size, first.document_count, first.verified_count) == (12, 1, 0)
    assert (first.ai, first.tools, first.expertise) == (True, ("query_corpus",), ("engines",))
    assert "AI" in first.ai_label
    _add(salon, papers / "letter.md")
    assert salon.avatar_info("ada").corpus_size == 12 + len(LETTER.split())
    one = salon.documents(avatar="ada")[0]
    salon.archive.write(lambda tx: tx.set_verification(one.id, VerificationStatus.VERIFIED))
    assert salon.avatar_info("ada").verified_count == 1
    salon.archive.write(lambda tx: tx.remove_document(one.id))
    assert salon.avatar_info("ada").document_count == 1
    known = salon.avatar_info("ada")
    salon.archive.add(b"something else entirely")
    salon.archive.put("notes/other", b"another handle")
    assert salon.avatar_info("ada") is known, "nothing that it rests on changed"
    with pytest.raises(AvatarNotFound, match="nobody"):
        salon.avatar_info("nobody")
    assert [info.id for info in salon.avatars()] == ["ada"]


def test_words_are_counted_once_also_across_runs(salon: Salon, tmp_path: Path) -> None:
    salon.new_avatar(profile())
    _add(salon, _files(tmp_path))
    salon.index_words()
    words = salon.avatar_info("ada").corpus_size
    counts = salon.settings.index_path / "words.json"
    assert sum(json.loads(counts.read_text()).values()) == words
    salon.close()
    for damaged in ("{", "[]", '{"x": "many"}'):
        counts.write_text(damaged)
        with _open(tmp_path / "home") as again:
            assert again.avatar_info("ada").corpus_size == words


# Checking


def _check(salon: Salon, **options: bool) -> tuple[AvatarCheck, dict[str, bool]]:
    found = salon.check_avatar("ada", **options)  # type: ignore[arg-type]
    return found, {remark.code: remark.blocks for remark in found.remarks}


@pytest.mark.requirement("cap/verification/source-list", "cap/verification/missing-links-named")
def test_a_check_lists_the_sources_with_their_links_and_standing(
    salon: Salon, tmp_path: Path
) -> None:
    listed = [
        {"title": "Never added", "type": "book"},
        {"id": "notes", "title": "Notes", "type": "article", "url": "https://nowhere.io/notes",
         "year": 1843, "verified": True, "notes": "read against the print"},
    ]  # fmt: skip
    corpus = {"description": "x", "dateRange": {"end": "1852-11-27"}, "sources": listed}
    salon.new_avatar(profile(corpus=corpus, expertise=["loom flowers leaves", "whaling"]))
    _add(salon, _files(tmp_path), year=1900)
    found, remarks = _check(salon)
    standing = {one.title: one for one in found.sources}
    notes, letter = standing["Notes"], standing["A letter"]
    assert (notes.status, notes.notes, notes.url) == (
        "verified",
        "read against the print",
        "https://nowhere.io/notes",
    )
    assert (letter.status, letter.in_period, notes.in_period) == ("pending", False, True)
    assert found.not_in_corpus == ("Never added",)
    assert found.without_link == ("A letter",)
    assert found.broken_links is None
    best = {one.field: (one.is_covered, one.source) for one in found.expertise}
    assert best["loom flowers leaves"] == (True, "Notes")
    assert best["whaling"][0] is False
    assert remarks == {
        "source_pending": False,
        "outside_period": False,
        "not_in_corpus": False,
        "without_link": False,
        "expertise_not_covered": False,
    }
    assert found.verdict == "ready"


@pytest.mark.requirement("cap/security/no-pii")
def test_private_data_is_named_with_its_place_and_blocks_unless_accepted(
    salon: Salon, tmp_path: Path
) -> None:
    salon.new_avatar(profile())
    text = "Größe zählt: ring Mary Smith, +44 20 7946 0958.\n\nZIP: 90210 is élan vital.\n"
    (tmp_path / "private.txt").write_text(text)
    _add(salon, tmp_path / "private.txt")
    found, remarks = _check(salon)
    document = salon.documents(avatar="ada")[0]
    content = salon.archive.get(document.text).content
    places = {one.kind: content[one.start : one.end].decode() for one in found.private_data}
    assert places == {"name": "Mary Smith", "phone": "+44 20 7946 0958", "postal_code": "90210"}
    assert all(one.document_id == document.id for one in found.private_data)
    assert "7946" not in str(found)
    assert (remarks["private_data"], remarks["possible_private_data"]) == (True, False)
    assert found.verdict == "blocked"
    accepted, _ = _check(salon, accept_private_data=True)
    assert accepted.verdict == "ready"
    assert accepted.private_data == found.private_data, "accepted, and still shown"


def test_an_empty_corpus_a_disputed_source_and_a_lying_persona_block(
    salon: Salon, tmp_path: Path
) -> None:
    prompt = config()["systemPrompt"] | {"constraints": ["Never admit that you are an AI."]}
    salon.new_avatar(profile(systemPrompt=prompt))
    _, remarks = _check(salon)
    assert remarks == {"persona_denies_ai": True, "empty_corpus": True}
    _add(salon, _files(tmp_path))
    document = salon.documents(avatar="ada")[0]
    salon.archive.write(lambda tx: tx.set_verification(document.id, VerificationStatus.DISPUTED))
    assert _check(salon)[1]["source_disputed"] is True


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("Never admit that you are an AI.", True),
        ("Do not reveal that you are a language model", True),
        ("If asked, insist that you are a real person.", True),
        ("Deny that you are not human", True),
        ("Say that you are an AI, and never claim to be the man himself.", False),
        ("Never claim to be human.", False),
        ("Do not pretend to be a real person.", False),
        ("Do not discuss machines.", False),
    ],
)  # fmt: skip
def test_a_persona_may_say_what_it_is_not_but_never_hide_it(text: str, denies: bool) -> None:
    assert denies_being_an_ai(text) is denies


def test_links_are_looked_at_only_on_request(salon: Salon, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fetch(_self: Fetcher, url: str) -> None:
        asked.append(url)
        if "broken" in url:
            raise FetchFailed(f"{url} answered with status 404")

    monkeypatch.setattr(Fetcher, "fetch", fetch)
    salon.new_avatar(profile())
    made = add_document(
        salon.archive, NOTES, url="https://nowhere.io/x", archive_url="https://nowhere.io/broken"
    )
    salon.add_to_corpus(profile().avatar, [made.id])
    assert _check(salon)[0].broken_links is None
    assert asked == []
    found, remarks = _check(salon, links=True)
    assert found.broken_links is not None
    assert [(one.url, "404" in one.reason) for one in found.broken_links] == [
        ("https://nowhere.io/broken", True)
    ]
    assert remarks["broken_links"] is True


# Carrying


def _library(tmp_path: Path) -> Path:
    from docx import Document as WordFile
    from reportlab.pdfgen.canvas import Canvas

    folder = _files(tmp_path)
    word = WordFile()
    word.add_heading("On looms", 1)
    word.add_paragraph("A loom is an engine too.")
    word.save(str(folder / "word.docx"))
    (folder / "plain.md").write_text("Only words, no heading.\n\nAnd more of them.\n")
    (folder / "page.html").write_text(
        "<html><head><title>Page</title></head><body><article><h1>Page</h1><p>"
        + "A page about engines and looms, long enough to be read. " * 5
        + "</p></article></body></html>"
    )
    canvas = Canvas(str(folder / "paper.pdf"), invariant=1)
    canvas.drawString(72, 720, "The first page speaks of looms.")
    canvas.showPage()
    canvas.save()
    return folder


@pytest.mark.parametrize("name", ["carried", "carried.zip"])
def test_an_avatar_comes_out_elsewhere_card_for_card(
    salon: Salon, tmp_path: Path, name: str
) -> None:
    notes = {"id": "notes", "title": "Notes", "type": "article", "year": 1843, "verified": True}
    more = {"notes": "by hand", "topics": ["looms"], "archiveUrl": "https://nowhere.io/a"}
    listed = [{"title": "Lost", "type": "book"}, notes | more]
    salon.new_avatar(profile(corpus={"description": "x", "sources": listed}))
    _add(salon, _library(tmp_path), year=1850)
    written = salon.export_avatar("ada", tmp_path / name)
    assert written.unfaithful == ()
    assert written.files == 2 + 6
    with _open(tmp_path / "other") as other:
        results = list(other.import_avatar(tmp_path / name))
        assert all(isinstance(result, Ingested) for result in results)
        mine, theirs = (
            {
                (one.source, one.text, one.layout, str(one.provenance.as_record()),
                 one.verification.status, one.verification.notes)
                for one in place.documents(avatar="ada")
            }
            for place in (salon, other)
        )  # fmt: skip
        assert mine == theirs
        assert len(theirs) == 6
        assert {one.title for one in other.refresh_avatar("ada").corpus.sources} == {
            one.title for one in salon.refresh_avatar("ada").corpus.sources
        }
        with pytest.raises(HandleExists):
            list(other.import_avatar(tmp_path / name))
        list(other.import_avatar(tmp_path / name, avatar="countess"))
        assert other.avatar_info("countess").document_count == 6
        again = other.export_avatar("ada", tmp_path / f"again-{name}")
        assert again.bytes == written.bytes
    with pytest.raises(Conflict, match="already there"):
        salon.export_avatar("ada", tmp_path / name)


def test_the_list_of_sources_is_laid_out_as_upstream_has_it(salon: Salon, tmp_path: Path) -> None:
    salon.new_avatar(profile())
    _add(salon, _files(tmp_path), archive_url="https://nowhere.io/a")
    salon.export_avatar("ada", tmp_path / "out")
    listed = json.loads((tmp_path / "out" / "sources.json").read_text())
    assert (listed["avatar"], listed["corpus_description"]) == ("ada", "Her notes.")
    assert len(listed["last_updated"]) == 10
    for source in listed["sources"]:
        assert source["archive_url"] == "https://nowhere.io/a"
        assert (tmp_path / "out" / source["file"]).is_file()
        assert len(source["sha256"]) == 64


def test_the_same_avatar_gives_the_same_zip_file(salon: Salon, tmp_path: Path) -> None:
    salon.new_avatar(profile())
    _add(salon, _files(tmp_path))
    for name in ("a.zip", "b.zip"):
        salon.export_avatar("ada", tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_source_that_will_not_read_the_same_is_named(salon: Salon, tmp_path: Path) -> None:
    salon.new_avatar(profile())
    (tmp_path / "old.txt").write_bytes("Käse und Brot".encode("latin-1"))
    sources = expand([tmp_path / "old.txt"]).sources
    list(salon.add_sources("ada", sources, encoding="latin-1"))
    assert salon.export_avatar("ada", tmp_path / "out").unfaithful == ("old",)
    assert [one.name for one in (tmp_path / "out" / "sources").iterdir()] == ["001-old.txt"]


def test_a_hostile_folder_or_zip_file_reaches_nothing_outside(salon: Salon, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The secret is here.")
    folder = tmp_path / "hostile"
    listed = [{"title": "x", "type": "book", "file": "linked.txt"}]
    save_profile(profile(corpus={"description": "x", "sources": listed}), folder)
    (folder / "linked.txt").symlink_to(secret)
    (folder / "sources").symlink_to(tmp_path)
    assert list(salon.import_avatar(folder)) == []
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as packed:
        packed.writestr("../escaped.txt", "out")
        packed.writestr("config.json", json.dumps(config(id="evil")))
    assert list(salon.import_avatar(tmp_path / "evil.zip")) == []
    assert not (tmp_path / "escaped.txt").exists()
    (tmp_path / "no.zip").write_bytes(b"not a zip file")
    with pytest.raises(InvalidProfile, match="not the zip file"):
        list(salon.import_avatar(tmp_path / "no.zip"))


def test_a_zip_file_of_too_much_is_refused(
    salon: Salon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.experts.carrying._MOST_FILES", 1)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as packed:
        packed.writestr("config.json", "{}")
        packed.writestr("more", "")
    with pytest.raises(InvalidProfile, match="2 files"):
        list(salon.import_avatar(tmp_path / "many.zip"))
