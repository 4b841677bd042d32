"""The limits hold, whatever a parser does."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from salon.core.errors import ContentTooLarge, EmptyContent, ReaderFailed, UnreadableSource
from salon.core.hashing import content_hash
from salon.corpus import wire
from salon.corpus.limits import Limits
from salon.corpus.readers import SourceHints, read_content
from salon.corpus.readers.worker import respond
from salon.corpus.sandbox import Sandbox
from tests.corpus import samples
from tests.corpus.samples import hints

HOSTILE = "tests.corpus.hostile_worker"
SMALL = Limits(memory_bytes=400 << 20, cpu_s=1, wall_s=20, output_bytes=10_000_000)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def hostile() -> Iterator[Sandbox]:
    with Sandbox(SMALL, worker=HOSTILE) as opened:
        yield opened


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("One.\n\nZwei 😀.".encode(), "a.txt"),
        (b"# A\n\ntext\n\n## B\n\nmore", "a.md"),
        (samples.PAGE.encode(), "a.html"),
        (samples.pdf(["One", "", "Three"], title="T"), "a.pdf"),
        (samples.word("W"), "a.docx"),
        (samples.epub(), "a.epub"),
        (samples.epub(), "no-extension"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_the_sandbox_reads_exactly_what_the_reader_reads(
    sandbox: Sandbox, content: bytes, name: str
) -> None:
    assert sandbox.read(content, hints(name)) == read_content(content, hints(name))


def test_a_parser_that_wants_too_much_memory_is_stopped(hostile: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match=r"a\.txt: .*more than 400 MiB of memory") as caught:
        hostile.read(b"allocate", hints("a.txt"))
    assert caught.value.details["limit"] == "memory"


def test_an_endless_loop_is_stopped_by_the_processor_limit(hostile: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match=r"a\.txt: .*more than 1 s of processor time"):
        hostile.read(b"loop", hints("a.txt"))


def test_a_parser_that_waits_for_ever_is_stopped_by_the_clock() -> None:
    limits = Limits(wall_s=1.0)
    with (
        Sandbox(limits, worker=HOSTILE) as hostile,
        pytest.raises(ReaderFailed, match=r"a\.txt: .*not done after 1 s"),
    ):
        hostile.read(b"sleep", hints("a.txt"))


def test_a_crash_is_one_clear_error_and_the_next_file_is_read(hostile: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match=r"a\.txt: the parser crashed \(SIGSEGV\)"):
        hostile.read(b"crash", hints("a.txt"))
    assert hostile.read(b"print", hints("b.txt")).text == "survived print"


def test_too_much_text_is_refused(hostile: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match="more than 10000000 bytes"):
        hostile.read(b"flood", hints("a.txt"))


def test_what_a_parser_prints_does_not_disturb(hostile: Sandbox) -> None:
    assert hostile.read(b"print", hints("a.txt")).text == "survived print"


def test_a_parser_cannot_write_a_file(hostile: Sandbox) -> None:
    target = Path("/tmp/salon-hostile-reader")
    target.unlink(missing_ok=True)
    with pytest.raises(UnreadableSource, match="File too large"):
        hostile.read(b"write_file", hints("a.txt"))
    assert not target.exists() or target.stat().st_size == 0
    target.unlink(missing_ok=True)


@pytest.mark.parametrize("act", [b"connect", b"fork"])
def test_a_parser_cannot_reach_the_network_or_start_processes(hostile: Sandbox, act: bytes) -> None:
    with pytest.raises(UnreadableSource, match="a reader may not do this"):
        hostile.read(act, hints("a.txt"))


def test_a_parser_sees_none_of_our_environment(
    hostile: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALON_SECRET", "token")
    with (
        Sandbox(worker=HOSTILE) as fresh,
        pytest.raises(UnreadableSource, match="environment: ") as caught,
    ):
        fresh.read(b"show_secrets", hints("a.txt"))
    assert "SALON_SECRET" not in caught.value.message
    assert "HOME" not in caught.value.message


def test_an_answer_that_makes_no_sense_is_refused(hostile: Sandbox) -> None:
    with pytest.raises(ReaderFailed, match="makes no sense"):
        hostile.read(b"garbage", hints("a.txt"))
    assert hostile.read(b"print", hints("a.txt")).text == "survived print"


def test_every_file_gets_a_fresh_process(hostile: Sandbox) -> None:
    for _ in range(3):
        read = hostile.read(b"remember", hints("a.txt"))
        assert read.text == "files seen by this process: 1"


def test_the_real_worker_has_no_hostile_reader(sandbox: Sandbox) -> None:
    assert sandbox.read(b"crash", hints("a.txt")).text == "crash"


def test_a_small_pdf_that_unpacks_to_gigabytes_is_stopped(sandbox: Sandbox) -> None:
    bomb = samples.memory_bomb_pdf()
    assert len(bomb) < 20_000
    with pytest.raises(ReaderFailed, match=r"bomb\.pdf: .*1024 MiB of memory"):
        sandbox.read(bomb, hints("bomb.pdf"))
    assert sandbox.read(samples.pdf(["fine"]), hints("b.pdf")).text == "fine\n\n"


def test_errors_of_a_reader_arrive_whole(sandbox: Sandbox) -> None:
    with pytest.raises(UnreadableSource, match=r"a\.pdf: the PDF is encrypted") as caught:
        sandbox.read(samples.encrypted_pdf("x"), hints("a.pdf"))
    assert caught.value.hint
    with pytest.raises(UnreadableSource) as caught:
        sandbox.read(b"caf\xe9", hints("a.txt"))
    assert caught.value.details["offset"] == 3
    with pytest.raises(EmptyContent):
        sandbox.read(b"", hints("a.txt"))


def test_a_source_over_the_limit_is_not_even_sent() -> None:
    with (
        Sandbox(Limits(input_bytes=10)) as small,
        pytest.raises(ContentTooLarge, match=r"a\.txt has 11 bytes"),
    ):
        small.read(b"x" * 11, hints("a.txt"))


def test_a_text_larger_than_the_output_limit_passes_if_it_is_the_source() -> None:
    content = b"words and words\n" * 10_000
    with Sandbox(Limits(output_bytes=1000)) as small:
        assert small.read(content, hints("a.txt")).text.encode() == content


def test_a_worker_that_died_while_idle_is_replaced(sandbox: Sandbox) -> None:
    assert sandbox.read(b"one", hints("a.txt")).text == "one"
    for process in sandbox._idle:
        process.stop()
        process._process.wait()
    assert sandbox.read(b"two", hints("a.txt")).text == "two"


def test_threads_read_at_the_same_time_each_their_own_file(sandbox: Sandbox) -> None:
    contents = [f"file {number}".encode() for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda content: sandbox.read(content, hints("a.txt")), contents))
    assert [read.text.encode() for read in found] == contents


def test_closing_stops_a_reader_at_work_and_leaves_no_process() -> None:
    hostile = Sandbox(worker=HOSTILE)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            hostile.read(b"sleep", hints("a.txt"))
        except ReaderFailed as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not hostile._busy:
        time.sleep(0.001)
    (process,) = hostile._busy
    hostile.close()
    thread.join(10)
    assert len(failures) == 1
    with pytest.raises(ProcessLookupError):
        os.killpg(process._process.pid, 0)
    with pytest.raises(ReaderFailed, match="closed"):
        hostile.read(b"print", hints("a.txt"))


def test_open_files_do_not_pile_up(sandbox: Sandbox) -> None:
    sandbox.read(b"words", hints("a.txt"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        sandbox.read(b"words", hints("a.txt"))
        with pytest.raises(UnreadableSource):
            sandbox.read(b"\xff", hints("a.txt"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_no_parser_is_imported_outside_the_reader_process() -> None:
    script = (
        "import sys, salon.corpus.ingest\n"
        "found = {'pypdfium2', 'pypdf', 'trafilatura', 'docx', 'markdown_it', 'lxml'}\n"
        "sys.exit(', '.join(found & set(sys.modules)))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=False
    )
    assert found.stderr.strip() == b""


# The messages


def reply(content: bytes = b"some words", name: str = "a.txt") -> bytes:
    return respond(content, SourceHints(name=name))


def test_a_reply_survives_the_way_there_and_back() -> None:
    content = samples.pdf(["One", "", "Three"], title="T", author="A")
    assert wire.unpack(reply(content, "a.pdf"), content) == read_content(content, hints("a.pdf"))


def test_a_text_that_is_its_source_is_not_sent() -> None:
    content = b"words " * 10_000
    assert len(reply(content)) < 1000
    assert content_hash(wire.unpack(reply(content), content).text.encode()) == content_hash(content)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\0" * 7,
        b"\xff" * 20,
        reply()[:-1],
        (2).to_bytes(8) + b"[]",
        (2).to_bytes(8) + b"{}",
        (100_000).to_bytes(8) + b"[" * 100_000,
        (12).to_bytes(8) + b'{"error": 1}',
        reply().replace(b'"paragraph 1"', b'"paragraph 1",2'),
        reply().replace(b"text/plain", b"text/\xff\xffain"),
        reply().replace(b'"title":null', b'"title":   1'),
        reply(b"").replace(b"empty_content", b"salon_error__"),
    ],
)
def test_a_damaged_reply_is_refused(damaged: bytes) -> None:
    with pytest.raises(wire.BadReply):
        wire.unpack(damaged, b"some words")


def test_a_job_survives_the_way_there() -> None:
    job = wire.Job(hints=hints("ä\udc80.txt", encoding="cp1252"), limits=SMALL)
    assert wire.Job.from_line(job.to_line()) == job


def test_a_parser_that_fails_in_its_own_way_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(content: bytes, hints: SourceHints) -> object:
        raise KeyError("some\n  detail")

    monkeypatch.setattr("salon.corpus.readers.worker.read_content", fail)
    with pytest.raises(UnreadableSource, match=r"a\.txt: the parser gave up \(KeyError"):
        wire.unpack(reply(), b"some words")


@pytest.mark.parametrize("name", ["memory_bytes", "cpu_s", "wall_s", "input_bytes"])
def test_limits_are_more_than_nothing(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})
