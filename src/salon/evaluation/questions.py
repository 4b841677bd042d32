"""Labelled questions for answers: SQuAD 2's layout, and claims with sentence rationales.

Both come as the same thing: texts, questions, and for each question which spans of which text
answer it; none where the texts do not answer it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from salon.core.errors import InvalidInput
from salon.evaluation.files import read_json_lines, read_text

CharSpan = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestion:
    """A question, and where it is answered: spans of characters by text."""

    id: str
    text: str
    group: str
    """Questions of one group go together when data is divided: an article, a claim."""
    answers: dict[str, tuple[CharSpan, ...]]

    @property
    def is_answerable(self) -> bool:
        """Tell whether any text answers it."""
        return bool(self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuestions:
    """Texts by name, and the questions about them."""

    kind: str
    texts: dict[str, str]
    questions: tuple[LabelledQuestion, ...]


def read_labelled(questions: Path, corpus: Path | None = None) -> LabelledQuestions:
    """Read SQuAD's JSON, or claims as JSON lines with their corpus."""
    content = read_text(questions)
    try:
        if content.lstrip()[:1] == "{" and '"data"' in content[:2000]:
            return _squad(from_json(content))
        if corpus is None:
            raise InvalidInput(
                f"{questions} holds claims, which need their corpus", hint="give it with --corpus"
            )
        return _claims(read_json_lines(questions), read_json_lines(corpus))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise InvalidInput(
            f"{questions} cannot be understood: {type(error).__name__} {error}",
            hint="give SQuAD 2 JSON, or claims with `evidence` and a corpus with `sentences`",
        ) from error


def _squad(found: Any) -> LabelledQuestions:
    texts: dict[str, str] = {}
    questions = []
    for article in found["data"]:
        for number, paragraph in enumerate(article["paragraphs"], start=1):
            name = f"{article['title']} {number}"
            texts[name] = paragraph["context"]
            for asked in paragraph["qas"]:
                spans = tuple(
                    dict.fromkeys(
                        (int(one["answer_start"]), int(one["answer_start"]) + len(one["text"]))
                        for one in asked["answers"]
                    )
                )
                is_empty = asked.get("is_impossible", False) or not spans
                questions.append(
                    LabelledQuestion(
                        id=str(asked["id"]),
                        text=asked["question"].strip(),
                        group=article["title"],
                        answers={} if is_empty else {name: spans},
                    )
                )
    return LabelledQuestions(
        kind="squad", texts=texts, questions=tuple(one for one in questions if one.text)
    )


def _claims(claims: Iterator[Any], corpus: Iterator[Any]) -> LabelledQuestions:
    texts: dict[str, str] = {}
    places: dict[str, list[CharSpan]] = {}
    for document in corpus:
        name, text, spans = str(document["_id"]), "", []
        for sentence in document["sentences"]:
            start = len(text) + bool(text)
            text = f"{text} {sentence.strip()}" if text else sentence.strip()
            spans.append((start, len(text)))
        if text:
            texts[name], places[name] = text, spans
    questions = []
    for claim in claims:
        answers: dict[str, tuple[CharSpan, ...]] = {}
        for one in claim["evidence"]:
            name = str(one["doc_id"])
            known = places.get(name, [])
            spans = [known[place] for place in one["sentences"] if place < len(known)]
            answers[name] = (*answers.get(name, ()), *spans)
        questions.append(
            LabelledQuestion(
                id=str(claim["id"]), text=claim["claim"], group=str(claim["id"]), answers=answers
            )
        )
    return LabelledQuestions(kind="claims", texts=texts, questions=tuple(questions))
