"""`salon verify`: check any response offline, and say what does not hold."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon
from salon.core.errors import InvalidInput

if TYPE_CHECKING:
    from salon.grounding.reports import ResponseReport

UNVERIFIED = 6
"""The exit code of an integrity check that failed."""
_LARGEST = 10_000_000


@click.command()
@click.argument(
    "response", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), default="-"
)
@click.option("--avatar", help="Check it as this avatar's: its corpus, its period, its name.")
@json_option
@with_salon
def verify(salon: Salon, response: Path, avatar: str | None, as_json: bool) -> int:
    """Check RESPONSE, a file or - for standard input: every citation, every claim.

    A response is JSON as `salon ask --json` prints it (`response`, `citations`), or plain text.
    Exits with 6 and the reasons if anything does not hold. Nothing but the archive is needed.
    """
    from salon.grounding.responses import read_response

    content = sys.stdin.buffer.read(_LARGEST + 1) if str(response) == "-" else _read(response)
    if len(content) > _LARGEST:
        raise InvalidInput("the response is larger than 10 MB", hint="check one response at a time")
    read = read_response(content)
    report = salon.verify_response(
        read.response, read.citations, avatar=avatar or read.avatar, discussion=read.discussion
    )
    emit({"holds": report.holds, "report": report}, _text(report), as_json=as_json)
    return 0 if report.holds else UNVERIFIED


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error


def _text(report: "ResponseReport") -> str:
    wrong = [one for one in report.claims if one.fault is not None]
    broken = [one for one in report.citations if not one.holds]
    lines = [
        f"{counted(len(report.claims), 'claim')}, {counted(len(report.citations), 'citation')}: "
        + ("everything holds" if report.holds else "this does not hold:")
    ]
    for claim in wrong:
        lines += [f"  {claim.verdict} ({claim.fault}): {claim.text}", f"    {claim.reason}"]
    for check in broken:
        quote = check.citation.quote
        shown = quote if len(quote) <= 80 else quote[:79] + "…"
        lines += [f"  {check.verdict} ({check.fault}): citation “{shown}”", f"    {check.reason}"]
    return "\n".join(lines)
