"""What a person names, and which files are meant by it."""

import os
from pathlib import Path

import pytest

from salon.core.errors import ContentTooLarge, EmptyContent, FileMissing, UnreadableSource
from salon.corpus.limits import Limits
from salon.corpus.sources import FileSource, UrlSource, expand, load_file


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}")


def test_a_folder_is_walked_in_order_and_what_is_not_meant_is_counted(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.PDF", "a/c.md", ".hidden.txt", ".git/x.txt", "a/d.png", "e")
    found = expand([tmp_path])
    names = [source.name.removeprefix(f"{tmp_path}/") for source in found.sources]
    assert names == ["b.txt", "a/c.md", "a/z.PDF"]
    assert found.skipped.hidden == 1
    assert found.skipped.unknown_kind == 2
    assert found.skipped


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.txt", "inside/a.txt", "inside/sub/b.txt")
    inside = tmp_path / "inside"
    (inside / "leak.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (inside / "leak").symlink_to(tmp_path / "outside")
    (inside / "loop").symlink_to(inside)
    (inside / "within.txt").symlink_to(inside / "sub" / "b.txt")
    found = expand([inside])
    names = [source.name.removeprefix(f"{inside}/") for source in found.sources]
    assert names == ["a.txt", "within.txt", "sub/b.txt"]
    assert found.skipped.outside == 3


def test_files_and_pages_named_outright_are_taken_once_whatever_they_are(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.txt")
    found = expand([tmp_path / "a.log", "https://example.org/x", str(tmp_path), tmp_path / "b.txt"])
    assert found.sources == (
        FileSource(path=tmp_path / "a.log"),
        UrlSource(url="https://example.org/x"),
        FileSource(path=tmp_path / "b.txt"),
    )


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"gone\.txt"):
        expand([tmp_path / "gone.txt"])
    with pytest.raises(FileMissing, match=r"gone\.txt"):
        load_file(tmp_path / "gone.txt", Limits())


def test_a_file_is_loaded_within_limits(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"12345")
    assert load_file(path, Limits(input_bytes=5)) == b"12345"
    with pytest.raises(ContentTooLarge, match="has 5 bytes"):
        load_file(path, Limits(input_bytes=4))
    path.write_bytes(b"")
    with pytest.raises(EmptyContent, match="0 bytes"):
        load_file(path, Limits())


def test_two_gigabytes_are_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(ContentTooLarge, match="2147483648 bytes"):
        load_file(path, Limits())


def test_what_is_not_a_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for path in (tmp_path / "pipe.txt", Path("/dev/zero"), tmp_path):
        with pytest.raises(UnreadableSource, match="not a regular file"):
            load_file(path, Limits())


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)  # unlike permissions, this stops root too
    with pytest.raises(UnreadableSource, match=r"loop\.txt cannot be opened"):
        load_file(loop, Limits())


def test_a_file_name_that_is_not_text_can_still_be_named(tmp_path: Path) -> None:
    source = FileSource(path=Path(os.fsdecode(b"a\xff.txt")))
    assert source.name == "a\\xff.txt"
