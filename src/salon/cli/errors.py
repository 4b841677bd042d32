"""From the error tree to exit codes, and from errors to what a person reads."""

import errno
import json
import sys
from collections.abc import Iterator, Mapping
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
    Refused,
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
    (Refused, 9),
)
NO_QUORUM = 8
"""A round that ends without agreement is an outcome, not an error; scripts want to know it."""
INTERRUPTED = 130
EXIT_CODES_IN_WORDS: Mapping[int, str] = {
    0: "done",
    1: "a defect of Salon",
    2: "the input is wrong",
    3: "not found",
    4: "a conflict",
    5: "the disk, the network or another program failed",
    6: "a check failed: stored bytes, a proof or a replay",
    7: "a limit that was set is used up",
    NO_QUORUM: "a round of the council found no quorum",
    9: "refused: a token is missing or wrong",
    INTERRUPTED: "interrupted",
}
"""Every code with which a command may end."""


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
