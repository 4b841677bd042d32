"""Reading sources on the command line: a bar, a line for each, a sum, and the exit code."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from salon.app import Salon
from salon.cli.common import emit, item_progress, plain
from salon.cli.errors import exit_code
from salon.cli.index import update_vectors
from salon.cli.printing import printable
from salon.core.documents import DocumentType
from salon.core.errors import InvalidInput, SalonError

if TYPE_CHECKING:
    from salon.corpus.ingest import Details, Result
    from salon.corpus.sources import Skipped

R = TypeVar("R")

_SOURCE_OPTIONS = (
    click.option("--title", help="Title (one source only; else what the source says of itself)."),
    click.option(
        "--type",
        "kind",
        type=click.Choice([kind.value for kind in DocumentType]),
        default=DocumentType.ARTICLE.value,
        show_default=True,
        help="What kind of document it is.",
    ),
    click.option("--author", "authors", multiple=True, help="An author; may be repeated."),
    click.option(
        "--year",
        type=click.IntRange(-4000, 9999),
        help="When it was written; an avatar with a period uses nothing without a year.",
    ),
    click.option("--url", help="Where the source was published."),
    click.option("--archive-url", help="Where a lasting copy is."),
    click.option("--licence", help="Under which licence it stands."),
    click.option("--doi", help="Its DOI, such as 10.1000/182."),
)

vectors_option = click.option(
    "--vectors/--no-vectors", default=True, help="Compute their vectors right away."
)
encoding_option = click.option(
    "--encoding", help="Read text files in this encoding instead of UTF-8."
)


def with_details(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options that describe sources, and hand it `details` made of them."""

    @wraps(command)
    def run(**given: Any) -> R:
        from salon.corpus.ingest import Details

        known = {name: given.pop(name) for name in _DETAIL_NAMES}
        details = Details(type=DocumentType(given.pop("kind")), **known)
        return command(details=details, **given)

    for option in reversed(_SOURCE_OPTIONS):
        run = option(run)
    return run


_DETAIL_NAMES = ("title", "authors", "year", "url", "archive_url", "licence", "doi")


def require_one_title(details: "Details", count: int) -> None:
    """Refuse one title for many sources."""
    if details.title and count > 1:
        raise InvalidInput(f"one title cannot stand for {count} sources")


def show_results(results: "Iterable[Result]", count: int, *, as_json: bool) -> "list[Result]":
    """Read sources under a bar, with a line for each as it is done."""
    from salon.corpus.ingest import Failed

    shown: list[Result] = []
    with item_progress("reading", count) as advance:
        for result in results:
            shown.append(result)
            advance(result.source.name)
            if not as_json:
                click.echo(printable(_line(result)), err=isinstance(result, Failed))
    return shown


def finish(
    salon: Salon, results: "list[Result]", skipped: "Skipped", *, vectors: bool, as_json: bool
) -> None:
    """Make what was read searchable, print the sum, and exit with the first failure's code."""
    failures = failures_of(results)
    if len(failures) < len(results):
        salon.index_words()
        if vectors:
            update_vectors(salon)
    emit(
        {"results": [result_as_json(result) for result in results], "skipped": asdict(skipped)},
        _summary(len(results), len(failures), skipped),
        as_json=as_json,
    )
    if failures:
        raise click.exceptions.Exit(exit_code(failures[0]))


def failures_of(results: "Iterable[Result]") -> list[SalonError]:
    """Return why sources could not be read."""
    from salon.corpus.ingest import Failed

    return [result.error for result in results if isinstance(result, Failed)]


def _line(result: "Result") -> str:
    from salon.corpus.ingest import Failed

    if isinstance(result, Failed):
        hint = f"\n  hint: {result.error.hint}" if result.error.hint else ""
        return f"failed  {result.error.message} [{result.error.code}]{hint}"
    known = "  (known)" if result.already_there else ""
    return f"{result.document.id}  {result.document.provenance.title}{known}"


def result_as_json(result: "Result") -> dict[str, object]:
    """Return what came of one source as plain data."""
    from salon.corpus.ingest import Failed

    if isinstance(result, Failed):
        return {"source": result.source.name} | result.error.as_json()
    return {
        "source": result.source.name,
        "already_there": result.already_there,
        "document": plain(result.document),
    }


def _summary(count: int, failed: int, skipped: "Skipped") -> str:
    parts = [f"{count - failed} of {count} sources are in the corpus"]
    for number, what in (
        (skipped.unknown_kind, "of a kind that is not read"),
        (skipped.hidden, "hidden"),
        (skipped.outside, "links that lead out of the folder"),
    ):
        if number:
            parts.append(f"{number} passed over ({what})")
    return "; ".join(parts)
