"""What the judge and the selector are taught: labelled pairs from SciFact and SQuAD 2.0.

Nothing is sampled twice: the same files give the same examples in the same order. Every example
names its `group`, the claim's abstract or the question's article, which folds keep together.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salon.grounding.support.quantities import read_quantities
from salon.grounding.support.readings import sentences
from salon.grounding.support.words import read_words


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimExample:
    """A claim, a text, and whether the text bears it out."""

    claim: str
    text: str
    is_borne_out: bool
    group: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExample:
    """A question, the sentences of one text, and which of them answer it (perhaps none)."""

    question: str
    sentences: tuple[str, ...]
    answers: frozenset[int]
    group: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstract:
    """An abstract of SciFact."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SciFact:
    """Claims and abstracts."""

    claims: tuple[dict[str, Any], ...]
    abstracts: dict[str, Abstract]


def read_scifact(folder: Path) -> SciFact:
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    claims = (folder / "claims_train.jsonl").read_text(encoding="utf-8").splitlines()
    return SciFact(
        claims=tuple(json.loads(line) for line in claims),
        abstracts={
            row["_id"]: Abstract(title=row["title"], sentences=tuple(row["sentences"]))
            for row in rows
        },
    )


def read_squad(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        articles: list[dict[str, Any]] = json.load(file)["data"]
    return articles


def squad_texts(articles: Sequence[dict[str, Any]]) -> list[str]:
    return [part["context"] for article in articles for part in article["paragraphs"]]


# Claims


def scifact_claims(data: SciFact) -> Iterator[ClaimExample]:
    """Walk claims with abstracts that bear them out, contradict them, or leave them open."""
    for row in data.claims:
        by_abstract: dict[str, list[dict[str, Any]]] = {}
        for one in row["evidence"]:
            by_abstract.setdefault(one["doc_id"], []).append(one)
        for card in row["cited_doc_ids"]:
            abstract = data.abstracts[card]
            yield from _scifact_pair(row["claim"], card, abstract, by_abstract.get(card, []))


def _scifact_pair(
    claim: str, card: str, abstract: Abstract, evidence: Sequence[dict[str, Any]]
) -> Iterator[ClaimExample]:
    def example(chosen: Sequence[str], kind: str, *, good: bool) -> ClaimExample:
        return ClaimExample(
            claim=claim, text="\n".join(chosen), is_borne_out=good, group=card, kind=kind
        )

    everything = (abstract.title, *abstract.sentences)
    if not evidence:
        yield example(everything, "scifact open", good=False)
        return
    good = evidence[0]["label"] == "SUPPORT"
    word = "supports" if good else "contradicts"
    yield example(everything, f"scifact {word}", good=good)
    cited = {place for one in evidence for place in one["sentences"]}
    for one in evidence[:2]:
        chosen = [abstract.sentences[place] for place in one["sentences"]]
        yield example(chosen, f"scifact sentence {word}", good=good)
    rest = [line for place, line in enumerate(abstract.sentences) if place not in cited]
    if good and rest:
        yield example(rest, "scifact without its evidence", good=False)


_ASKING = re.compile(
    r"\b(?:(?:in|on|at|by|from|to|for|of|with|during) )?(?:how (?:many|much|long|old|far|often)"
    r"|what (?:kind|type|sort|name) of|what|which|who|whom|whose|when|where|why|how)\b",
    re.IGNORECASE,
)


def statement(question: str, answer: str) -> str:
    """Put an answer in the place of what a question asks for; the grammar may suffer."""
    bare = question.strip().rstrip("?").strip()
    said, count = _ASKING.subn(lambda _: f" {answer} ", bare, count=1)
    said = " ".join((said if count else f"{bare} {answer}").split())
    return said[:1].upper() + said[1:] + "."


def squad_claims(articles: Sequence[dict[str, Any]], seed: int = 4) -> Iterator[ClaimExample]:
    """Walk statements made of questions and answers, right, wrong, and about something else."""
    chance = random.Random(seed)
    for article in articles:
        pool = _answers(article)
        for part in article["paragraphs"]:
            for asked in part["qas"]:
                yield from _squad_pairs(article, part["context"], asked, pool, chance)
            yield from _sentence_pairs(article, part["context"], chance)


def _answers(article: dict[str, Any]) -> list[str]:
    return sorted(
        {
            asked["answers"][0]["text"]
            for part in article["paragraphs"]
            for asked in part["qas"]
            if asked["answers"]
        }
    )


def _squad_pairs(
    article: dict[str, Any],
    context: str,
    asked: dict[str, Any],
    pool: Sequence[str],
    chance: random.Random,
) -> Iterator[ClaimExample]:
    def example(claim: str, text: str, kind: str, *, good: bool = False) -> ClaimExample:
        return ClaimExample(
            claim=claim, text=text, is_borne_out=good, group=article["title"], kind=kind
        )

    question = asked["question"]
    if asked["is_impossible"]:
        for one in asked["plausible_answers"][:1]:
            yield example(statement(question, one["text"]), context, "squad plausible")
        return
    answer = asked["answers"][0]
    claim = statement(question, answer["text"])
    yield example(claim, context, "squad answer", good=True)
    without = _without(context, answer["answer_start"])
    if without and chance.random() < 0.5:
        yield example(claim, without, "squad without its sentence")
    other = _other_answer(answer["text"], pool, context, chance)
    if other and chance.random() < 0.3:
        yield example(statement(question, other), context, "squad other answer")


def _without(context: str, place: int) -> str:
    return " ".join(
        context[start:end] for start, end in sentences(context) if not start <= place < end
    )


def _other_answer(
    answer: str, pool: Sequence[str], context: str, chance: random.Random
) -> str | None:
    """Return an answer of the same kind that the text does not hold."""
    is_number = bool(read_quantities(answer))
    is_name = answer[:1].isupper()
    alike = [
        one
        for one in pool
        if one not in context
        and bool(read_quantities(one)) == is_number
        and one[:1].isupper() == is_name
    ]
    return chance.choice(alike) if alike else None


def _sentence_pairs(
    article: dict[str, Any], context: str, chance: random.Random
) -> Iterator[ClaimExample]:
    """Walk pieces of a text itself: shortened, and joined with a piece from elsewhere."""
    spans = sentences(context)
    if len(spans) < 3:
        return
    place = chance.randrange(len(spans))
    start, end = spans[place]
    said = context[start:end]
    words = said.split()
    if len(words) < 10:
        return
    title = article["title"]
    cut = chance.randrange(len(words) // 2, len(words) - 1)
    kept = [word for word in words[:cut] if chance.random() > 0.1]
    yield ClaimExample(
        claim=" ".join(kept), text=context, is_borne_out=True, group=title, kind="squad shortened"
    )
    rest = " ".join(context[a:b] for at, (a, b) in enumerate(spans) if at != place)
    yield ClaimExample(
        claim=said, text=rest, is_borne_out=False, group=title, kind="squad left out"
    )
    elsewhere = chance.choice(article["paragraphs"])["context"]
    if elsewhere != context:
        piece = elsewhere.split(". ")[0].split()
        claim = " ".join([*words[: len(words) // 2], "and", *piece[: len(words) // 2]])
        yield ClaimExample(
            claim=claim, text=context, is_borne_out=False, group=title, kind="squad joined"
        )


# Answers


def scifact_answers(data: SciFact) -> Iterator[AnswerExample]:
    """Walk claims and the abstracts they cite, with the sentences that decide them."""
    for row in data.claims:
        for card in row["cited_doc_ids"]:
            cited = {
                place
                for one in row["evidence"]
                if one["doc_id"] == card
                for place in one["sentences"]
            }
            yield AnswerExample(
                question=row["claim"],
                sentences=data.abstracts[card].sentences,
                answers=frozenset(cited),
                group=card,
                kind="scifact",
            )


def squad_answers(articles: Sequence[dict[str, Any]]) -> Iterator[AnswerExample]:
    """Walk questions and their paragraphs, with the sentences that hold an answer."""
    for article in articles:
        for part in article["paragraphs"]:
            context = part["context"]
            spans = sentences(context)
            for asked in part["qas"]:
                places = {
                    at
                    for one in asked["answers"]
                    for at, (start, end) in enumerate(spans)
                    if start <= one["answer_start"] < end
                }
                yield AnswerExample(
                    question=asked["question"],
                    sentences=tuple(context[start:end] for start, end in spans),
                    answers=frozenset(places),
                    group=article["title"],
                    kind="squad",
                )


def content_words(text: str) -> set[str]:
    return {word.stem for word in read_words(text)}
