"""`salon eval`: how well Salon does on labelled collections, beside its peers."""

from pathlib import Path

import click

from salon.cli.common import amount_progress, emit, json_option
from salon.cli.eval_answers import answers
from salon.cli.eval_attribution import attribution
from salon.cli.eval_council import council
from salon.cli.eval_emotion import emotion
from salon.cli.eval_features import features
from salon.cli.eval_gate import gate
from salon.cli.eval_home import home_for
from salon.cli.eval_matching import matching
from salon.cli.eval_memory import memory
from salon.cli.eval_pii import pii
from salon.cli.eval_scam import scam
from salon.cli.place import settings_in_force
from salon.core.errors import InvalidInput

_file = click.Path(path_type=Path)
_embedder_option = click.option(
    "--embedder", help="What turns text into vectors, instead of the one in settings."
)
_keep_option = click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Build in this folder and keep it: another run on the same corpus embeds nothing again.",
)


@click.group("eval")
def evaluate() -> None:
    """Measure every reading and decision on labelled collections, beside peers in the same run."""


@evaluate.command()
@click.option("--corpus", type=_file, required=True, help="Documents: _id, title, text.")
@click.option("--queries", type=_file, required=True, help="Queries: _id, text.")
@click.option("--qrels", type=_file, required=True, help="Judgements: query, document, grade.")
@click.option(
    "--k", "depths", default="1,5,10,100", show_default=True, help="Where recall is measured."
)
@click.option("--limit-queries", type=click.IntRange(min=1), help="Ask only the first so many.")
@_embedder_option
@_keep_option
@json_option
def retrieval(
    corpus: Path,
    queries: Path,
    qrels: Path,
    depths: str,
    limit_queries: int | None,
    embedder: str | None,
    keep: Path | None,
    as_json: bool,
) -> None:
    """Store a collection in BEIR's layout, search it, and say how good the results are.

    Files are JSON lines and a table of judgements (BEIR's or TREC's), compressed or not. Your own
    archive is not touched. See docs/guides/evaluation.md for what each figure means.
    """
    from salon.cli.eval_tables import print_retrieval
    from salon.evaluation.beir import read_collection
    from salon.evaluation.retrieval import evaluate_retrieval, settings_for

    wanted = _parse_depths(depths)
    collection = read_collection(corpus, queries, qrels)
    with home_for(keep) as home:
        report = evaluate_retrieval(
            collection,
            settings_for(home, settings_in_force(), embedder=embedder),
            depths=wanted,
            limit_queries=limit_queries,
            progress=amount_progress,
        )
    if as_json:
        emit(report, "", as_json=True)
    else:
        print_retrieval(report)


@evaluate.command()
@click.option("--corpus", type=_file, required=True, help="Documents: _id, title, text.")
@click.option(
    "--questions", type=_file, required=True, help="Questions: id, question, supporting_titles."
)
@click.option("--limit-questions", type=click.IntRange(min=1), help="Ask only the first so many.")
@_embedder_option
@_keep_option
@json_option
def multihop(
    corpus: Path,
    questions: Path,
    limit_questions: int | None,
    embedder: str | None,
    keep: Path | None,
    as_json: bool,
) -> None:
    """Search for questions that need several documents at once, and say how many were found.

    Titles are hidden: only texts are stored and searched. Files are JSON lines, compressed or not.
    Your own archive is not touched. See docs/guides/evaluation.md for what each figure means.
    """
    from salon.cli.eval_tables import print_multihop
    from salon.evaluation.multihop import evaluate_multihop
    from salon.evaluation.retrieval import settings_for

    with home_for(keep) as home:
        report = evaluate_multihop(
            corpus,
            questions,
            settings_for(home, settings_in_force(), embedder=embedder),
            limit_questions=limit_questions,
            progress=amount_progress,
        )
    if as_json:
        emit(report, "", as_json=True)
    else:
        print_multihop(report)


def _parse_depths(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidInput(
            f"{text[:40]!r} is not a list of numbers", hint="for example --k 1,5,10,100"
        ) from error


for command in (
    answers,
    attribution,
    council,
    emotion,
    features,
    gate,
    matching,
    memory,
    pii,
    scam,
):
    evaluate.add_command(command)
