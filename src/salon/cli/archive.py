"""`salon archive`: add, get, list and remove cards; move the whole archive; check it."""

import base64
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from salon.app import Salon, read_checkpoint_file
from salon.cli.common import (
    byte_progress,
    checkpoint_option,
    counted,
    emit,
    human_bytes,
    json_option,
    with_salon,
)
from salon.cli.handles import expected_current, handle, history
from salon.core.cards import AddedCard
from salon.core.errors import FileMissing, IntegrityFailed, InvalidInput, OutsideFailed
from salon.core.hashing import ALGORITHMS, Algorithm, CardHash, as_algorithm
from salon.council.naming import require_free

if TYPE_CHECKING:
    from salon.archive.export.transfer import OnConflict


@click.group()
def archive() -> None:
    """Cards and handles: the store that loses nothing."""


archive.add_command(handle)
archive.add_command(history)


@archive.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE…|-")
@click.option("--handle", "handle_name", help="Point this handle at the card (one file only).")
@click.option(
    "--expect",
    help="Move the handle only if it points at this hash now; `none` if it must be new.",
)
@click.option(
    "--algorithm",
    default="sha256",
    show_default=True,
    type=click.Choice(ALGORITHMS),
    help="How the content is hashed; the hash is the card's name.",
)
@json_option
@with_salon
def add(
    salon: Salon,
    paths: tuple[str, ...],
    handle_name: str | None,
    expect: str | None,
    algorithm: str,
    as_json: bool,
) -> None:
    """Store files as cards; `-` reads standard input, a folder is walked.

    Known content is recognised by its hash and not stored twice, so an interrupted run can simply
    be repeated.
    """
    files = list(_files(paths))
    if expect and not handle_name:
        raise InvalidInput("--expect needs --handle")
    if handle_name and len(files) != 1:
        raise InvalidInput(f"one handle cannot point at {len(files)} files")
    if handle_name:
        require_free(handle_name)
    total = sum(path.stat().st_size for path in files if path)
    added: list[tuple[str, AddedCard]] = []
    with byte_progress("adding", total) as advance:
        for path in files:
            with _opened(path) as stream:
                card = _store(salon, stream, handle_name, expect, as_algorithm(algorithm))
            added.append((str(path or "-"), card))
            advance(path.stat().st_size if path else 0)
    emit(
        [{"file": name, "hash": card.hash, "created": card.created} for name, card in added],
        "\n".join(
            f"{card.hash}  {name}{'' if card.created else '  (known)'}" for name, card in added
        ),
        as_json=as_json,
    )


def _store(
    salon: Salon, stream: BinaryIO, name: str | None, expect: str | None, algorithm: Algorithm
) -> AddedCard:
    if name is None:
        return salon.archive.add_stream(stream, algorithm=algorithm)
    added, _ = salon.archive.put_stream(
        name, stream, algorithm=algorithm, expected_current=expected_current(expect)
    )
    return added


def _files(paths: tuple[str, ...]) -> Iterator[Path | None]:
    for text in paths:
        path = Path(text)
        if text == "-":
            yield None
        elif path.is_dir():
            yield from (
                found
                for found in sorted(path.rglob("*"))
                if found.is_file() and not found.is_symlink() and found.stat().st_size
            )
        elif path.exists():
            yield path
        else:
            raise FileMissing(f"there is no file {text}", hint="check the path")


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    if path is None:
        yield sys.stdin.buffer
        return
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise OutsideFailed(f"{path} cannot be read: {error.strerror}") from error


