"""`salon companion`: a conversation with the companion in the terminal."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import click

from salon.app import Salon
from salon.cli.common import counted, emit, json_option, with_salon
from salon.cli.printing import printable
from salon.core.errors import SalonError
from salon.parts.companion import CommandAnswer, is_command
from salon.parts.conversations import TakenTurn

_END = frozenset({"", "/quit", "/exit", "/q"})


class _TalkByDefault(click.Group):
    """A group that talks where no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `salon companion --session …` as `salon companion talk --session …`."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["talk", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_TalkByDefault)
def companion() -> None:
    """Talk with the companion; without a command it begins at once.

    It is an AI and says so. An empty line ends it; /help lists what else can be asked. The options
    are those of `salon companion talk`: --session and --user to go on with a conversation, --avatar
    for another companion, --json for programs.
    """


@companion.command()
@click.option("--session", help="Go on with this session, or begin one under this name.")
@click.option("--user", help="Who speaks; memories belong to this id (default: the user's name).")
@click.option("--avatar", help="Who replies (default: the companion).")
@json_option
@with_salon
def talk(
    salon: Salon, session: str | None, user: str | None, avatar: str | None, as_json: bool
) -> None:
    """Talk, turn by turn; with --json each line of standard input is a message."""
    name = session or salon.new_session()
    speaker = user or salon.settings.actor
    if not as_json:
        click.secho(f"session {name}; an empty line ends it, /help lists commands", dim=True)
    for line in _lines(quiet=as_json):
        try:
            if is_command(line):
                answer = salon.run_command(line, session=name, user=speaker)
                _show_answer(answer, as_json=as_json)
            else:
                taken = salon.take_turn(name, line, user=speaker, avatar=avatar)
                _show_turn(taken, as_json=as_json)
        except SalonError as error:
            # A message that is refused does not end a conversation.
            from salon.cli.errors import show

            show(error, as_json=as_json)


@companion.command("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@with_salon
def take_in(salon: Salon, file: Path, as_json: bool) -> None:
    """Take in a FILE that /export-data made; one that was changed is refused."""
    taken = salon.import_user(file.read_bytes())
    text = (
        f"{taken.user}: {counted(taken.turns, 'turn')} in {counted(taken.sessions, 'session')}, "
        f"{counted(taken.memories, 'memory').replace('memorys', 'memories')} taken in"
    )
    emit(taken, text, as_json=as_json)


def _show_turn(taken: TakenTurn, *, as_json: bool) -> None:
    from salon.steps.wire_shapes import as_json as plain_event

    if as_json:
        click.echo(json.dumps([plain_event(one) for one in taken.events], ensure_ascii=False))
        return
    if warning := scam_line(taken):
        click.secho(printable(warning), fg="white", bg="red", bold=True)
    time.sleep(next((one.delay_s or 0.0 for one in taken.events if one.type == "bot_response"), 0))
    click.secho(printable(f"{taken.turn.replier} ({taken.ai_label}): {taken.reply}"))
    click.secho(printable(reading_line(taken)), dim=True)


def scam_line(taken: TakenTurn) -> str | None:
    """Return the warning of a turn, if there is one."""
    for event in taken.events:
        if event.type == "scam_warning":
            patterns = ", ".join(event.data.patterns).replace("_", " ")
            level, risk = event.data.warning_level, event.data.risk_score
            return f" WARNING: this looks like a scam ({level}, {risk:.2f}): {patterns} "
    return None


def reading_line(taken: TakenTurn) -> str:
    """Return what was read in a turn, in one line."""
    parts = []
    for event in taken.events:
        if event.type == "emotion_update":
            read = event.data
            parts.append(f"{read.emotion}, valence {read.valence:+.2f}, arousal {read.arousal:.2f}")
        elif event.type == "relationship_prediction":
            parts.append(f"{event.data.rel_status}, trust {event.data.trust_score:.2f}")
        elif event.type == "milestone_report":
            parts.append(f"milestone of turn {event.data.turn}: see /analyze-relationship")
    return f"  [turn {taken.turn.number}] " + " · ".join(parts or ["nothing was read"])


def _show_answer(answer: CommandAnswer, *, as_json: bool) -> None:
    if answer.filename is not None:
        path = Path(answer.filename)
        path.write_text(answer.text, "utf-8")
        emit({"command": answer.command, "file": str(path)}, f"written: {path}", as_json=as_json)
        return
    emit({"command": answer.command, "text": answer.text}, answer.text, as_json=as_json)


def _lines(*, quiet: bool) -> Iterator[str]:
    while True:
        try:
            line = input() if quiet else click.prompt("You", default="", show_default=False)
        except (click.Abort, EOFError):
            return
        if line.strip() in _END:
            return
        yield line.strip()
