"""Reading a test collection in BEIR's layout: documents, queries and who is relevant to what.

It reads and checks files; it neither stores nor searches. Judgements may have BEIR's header or
none, three columns or TREC's four.

Invariant: what comes out is whole. Ids are unique, every query has words, every document's text can
be a card; whatever is wrong is one `InvalidInput` that names the file and the line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from salon.core.errors import InvalidInput
from salon.evaluation.files import bad_line, read_lines, read_rows
from salon.retrieval.searcher import MAX_QUERY_CHARACTERS

Judgements = Mapping[str, Mapping[str, int]]
"""For each query the documents that somebody judged, with their grades."""

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
    for number, row in read_rows(path, _DocumentRow):
        name = _new_id(path, number, row, documents)
        document = BeirDocument(id=name, title=row.title or "", text=row.text)
        if "\0" in document.content:
            raise bad_line(path, number, "the text holds a NUL character, so it is not text")
        documents[name] = document
    if not documents:
        raise InvalidInput(f"{path} holds no documents")
    return tuple(documents.values())


def read_queries(path: Path) -> tuple[Query, ...]:
    """Read queries from JSON lines with `_id` and `text`."""
    queries: dict[str, Query] = {}
    for number, row in read_rows(path, _QueryRow):
        name = _new_id(path, number, row, queries)
        if not row.text.strip():
            raise bad_line(path, number, f"query {name!r} has no words")
        if len(row.text) > MAX_QUERY_CHARACTERS:
            raise bad_line(
                path, number, f"query {name!r} has {len(row.text):,} characters, too many"
            )
        queries[name] = Query(id=name, text=row.text)
    if not queries:
        raise InvalidInput(f"{path} holds no queries")
    return tuple(queries.values())


def read_qrels(path: Path) -> Judgements:
    """Read judgements: query, document and grade; or query, anything, document and grade."""
    judgements: dict[str, dict[str, int]] = {}
    is_first = True
    for number, line in read_lines(path):
        columns = [part.strip() for part in line.split("\t")] if "\t" in line else line.split()
        if len(columns) not in (3, _TREC_COLUMNS):
            raise bad_line(path, number, f"{len(columns)} columns instead of three or four")
        query, document, score = columns[0], columns[-2], columns[-1]
        grade = _find_grade(score)
        if grade is None and not is_first:
            raise bad_line(path, number, f"{score[:40]!r} is not a grade", hint="a whole number")
        is_first = False
        if grade is None:
            continue  # the header
        if not query or not document:
            raise bad_line(path, number, "a judgement without the id of a query or a document")
        if judgements.setdefault(query, {}).setdefault(document, grade) != grade:
            raise bad_line(path, number, f"document {document!r} has another grade further up")
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


def _new_id(path: Path, number: int, row: _Row, known: Mapping[str, object]) -> str:
    name = str(row.id).strip()
    if not name:
        raise bad_line(path, number, "the _id is empty")
    if name in known:
        raise bad_line(path, number, f"there is an _id {name!r} further up already")
    return name
