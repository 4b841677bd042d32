"""From sources to documents: whole or not at all, and never twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.documents import DocumentType
from salon.core.errors import (
    ContentTooLarge,
    EmptyContent,
    FileMissing,
    ForbiddenAddress,
    ReaderFailed,
    StorageFull,
    UnreadableSource,
)
from salon.core.hashing import content_hash
from salon.corpus.fetch import Fetched, Fetcher
from salon.corpus.ingest import Details, Failed, Ingested, Progress, ingest
from salon.corpus.layout import Layout
from salon.corpus.limits import Limits
from salon.corpus.sandbox import Sandbox
from salon.corpus.sources import FileSource, Source, UrlSource, expand
from tests.corpus import samples


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "salon.db") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sources"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(input_bytes=10_000_000)) as opened:
        yield opened


def put(folder: Path, name: str, content: bytes) -> FileSource:
    (folder / name).write_bytes(content)
    return FileSource(path=folder / name)


def single(results: Iterator[Ingested | Failed]) -> Ingested:
    (result,) = results
    assert isinstance(result, Ingested), result
    return result


class Web(Fetcher):
    """A fetcher with one page, which counts how often it is asked."""

    def __init__(self, content: bytes, media_type: str, charset: str | None = None) -> None:
        super().__init__()
        self.asked = 0
        self._page = (content, media_type, charset)

    def fetch(self, url: str) -> Fetched:
        self.asked += 1
        content, media_type, charset = self._page
        return Fetched(
            url=url, final_url=url, media_type=media_type, charset=charset, content=content
        )


def test_a_pdf_becomes_a_document_with_text_and_layout(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    content = samples.pdf(["Käse", "", "Dritte Seite"], title="Titel", author="A. Utor")
    source = put(folder, "a.pdf", content)
    document = single(ingest(archive, [source], sandbox=sandbox, by="me")).document
    text = archive.get(document.text)
    assert document.source == content_hash(content)
    assert archive.get(document.source).content == content
    assert text.text() == "Käse\n\nDritte Seite\n\n"
    assert document.layout is not None
    layout = Layout.from_json(archive.get(document.layout).content, text=document.text)
    assert layout.segment_at(text.content.index(b"Dritte")).page == 3
    assert document.provenance.title == "Titel"
    assert document.provenance.authors == ("A. Utor",)
    assert {entry.by for entry in archive.audit_entries()} == {"me"}


def test_the_text_of_a_text_file_is_the_source_card_itself(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    source = put(folder, "Some notes.txt", "Eins.\n\nZwei 😀.".encode())
    document = single(ingest(archive, [source], sandbox=sandbox)).document
    assert document.text == document.source
    assert document.provenance.title == "Some notes"
    assert archive.stats().cards == 2


def test_what_the_caller_knows_is_stronger_than_what_the_file_says(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    details = Details(
        title="Governing the Commons",
        type=DocumentType.BOOK,
        authors=("Elinor Ostrom",),
        year=1990,
        url="https://example.org/book",
        archive_url="https://archive.example/book",
        licence="CC-BY-4.0",
        doi="10.1000/1",
    )
    source = put(folder, "a.epub", samples.epub())
    document = single(ingest(archive, [source], details=details, sandbox=sandbox)).document
    about = document.provenance
    assert (about.title, about.type, about.year) == ("Governing the Commons", "book", 1990)
    assert (about.authors, about.licence) == (("Elinor Ostrom",), "CC-BY-4.0")
    assert (about.url, about.archive_url) == (details.url, details.archive_url)


def test_text_and_layout_go_when_their_source_goes(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    source = put(folder, "a.pdf", samples.pdf(["words"]))
    document = single(ingest(archive, [source], sandbox=sandbox)).document
    gone = archive.write(lambda tx: tx.delete(document.source, reason="asked", force=True))
    assert set(gone.also_deleted) == {document.text, document.layout}
    assert archive.stats().cards == 0


def test_a_card_that_stood_on_its_own_stays_when_a_source_with_that_text_goes(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    note = archive.add(b"words\n\n").hash
    source = put(folder, "a.pdf", samples.pdf(["words", ""]))
    document = single(ingest(archive, [source], sandbox=sandbox)).document
    assert document.text == note, "the text of the source is the note, byte for byte"
    gone = archive.write(lambda tx: tx.delete(document.source, reason="asked", force=True))
    assert gone.also_deleted == (document.layout,)
    assert archive.has(note)


def test_equal_sources_read_at_the_same_moment_become_one_document(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    content = samples.pdf(["words"])
    sources = [put(folder, f"{number}.pdf", content) for number in range(8)]

    def run(source: FileSource) -> Ingested:
        return single(ingest(archive, [source], sandbox=sandbox))

    with ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(run, sources))
    assert len({result.document.id for result in results}) == 1
    assert [result.already_there for result in results].count(False) == 1


def test_a_batch_goes_on_after_every_kind_of_failure(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    bad: list[tuple[Source, type[Exception]]] = [
        (put(folder, "empty.txt", b""), EmptyContent),
        (put(folder, "blank.txt", b" \n "), UnreadableSource),
        (put(folder, "latin.txt", b"caf\xe9"), UnreadableSource),
        (put(folder, "wrong.pdf", b"no pdf"), UnreadableSource),
        (put(folder, "locked.pdf", samples.encrypted_pdf("x")), UnreadableSource),
        (put(folder, "scan.pdf", samples.scanned_pdf()), UnreadableSource),
        (put(folder, "cut.docx", samples.word()[:-500]), UnreadableSource),
        (put(folder, "bomb.pdf", samples.memory_bomb_pdf()), ReaderFailed),
        (put(folder, "big.txt", b"x" * 10_000_001), ContentTooLarge),
        (FileSource(path=folder / "gone.txt"), FileMissing),
        (UrlSource(url="http://127.0.0.1/"), ForbiddenAddress),
    ]
    good = [put(folder, f"good{n}.txt", b"good %d" % n) for n in range(len(bad))]
    sources = [
        source for pair in zip([one for one, _ in bad], good, strict=True) for source in pair
    ]
    results = list(ingest(archive, sources, sandbox=sandbox))
    assert [result.source for result in results] == sources
    for (source, kind), result in zip(bad, results[::2], strict=True):
        assert isinstance(result, Failed)
        assert isinstance(result.error, kind)
        assert source.name.rpartition("/")[2] in result.error.message
    assert all(isinstance(result, Ingested) for result in results[1::2])
    assert archive.stats().documents == len(good)
    assert archive.stats().cards == 2 * len(good)


def test_a_second_run_reads_only_what_is_new(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    put(folder, "a.txt", b"first")
    put(folder, "b.md", b"# second")
    list(ingest(archive, expand([folder]).sources, sandbox=sandbox))
    before = archive.stats()
    put(folder, "c.txt", b"third")
    with Sandbox(worker="tests.corpus.no_such_worker") as useless:
        results = list(ingest(archive, expand([folder]).sources[:2], sandbox=useless))
    assert [result.already_there for result in results if isinstance(result, Ingested)] == [
        True,
        True,
    ]
    assert archive.stats() == before
    results = list(ingest(archive, expand([folder]).sources, sandbox=sandbox))
    assert [result.already_there for result in results if isinstance(result, Ingested)] == [
        True,
        True,
        False,
    ]


def test_equal_files_in_one_batch_become_one_document(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    sources = [put(folder, f"copy{n}.txt", b"the same words") for n in range(5)]
    results = list(ingest(archive, sources, sandbox=sandbox, workers=4))
    assert [result.already_there for result in results if isinstance(result, Ingested)] == [
        False,
        *[True] * 4,
    ]
    assert archive.stats().documents == 1


def test_a_page_is_fetched_once_and_known_by_its_address(
    archive: SqliteArchive, sandbox: Sandbox
) -> None:
    web = Web(samples.PAGE.encode("utf-16"), "text/html", None)
    source = UrlSource(url="https://example.org/commons")
    document = single(ingest(archive, [source], sandbox=sandbox, fetcher=web)).document
    assert document.provenance.url == "https://example.org/commons"
    assert document.provenance.title == "On Commons"
    again = list(ingest(archive, [source, source], sandbox=sandbox, fetcher=web))
    assert all(isinstance(result, Ingested) and result.already_there for result in again)
    assert web.asked == 1


def test_an_empty_page_is_one_clear_error(archive: SqliteArchive, sandbox: Sandbox) -> None:
    source = UrlSource(url="https://example.org/empty")
    web = Web(b"", "text/html")
    (result,) = ingest(archive, [source], sandbox=sandbox, fetcher=web)
    assert isinstance(result, Failed)
    assert isinstance(result.error, EmptyContent)


def test_an_encoding_can_be_demanded_for_a_batch(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    source = put(folder, "a.txt", b"caf\xe9")
    document = single(ingest(archive, [source], encoding="cp1252", sandbox=sandbox)).document
    assert document.text != document.source
    assert archive.get(document.text).text() == "café"


def test_progress_is_told_for_every_source(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    told: list[Progress] = []
    sources = [put(folder, "a.txt", b"a"), put(folder, "b.txt", b""), put(folder, "c.txt", b"c")]
    list(ingest(archive, sources, sandbox=sandbox, on_progress=told.append))
    assert [one.source for one in told if one.stage == "begun"] == sources
    assert [one.done for one in told if one.stage == "done"] == [1, 2, 3]


def test_a_failing_archive_stops_the_batch_and_stores_nothing(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = archive.write

    def full(work: object, *, by: str | None = None) -> object:
        def then_fail(transaction: ArchiveTransaction) -> object:
            work(transaction)  # type: ignore[operator]
            raise StorageFull("the disk has no room left")

        return real(then_fail, by=by)

    monkeypatch.setattr(archive, "write", full)
    sources = [put(folder, "a.txt", b"a"), put(folder, "b.txt", b"b")]
    with pytest.raises(StorageFull):
        list(ingest(archive, sources, sandbox=sandbox))
    assert archive.stats().cards == 0
    assert archive.stats().documents == 0


def test_a_batch_that_is_left_early_leaves_no_reader_behind(
    archive: SqliteArchive, folder: Path
) -> None:
    sources = [put(folder, f"{n}.txt", b"words %d" % n) for n in range(20)]
    results = ingest(archive, sources)
    assert isinstance(next(results), Ingested)
    results.close()  # type: ignore[attr-defined]
    assert archive.stats().documents < 20


def test_a_file_name_that_is_not_text_does_no_harm(
    archive: SqliteArchive, folder: Path, sandbox: Sandbox
) -> None:
    path = folder / os.fsdecode(b"a\xff.txt")
    path.write_bytes(b"words")
    document = single(ingest(archive, [FileSource(path=path)], sandbox=sandbox)).document
    assert document.provenance.title == "a\ufffd"


INGEST_FOLDER = """
import sys
from salon.archive.sqlite_archive import SqliteArchive
from salon.corpus.ingest import ingest
from salon.corpus.sources import expand
with SqliteArchive(sys.argv[1]) as archive:
    for result in ingest(archive, expand([sys.argv[2]]).sources):
        print(result.source.name, flush=True)
