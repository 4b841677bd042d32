"""`salon corpus` and `salon read`: sources, their text, and who vouches for them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, plain, with_salon
from salon.cli.ingesting import (
    encoding_option,
    finish,
    require_one_title,
    show_results,
    vectors_option,
    with_details,
)
from salon.cli.printing import printable
from salon.core.archive import ArchiveTransaction, Deletion
from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.errors import InvalidInput
from salon.council.publication import chapters_citing

if TYPE_CHECKING:
    from salon.corpus.ingest import Details


@click.group()
def corpus() -> None:
    """Documents: read, list, judge and remove sources."""


@corpus.command()
@click.argument("places", nargs=-1, required=True, metavar="FILE|FOLDER|URL…")
@with_details
@click.option("--avatar", help="Put the documents into this avatar's corpus.")
@vectors_option
@encoding_option
@json_option
@with_salon
def add(
    salon: Salon,
    places: tuple[str, ...],
    details: "Details",
    avatar: str | None,
    vectors: bool,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Read sources and store them as documents, folders recursively.

    A source that cannot be read is named and the rest goes on; run the same command again and what
    is stored already is skipped. Exits with the code of the first failure. A text can be searched
    by its words as soon as it is stored; its vectors are computed then, and if you stop that,
    `salon index update` goes on with it.
    """
    from salon.corpus.ingest import Failed
    from salon.corpus.manifest import as_avatar_id
    from salon.corpus.sources import expand

    member_of = as_avatar_id(avatar) if avatar else None
    found = expand(places)
    require_one_title(details, len(found.sources))
    reading = salon.ingest(found.sources, details=details, encoding=encoding)
    results = show_results(reading, len(found.sources), as_json=as_json)
    stored = [result.document.id for result in results if not isinstance(result, Failed)]
    if member_of and stored:
        salon.add_to_corpus(member_of, stored)
    finish(salon, results, found.skipped, vectors=vectors, as_json=as_json)


@corpus.command("ls")
@click.option("--avatar", help="Only the corpus of this avatar.")
@json_option
@with_salon
def list_documents(salon: Salon, avatar: str | None, as_json: bool) -> None:
    """List the documents with their verification status."""
    documents = salon.documents(avatar=avatar)
    lines = [
        f"{found.id}  {found.verification.status.value:<9} {found.provenance.type.value:<9} "
        f"{found.provenance.year or '':>5}  {found.provenance.title}"
        for found in documents
    ]
    emit(documents, "\n".join(lines) or "no documents", as_json=as_json)


@corpus.command()
@click.argument("avatar")
@click.option("--from", "first_year", type=int, help="The first year it covers (default: open).")
@click.option("--until", "last_year", type=int, help="The last year it covers (default: open).")
@json_option
@with_salon
def period(
    salon: Salon, avatar: str, first_year: int | None, last_year: int | None, as_json: bool
) -> None:
    """Say which years an avatar's corpus covers: what is dated outside is never found for it."""
    from salon.corpus.manifest import Period, as_avatar_id

    chosen = Period(first=first_year, last=last_year)
    manifest = salon.set_period(as_avatar_id(avatar), chosen)
    ends = f"{chosen.first or 'the beginning'} to {chosen.last or 'today'}"
    emit(manifest, f"the corpus of {avatar} covers {ends}", as_json=as_json)


@corpus.command()
@click.argument("avatar")
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT…")
@json_option
@with_salon
def leave(salon: Salon, avatar: str, documents: tuple[str, ...], as_json: bool) -> None:
    """Take documents out of an avatar's corpus; they stay in the archive."""
    from salon.corpus.manifest import as_avatar_id

    manifest = salon.remove_from_corpus(as_avatar_id(avatar), map(DocumentId, documents))
    emit(
        manifest,
        f"the corpus of {avatar} has {counted(len(manifest.documents), 'document')}",
        as_json=as_json,
    )


