"""What the answer reader learns from: questions and claims with passages, and these as tokens.

Nothing here is drawn by chance twice: the same data gives the same examples.
"""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

MAX_TOKENS = 256
MAX_ASKED = 64
PASSAGE = 1000
"""Characters of a passage, as the product cuts them."""
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[A-Z0-9])")
_THING = re.compile(r"\b\d[\d,.]*\b|(?<=[a-z] )[A-Z][a-zA-Z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Every choice of the training; the defaults are what ships."""

    rank: int = 32
    epochs: int = 6
    rate: float = 1e-3
    dropout: float = 0.15
    batch: int = 64
    span_weight: float = 0.5
    support_weight: float = 1.0
    swapped: float = 0.5
    """How often a question gets a twin in which a name or number is another."""
    elsewhere: float = 0.5
    """How often a question is also held against a passage that was not written for it."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question or claim with a passage; a label that is `None` is not trained on."""

    asked: str
    passage: str
    group: str
    is_claim: bool = False
    answers: bool | None = None
    span: tuple[int, int] | None = None
    """Characters of the answer."""
    deciding: tuple[str, ...] = ()
    """Sentences of the passage that answer or decide."""
    supported: bool | None = None


def sentence_spans(text: str) -> list[tuple[int, int]]:
    ends = [one.start() for one in _SENTENCE.finditer(text)] + [len(text)]
    starts = [0] + [one.end() for one in _SENTENCE.finditer(text)]
    return list(zip(starts, ends, strict=True))


def windows(text: str) -> list[tuple[int, int]]:
    """Cut a text into passages of whole sentences."""
    found: list[tuple[int, int]] = []
    start = end = 0
    for begin, stop in sentence_spans(text):
        if stop - start > PASSAGE and end > start:
            found.append((start, end))
            start = begin
        end = stop
    return [*found, (start, end)]


def window_of(text: str, place: int) -> tuple[int, int]:
    return next((one for one in windows(text) if one[0] <= place < one[1]), windows(text)[0])


def squad(folder: Path, recipe: Recipe) -> Iterator[Example]:
    """Walk SQuAD 2: each question with its passage, with another one, and with a swapped name."""
    random = np.random.default_rng(1)
    content = gzip.decompress((folder / "squad2_half_dev/dev-v2.0.json.gz").read_bytes())
    for article in json.loads(content)["data"]:
        texts = [one["context"] for one in article["paragraphs"]]
        things = sorted({one for text in texts for one in _THING.findall(text)})
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            for asked in paragraph["qas"]:
                one = _from_squad(asked, text, article["title"])
                yield one
                if random.random() < recipe.elsewhere:
                    other = texts[random.integers(len(texts))]
                    if other != text:
                        at = windows(other)[0]
                        yield Example(
                            asked=one.asked, passage=other[slice(*at)], group=one.group,
                            answers=False,
                        )  # fmt: skip
                twin = _swapped(one, things, random)
                if twin is not None and random.random() < recipe.swapped:
                    yield twin
                yield from _claims_of(one, asked, things, random)


def _from_squad(asked: dict[str, Any], text: str, group: str) -> Example:
    possible = not asked["is_impossible"]
    known = asked["answers"] if possible else asked.get("plausible_answers", [])
    place = known[0]["answer_start"] if known else 0
    begin, end = window_of(text, place)
    span = None
    if possible and known:
        span = (place - begin, min(end, place + len(known[0]["text"])) - begin)
    passage = text[begin:end]
    deciding = tuple(
        passage[start:stop]
        for start, stop in sentence_spans(passage)
        if span is not None and start <= span[0] < stop
    )
    return Example(
        asked=asked["question"].strip(), passage=passage, group=group, answers=possible,
        span=span, deciding=deciding,
    )  # fmt: skip


def _swapped(one: Example, things: Sequence[str], random: np.random.Generator) -> Example | None:
    """Return the question about another name or number; nobody answers that."""
    found = list(_THING.finditer(one.asked))
    if not one.answers or not found:
        return None
    hit = found[random.integers(len(found))]
    alike = [
        thing
        for thing in things
        if thing[0].isdigit() == hit.group()[0].isdigit()
        and thing.lower() not in one.passage.lower()
    ]
    if not alike:
        return None
    other = alike[random.integers(len(alike))]
    asked = one.asked[: hit.start()] + other + one.asked[hit.end() :]
    return replace(one, asked=asked, answers=False, span=None, deciding=())


def _claims_of(
    one: Example, asked: dict[str, Any], things: Sequence[str], random: np.random.Generator
) -> Iterator[Example]:
    """Make statements: question and answer together, and a sentence as it is or changed."""
    known = asked["answers"] or asked.get("plausible_answers", [])
    plain = Example(asked="", passage=one.passage, group=one.group)
    if known:
        stated = f"{one.asked} {known[0]['text']}"
        yield replace(plain, asked=stated, supported=not asked["is_impossible"])
    if one.answers and known and random.random() < 0.5:
        inside = [thing for thing in _THING.findall(one.passage) if thing not in known[0]["text"]]
        if inside:
            wrong = inside[random.integers(len(inside))]
            yield replace(plain, asked=f"{one.asked} {wrong}", supported=False)
    if random.random() < 0.3:
        spans = sentence_spans(one.passage)
        text = one.passage[slice(*spans[random.integers(len(spans))])]
        words = text.split()
        kept = [word for word in words if random.random() > 0.15]
        yield replace(plain, asked=" ".join(kept), supported=True)
        hits = list(_THING.finditer(text))
        alike = [thing for thing in things if thing.lower() not in one.passage.lower()]
        if hits and alike:
            hit = hits[random.integers(len(hits))]
            same = [thing for thing in alike if thing[0].isdigit() == hit.group()[0].isdigit()]
            if same:
                other = same[random.integers(len(same))]
                changed = text[: hit.start()] + other + text[hit.end() :]
                yield replace(plain, asked=changed, supported=False)


def scifact(folder: Path) -> Iterator[Example]:
    """Walk SciFact: each claim with every passage of its abstract, and with another abstract."""
    random = np.random.default_rng(2)
    lines = gzip.decompress((folder / "scifact/corpus.jsonl.gz").read_bytes()).decode()
    corpus = {str(one["_id"]): one for one in map(json.loads, lines.splitlines())}
    names = sorted(corpus)
    for line in (folder / "scifact/claims_train.jsonl").read_text("utf-8").splitlines():
        claim = json.loads(line)
        labels = {one["doc_id"]: one for one in claim["evidence"]}
        cited = [str(one) for one in claim["cited_doc_ids"]]
        for name in (*cited, names[random.integers(len(names))]):
            evidence = labels.get(name)
            sentences = corpus[name]["sentences"]
            deciding = [sentences[at] for at in evidence["sentences"]] if evidence else []
            for passage in _passages(sentences):
                here = tuple(one for one in deciding if one in passage)
                supported = evidence is not None and evidence["label"] == "SUPPORT"
                yield Example(
                    asked=claim["claim"], passage=" ".join(passage), group=f"claim {claim['id']}",
                    is_claim=True, answers=bool(here), deciding=here,
                    supported=supported if here or not deciding else None,
                )  # fmt: skip


def _passages(sentences: Sequence[str]) -> Iterator[list[str]]:
    taken: list[str] = []
    for one in sentences:
        if taken and sum(map(len, taken)) + len(one) > PASSAGE:
            yield taken
            taken = []
        taken.append(one)
    if taken:
        yield taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An example as tokens."""

    row: tuple[list[int], list[int]]
    sentences: list[tuple[int, int]]
    decides: list[bool]
    span: tuple[int, int]
    example: Example


class Tokens:
    """Reads examples into tokens."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def read(self, example: Example) -> Read:
        """Put question and passage side by side; the passage's end may be left out."""
        asked = self.tokenizer.encode(example.asked, add_special_tokens=False).ids[:MAX_ASKED]
        found = self.tokenizer.encode(example.passage, add_special_tokens=False)
        room = MAX_TOKENS - len(asked) - 3
        first = len(asked) + 2
        ids = [101, *asked, 102, *found.ids[:room], 102]
        types = [0] * first + [1] * (len(ids) - first)
        starts = [begin for begin, _ in found.offsets[:room]]

        def place(character: int) -> int:
            return first + int(np.searchsorted(starts, character, side="right")) - 1

        sentences, decides = [], []
        for begin, stop in sentence_spans(example.passage):
            inside = [at for at, start in enumerate(starts) if begin <= start < stop]
            if inside:
                sentences.append((first + inside[0], first + inside[-1] + 1))
                text = example.passage[begin:stop]
                decides.append(any(one in text or text in one for one in example.deciding))
        span = (0, 0)
        if example.span and starts and example.span[0] <= starts[-1]:
            span = place(example.span[0]), place(max(example.span[1] - 1, example.span[0]))
        return Read(
            row=(ids, types), sentences=sentences, decides=decides, span=span, example=example
        )

    def read_sentences(self, asked: str, sentences: Sequence[str], *, is_claim: bool) -> list[Read]:
        """Read a passage given by its sentences as the product does: in parts that fit."""
        question = self.tokenizer.encode(asked, add_special_tokens=False).ids[:MAX_ASKED]
        first = len(question) + 2
        room = MAX_TOKENS - first - 1
        parts: list[list[list[int]]] = []
        for sentence in sentences:
            ids = self.tokenizer.encode(sentence, add_special_tokens=False).ids[:room]
            if not parts or sum(map(len, parts[-1])) + len(ids) > room:
                parts.append([])
            parts[-1].append(ids)
        example = Example(asked=asked, passage="", group="", is_claim=is_claim)
        found = []
        for part in parts:
            ends = first + np.cumsum([len(one) for one in part])
            ids = [101, *question, 102, *(token for one in part for token in one), 102]
            found.append(
                Read(
                    row=(ids, [0] * first + [1] * (len(ids) - first)),
                    sentences=list(zip([first, *ends[:-1].tolist()], ends.tolist(), strict=True)),
                    decides=[False] * len(part),
                    span=(0, 0),
                    example=example,
                )
            )
        return found