@archive.command()
@click.argument("reference", metavar="HASH|HANDLE")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file."
)
@json_option
@with_salon
def get(salon: Salon, reference: str, output: Path | None, as_json: bool) -> None:
    """Print a card's bytes, checked against its hash.

    A hash may be shortened to its first six or more digits.
    """
    card = salon.find_card_hash(reference)
    info = salon.archive.info(card)
    if as_json:
        content = salon.archive.get(card).content
        described = {
            "hash": card,
            "size": info.size,
            "g_time": info.g_time,
            "content_type": salon.archive.content_type(card),
        }
        try:
            emit(described | {"text": content.decode()}, "", as_json=True)
        except UnicodeDecodeError:
            encoded = base64.b64encode(content).decode()
            emit(described | {"base64": encoded}, "", as_json=True)
        return
    if output is None and sys.stdout.isatty() and not _is_text(salon, card):
        raise InvalidInput(
            f"card {card} is {salon.archive.content_type(card)}, not text",
            hint="write it to a file with --output FILE, or into a pipe",
        )
    with salon.archive.open(card) as stream:
        if output is None:
            shutil.copyfileobj(stream, sys.stdout.buffer, 1024 * 1024)
            sys.stdout.buffer.flush()
            return
        # Beside the target first: a failed check must not leave a wrong file behind.
        partial = output.with_name(f".{output.name}.part")
        try:
            with partial.open("wb") as target:
                shutil.copyfileobj(stream, target, 1024 * 1024)
            partial.replace(output)
        finally:
            partial.unlink(missing_ok=True)
    click.echo(f"{human_bytes(info.size)} written to {output}", err=True)


def _is_text(salon: Salon, card: CardHash) -> bool:
    from salon.archive.content_types import HEAD_BYTES, is_text

    with salon.archive.open(card) as stream:
        return is_text(stream.read(HEAD_BYTES))


@archive.command("ls")
@click.option("--prefix", default="", help="Only hashes that start with this.")
@click.option("--limit", default=100, show_default=True, help="At most so many; 0 for all.")
@json_option
@with_salon
def list_cards(salon: Salon, prefix: str, limit: int, as_json: bool) -> None:
    """List cards in the order they came (by hash where --prefix is given)."""
    cards = list(salon.archive.cards(prefix=prefix, limit=limit or None))
    lines = [f"{card.hash}  {human_bytes(card.size):>10}  {card.g_time}" for card in cards]
    if limit and len(cards) == limit:
        lines.append(f"(the first {limit}; --limit 0 lists all)")
    emit(cards, "\n".join(lines) or "no cards", as_json=as_json)


@archive.command("rm")
@click.argument("reference", metavar="HASH|HANDLE")
@click.option("--reason", required=True, help="Why; it stays on the tombstone.")
@click.option("--force", is_flag=True, help="Also if a handle, citation or document needs it.")
@json_option
@with_salon
def remove(salon: Salon, reference: str, reason: str, force: bool, as_json: bool) -> None:
    """Delete a card and what was made from it. A tombstone stays."""
    card = salon.find_card_hash(reference)
    deleted = salon.archive.write(lambda tx: tx.delete(card, reason=reason, force=force))
    lines = [f"deleted {deleted.hash}"]
    lines += [f"  with it card {other}, which was made from it" for other in deleted.also_deleted]
    lines += [f"  with it handle {name}" for name in deleted.handles_removed]
    lines += [f"  with it document {name}" for name in deleted.documents_removed]
    emit(deleted, "\n".join(lines), as_json=as_json)


@archive.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@json_option
@with_salon
def export_(salon: Salon, file: Path, as_json: bool) -> None:
    """Write the whole archive to FILE (`-` for standard output).

    The format is documented in docs/reference/export-format.md.
    """
    with byte_progress("exporting", salon.archive.stats().bytes) as advance:
        if str(file) == "-":
            salon.export(sys.stdout.buffer, on_bytes=advance)
            sys.stdout.buffer.flush()
            return
        partial = file.with_name(f".{file.name}.part")
        try:
            with partial.open("wb") as stream:
                exported = salon.export(stream, on_bytes=advance)
            partial.replace(file)
        except OSError as error:
            raise OutsideFailed(f"{file} cannot be written: {error.strerror}") from error
        finally:
            partial.unlink(missing_ok=True)
    emit(
        exported,
        f"{counted(exported.cards, 'card')}, {counted(exported.records, 'record')} in {file}, "
        f"digest {exported.sha256}",
        as_json=as_json,
    )


