"""Reading a test collection in BEIR's layout: documents, queries and who is relevant to what.

It reads and checks files; it neither stores nor searches. Each file may be compressed with gzip,
told by its first bytes. Judgements may have BEIR's header or none, three columns or TREC's four.

Invariant: what comes out is whole. Ids are unique, every query has words, every document's text can
be a card; whatever is wrong is one `InvalidInput` that names the file and the line.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from salon.core.errors import FileMissing, InvalidInput
from salon.retrieval.searcher import MAX_QUERY_CHARACTERS

Row = TypeVar("Row", bound="_Row")
Judgements = Mapping[str, Mapping[str, int]]
"""For each query the documents that somebody judged, with their grades."""

_GZIP_MAGIC = b"\x1f\x8b"
_TREC_COLUMNS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class BeirDocument:
    """One document of a collection."""

    id: str
    title: str
    text: str

    @property
    def content(self) -> str:
        """The title, a blank line and the text, as far as there are any."""
        return "\n\n".join(part for part in (self.title, self.text) if part.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question of a collection."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Documents, queries and judgements that belong together."""

    documents: tuple[BeirDocument, ...]
    queries: tuple[Query, ...]
    judgements: Judgements

    def answerable(self) -> list[Query]:
        """Return the queries for which at least one document was judged relevant."""
        return [query for query in self.queries if self.relevant(query)]

    def relevant(self, query: Query) -> set[str]:
        """Return the ids of the documents that were judged relevant to a query."""
        graded = self.judgements.get(query.id, {})
        return {document for document, grade in graded.items() if grade > 0}


class _Row(BaseModel):
    # Collections carry fields of their own (metadata, sentences), so others are passed over.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    id: str | int = Field(alias="_id")
    text: str


class _DocumentRow(_Row):
    title: str | None = None


class _QueryRow(_Row):
    pass


def read_collection(corpus: Path, queries: Path, qrels: Path) -> Collection:
    """Read the three files of a collection and check that they belong together."""
    collection = Collection(
        documents=read_corpus(corpus),
        queries=read_queries(queries),
        judgements=read_qrels(qrels),
    )
    answerable = collection.answerable()
    if not answerable:
        raise InvalidInput(
            f"{qrels} judges no document relevant to any query in {queries}",
            hint="do the two files belong to the same collection?",
        )
    known = {document.id for document in collection.documents}
    if not any(known & collection.relevant(query) for query in answerable):
        raise InvalidInput(
            f"no document that {qrels} judges relevant is in {corpus}",
            hint="do the two files belong to the same collection?",
        )
    return collection


def read_corpus(path: Path) -> tuple[BeirDocument, ...]:
    """Read documents from JSON lines with `_id`, `title` and `text`."""
    documents: dict[str, BeirDocument] = {}
    for number, row in _rows(path, _DocumentRow):
        name = _new_id(path, number, row, documents)
        document = BeirDocument(id=name, title=row.title or "", text=row.text)
        if "\0" in document.content:
            raise _bad(path, number, "the text holds a NUL character, so it is not text")
        documents[name] = document
    if not documents:
        raise InvalidInput(f"{path} holds no documents")
    return tuple(documents.values())


def read_queries(path: Path) -> tuple[Query, ...]:
    """Read queries from JSON lines with `_id` and `text`."""
    queries: dict[str, Query] = {}
    for number, row in _rows(path, _QueryRow):
        name = _new_id(path, number, row, queries)
        if not row.text.strip():
            raise _bad(path, number, f"query {name!r} has no words")
        if len(row.text) > MAX_QUERY_CHARACTERS:
            raise _bad(path, number, f"query {name!r} has {len(row.text):,} characters, too many")
        queries[name] = Query(id=name, text=row.text)
    if not queries:
        raise InvalidInput(f"{path} holds no queries")
    return tuple(queries.values())


def read_qrels(path: Path) -> Judgements:
    """Read judgements: query, document and grade; or query, anything, document and grade."""
    judgements: dict[str, dict[str, int]] = {}
    is_first = True
    for number, line in _lines(path):
        columns = [part.strip() for part in line.split("\t")] if "\t" in line else line.split()
        if len(columns) not in (3, _TREC_COLUMNS):
            raise _bad(path, number, f"{len(columns)} columns instead of three or four")
        query, document, score = columns[0], columns[-2], columns[-1]
        grade = _find_grade(score)
        if grade is None and not is_first:
            raise _bad(path, number, f"{score[:40]!r} is not a grade", hint="a whole number")
        is_first = False
        if grade is None:
            continue  # the header
        if not query or not document:
            raise _bad(path, number, "a judgement without the id of a query or a document")
        if judgements.setdefault(query, {}).setdefault(document, grade) != grade:
            raise _bad(path, number, f"document {document!r} has another grade further up")
    if not judgements:
        raise InvalidInput(f"{path} holds no judgements")
    return judgements


def _find_grade(text: str) -> int | None:
    try:
        value = float(text)
        grade = int(value)
    except (ValueError, OverflowError):
        return None
    return grade if grade == value else None


def _rows(path: Path, kind: type[Row]) -> Iterator[tuple[int, Row]]:
    for number, line in _lines(path):
        try:
            yield number, kind.model_validate_json(line)
        except ValidationError as error:
            raise _bad(path, number, _reason(error)) from error


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] in {"json_invalid", "model_type"}:
        return "this is not a JSON object"
    return f"{first['loc'][0]}: {first['msg'].lower()}"


def _new_id(path: Path, number: int, row: _Row, known: Mapping[str, object]) -> str:
    name = str(row.id).strip()
    if not name:
        raise _bad(path, number, "the _id is empty")
    if name in known:
        raise _bad(path, number, f"there is an _id {name!r} further up already")
    return name


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Walk the lines that hold something, numbered from one."""
    number = 0
    try:
        with _open(path) as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield number, line
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise InvalidInput(f"{path} is a folder", hint="name a file") from error
    except UnicodeDecodeError as error:
        raise _bad(path, number, "this is not UTF-8 text") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _bad(
            path, number + 1, "the compressed file is damaged or cut short", hint="fetch it again"
        ) from error


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    # Opened once, so that what a shell hands over as a pipe can be read too.
    with path.open("rb") as stream:
        if stream.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
            with gzip.GzipFile(fileobj=stream) as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            yield stream


def _bad(path: Path, number: int, reason: str, *, hint: str | None = None) -> InvalidInput:
    return InvalidInput(f"{path}, line {number}: {reason}", hint=hint, file=str(path), line=number)
