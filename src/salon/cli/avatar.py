"""`salon avatar`: make avatars, feed and check them, and carry them elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.avatar_pages import check_page, info_page, list_page
from salon.cli.common import amount_progress, counted, emit, human_bytes, json_option, with_salon
from salon.cli.ingesting import (
    encoding_option,
    finish,
    require_one_title,
    show_results,
    vectors_option,
    with_details,
)
from salon.core.errors import InvalidInput

if TYPE_CHECKING:
    from salon.corpus.ingest import Details
    from salon.experts.profile import Profile

BLOCKED = 6
"""The exit code where a check says that an avatar must not be let loose yet."""


@click.group()
def avatar() -> None:
    """Avatars: make, feed, check, describe and carry them."""


@avatar.command()
@click.argument("avatar_id", metavar="ID", required=False)
@click.option(
    "--from",
    "origin",
    type=click.Path(path_type=Path, exists=True),
    help="Make it from a folder or zip file that `salon avatar export` wrote.",
)
@click.option(
    "--preset",
    type=click.Choice(["expert", "assistant", "companion"]),
    help="Answers from documents (the default); also offers actions; or just talks, and remembers.",
)
@click.option("--name", help="The name people see.")
@click.option("--description", help="Who it is, in a sentence or two.")
@click.option("--expertise", multiple=True, help="A field it can speak about; may be repeated.")
@click.option("--start", help="The first day its corpus covers, as 1861-12-03.")
@click.option("--end", help="The last day: nothing later is ever used.")
@click.option(
    "--voice",
    type=click.Choice(["first_person", "student"]),
    help="Speak as the person, or as one who studied them.",
)
@click.option("--tone", help="How it speaks.")
@vectors_option
@json_option
@with_salon
def new(
    salon: Salon,
    /,
    avatar_id: str | None,
    origin: Path | None,
    vectors: bool,
    as_json: bool,
    **given: "str | tuple[str, ...] | None",
) -> None:
    """Make an avatar: a folder to edit, with a profile that works at once.

    Asks for what was not given; with a name given, nothing is asked. Then `salon avatar add ID
    FILE…` gives it something to know.
    """
    if origin is not None:
        _from_origin(salon, origin, avatar_id, vectors=vectors, as_json=as_json)
        return
    if avatar_id is None:
        raise InvalidInput("an avatar needs an id", hint="salon avatar new ada-lovelace")
    profile = salon.new_avatar(_drafted(avatar_id, given, may_ask=not as_json))
    folder = salon.avatar_folder(profile.id)
    emit(
        {"avatar": profile.id, "folder": str(folder), "profile": profile.as_config()},
        f"{profile.id} is made; edit {folder / 'config.json'}\nnext: {_next(profile)}",
        as_json=as_json,
    )


def _next(profile: "Profile") -> str:
    if profile.salon.preset == "companion":
        return f"salon companion --avatar {profile.id}"
    return f"salon avatar add {profile.id} FILE|FOLDER|URL…"


def _drafted(
    avatar_id: str, given: Mapping[str, str | tuple[str, ...] | None], *, may_ask: bool
) -> "Profile":
    from salon.corpus.manifest import as_avatar_id
    from salon.experts.drafting import draft_profile

    as_avatar_id(avatar_id)  # before anybody answers questions for nothing
    answers: dict[str, object] = {name: value for name, value in given.items() if value}
    if "name" not in answers:
        if not may_ask:
            raise InvalidInput("an avatar needs a name", hint="--name 'Ada Lovelace'")
        answers |= _asked(avatar_id, answers)
    return draft_profile(avatar_id, **answers)  # type: ignore[arg-type]


_QUESTIONS = (
    ("description", "Who is it, in a sentence", ""),
    ("expertise", "Fields it can speak about, with commas between", ""),
    ("start", "First day its texts cover (1861-12-03, or nothing)", ""),
    ("end", "Last day (or nothing)", ""),
)


def _asked(avatar_id: str, answers: Mapping[str, object]) -> dict[str, object]:
    """Ask what is not known yet; an empty answer leaves it open."""
    likely = avatar_id.replace("-", " ").title()
    found: dict[str, object] = {"name": click.prompt("Name", default=likely)}
    is_companion = answers.get("preset") == "companion"
    for key, question, usual in _QUESTIONS[:1] if is_companion else _QUESTIONS:
        if key not in answers:
            said = click.prompt(question, default=usual, show_default=False)
            parts = [part.strip() for part in said.split(",") if part.strip()]
            found[key] = parts if key == "expertise" else said
    if "voice" not in answers and not is_companion:
        voices = click.Choice(["first_person", "student"])
        found["voice"] = click.prompt("Voice", type=voices, default="first_person")
    return {key: value for key, value in found.items() if value}


def _from_origin(
    salon: Salon, origin: Path, avatar_id: str | None, *, vectors: bool, as_json: bool
) -> None:
    from salon.corpus.sources import Skipped

    results = show_results(salon.import_avatar(origin, avatar=avatar_id), 0, as_json=as_json)
    finish(salon, results, Skipped(), vectors=vectors, as_json=as_json)


@avatar.command()
@click.argument("avatar_id", metavar="ID")
@click.argument("places", nargs=-1, metavar="[FILE|FOLDER|URL…]")
@with_details
@vectors_option
@encoding_option
@json_option
@with_salon
def add(
    salon: Salon,
    avatar_id: str,
    places: tuple[str, ...],
    details: "Details",
    vectors: bool,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Read sources into an avatar's corpus; without any, those in the avatar's own folder.

    What the profile says of a source (found by its file, address, id or title) is recorded with it,
    verification too; so is what a `sources.json` beside the files says. A source that the profile
    does not list yet is listed. What is there is skipped.
    """
    from salon.corpus.sources import expand

    salon.ensure_avatar(avatar_id)
    found = expand(places or salon.sources_in_folder(avatar_id))
    require_one_title(details, len(found.sources))
    if not found.sources:
        raise InvalidInput(
            f"there is nothing to add in {salon.avatar_folder(avatar_id)}",
            hint="name files, folders or addresses",
        )
    reading = salon.add_sources(avatar_id, found.sources, details=details, encoding=encoding)
    results = show_results(reading, len(found.sources), as_json=as_json)
    finish(salon, results, found.skipped, vectors=vectors, as_json=as_json)


