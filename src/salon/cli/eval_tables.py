"""What `salon eval` prints for people: tables, and a sentence for each comparison.

Only shape: every figure comes from the report as it is.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from salon.cli.common import counted
from salon.cli.printing import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from salon.evaluation.figures import RetrievalReport, SystemFigures, Work
    from salon.evaluation.multihop import MultihopReport, SystemHops

_WIDTH = 200


def print_retrieval(report: "RetrievalReport") -> None:
    """Print what was found out about a collection."""
    console = _console()
    for line in _about_collection(report):
        console.print(line)
    console.print(_quality(report.systems))
    console.print(_honesty_and_speed(report.systems))
    for one in report.comparisons:
        difference = (one.difference, one.low, one.high, one.p)
        console.print(_compared((one.system, one.peer), "nDCG@10", difference, one.verdict))
    console.print()
    for line in _about_indexing(report):
        console.print(line)


def _console() -> "Console":
    from rich.console import Console

    # A figure that is cut to fit is worse than a line that the terminal breaks.
    return Console(file=sys.stdout, width=_WIDTH, markup=False, highlight=False, soft_wrap=True)


def _about_collection(report: "RetrievalReport") -> Iterator[str]:
    found, setup = report.collection, report.setup
    yield (
        f"{counted(found.documents, 'document')} ({found.distinct_texts:,} distinct, "
        f"{found.empty_documents:,} empty), {found.queries_evaluated:,} of {found.queries:,} "
        f"queries, {counted(found.relevant_judgements, 'relevant judgement')}"
    )
    notes = (
        (found.queries_without_relevant, "queries left out: nothing was judged relevant to them"),
        (found.queries_left_out, "queries left out: beyond --limit-queries"),
        (found.relevant_not_in_corpus, "relevant documents are not in the corpus"),
        (report.indexing.passages_without_vector, "passages have no vector"),
    )
    for number, what in notes:
        if number:
            yield f"note: {number:,} {what}"
    yield (
        f"embedder {setup.embedder}, fusion {setup.fusion}, engine {setup.engine}; peer "
        f"{setup.bm25s}"
    )


def _table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _quality(systems: "tuple[SystemFigures, ...]") -> "Table":
    recalls = (f"R@{depth}" for depth in systems[0].recall)
    table = _table("", "nDCG@10", *recalls, "MRR@10", "MAP", "judged@10")
    for one in systems:
        figures = (one.ndcg_at_10, *one.recall.values(), one.mrr_at_10, one.map)
        shown = (f"{figure:.3f}" for figure in figures)
        table.add_row(one.system, *shown, f"{one.judged_at_10:.0%}")
    return table


def _honesty_and_speed(systems: "tuple[SystemFigures, ...]") -> "Table":
    without = ("p50, without\nembedding", "p99, without\nembedding")
    table = _table("", "ECE\nmass", "ECE\nwidth", "p50\nms", "p99\nms", *without)
    for one in systems:
        sure, took = one.calibration, one.latency
        errors = (sure.equal_mass.error, sure.equal_width.error) if sure else ()
        times = (
            took.p50_ms,
            took.p99_ms,
            took.p50_without_embedding_ms,
            took.p99_without_embedding_ms,
        )
        shown = [f"{error:.3f}" for error in errors] or ["", ""]
        table.add_row(one.system, *shown, *(f"{time:.1f}" for time in times))
    return table


def _compared(
    sides: tuple[str, str],
    measure: str,
    difference: tuple[float, float, float, float],
    verdict: str,
) -> str:
    ours, theirs = sides
    mean, low, high, p = difference
    said = {
        "better": f"better than {theirs}, beyond noise",
        "worse": f"worse than {theirs}, beyond noise",
        "within noise": f"no different from {theirs} beyond noise",
    }[verdict]
    return f"{ours} is {said}: {measure} {mean:+.3f} (95 % {low:+.3f} to {high:+.3f}, p {p:.4f})"


def _about_indexing(report: "RetrievalReport") -> Iterator[str]:
    done = report.indexing
    yield f"stored   {_work(done.documents_stored, 'document')}" + (
        f"; {done.documents_known:,} were there" if done.documents_known else ""
    )
    yield f"words    {_work(done.words_indexed, 'document')}"
    yield (
        f"vectors  {_work(done.vectors_indexed, 'passage')}; {done.vectors_computed:,} computed, "
        f"{counted(done.passages, 'passage')} in all"
    )
    yield f"bm25s    {_work(done.bm25s_documents, 'document')}"


def _work(done: "Work", noun: str) -> str:
    rate = f", {done.per_second:,.0f}/s" if done.per_second else ""
    return f"{counted(done.count, noun)} in {done.seconds:.1f} s{rate}"


def print_multihop(report: "MultihopReport") -> None:
    """Print what was found out about questions that need several documents."""
    console = _console()
    console.print(
        f"{counted(report.documents, 'document')} ({report.distinct_texts:,} distinct), titles "
        f"hidden; {report.questions_evaluated:,} of {report.questions:,} questions"
    )
    if report.questions_without_support:
        console.print(
            f"note: {report.questions_without_support:,} questions left out: their support is not "
            "all in the corpus"
        )
    console.print(f"embedder {report.embedder}, {report.entities:,} entities in the graph")
    console.print(_support(report.systems))
    console.print(_by_kind(report.systems))
    for one in report.comparisons:
        difference = (one.difference, one.low, one.high, one.p)
        sides = (report.systems[0].system, one.peer)
        console.print(_compared(sides, "R@5", difference, one.verdict))
    console.print(
        f"\n{counted(report.passages, 'passage')} indexed in {report.indexing_s:.1f} s, "
        f"the graph in {report.graph_s:.1f} s"
    )


def _support(systems: "tuple[SystemHops, ...]") -> "Table":
    recalls = (f"R@{depth}" for depth in systems[0].overall.recall)
    table = _table("", *recalls, "all support@5", "p50\nms", "p99\nms")
    for one in systems:
        shares = (*one.overall.recall.values(), one.overall.all_support_at_5)
        times = (one.p50_ms, one.p99_ms)
        table.add_row(
            one.system, *(f"{share:.3f}" for share in shares), *(f"{time:.1f}" for time in times)
        )
    return table


def _by_kind(systems: "tuple[SystemHops, ...]") -> "Table":
    table = _table("R@5 by kind", "questions", *(one.system for one in systems))
    for kind, figures in systems[0].by_kind.items():
        shares = (one.by_kind[kind].recall[5] for one in systems)
        table.add_row(
            printable(kind), f"{figures.questions:,}", *(f"{share:.3f}" for share in shares)
        )
    return table
