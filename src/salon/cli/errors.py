"""From the error tree to exit codes, and from errors to what a person reads."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from salon.core.errors import (
    Conflict,
    IntegrityFailed,
    InvalidInput,
    NotFound,
    OutsideFailed,
    SalonError,
)

EXIT_CODES: tuple[tuple[type[SalonError], int], ...] = (
    (InvalidInput, 2),
    (NotFound, 3),
    (Conflict, 4),
    (OutsideFailed, 5),
    (IntegrityFailed, 6),
)


def exit_code(error: SalonError) -> int:
    """Return the exit code of an error's family."""
    return next((code for family, code in EXIT_CODES if isinstance(error, family)), 1)


@contextmanager
def report_errors() -> Iterator[None]:
    """Print a Salon error, as JSON where the command was given `--json`, and exit."""
    try:
        yield
    except SalonError as error:
        show(error, as_json="--json" in sys.argv)
        raise click.exceptions.Exit(exit_code(error)) from error


def show(error: SalonError, *, as_json: bool) -> None:
    """Print one error to where errors go."""
    if as_json:
        click.echo(json.dumps(error.as_json(), ensure_ascii=False), err=True)
        return
    click.echo(f"error: {error.message} [{error.code}]", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)
