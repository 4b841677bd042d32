"""`salon search`: passages that answer a question, with their proof and the reasons."""

from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import emit, json_option, plain, with_salon
from salon.core.documents import DocumentId, VerificationStatus

if TYPE_CHECKING:
    from salon.corpus.filters import Where
    from salon.corpus.search import FoundPassage, SearchAnswer
    from salon.retrieval.searcher import Mode

_CLIP = 300


@click.command()
@click.argument("query")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="How many passages at most.",
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "dense", "sparse", "graph"]),
    default="hybrid",
    show_default=True,
    help="Words and vectors, vectors alone, words alone, or hops over the entity graph.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Weight of the vectors in hybrid mode: 0 is words alone, 1 vectors alone.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out passages that are less probably relevant than this.",
)
@click.option("--avatar", help="Only the corpus of this avatar, within its period.")
@click.option("--document", "documents", multiple=True, help="Only this document; repeatable.")
@click.option("--from", "first_year", type=int, help="Only documents of this year or later.")
@click.option("--until", "last_year", type=int, help="Only documents of this year or earlier.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in VerificationStatus]),
    help="Only documents judged so; repeatable.",
)
@click.option("--language", help="Only documents in this language: en, de, zh …")
@click.option(
    "--derived/--original",
    "derived",
    default=None,
    help="Only texts that Salon made itself, or only the others.",
)
@click.option("--explain", is_flag=True, help="Show both ranks and what the score is made of.")
@json_option
@with_salon
def search(
    salon: Salon,
    query: str,
    limit: int,
    mode: "Mode",
    alpha: float,
    threshold: float,
    avatar: str | None,
    documents: tuple[str, ...],
    first_year: int | None,
    last_year: int | None,
    statuses: tuple[str, ...],
    language: str | None,
    derived: bool | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Find the passages that answer QUERY, each with its card, span and probability.

    Words in double quotes must occur as they stand; a word that ends in * stands for all that begin
    so. Words are found as soon as a text is stored; vectors follow (`salon index update`).
    """
    where = _where(avatar, documents, (first_year, last_year), statuses, language, derived)
    answer = salon.search(
        query, limit=limit, mode=mode, alpha=alpha, threshold=threshold, where=where
    )
    if as_json:
        emit(_as_json(answer, explain=explain), "", as_json=True)
        return
    lines = [line for found in answer.passages for line in _lines(found, explain=explain)]
    emit(None, "\n".join(lines).rstrip() or "nothing found", as_json=False)
    for note in answer.notes:
        click.secho(f"note: {note}", err=True, dim=True)


def _where(
    avatar: str | None,
    documents: tuple[str, ...],
    years: tuple[int | None, int | None],
    statuses: tuple[str, ...],
    language: str | None,
    derived: bool | None,
) -> "Where":
    from salon.corpus.filters import Where
    from salon.corpus.manifest import Period, as_avatar_id

    return Where(
        avatar=as_avatar_id(avatar) if avatar else None,
        documents=frozenset(map(DocumentId, documents)) or None,
        period=Period(first=years[0], last=years[1]),
        verification=frozenset(map(VerificationStatus, statuses)) or None,
        language=language.lower() if language else None,
        derived=derived,
    )


def _as_json(answer: "SearchAnswer", *, explain: bool) -> object:
    shown = plain(answer)
    assert isinstance(shown, dict)
    if not explain:
        for passage in shown["passages"]:
            del passage["why"]
        del shown["timings"]
    return shown


def _lines(found: "FoundPassage", *, explain: bool) -> list[str]:
    place = f"page {found.page}" if found.page else found.section or ""
    marks = [mark for mark, is_so in (("verified", found.verified), ("derived", found.derived))
             if is_so]  # fmt: skip
    about = ", ".join(part for part in (found.source, place, *marks) if part)
    text = " ".join(found.content.split())
    lines = [
        f"{found.score:.2f}  {about}",
        f"      {text if len(text) <= _CLIP else text[: _CLIP - 1] + '…'}",
        f"      {found.document_id}  {found.hash[:16]} bytes {found.start} to {found.end}",
    ]
    if explain:
        lines += [f"      {reason}" for reason in found.why.lines()]
    return [*lines, ""]