@avatar.command()
@click.argument("avatar_id", metavar="ID")
@click.option("--links", is_flag=True, help="Fetch every address and name those that are broken.")
@click.option("--accept-private-data", is_flag=True, help="Do not let private data block.")
@json_option
@with_salon
def check(
    salon: Salon, avatar_id: str, links: bool, accept_private_data: bool, as_json: bool
) -> None:
    """Look at everything an avatar rests on: sources, verification, coverage, private data, links.

    Takes in what was edited in its folder first. Exits with 6 when something blocks it. The network
    is touched only with --links.
    """
    salon.ensure_avatar(avatar_id)
    with amount_progress("reading the corpus") as show:
        found = salon.check_avatar(
            avatar_id, links=links, accept_private_data=accept_private_data, on_progress=show
        )
    emit(found, check_page(found), as_json=as_json)
    if found.verdict == "blocked":
        raise click.exceptions.Exit(BLOCKED)


@avatar.command("list")
@json_option
@with_salon
def list_avatars(salon: Salon, as_json: bool) -> None:
    """List the avatars of this Salon."""
    found = salon.avatars()
    emit(found, list_page(found), as_json=as_json)


@avatar.command()
@click.argument("avatar_id", metavar="ID")
@json_option
@with_salon
def info(salon: Salon, avatar_id: str, as_json: bool) -> None:
    """Describe an avatar: who it is and what it rests on."""
    salon.ensure_avatar(avatar_id)
    found = salon.avatar_info(avatar_id)
    emit(found, info_page(found), as_json=as_json)


@avatar.command()
@click.argument("avatar_id", metavar="ID")
@click.argument("path", type=click.Path(path_type=Path), metavar="FOLDER|FILE.zip")
@json_option
@with_salon
def export(salon: Salon, avatar_id: str, path: Path, as_json: bool) -> None:
    """Write an avatar with its profile, its list of sources and the sources themselves.

    `salon avatar new --from` makes the same avatar of it elsewhere, card for card.
    """
    written = salon.export_avatar(avatar_id, path)
    lines = [
        f"{counted(written.files, 'file')} ({human_bytes(written.bytes)}) written to {written.path}"
    ]
    lines += [f"will not read the same elsewhere: {title}" for title in written.unfaithful]
    emit(written, "\n".join(lines), as_json=as_json)


@avatar.command()
@click.argument("avatar_id", metavar="ID")
@click.option(
    "--documents", is_flag=True, help="Its documents too, those that no other avatar needs."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@with_salon
def delete(salon: Salon, avatar_id: str, documents: bool, yes: bool, as_json: bool) -> None:
    """Delete an avatar: its profile, its corpus' list and its calibration.

    Cards, conversations and the audit log stay, and so do files that you put into its folder. One
    of the demo is built again when somebody next asks it.
    """
    if not yes:
        if as_json:
            raise InvalidInput("deleting with --json needs --yes", hint="nobody can be asked")
        more = " and its documents" if documents else ""
        click.confirm(f"Delete the avatar {avatar_id}{more}?", abort=True, err=True)
    gone = salon.delete_avatar(avatar_id, documents=documents)
    lines = [f"{gone.avatar} is deleted"]
    if gone.documents:
        lines.append(f"{counted(len(gone.documents), 'document')} went with it; their cards stay")
    if gone.kept:
        lines.append(f"{counted(len(gone.kept), 'document')} stayed in the archive")
    if gone.folder_left:
        lines.append(f"files of yours are left in {gone.folder_left}")
    emit(gone, "\n".join(lines), as_json=as_json)
