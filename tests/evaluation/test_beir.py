"""Reading collections: what is tolerated, and that every mistake is named with file and line."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.beir import (
    BeirDocument,
    Query,
    read_collection,
    read_corpus,
    read_qrels,
    read_queries,
)

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


CORPUS = (
    '{"_id": "d1", "title": "Rain", "text": "It falls.", "metadata": {"year": 1999}}\n'
    '{"_id": "d2", "title": "", "text": "No title."}\n\n'
    '{"_id": 3, "text": ""}\n'
)
QUERIES = '{"_id": "q1", "text": "why rain?"}\n{"_id": "q2", "text": "and then?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"


def test_documents_are_read_with_their_titles(write: Write) -> None:
    documents = read_corpus(write("corpus.jsonl", CORPUS))
    assert documents == (
        BeirDocument(id="d1", title="Rain", text="It falls."),
        BeirDocument(id="d2", title="", text="No title."),
        BeirDocument(id="3", title="", text=""),
    )
    assert [one.content for one in documents] == ["Rain\n\nIt falls.", "No title.", ""]


def test_compressed_files_are_told_by_their_bytes(write: Write) -> None:
    plain = write("corpus.jsonl", CORPUS)
    packed = write("corpus", gzip.compress(CORPUS.encode()))
    assert read_corpus(packed) == read_corpus(plain)
    assert read_qrels(write("qrels.tsv.gz", gzip.compress(QRELS.encode()))) == {
        "q1": {"d1": 2, "d2": 0}
    }


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(write: Write) -> None:
    text = "\ufeff" + QUERIES.replace("\n", "\r\n")
    assert read_queries(write("queries.jsonl", text)) == (
        Query(id="q1", text="why rain?"),
        Query(id="q2", text="and then?"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq 2\td1\t-1\n",
        "q1\td1\t2\nq 2\td1\t-1\n",
        "q1\t0\td1\t2\n\nq 2\tQ0\td1\t-1",
        "q1\td1\t2.0\nq 2\td1\t-1\nq1\td1\t2\n",
    ],
    ids=["BEIR", "no header", "TREC", "repeated"],
)
def test_judgements_are_read_in_every_common_layout(write: Write, text: str) -> None:
    assert read_qrels(write("qrels.tsv", text)) == {"q1": {"d1": 2}, "q 2": {"d1": -1}}


def test_judgements_may_be_separated_by_blanks(write: Write) -> None:
    assert read_qrels(write("qrels.txt", "q1 0  d1 1\nq2 0 d9 0\n")) == {
        "q1": {"d1": 1},
        "q2": {"d9": 0},
    }


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ('{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n', 2, "'1' further up"),
        ('{"_id": "1", "text": "a"}\n\n{"_id": "2"}\n', 3, "text: field required"),
        ('{"text": "a"}\n', 1, "_id: field required"),
        ('{"_id": "1", "text": 5}\n', 1, "text: input should be a valid string"),
        ('{"_id": true, "text": "a"}\n', 1, "_id: input should be"),
        ('{"_id": " ", "text": "a"}\n', 1, "the _id is empty"),
        ('{"_id": "1", "text": "a"\n', 1, "not a JSON object"),
        ("[1, 2]\n", 1, "not a JSON object"),
        ('{"_id": "1", "text": "half \\ud800"}\n', 1, "not a JSON object"),
        ('{"_id": "1", "title": "a\\u0000b", "text": ""}\n', 1, "NUL"),
        (b'{"_id": "1", "text": "a"}\n{"_id": "2", "text": "\xff"}\n', 2, "not UTF-8"),
        ("[" * 100_000, 1, "not a JSON object"),
    ],
)
def test_a_bad_document_is_named_by_file_and_line(
    write: Write, content: str | bytes, line: int, said: str
) -> None:
    path = write("corpus.jsonl", content)
    with pytest.raises(InvalidInput, match=f"line {line}: ") as caught:
        read_corpus(path)
    assert said in caught.value.message
    assert (caught.value.details["file"], caught.value.details["line"]) == (str(path), line)


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("q1\td1\n", 1, "2 columns"),
        ("q1\td1\t1\nq1\td2\tyes\n", 2, "'yes' is not a grade"),
        ("q1\td1\t1\nq1\td2\t0.5\n", 2, "'0.5' is not a grade"),
        ("q1\td1\t1\nq1\td2\tinf\n", 2, "'inf' is not a grade"),
        ("q1\td1\t1\nq1\td1\t2\n", 2, "another grade"),
        ("query-id\tcorpus-id\tscore\nquery-id\tcorpus-id\tscore\n", 2, "not a grade"),
        ("q1\t\t1\n", 1, "without the id"),
    ],
)
def test_a_bad_judgement_is_named_by_file_and_line(
    write: Write, content: str, line: int, said: str
) -> None:
    with pytest.raises(InvalidInput, match=f"line {line}: ") as caught:
        read_qrels(write("qrels.tsv", content))
    assert said in caught.value.message


def test_a_query_that_cannot_be_searched_is_refused(write: Write) -> None:
    with pytest.raises(InvalidInput, match="line 1: query '1' has 200,000 characters"):
        read_queries(write("queries.jsonl", json.dumps({"_id": 1, "text": "a " * 100_000})))
    with pytest.raises(InvalidInput, match="line 2: query '2' has no words"):
        read_queries(write("queries.jsonl", '{"_id": 1, "text": "a"}\n{"_id": 2, "text": " "}'))


def test_a_damaged_archive_is_named_with_the_line_it_broke_at(write: Write) -> None:
    lines = "".join(
        json.dumps({"_id": number, "text": f"{number * 7919} words"}) + "\n"
        for number in range(2000)
    )
    whole = gzip.compress(lines.encode())
    with pytest.raises(InvalidInput, match=r"line \d+: the compressed file") as caught:
        read_corpus(write("cut.gz", whole[: len(whole) // 2]))
    line = caught.value.details["line"]
    assert isinstance(line, int)
    assert 1 < line < 2000
    with pytest.raises(InvalidInput, match="the compressed file"):
        read_corpus(write("broken.gz", whole[:100] + b"\0" * 50 + whole[150:]))
    with pytest.raises(InvalidInput, match="the compressed file"):
        read_corpus(write("header.gz", b"\x1f\x8bnot really"))


def test_an_empty_or_missing_file_is_said_to_be_so(write: Write, tmp_path: Path) -> None:
    empty = write("empty", "\n\n")
    for read, what in (
        (read_corpus, "documents"),
        (read_queries, "queries"),
        (read_qrels, "judgements"),
    ):
        with pytest.raises(InvalidInput, match=f"holds no {what}"):
            read(empty)
        with pytest.raises(FileMissing, match="nowhere"):
            read(tmp_path / "nowhere")
        with pytest.raises(InvalidInput, match="is a folder"):
            read(tmp_path)


def test_a_collection_knows_which_queries_can_be_answered(write: Write) -> None:
    found = read_collection(
        write("corpus.jsonl", CORPUS), write("queries.jsonl", QUERIES), write("qrels.tsv", QRELS)
    )
    assert [query.id for query in found.answerable()] == ["q1"]
    assert found.relevant(found.queries[0]) == {"d1"}
    assert found.relevant(found.queries[1]) == set()


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("other\td1\t1\n", "judges no document relevant"),
        ("q1\td1\t0\n", "judges no document relevant"),
        ("q1\td99\t1\n", "is in"),
    ],
)
def test_files_of_different_collections_are_refused(write: Write, qrels: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_collection(
            write("corpus.jsonl", CORPUS),
            write("queries.jsonl", QUERIES),
            write("qrels.tsv", qrels),
        )


@given(st.binary(max_size=300))
def test_any_bytes_are_either_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything"
    path.write_bytes(content)
    for read in (read_corpus, read_queries, read_qrels):
        said = ""
        try:
            found = len(read(path))
        except InvalidInput as error:
            found, said = 0, error.message
        assert found > 0 or str(path) in said


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")
@pytest.mark.parametrize(
    ("folder", "qrels", "documents", "queries"),
    [
        ("scifact", "qrels/train.tsv", 5183, 809),
        ("classic_ir/cranfield", "qrels.tsv", 1400, 225),
        ("classic_ir/npl", "qrels.tsv", 11429, 93),
    ],
)
def test_real_collections_are_read(folder: str, qrels: str, documents: int, queries: int) -> None:
    place = DATA / folder
    found = read_collection(place / "corpus.jsonl.gz", place / "queries.jsonl", place / qrels)
    assert len(found.documents) == documents
    assert len(found.answerable()) == queries
