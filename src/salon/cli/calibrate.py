"""`salon calibrate`: how sure an avatar must be, found on questions about its own corpus."""

from dataclasses import asdict
from pathlib import Path

import click

from salon.app import Salon
from salon.cli.common import amount_progress, emit, json_option, with_salon


@click.command()
@click.argument("avatar")
@click.option(
    "--questions",
    type=click.Path(path_type=Path, dir_okay=False),
    help='JSON lines {"question": …, "answer": words of a right quote, or null}; made from the '
    "corpus itself if left out.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.01, 0.5),
    help="The tolerated share of unsupported answers (default: the profile's).",
)
@json_option
@with_salon
def calibrate(
    salon: Salon, avatar: str, questions: Path | None, alpha: float | None, as_json: bool
) -> None:
    """Find the threshold above which AVATAR answers, so that few answers are unsupported.

    Half of the questions choose it, the other half show what it is worth. It counts from then on.
    """
    salon.ensure_avatar(avatar, say=lambda text: click.secho(text, dim=True, err=True))
    content = None if questions is None else questions.read_bytes()
    with amount_progress("asking") as show:
        made = salon.calibrate(avatar, questions=content, alpha=alpha, on_progress=show)
    text = (
        f"threshold {made.threshold:.3f} for alpha {made.alpha}, chosen on {made.chosen_on} "
        f"{made.questions} questions\n"
        f"on {made.checked_on} others: {made.answered} answered, "
        f"{made.unsupported} of them unsupported ({made.risk:.3f})"
    )
    emit({**asdict(made), "risk": made.risk}, text, as_json=as_json)
