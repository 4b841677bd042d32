"""`salon index`: the derived indexes, how current they are, and bringing them up to date."""

from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import amount_progress, counted, emit, json_option, with_salon

if TYPE_CHECKING:
    from salon.retrieval.filling import FillReport


@click.group()
def index() -> None:
    """Indexes of words and vectors: derived from the archive, rebuilt at will."""


@index.command()
@click.option("--vectors/--no-vectors", default=True, help="Also compute missing vectors.")
@json_option
@with_salon
def update(salon: Salon, vectors: bool, as_json: bool) -> None:
    """Bring words and vectors up to date; stop it at any time, it goes on where it stopped."""
    words = salon.index_words()
    filled = update_vectors(salon) if vectors else None
    gone = f", {counted(words.removed, 'text')} removed" if words.removed else ""
    made = (
        f"; {counted(filled.computed, 'vector')} computed, "
        f"{filled.taken_from_archive:,} taken from the archive"
        if filled
        else ""
    )
    emit(
        {"words": words, "vectors": filled},
        f"{counted(words.indexed, 'text')} indexed{gone}{made}",
        as_json=as_json,
    )


def update_vectors(salon: Salon) -> "FillReport":
    """Compute the missing vectors under a progress bar."""
    with amount_progress("vectors") as show:
        return salon.index_vectors(show)


@index.command()
@json_option
@with_salon
def status(salon: Salon, as_json: bool) -> None:
    """Tell how much of the archive the indexes reflect."""
    coverage = salon.index_coverage()
    model = salon.passages.catalogue.model()
    emit(
        {"coverage": coverage, "vectors_share": coverage.vectors_share, "model": model},
        f"passages      {coverage.passages:>10,}\n"
        f"with a vector {coverage.with_vector:>10,}  ({int(100 * coverage.vectors_share)}%)"
        + (f"  {model}" if model else "")
        + f"\nbehind        {coverage.entries_behind:>10,}  audit entries",
        as_json=as_json,
    )


@index.command()
@json_option
@with_salon
def rebuild(salon: Salon, as_json: bool) -> None:
    """Forget the indexes and build them again; vectors come from the archive."""
    words = salon.rebuild_index()
    filled = update_vectors(salon)
    emit(
        {"words": words, "vectors": filled},
        f"{counted(words.indexed, 'text')} indexed; {counted(filled.computed, 'vector')} computed, "
        f"{filled.taken_from_archive:,} taken from the archive",
        as_json=as_json,
    )