"""


@pytest.mark.parametrize("after", [1, 7, 15])
def test_a_kill_in_the_middle_leaves_whole_documents_and_the_next_run_adds_the_rest(
    tmp_path: Path, folder: Path, sandbox: Sandbox, after: int
) -> None:
    for number in range(40):
        put(folder, f"{number:02}.md", b"# Heading %d\n\nSome words." % number)
    put(folder, "99.pdf", samples.pdf(["One", "", "Three"]))
    database = tmp_path / "killed.db"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", INGEST_FOLDER, str(database), str(folder)],
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        for _ in range(after):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
    with SqliteArchive(database) as archive:
        documents = list(archive.documents())
        assert after <= len(documents) <= 41
        for document in documents:
            assert document.layout is not None
            text = archive.get(document.text).content
            assert Layout.from_json(archive.get(document.layout).content).size == len(text)
        assert archive.stats().cards == 2 * len(documents)
        results = list(ingest(archive, expand([folder]).sources, sandbox=sandbox))
        fresh = [one for one in results if isinstance(one, Ingested) and not one.already_there]
        assert len(fresh) == 41 - len(documents)
        assert archive.stats().documents == 41


def test_a_reader_whose_sandbox_was_killed_ends_by_itself(tmp_path: Path) -> None:
    script = (
        "import sys, threading\n"
        "from salon.corpus.sandbox import Sandbox\n"
        "from salon.corpus.readers import SourceHints\n"
        "sandbox = Sandbox()\n"
        "sandbox.read(b'words', SourceHints(name='a.txt'))\n"
        "print(sandbox._idle[0]._process.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        reader = int(process.stdout.readline())
        process.kill()
        process.wait()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{reader}/cmdline").exists() and time.monotonic() < deadline:
        if not Path(f"/proc/{reader}/cmdline").read_bytes():
            break  # ended; only its parent has not asked for it yet
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{reader}/cmdline").exists()
