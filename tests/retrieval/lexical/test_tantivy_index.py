"""What is special to the index in a folder: its writer, its files, and what a damage looks like."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tantivy

from salon.core.errors import StorageBusy, StorageFailed, StorageFull, StorageReadOnly
from salon.retrieval.lexical import tantivy_index, tantivy_search
from salon.retrieval.lexical.tantivy_index import TantivyIndex
from tests.retrieval.lexical.engines import card, fill, find, found, passage

GRAVITY = "Gravity bends light."


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    with TantivyIndex(tmp_path / "words") as opened:
        yield opened


def segment_files(index: TantivyIndex) -> set[str]:
    return {file.name for file in index.folder.iterdir() if file.suffix not in (".json", ".lock")}


# One writer


def test_a_second_writer_is_told_to_wait_and_gets_its_turn(index: TantivyIndex) -> None:
    with TantivyIndex(index.folder) as other:
        index.remove([card("nobody")])  # nothing to remove: no writer
        other.add([passage(1, GRAVITY)])
        other.remove([card("nobody")])
        index.add([passage(2, GRAVITY)])
        with pytest.raises(StorageBusy, match="another process is writing"):
            index.commit()
        index.commit()  # nothing is left of it
        other.commit()
        assert find(index, "gravity") == {1}
        index.add([passage(2, GRAVITY)])
        index.commit()
        assert find(other, "gravity") == {1, 2}


def test_a_process_that_writes_keeps_others_from_writing_not_from_searching(
    index: TantivyIndex,
) -> None:
    fill(index, [GRAVITY])
    command = [sys.executable, "-m", "tests.retrieval.lexical.engines", "tantivy"]
    with subprocess.Popen(
        [*command, str(index.folder.parent), "hold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        assert find(index, "gravity") == {0}
        index.add([passage(5, "more")])
        with pytest.raises(StorageBusy):
            index.commit()
        process.kill()
    index.add([passage(5, "more")])
    index.commit()
    assert index.count() == 2


def test_many_passages_are_written_by_several_threads(tmp_path: Path) -> None:
    with TantivyIndex(tmp_path / "words", threads=2) as index:
        index.add(passage(number, f"text number{number}") for number in range(3000))
        index.commit()
        assert index.count() == 3000
        assert find(index, "number1234") == {1234}


def test_small_commits_do_not_pile_up(index: TantivyIndex) -> None:
    for number in range(30):
        index.add([passage(number, f"text {number}")])
        index.commit()
    meta = json.loads((index.folder / "meta.json").read_bytes())
    assert len(meta["segments"]) < 10
    assert index.count() == 30


def test_a_batch_that_fails_is_dropped_as_a_whole(index: TantivyIndex) -> None:
    index.add(passage(number, GRAVITY) for number in range(1200))
    index.add([passage(2**63, "no such number")])
    with pytest.raises(OverflowError):
        index.remove([card("card")])
    index.commit()
    assert index.count() == 0


# Filtering


def test_filtering_in_the_engine_and_afterwards_give_the_same(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(11)
    words = [f"w{number}" for number in range(20)]
    index.add(
        passage(number, " ".join(random.choice(words, 15)), of=number % 40)
        for number in range(2000)
    )
    index.commit()
    for query in ("w1 w2 w3 w4 w5 w6", '"w1 w2" w3', "w1* w5"):
        for limit in (1, 7, 100, 5000):
            cards = [card(number) for number in random.choice(40, 5, replace=False)]
            inside = index.search(query, limit, cards=cards)
            monkeypatch.setattr(tantivy_index, "FILTERED_CARDS", 0)
            afterwards = index.search(query, limit, cards=cards)
            monkeypatch.undo()
            assert len(inside.ids) > 0
            assert found(inside) == found(afterwards)
            assert inside.scores.tolist() == afterwards.scores.tolist()


def test_the_keys_of_cards_tell_them_apart() -> None:
    keys = {tantivy_search.card_key(card(number)) for number in range(1000)}
    assert len(keys) == 1000
    assert all(-(2**63) <= half < 2**63 for key in keys for half in key)


# Compaction


def test_removed_words_stay_until_the_index_is_built_anew(index: TantivyIndex) -> None:
    fill(index, ["zyzzyva lives here", GRAVITY])
    assert not index.needs_rebuild_to_compact
    index.remove([card(0)])
    index.commit()
    index.compact()
    assert index.needs_rebuild_to_compact
    assert _terms(index, "zyzz") == ["zyzzyva"]
    before = segment_files(index)
    index.clear()
    index.add([passage(1, GRAVITY, of=1)])
    index.compact()
    assert not index.needs_rebuild_to_compact
    assert _terms(index, "zyzz") == []
    assert not segment_files(index) & before
    for file in index.folder.iterdir():
        assert b"zyzzyva" not in file.read_bytes()
    assert find(index, "gravity") == {1}


def test_a_replaced_passage_also_leaves_words_behind(index: TantivyIndex) -> None:
    fill(index, [GRAVITY, "zyzzyva"])
    index.add([passage(1, "other", of=1)])
    index.commit()
    assert index.needs_rebuild_to_compact


def test_a_segment_of_which_nothing_is_left_goes_at_once(index: TantivyIndex) -> None:
    fill(index, ["zyzzyva", "zyzzyva too"])
    before = segment_files(index)
    index.remove([card(0), card(1)])
    index.compact()
    assert not index.needs_rebuild_to_compact
    assert not segment_files(index) & before


def test_a_search_under_way_outlives_the_files_that_it_reads(index: TantivyIndex) -> None:
    fill(index, ["zyzzyva", GRAVITY])
    before = segment_files(index)
    reading = index._newest()
    index.clear()
    index.compact()
    assert not segment_files(index) & before
    assert reading.num_docs == 2
    assert found(tantivy_search.rank(reading, tantivy.Query.all_query(), 5)) == [0, 1]


def _terms(index: TantivyIndex, prefix: str) -> list[str]:
    opened = tantivy.Index.open(str(index.folder))
    return [term for term, _ in opened.searcher().terms_with_prefix("text", prefix)]


# Damage


def test_the_folder_belongs_to_its_owner(index: TantivyIndex) -> None:
    assert index.folder.stat().st_mode & 0o077 == 0


def test_a_folder_that_is_no_index_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Elinor")
    with pytest.raises(StorageFailed, match="not an index") as raised:
        TantivyIndex(tmp_path)
    assert "delete the folder" in str(raised.value.hint)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_an_index_that_was_never_finished_is_made(tmp_path: Path) -> None:
    with TantivyIndex(tmp_path) as index:
        (tmp_path / "meta.json").unlink()
    with TantivyIndex(tmp_path) as index:
        fill(index, [GRAVITY])
        assert find(index, "gravity") == {0}


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("not a folder")
    with pytest.raises(StorageFailed):
        TantivyIndex(tmp_path / "words")


@pytest.mark.parametrize("what", ["delete", "empty", "half"])
@pytest.mark.parametrize(
    "kind", ["meta.json", ".managed.json", ".term", ".idx", ".fast", ".fieldnorm", ".pos"]
)
def test_damage_is_named_with_what_to_do(tmp_path: Path, kind: str, what: str) -> None:
    with TantivyIndex(tmp_path) as index:
        fill(index, [f"{GRAVITY} number{number}" for number in range(200)])
    (file,) = (file for file in tmp_path.iterdir() if file.name.endswith(kind))
    match what:
        case "delete":
            file.unlink()
        case "empty":
            file.write_bytes(b"")
        case _:
            os.truncate(file, file.stat().st_size // 2)
    if (kind, what) == (".managed.json", "delete"):  # only a list of files; it is written anew
        with TantivyIndex(tmp_path) as index:
            assert find(index, "number7") == {7}
        return
    with pytest.raises(StorageFailed) as raised, TantivyIndex(tmp_path) as index:
        index.search('"gravity bends" number7', 5)
    assert "delete the folder" in str(raised.value.hint)


def test_numbers_that_cannot_be_read_are_damage(tmp_path: Path) -> None:
    with TantivyIndex(tmp_path) as index:
        fill(index, [f"{GRAVITY} number{number}" for number in range(500)])
    (file,) = tmp_path.glob("*.fast")
    content = bytearray(file.read_bytes())
    content[:-200] = bytes(byte ^ 0x5A for byte in content[:-200])
    file.write_bytes(content)
    with pytest.raises(StorageFailed, match="cannot be used"), TantivyIndex(tmp_path) as index:
        index.search("gravity", 500)


def test_an_engine_that_gives_up_is_an_error_like_any_other(tmp_path: Path) -> None:
    class PanicException(BaseException):
        """As the engine raises it: nothing that `except Exception` would catch."""

    with (
        pytest.raises(StorageFailed, match="out of bounds"),
        tantivy_index._engine_errors(tmp_path),
    ):
        raise PanicException("index out of bounds")


def test_an_index_that_is_gone_is_an_error_like_any_other(index: TantivyIndex) -> None:
    fill(index, [GRAVITY])
    (index.folder / "meta.json").unlink()
    for use in (index.count, lambda: index.search("gravity", 5)):
        with pytest.raises(StorageFailed):
            use()


def test_what_has_nothing_to_do_with_the_engine_is_not_translated(index: TantivyIndex) -> None:
    with pytest.raises(KeyError), tantivy_index._engine_errors(index.folder):
        raise KeyError


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("An IO error occurred: 'No space left on device (os error 28)'", StorageFull),
        ("Permission denied (os error 13)", StorageReadOnly),
        ("Read-only file system (os error 30)", StorageReadOnly),
        ("Failed to acquire Lockfile: LockBusy.", StorageBusy),
        ("something else", StorageFailed),
    ],
)
def test_errors_of_the_disk_have_names(
    tmp_path: Path, message: str, error: type[Exception]
) -> None:
    with pytest.raises(error), tantivy_index._engine_errors(tmp_path):
        raise ValueError(message)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the disk look full; Python ignores the signal that comes with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_could_not_be_written_leaves_nothing_behind(index: TantivyIndex) -> None:
    fill(index, [GRAVITY])
    before = segment_files(index)
    many = [passage(number, f"word{number} text{number * 7919}") for number in range(1, 2500)]
    with files_of_at_most(4_000):
        index.add(many)
        with pytest.raises(StorageFailed, match="File too large"):
            index.commit()
    assert (index.count(), find(index, "gravity"), find(index, "word7")) == (1, {0}, set())
    index.compact()
    assert segment_files(index) == before
    assert index.count() == 1
    index.add(many)
    index.commit()
    assert index.count() == 2500
