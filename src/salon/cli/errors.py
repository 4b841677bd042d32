"""From the error tree to exit codes, and from errors to what a person reads."""

import errno
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from salon.cli.printing import printable
from salon.core.errors import (
    Conflict,
    IntegrityFailed,
    InvalidInput,
    LimitReached,
    NotFound,
    OutsideFailed,
    SalonError,
    StorageFull,
)

EXIT_CODES: tuple[tuple[type[SalonError], int], ...] = (
    (InvalidInput, 2),
    (NotFound, 3),
    (Conflict, 4),
    (OutsideFailed, 5),
    (IntegrityFailed, 6),
    (LimitReached, 7),
)


def exit_code(error: SalonError) -> int:
    """Return the exit code of an error's family."""
    return next((code for family, code in EXIT_CODES if isinstance(error, family)), 1)


@contextmanager
def report_errors() -> Iterator[None]:
    """Print a Salon error, as JSON where the command was given `--json`, and exit."""
    try:
        yield
    except OSError as error:
        # A file that cannot be read or written, met outside the archive.
        raise _stop(_from_system(error)) from error
    except SalonError as error:
        raise _stop(error) from error


def _stop(error: SalonError) -> click.exceptions.Exit:
    show(error, as_json="--json" in sys.argv)
    return click.exceptions.Exit(exit_code(error))


def _from_system(error: OSError) -> SalonError:
    said = error.strerror or str(error)
    text = f"{error.filename}: {said}" if error.filename else said
    if error.errno == errno.ENOSPC:
        return StorageFull(text, hint="free some disk space and run the same command again")
    return OutsideFailed(text, hint="check the path and the permissions")


def show(error: SalonError, *, as_json: bool) -> None:
    """Print one error to where errors go."""
    text = json.dumps(error.as_json(), ensure_ascii=False) if as_json else in_words(error)
    click.echo(text, err=True)


def in_words(error: SalonError) -> str:
    """Return an error as a person reads it."""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    return printable(f"error: {error.message} [{error.code}]{hint}")
