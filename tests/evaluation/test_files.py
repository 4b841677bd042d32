"""Reading labelled files: every layout alike, and every mistake with its file and line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.files import (
    open_text,
    read_json,
    read_json_lines,
    read_lines,
    read_rows,
    read_table,
    read_text,
)


class Animal(BaseModel):
    name: str
    legs: int


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.data"


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
def test_a_file_is_read_alike_whether_it_is_packed_or_not(file: Path, is_packed: bool) -> None:
    content = "\ufeffone\r\n\ntwo\n".encode()
    file.write_bytes(gzip.compress(content) if is_packed else content)
    assert read_text(file) == "one\r\n\ntwo\n"
    assert list(read_lines(file)) == [(1, "one"), (3, "two")]
    with open_text(file) as stream:
        assert list(stream) == ["one\r\n", "\n", "two\n"]


def test_json_lines_are_objects(file: Path) -> None:
    file.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [row["a"] for row in read_json_lines(file)] == [1, 2]


@pytest.mark.parametrize("line", ["[1]", "{", "3", '"x"', "[" * 5000, '{"a": "\\ud800"}'])
def test_a_line_that_is_no_object_is_named(file: Path, line: str) -> None:
    file.write_text('{"a": 1}\n' + line)
    with pytest.raises(InvalidInput, match="line 2: this is not a JSON object") as caught:
        list(read_json_lines(file))
    assert caught.value.details == {"file": str(file), "line": 2}


def test_rows_are_checked_against_their_kind(file: Path) -> None:
    file.write_text('{"name": "cat", "legs": 4}\n{"name": "hen"}\n')
    rows = read_rows(file, Animal, hint="count them")
    assert next(rows) == (1, Animal(name="cat", legs=4))
    with pytest.raises(InvalidInput, match="line 2: legs: field required") as caught:
        next(rows)
    assert caught.value.hint == "count them"


def test_one_json_value_is_read_whole_or_refused(file: Path) -> None:
    file.write_bytes(gzip.compress(b'[1, {"a": null}]'))
    assert read_json(file) == [1, {"a": None}]
    file.write_text("[1,")
    with pytest.raises(InvalidInput, match="does not hold JSON"):
        read_json(file)


def test_a_table_is_read_by_the_names_of_its_columns(file: Path) -> None:
    file.write_text('name\tsaid\ncat\t"purr\n\nhen\tcluck\n')
    assert list(read_table(file)) == [
        {"name": "cat", "said": '"purr'},
        {"name": "hen", "said": "cluck"},
    ]
    file.write_text('cat,"a, b\nand c"\n')
    assert list(read_table(file, delimiter=",", columns=("name", "said"))) == [
        {"name": "cat", "said": "a, b\nand c"}
    ]


def test_a_row_with_too_few_or_too_many_columns_is_named(file: Path) -> None:
    file.write_text("name\tsaid\ncat\tpurr\nhen\n")
    rows = read_table(file)
    assert next(rows) == {"name": "cat", "said": "purr"}
    with pytest.raises(InvalidInput, match="line 3: 1 columns instead of 2"):
        next(rows)


def test_a_quote_that_never_ends_is_named(file: Path) -> None:
    file.write_text('name,said\ncat,"purr\n')
    with pytest.raises(InvalidInput, match="line 2: this is not a row"):
        list(read_table(file, delimiter=","))


def test_a_line_that_is_not_text_is_named(file: Path) -> None:
    file.write_bytes(b"good\n\xff\n")
    with pytest.raises(InvalidInput, match="line 2: this is not UTF-8"):
        read_text(file)


def test_a_cut_archive_is_named(file: Path) -> None:
    file.write_bytes(gzip.compress(b"x\n" * 5000)[:-12])
    with pytest.raises(InvalidInput, match="the compressed file is damaged") as caught:
        read_text(file)
    assert caught.value.hint == "fetch it again"


def test_what_is_missing_what_is_a_folder_and_what_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileMissing, match="nowhere"):
        read_text(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_text(tmp_path)

    def locked(*_: object) -> None:
        raise PermissionError("locked")

    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(InvalidInput, match="cannot be read: locked"):
        read_text(tmp_path / "mine")


@given(st.binary(max_size=200))
def test_any_bytes_are_either_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-file"
    path.write_bytes(content)
    for read in (read_json_lines, read_table, lambda one: read_table(one, delimiter=",")):
        said = ""
        try:
            rows = list(read(path))
        except InvalidInput as error:
            rows, said = [], error.message
        assert all(isinstance(row, dict) for row in rows)
        assert not said or str(path) in said