@corpus.command()
@click.argument("document")
@json_option
@with_salon
def show(salon: Salon, document: str, as_json: bool) -> None:
    """Show where a document comes from and everything that was said about it."""
    found = salon.archive.get_document(DocumentId(document))
    judged = salon.archive.verifications(found.id)
    emit(
        {"document": found, "verifications": judged},
        "\n".join(
            [
                *_described(found),
                *(
                    f"{one.status.value} by {one.by} at {one.at}"
                    + (f": {one.notes}" if one.notes else "")
                    for one in judged
                ),
            ]
        ),
        as_json=as_json,
    )


def _described(document: Document) -> list[str]:
    about = document.provenance
    known = {
        "title": about.title,
        "type": about.type.value,
        "authors": ", ".join(about.authors),
        "year": about.year,
        "url": about.url,
        "archive url": about.archive_url,
        "licence": about.licence,
        "doi": about.doi,
        "derived": "yes" if about.derived else None,
        "source": document.source,
        "text": document.text,
        "layout": document.layout,
    }
    return [f"{name:<12}{value}" for name, value in known.items() if value]


@corpus.command()
@click.argument("document")
@click.argument("status", type=click.Choice([status.value for status in VerificationStatus]))
@click.option("--notes", default="", help="What was checked, and how.")
@json_option
@with_salon
def mark(salon: Salon, document: str, status: str, notes: str, as_json: bool) -> None:
    """Judge a document. Every judgement is kept; the latest one counts."""
    judged = salon.archive.write(
        lambda tx: tx.set_verification(
            DocumentId(document), VerificationStatus(status), notes=notes
        )
    )
    emit(judged, f"{judged.id} is {judged.verification.status.value}", as_json=as_json)


@corpus.command("rm")
@click.argument("document")
@click.option("--cards", is_flag=True, help="Delete its cards too.")
@click.option("--reason", default="", help="Why; needed with --cards.")
@json_option
@with_salon
def remove(salon: Salon, document: str, cards: bool, reason: str, as_json: bool) -> None:
    """Take a document out of the corpus.

    With --cards its source, text and layout are deleted in the same step; if something else needs
    one of them, nothing is changed. Chapters of the council that cite it are named: from then on
    `salon council verify` fails for them.
    """
    found = salon.archive.get_document(DocumentId(document))

    def work(tx: ArchiveTransaction) -> Deletion | None:
        tx.remove_document(found.id)
        return tx.delete(found.source, reason=reason) if cards else None

    citing = chapters_citing(salon.archive, found.text)
    deleted = salon.archive.write(work)
    # The same text may be there as another document, and then the notes still lead to it.
    chapters = () if salon.archive.documents_of(found.text) else citing
    gone = f", with {1 + len(deleted.also_deleted)} cards" if deleted else ""
    emit(
        {"removed": found.id, "deletion": deleted, "chapters": chapters},
        f"removed {found.id}{gone}",
        as_json=as_json,
    )
    for chapter in chapters:
        click.echo(f"warning: {chapter} cites it and no longer verifies", err=True)


@click.command()
@click.argument("place", metavar="FILE|URL")
@encoding_option
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file."
)
@json_option
@with_salon
def read(
    salon: Salon, place: str, encoding: str | None, output: Path | None, as_json: bool
) -> None:
    """Show the text that a reader finds in a file or page, with its pages and sections.

    Nothing is stored. With --json: the text, and for every byte of it the page or section.
    """
    from salon.corpus.sources import expand

    sources = expand([place]).sources
    if len(sources) != 1:
        raise InvalidInput(f"{place} holds {len(sources)} sources", hint="name one file")
    found = salon.read(sources[0], encoding=encoding)
    data = found.text.encode()
    if as_json:
        emit(
            {
                "title": found.title,
                "media_type": found.media_type,
                "text": found.text,
                "segments": [plain(segment) for segment in found.layout.segments],
            },
            "",
            as_json=True,
        )
        return
    if output:
        output.write_text(found.text, "utf-8", newline="")
        click.echo(f"{len(data):,} bytes of text written to {output}", err=True)
        return
    for segment in found.layout.segments:
        place = f"page {segment.page}" if segment.page else ""
        label = ", ".join(part for part in (place, segment.section or "") if part)
        span = f"bytes {segment.start} to {segment.end}"
        click.secho(f"[{printable(label)}: {span}]", dim=True)
        click.echo(printable(data[segment.start : segment.end].decode().strip("\n")))
