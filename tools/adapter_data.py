"""The public sets behind the adapter: read, tokenised, packed, and read again.

Not for the package: only `tools.train_adapter` imports this. Invariant: `load_sets` gives back
what `pack` wrote, token for token, whatever machine the files travelled to.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"
Floats: TypeAlias = "npt.NDArray[np.float32]"

MAX_TOKENS = 256
FUSION_DEPTH = 1000
"""How many documents of a ranking a fusion looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document: a title that may be empty, and its sentences."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question or claim, the documents that answer it, and the group it is held out with."""

    text: str
    answers: tuple[int, ...]
    group: str
    rationales: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """One public set: documents, and questions over them."""

    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    plain = gzip.decompress(content) if path.suffix == ".gz" else content
    yield from map(json.loads, plain.decode("utf-8").strip().split("\n"))


def relevant(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if float(grade) > 0:
            found.setdefault(question, []).append(document)
    return found


def split_sentences(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"(])", text.strip()) if part)


def linked_groups(answers: Sequence[Sequence[int]]) -> list[str]:
    """Name, for each question, the component of questions that share a document with it."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    for documents in answers:
        for document in documents[1:]:
            parent[root(document)] = root(documents[0])
    return [str(root(documents[0])) for documents in answers]


def read_scifact(folder: Path) -> Collection:
    rows = list(json_lines(folder / "corpus.jsonl.gz"))
    place = {row["_id"]: at for at, row in enumerate(rows)}
    documents = tuple(
        Document(title=row["title"], sentences=tuple(row["sentences"])) for row in rows
    )
    gold = relevant(folder / "qrels" / "train.tsv")
    claims = [row for row in json_lines(folder / "claims_train.jsonl") if row["id"] in gold]
    answers = [tuple(place[document] for document in gold[row["id"]]) for row in claims]
    questions = tuple(
        Question(
            text=row["claim"],
            answers=found,
            group=group,
            rationales=tuple(
                (place[part["doc_id"]], sentence)
                for part in row["evidence"]
                for sentence in part["sentences"]
            ),
        )
        for row, found, group in zip(claims, answers, linked_groups(answers), strict=True)
    )
    return Collection(documents=documents, questions=questions)


def read_squad(folder: Path) -> Collection:
    documents: list[Document] = []
    questions: list[Question] = []
    with gzip.open(folder / "dev-v2.0.json.gz", "rt", encoding="utf-8") as file:
        articles = json.load(file)["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            questions.extend(
                Question(text=qa["question"], answers=(len(documents),), group=article["title"])
                for qa in paragraph["qas"]
                if not qa["is_impossible"]
            )
            sentences = split_sentences(paragraph["context"])
            documents.append(Document(title="", sentences=sentences))
    return Collection(documents=tuple(documents), questions=tuple(questions))


def read_twowiki(folder: Path) -> Collection:
    rows = list(json_lines(folder / "corpus.jsonl.gz"))
    place = {row["title"]: at for at, row in enumerate(rows)}
    documents = tuple(
        Document(title=row["title"], sentences=split_sentences(row["text"])) for row in rows
    )
    asked = [row for row in json_lines(folder / "questions.jsonl.gz") if row["all_titles_found"]]
    answers = [tuple(place[title] for title in row["supporting_titles"]) for row in asked]
    questions = tuple(
        Question(text=row["question"], answers=found, group=group)
        for row, found, group in zip(asked, answers, linked_groups(answers), strict=True)
    )
    return Collection(documents=documents, questions=questions)


def read_redocred(folder: Path) -> Collection:
    with gzip.open(folder / "dev_revised.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    return Collection(
        documents=tuple(
            Document(title=row["title"], sentences=tuple(" ".join(words) for words in row["sents"]))
            for row in rows
        )
    )


def read_classic(folder: Path) -> Collection:
    rows = list(json_lines(folder / "corpus.jsonl.gz"))
    place = {row["_id"]: at for at, row in enumerate(rows)}
    gold = relevant(folder / "qrels.tsv")
    questions = tuple(
        Question(
            text=row["text"],
            answers=tuple(place[document] for document in gold[row["_id"]] if document in place),
            group=row["_id"],
        )
        for row in json_lines(folder / "queries.jsonl")
        if row["_id"] in gold
    )
    documents = tuple(Document(title=row["title"], sentences=(row["text"],)) for row in rows)
    return Collection(documents=documents, questions=questions)


def read_collections(data: Path) -> dict[str, Collection]:
    return {
        "scifact": read_scifact(data / "scifact"),
        "squad": read_squad(data / "squad2_half_dev"),
        "twowiki": read_twowiki(data / "twowiki"),
        "redocred": read_redocred(data / "redocred"),
        "cranfield": read_classic(data / "classic_ir" / "cranfield"),
        "npl": read_classic(data / "classic_ir" / "npl"),
    }


def bm25_scores(texts: Sequence[str], questions: Sequence[str]) -> Floats:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    scores = np.zeros((len(questions), len(texts)), np.float32)
    for at, question in enumerate(questions):
        words = bm25s.tokenize(
            question, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )[0]
        if words:
            scores[at] = index.get_scores(words)
    if len(texts) > FUSION_DEPTH:
        floor = np.partition(scores, -FUSION_DEPTH, axis=1)[:, -FUSION_DEPTH, None]
        scores[scores < floor] = 0  # below the fusion's depth a score counts as none
    return scores


def ragged(rows: Iterable[Sequence[int]]) -> tuple[Ints, Ints]:
    parts = [np.asarray(row, np.int64) for row in rows]
    ends = np.cumsum([0, *(len(part) for part in parts)])
    return np.concatenate(parts) if parts else np.zeros(0, np.int64), ends


def pack_collection(collection: Collection, tokenizer: Any) -> dict[str, npt.NDArray[Any]]:
    def tokens(texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    documents, questions = collection.documents, collection.questions
    packed: dict[str, npt.NDArray[Any]] = {}
    parts: dict[str, Iterable[Sequence[int]]] = {
        "titles": tokens([one.title for one in documents]),
        "sentences": tokens([sentence for one in documents for sentence in one.sentences]),
        "questions": tokens([one.text for one in questions]),
        "answers": [one.answers for one in questions],
        "rationales": [[n for pair in one.rationales for n in pair] for one in questions],
    }
    for part, rows in parts.items():
        flat, ends = ragged(rows)
        packed[f"{part}.flat"], packed[f"{part}.ends"] = flat.astype(np.uint16), ends
    packed["lengths"] = np.array([len(one.sentences) for one in documents])
    packed["question_groups"] = np.array([one.group for one in questions], dtype="U64")
    texts = [" ".join((one.title, *one.sentences)).strip() for one in documents]
    packed["bm25"] = bm25_scores(texts, [one.text for one in questions]).astype(np.float16)
    return packed


def pack(data: Path, model: Path, to: Path) -> None:
    """Write `base.npz` (the model in float16) and `data.npz` (everything tokenised)."""
    import onnx  # type: ignore[import-not-found]
    from tokenizers import Tokenizer

    to.mkdir(parents=True, exist_ok=True)
    graph = onnx.load(str(model / "onnx" / "model.onnx")).graph
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    np.savez(to / "base.npz", **{name: value.astype(np.float16) for name, value in weights.items()})
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    packed = {
        f"{name}/{key}": value
        for name, collection in read_collections(data).items()
        for key, value in pack_collection(collection, tokenizer).items()
    }
    np.savez_compressed(to / "data.npz", **packed)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of numbers of different lengths, in one array."""

    flat: npt.NDArray[Any]
    ends: Ints

    def __getitem__(self, at: int) -> list[int]:
        row: list[int] = self.flat[self.ends[at] : self.ends[at + 1]].tolist()
        return row

    def __len__(self) -> int:
        return len(self.ends) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenisedSet:
    """One set as token ids; sentences of all documents stand in one list."""

    titles: Rows
    sentences: Rows
    first_sentence: Ints
    questions: Rows
    answers: Rows
    rationales: Rows
    groups: tuple[str, ...]
    bm25: Floats

    @property
    def size(self) -> int:
        """Return how many documents there are."""
        return len(self.titles)

    def span(self, document: int) -> range:
        """Return where the sentences of a document stand."""
        return range(self.first_sentence[document], self.first_sentence[document + 1])

    def document(self, at: int) -> list[int]:
        """Return a document's title and text."""
        return [*self.titles[at], *self.text(self.span(at))]

    def all_documents(self) -> list[list[int]]:
        """Return every document, as far as the model can read."""
        return [self.document(at)[:MAX_TOKENS] for at in range(self.size)]

    def text(self, sentences: Iterable[int]) -> list[int]:
        """Return sentences joined."""
        return [token for one in sentences for token in self.sentences[one]]


def load_sets(folder: Path) -> dict[str, TokenisedSet]:
    with np.load(folder / "data.npz") as file:
        stored = {key: file[key] for key in file.files}

    def rows(key: str) -> Rows:
        return Rows(stored[f"{key}.flat"], stored[f"{key}.ends"])

    return {
        name: TokenisedSet(
            titles=rows(f"{name}/titles"),
            sentences=rows(f"{name}/sentences"),
            first_sentence=np.cumsum([0, *stored[f"{name}/lengths"]]),
            questions=rows(f"{name}/questions"),
            answers=rows(f"{name}/answers"),
            rationales=rows(f"{name}/rationales"),
            groups=tuple(stored[f"{name}/question_groups"].tolist()),
            bm25=stored[f"{name}/bm25"].astype(np.float32),
        )
        for name in {key.split("/")[0] for key in stored}
    }
