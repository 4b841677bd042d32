"""`salon ask`, `salon chat`, `salon gather`: talking with avatars."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import emit, fill_in, json_option, plain, with_salon
from salon.cli.printing import printable
from salon.conversation.discussion import Discussion, Utterance, make_discussion
from salon.core.errors import InvalidInput

if TYPE_CHECKING:
    from salon.experts.gathering import Contribution
    from salon.experts.replies import Reply

_END = frozenset({"", "/quit", "/exit", "/q"})

session_option = click.option(
    "--session", help="Go on with this session, or begin one under this name."
)


@click.command()
@click.argument("avatar")
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--context",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help='What was said so far: a JSON list of {"role": …, "content": …}, or - for standard input.',
)
@click.option("--sources/--no-sources", default=True, help="List what is cited below the answer.")
@session_option
@json_option
@with_salon
def ask(
    salon: Salon,
    avatar: str,
    question: tuple[str, ...],
    context: Path | None,
    sources: bool,
    session: str | None,
    as_json: bool,
) -> None:
    """Ask AVATAR a QUESTION and get an answer that can be checked, or an honest no."""
    salon.ensure_avatar(avatar, say=_tell)
    reply = salon.respond(
        avatar, " ".join(question), discussion=_read_context(context), session=session
    )
    emit(asdict(reply), reply_text(reply, sources=sources), as_json=as_json)


@click.command()
@click.argument("avatar")
@session_option
@json_option
@with_salon
def chat(salon: Salon, avatar: str, session: str | None, as_json: bool) -> None:
    """Talk with AVATAR, turn by turn; an empty line ends it, and `--session` takes it up again.

    With --json each line of standard input is a question, and each answer one line of JSON.
    """
    from salon.experts.presets import require_expert

    salon.ensure_avatar(avatar, say=_tell)
    profile = salon.profile(avatar)
    require_expert(profile)
    fill_in(salon)
    name = session or salon.new_session()
    discussion = salon.discussion(name)
    if not as_json:
        click.secho(printable(f"{profile.name}: {profile.description}"), bold=True)
        click.secho(f"session {name}; an empty line ends it", dim=True, err=True)
    for question in _lines(quiet=as_json):
        said = Discussion(
            utterances=(*discussion.utterances, Utterance(role="You", content=question))
        )
        shown = Shown()
        reply = salon.respond(
            avatar,
            question,
            discussion=said,
            session=name,
            speaker="You",
            heard=None if as_json else shown.add,
        )
        if as_json:
            emit({"session": name, **asdict(reply)}, "", as_json=True)
        else:
            shown.finish(reply)
        discussion = salon.discussion(name)


@click.command()
@click.argument("avatars", nargs=-1, required=True)
@click.option("--topic", required=True, help="What the discussion is about; a question is best.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 20),
    default=2,
    show_default=True,
    help="How often everybody is asked in turn.",
)
@click.option("--facilitator", default="Facilitator", show_default=True, help="Who asks.")
@click.option("--silence/--no-silence", default=True, help="Also say who stays silent, and why.")
@session_option
@json_option
@with_salon
def gather(
    salon: Salon,
    avatars: tuple[str, ...],
    topic: str,
    rounds: int,
    facilitator: str,
    silence: bool,
    session: str | None,
    as_json: bool,
) -> None:
    """Let several AVATARS discuss a topic; each speaks only where its corpus has something."""
    if len(set(avatars)) < 2:
        raise InvalidInput(
            "a discussion needs at least two avatars", hint="`salon avatar list` shows them"
        )
    for one in avatars:
        salon.ensure_avatar(one, say=_tell)
    fill_in(salon)
    said = salon.gather(avatars, topic, rounds=rounds, facilitator=facilitator, session=session)
    if not as_json:
        click.secho(printable(f"{facilitator}: {topic}\n"), bold=True)
    for contribution in said:
        if as_json:
            click.echo(json.dumps(plain(contribution), ensure_ascii=False))
        elif contribution.reply is not None:
            click.secho(contribution.name, bold=True)
            emit(None, reply_text(contribution.reply, sources=True), as_json=False)
        elif silence:
            click.secho(printable(_silence(contribution)), dim=True)


class Shown:
    """What a person has seen of a reply that is still being written."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, piece: str) -> None:
        """Show a verified sentence at once."""
        self._text += piece
        click.echo(printable(piece), nl=False)

    def finish(self, reply: "Reply") -> None:
        """Show what is left; the whole reply where it is not what was shown, which is rare."""
        whole = reply_text(reply, sources=True)
        if whole.startswith(self._text):
            whole = whole[len(self._text) :]
        else:
            click.secho("\n\nIn full this reads:\n", dim=True)
        emit(None, whole, as_json=False)


def reply_text(reply: "Reply", *, sources: bool) -> str:
    """Return a reply as people read it."""
    lines = [reply.response]
    lines += [f"  {extra}" for extra in (reply.redirect, reply.suggestion) if extra]
    if sources and reply.citations:
        lines.append("")
        for number, one in enumerate(reply.citations, start=1):
            page = f", page {one.page}" if one.page is not None else ""
            lines.append(f"  [{number}] {one.source}{page}")
            lines.append(f"      {one.hash[:16]}… bytes {one.start} to {one.end}")
    how = f"{reply.outcome}, confidence {reply.confidence} ({reply.score:.2f})"
    return "\n".join([*lines, "", f"  {reply.ai_label} {how}", ""])


def _tell(text: str) -> None:
    click.secho(text, dim=True, err=True)


def _silence(contribution: "Contribution") -> str:
    return f"({contribution.name} stays silent: {contribution.decision.reason})\n"


def _read_context(path: Path | None) -> Discussion:
    if path is None:
        return Discussion()
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
        said = [Utterance(role=one["role"], content=one["content"]) for one in json.loads(text)]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InvalidInput(
            f"the context cannot be read: {error}",
            hint='give a JSON list like [{"role": "alice", "content": "…"}]',
        ) from error
    return make_discussion(said)


def _lines(*, quiet: bool) -> Iterator[str]:
    while True:
        try:
            line = input() if quiet else click.prompt("You", default="", show_default=False)
        except (click.Abort, EOFError):
            return
        line = line.strip()
        if line in _END:
            return
        yield line
