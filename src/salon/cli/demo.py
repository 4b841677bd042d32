"""`salon demo`: build the avatars that come with Salon."""

import click

from salon.app import Salon
from salon.cli.common import amount_progress, counted, emit, json_option, with_salon
from salon.cli.errors import exit_code
from salon.cli.index import update_vectors
from salon.cli.ingesting import vectors_option


@click.command()
@vectors_option
@json_option
@with_salon
def demo(salon: Salon, vectors: bool, as_json: bool) -> None:
    """Build the demo: three presidents from their own annual messages, and a guide to Salon.

    They can be asked as soon as their words are stored, in seconds; vectors follow, and if you stop
    that, the next run goes on with it. Run again, it changes nothing. Exits with the code of the
    first avatar that could not be built.
    """
    from salon.experts.demo import DEMO_AVATARS

    with amount_progress("reading") as show:
        outcome = salon.ensure_demo(background=False, on_progress=show)
    filled = update_vectors(salon) if vectors else None
    built = [salon.avatar_info(avatar) for avatar in DEMO_AVATARS if outcome[avatar] is None]
    missing = {avatar: error for avatar, error in outcome.items() if error is not None}
    lines = [
        f"{one.id:<22} {counted(one.document_count, 'document')}, {one.corpus_size:,} words"
        for one in built
    ]
    lines += [f"{avatar:<22} not built: {error.message}" for avatar, error in missing.items()]
    lines += dict.fromkeys(f"hint: {error.hint}" for error in missing.values() if error.hint)
    if built:
        lines += ["", f'Now ask: salon ask {built[0].id} "…"']
    emit(
        {
            "avatars": built,
            "missing": {avatar: error.as_json() for avatar, error in missing.items()},
            "vectors": filled,
        },
        "\n".join(lines),
        as_json=as_json,
    )
    if missing:
        raise click.exceptions.Exit(exit_code(next(iter(missing.values()))))
