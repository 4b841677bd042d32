"""Pack what the product finds for labelled questions, to be read elsewhere and fitted here.

For each question of SQuAD 2 and each claim of SciFact (in the folder `--data`): the passages that
search returns, the sentences of each, what the selector's first look says of them, and which are
right. A claim is packed a second time with the texts that decide it hidden. The answer reader then
scores the pack where it was trained (`tools.train_readers answers --score`), and
`tools.train_abstention` fits from both.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from salon.app import Salon
from salon.cli.common import amount_progress
from salon.corpus.search import FoundPassage
from salon.evaluation.answers import FOUND, covers, store_texts
from salon.evaluation.questions import LabelledQuestion, LabelledQuestions, read_labelled
from salon.evaluation.retrieval import settings_for
from salon.experts.answering import RETRIEVED
from salon.experts.evidence import PASSAGES
from salon.retrieval.chunking import sentences
from salon.settings import load_settings
from tools.data_folder import add_data_option

SETS = {
    "squad": ("squad2_half_dev/dev-v2.0.json.gz", None),
    "claims": ("scifact/claims_train.jsonl", "scifact/corpus.jsonl.gz"),
}


def pack(data: Path, name: str, keep: Path, every: int) -> Iterator[dict[str, Any]]:
    """Walk what is found for every so many questions of a set."""
    questions_file, corpus = SETS[name]
    labelled = read_labelled(data / questions_file, None if corpus is None else data / corpus)
    questions = labelled.questions[::every]
    with Salon(settings_for(keep / name, load_settings())) as salon:
        names = store_texts(salon, labelled, amount_progress)
        with amount_progress(f"asking {name}") as show:
            for number, question in enumerate(questions, start=1):
                found = salon.search(question.text, limit=FOUND).passages
                yield _packed(salon, labelled, question, found[:RETRIEVED], names, hidden=False)
                if question.is_answerable and labelled.kind == "claims":
                    others = [one for one in found if names[one.hash] not in question.answers]
                    yield _packed(salon, labelled, question, others[:RETRIEVED], names, hidden=True)
                show(number, len(questions))


def _packed(
    salon: Salon,
    labelled: LabelledQuestions,
    question: LabelledQuestion,
    passages: Sequence[FoundPassage],
    names: dict[Any, str],
    *,
    hidden: bool,
) -> dict[str, Any]:
    rows = []
    for passage in passages[:PASSAGES]:
        name = names[passage.hash]
        before = len(labelled.texts[name].encode()[: passage.start].decode())
        spans = list(sentences(passage.content))
        texts = [passage.content[begin:end] for begin, end in spans]
        answers = question.answers.get(name, ())
        whole = labelled.kind == "claims"
        rows.append(
            {
                "hash": passage.hash,
                "start": passage.start,
                "end": passage.end,
                "score": passage.score,
                "text": passage.content,
                "sentences": texts,
                "first": [round(one, 6) for one in salon.selector.first_look(question.text, texts)],
                "right": [
                    not hidden and covers((before + begin, before + end), answers, whole=whole)
                    for begin, end in spans
                ],
            }
        )
    return {
        "id": question.id,
        "group": question.group if labelled.kind == "squad" else f"claim {question.id}",
        "asked": question.text,
        "is_answerable": question.is_answerable,
        "is_hidden": hidden,
        "is_claim": labelled.kind == "claims",
        "passages": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--keep", type=Path, required=True, help="folder for the two corpora")
    parser.add_argument("--to", type=Path, required=True, help="folder of the pack")
    parser.add_argument("--every", type=int, default=4, help="take every so many of SQuAD")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        with gzip.open(given.to / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            for row in pack(given.data, name, given.keep, given.every if name == "squad" else 1):
                lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
