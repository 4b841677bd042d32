"""`salon eval memory`: whether memory search finds what was said, on very long conversations."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.cli.common import amount_progress, emit, json_option

if TYPE_CHECKING:
    from salon.evaluation.memory import MemoryReport


@click.command("memory")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    required=True,
    help="Conversations with questions and evidence in LoCoMo's layout, compressed or not.",
)
@json_option
def memory(data: Path, as_json: bool) -> None:
    """Look for the turns that answer questions about long conversations, beside bm25s.

    The search is the one that a companion's recall uses in every turn. See docs/guides/memory.md.
    """
    from salon.evaluation.memory import evaluate_memory, read_conversations
    from salon.providers.embedders import open_embedder

    conversations, skipped = read_conversations(data)
    embedder = open_embedder("embedded:minilm")
    report = evaluate_memory(conversations, embedder, skipped=skipped, progress=amount_progress)
    emit(report, "\n".join(_lines(report)), as_json=as_json)


def _lines(report: "MemoryReport") -> Iterator[str]:
    yield (
        f"{report.conversations} conversations, {report.turns:,} turns, "
        f"{report.questions:,} questions ({report.skipped} skipped: no evidence to find)"
    )
    depths = list(report.figures[0].recall)
    heads = "  ".join(f"R@{depth:<3}" for depth in depths)
    yield f"\n{'system':<13} {'questions':<25} {'count':>5}  {heads}"
    for one in report.figures:
        values = "  ".join(f"{one.recall[depth]:.3f}" for depth in depths)
        yield f"{one.system:<13} {one.category:<25} {one.questions:>5,}  {values}"
    found = report.comparison
    yield (
        f"\nR@10 against {found.peer}: {found.difference:+.3f} "
        f"({found.low:+.3f} to {found.high:+.3f}), {found.verdict}"
    )
    each = ", ".join(f"{name} {value:.3f}" for name, value in report.by_conversation.items())
    yield f"R@10 by conversation: {each}"
    yield f"one search: {report.search_ms:.1f} ms (median), without the question's vector"
