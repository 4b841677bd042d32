"""`salon assistant`: an assistant that asks, then acts; its outbox, and what a person decides.

Turn by turn in the terminal, or one message at a time with `--say`. A line that begins with a
slash is a command: `/cancel` calls off what is under way, `/outbox` shows what is not settled.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import emit, json_option, plain, with_salon
from salon.cli.errors import show
from salon.cli.printing import printable
from salon.core.errors import SalonError
from salon.parts.assistant import DEFAULT_ASSISTANT

if TYPE_CHECKING:
    from salon.gate.orders import Order
    from salon.parts.assistant_turns import AssistedTurn

_END = frozenset({"", "/quit", "/exit", "/q"})
_CANCEL, _OUTBOX = "/cancel", "/outbox"
_KEY = 12
"""How much of a key people are shown."""


@click.group(invoke_without_command=True)
@click.option("--avatar", default=DEFAULT_ASSISTANT, show_default=True, help="Who assists.")
@click.option("--session", help="Go on with this session, or begin one under this name.")
@click.option("--say", help="Say just this, and end.")
@click.option("--user", help="Who approves, for the record (default: the user's name).")
@json_option
@click.pass_context
def assistant(
    context: click.Context,
    avatar: str,
    session: str | None,
    say: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Talk with an assistant that asks, then acts: nothing is done that you did not approve."""
    if context.invoked_subcommand is None:
        _talk(avatar, session, say, user, as_json)


@with_salon
def _talk(
    salon: Salon,
    avatar: str,
    session: str | None,
    say: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    by = user or salon.settings.actor
    if avatar == DEFAULT_ASSISTANT:
        salon.ensure_assistant()
    name = session or salon.new_session()
    if say is not None:
        _show(salon.assist(name, say, avatar=avatar, user=by), as_json=as_json)
        return
    profile = salon.profile(avatar)
    click.secho(printable(f"{profile.name}: {profile.description}"), bold=True, err=as_json)
    click.secho(f"session {name}; an empty line ends it; /cancel, /outbox", dim=True, err=True)
    if (form := salon.flow_request(name)) is not None:
        click.echo(printable(form.text), err=as_json)  # where the conversation was left
    for line in _lines():
        if line == _OUTBOX:
            _list(salon, salon.outbox_orders(session=name), as_json=as_json)
            continue
        said = "cancel" if line == _CANCEL else line
        try:
            _show(salon.assist(name, said, avatar=avatar, user=by), as_json=as_json)
        except SalonError as error:  # a message that is refused does not end a conversation
            show(error, as_json=as_json)


@assistant.command()
@click.option("--run", is_flag=True, help="First carry out what is due.")
@click.option("--session", help="Only what comes from this session.")
@json_option
@with_salon
def outbox(salon: Salon, run: bool, session: str | None, as_json: bool) -> None:
    """List what was approved and is not settled: waiting, failed, or of unknown end."""
    if run:
        salon.run_outbox(session=session)
    _list(salon, salon.outbox_orders(session=session), as_json=as_json)


@assistant.command()
@click.argument("session")
@click.argument("digest")
@click.option("--user", help="Who approves, for the record (default: the user's name).")
@click.option("--avatar", default=DEFAULT_ASSISTANT, show_default=True, help="Who assists.")
@json_option
@with_salon
def approve(
    salon: Salon, session: str, digest: str, user: str | None, avatar: str, as_json: bool
) -> None:
    """Approve the draft of SESSION whose digest is DIGEST; any other digest approves nothing."""
    from salon.gate.forms import FormAnswer

    by = user or salon.settings.actor
    answer = FormAnswer(approved_digest=digest)
    _show(salon.answer_flow(session, answer, avatar=avatar, user=by), as_json=as_json)


@assistant.command()
@click.argument("order")
@json_option
@with_salon
def cancel(salon: Salon, order: str, as_json: bool) -> None:
    """Call ORDER off, if it was not done."""
    _tell(salon, salon.withdraw_order(order), as_json=as_json)


@assistant.command()
@click.argument("order")
@json_option
@with_salon
def retry(salon: Salon, order: str, as_json: bool) -> None:
    """Try ORDER again: it failed, or you found that it was not done."""
    _tell(salon, salon.retry_order(order), as_json=as_json)


@assistant.command()
@click.argument("order")
@json_option
@with_salon
def settle(salon: Salon, order: str, as_json: bool) -> None:
    """Record that you found ORDER done; it was of unknown end."""
    _tell(salon, salon.settle_order(order), as_json=as_json)


def _show(turn: "AssistedTurn", *, as_json: bool) -> None:
    flow, order = turn.flow, turn.order
    value = {
        "session": turn.turn.session,
        "number": turn.turn.number,
        "text": turn.text,
        "reply": turn.reply,
        "verdict": turn.verdict,
        "flow": flow and {**_plain(flow), "step": flow.step_name},
        "order": order,
    }
    lines = [turn.text]
    for number, one in enumerate(turn.reply.citations, start=1):
        lines.append(f"  [{number}] {one.source}, {one.hash[:16]}… bytes {one.start} to {one.end}")
    if flow is not None:
        lines.append(f"  ({flow.action}: {flow.step_name})")
    emit(value, "\n".join([*lines, ""]), as_json=as_json)


def _list(salon: Salon, orders: "list[Order]", *, as_json: bool) -> None:
    lines = [
        f"{one.key[:_KEY]}  {one.action}  {one.state.value}  {salon.order_status(one)}"
        for one in orders
    ]
    emit(orders, "\n".join(lines) or "nothing is waiting", as_json=as_json)
    for one in orders:
        salon.tell_order(one)


def _tell(salon: Salon, order: "Order", *, as_json: bool) -> None:
    emit(order, salon.order_status(order), as_json=as_json)


def _plain(value: object) -> dict[str, object]:
    found = plain(value)
    assert isinstance(found, dict)  # it is a dataclass
    return found


def _lines() -> Iterator[str]:
    while True:
        try:
            line = click.prompt("You", default="", show_default=False, err=True).strip()
        except click.Abort:
            return
        if line in _END:
            return
        yield line