@archive.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--on-conflict",
    type=click.Choice(["refuse", "keep", "move"]),
    default="refuse",
    show_default=True,
    help="What to do with a handle that points elsewhere here.",
)
@json_option
@with_salon
def import_(salon: Salon, file: Path, on_conflict: "OnConflict", as_json: bool) -> None:
    """Take in an export from FILE (`-` for standard input). Repeat it if it was interrupted."""
    if str(file) != "-" and not file.exists():
        raise FileMissing(f"there is no file {file}", hint="check the path")
    size = 0 if str(file) == "-" else file.stat().st_size
    with (
        byte_progress("importing", size) as advance,
        _opened(None if str(file) == "-" else file) as stream,
    ):
        done = salon.import_export(stream, on_conflict=on_conflict, on_bytes=advance)
    emit(
        done,
        f"{counted(done.cards_added, 'card')} added, {done.cards_known:,} known already, "
        f"{counted(done.handles, 'handle')}, {counted(done.documents, 'document')}",
        as_json=as_json,
    )


@archive.command()
@checkpoint_option
@json_option
@with_salon
def verify(salon: Salon, checkpoints: tuple[Path, ...], as_json: bool) -> None:
    """Derive every hash again, follow every reference, replay the audit log."""
    kept = [read_checkpoint_file(path) for path in checkpoints]
    with byte_progress("verifying", salon.archive.stats().bytes) as advance:
        report = salon.verify(checkpoints=kept, on_bytes=advance)
    text = (
        f"{counted(report.cards, 'card')} ({human_bytes(report.bytes)}), "
        f"{counted(report.handles, 'handle')}, {counted(report.documents, 'document')}, "
        f"{report.audit_entries:,} in the audit log; "
        f"signature {report.seal}"
    )
    lines = [text, *(f"  {found.kind}: {found.message}" for found in report.problems)]
    lines.append("everything agrees" if report.is_sound else "NOT SOUND")
    emit(report, "\n".join(lines), as_json=as_json)
    if not report.is_sound:
        first = report.problems[0]
        raise IntegrityFailed(
            f"{counted(len(report.problems), 'problem')}, first: {first.message}",
            hint="restore from a copy or an export; the list above says what is affected",
        )


@archive.command()
@json_option
@with_salon
def stats(salon: Salon, as_json: bool) -> None:
    """Count everything."""
    found = salon.archive.stats()
    emit(
        found,
        f"cards       {found.cards:>12,}  {human_bytes(found.bytes)}\n"
        f"handles     {found.handles:>12,}\n"
        f"documents   {found.documents:>12,}\n"
        f"citations   {found.citations:>12,}\n"
        f"tombstones  {found.tombstones:>12,}\n"
        f"audit log   {found.audit_entries:>12,}  entries\n"
        f"file        {human_bytes(found.file_bytes):>12}  {salon.archive.path}",
        as_json=as_json,
    )


@archive.command()
@json_option
@with_salon
def adopt(salon: Salon, as_json: bool) -> None:
    """Record what another program (MCard, say) wrote into the file."""
    adopted = salon.archive.adopt()
    emit(
        adopted,
        f"{counted(adopted.cards, 'card')} and {counted(adopted.handles, 'handle')} recorded",
        as_json=as_json,
    )


@archive.command()
@json_option
@with_salon
def compact(salon: Salon, as_json: bool) -> None:
    """Write all files anew, so that not one byte of what was deleted is left in them.

    Covers the archive, its log and the indexes. Vectors of models that are no longer used go too.
    """
    saved = salon.compact()
    emit({"bytes_saved": saved}, f"compacted; {human_bytes(max(0, saved))} saved", as_json=as_json)
