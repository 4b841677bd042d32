"""`salon council`: run rounds, look at them, check them, and hand out seats.

A round that ends without a quorum is an outcome and no error: what is known is printed as usual,
the reasons go to standard error, and the exit code is `NO_QUORUM`.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from salon.app import Salon
from salon.cli.common import emit, json_option, with_salon
from salon.cli.errors import NO_QUORUM
from salon.cli.printing import printable
from salon.core.errors import InvalidInput
from salon.council.seats import CHARGES, Seat

if TYPE_CHECKING:
    from salon.council.rounds import Round
    from salon.parts.council_shapes import SoulShown

DAMAGED = 6
"""The exit code of a check that failed, as everywhere."""

seat_option = click.option(
    "--seat",
    "seats",
    multiple=True,
    metavar="II=outside",
    help="Who holds a seat in this round: offline, outside, or a chat model as KIND:NAME; "
    "repeatable. The settings say who holds the others.",
)
patience_option = click.option(
    "--patience",
    type=click.FloatRange(0.0, 604_800.0),
    help="Seconds that outside seats have for each phase (default: council.patience_s).",
)


@click.group()
def council() -> None:
    """Five seats draft, criticise, refine, vote and publish what the archive bears out.

    Without any settings all five are Salon's own strategies, and no model is needed. A round that
    finds no quorum is an outcome, not an error; its exit code is 8.
    """


@council.command()
@click.argument("topic", nargs=-1, required=True)
@seat_option
@click.option("--topic-id", help="A stable name of the topic; made from its words by default.")
@patience_option
@json_option
@with_salon
@click.pass_context
def run(
    ctx: click.Context,
    salon: Salon,
    topic: tuple[str, ...],
    seats: tuple[str, ...],
    topic_id: str | None,
    patience: float | None,
    as_json: bool,
) -> None:
    """Hold a round on TOPIC, from the first drafts to the chapter."""
    opened = salon.open_round(" ".join(topic), topic_id=topic_id, holders=_holders(seats))
    _drive(ctx, salon, opened, patience=patience, as_json=as_json)


@council.command()
@click.argument("round_id", metavar="ROUND")
@patience_option
@json_option
@with_salon
@click.pass_context
def resume(
    ctx: click.Context, salon: Salon, round_id: str, patience: float | None, as_json: bool
) -> None:
    """Go on with a round that was left off, from exactly where it stands."""
    _drive(ctx, salon, salon.round(round_id), patience=patience, as_json=as_json)


def _drive(
    ctx: click.Context,
    salon: Salon,
    opened: "Round",
    *,
    patience: float | None,
    as_json: bool,
) -> None:
    from salon.cli.council_view import following

    if as_json:
        over = salon.run_round(opened.id, patience=patience)
    else:
        with following(opened) as hear:
            over = salon.run_round(opened.id, patience=patience, on_event=hear)
    _report(salon, over, as_json=as_json)
    if over.published is None:
        _tell_person(over)
        ctx.exit(NO_QUORUM)


def _report(salon: Salon, over: "Round", *, as_json: bool) -> None:
    """Print how a round ended: the ballot, and the chapter where there is one."""
    from salon.api.round_shapes import ballot_body, chapter_body
    from salon.cli.council_view import ballot_text

    ballot = salon.ballot(over.id)
    chapter = salon.chapter(over.id) if over.published is not None else None
    values = {
        "round": _round_json(salon, over.id),
        "ballot": ballot_body(ballot).model_dump(mode="json"),
        "chapter": None if chapter is None else chapter_body(chapter).model_dump(mode="json"),
    }
    text = "\n" + ballot_text(ballot)
    if chapter is not None:
        text += f"\n\npublished as {chapter.handle} ({over.id})\n\n{chapter.markdown}"
    emit(values, text, as_json=as_json)


def _tell_person(over: "Round") -> None:
    """Tell whoever asked that there is no chapter, and why."""
    lines = [f"no quorum: {over.id} ended without a chapter; a person has to look at it"]
    lines += [f"  {reason}" for reason in over.reasons]
    lines += [f"  {one.seat} was absent in {one.phase}: {one.reason}" for one in over.absences]
    click.echo(printable("\n".join(lines)), err=True)


@council.command()
@click.argument("round_id", metavar="[ROUND]", required=False)
@json_option
@with_salon
def status(salon: Salon, round_id: str | None, as_json: bool) -> None:
    """Show the rounds that are open, or one, and who is waited for.

    Also a seat that is voted on or vacant, until when the others are waited for, and what to do.
    """
    from salon.cli.council_view import evolution_text, round_text

    chosen = [salon.round(round_id)] if round_id else salon.rounds()
    shown = [one for one in chosen if round_id or not one.is_over]
    texts = [round_text(one, salon.round_due(one.id)) for one in shown] or ["no round is open"]
    values: dict[str, Any] = {"rounds": [_round_json(salon, one.id) for one in shown]}
    if not round_id:
        evolution = salon.evolution()
        values["evolution"] = asdict(evolution)
        texts += [evolution_text(evolution)] if evolution.seat is not None else []
    emit(values, "\n".join(texts), as_json=as_json)


@council.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many at most, the latest first.",
)
@json_option
@with_salon
def list_rounds(salon: Salon, limit: int, as_json: bool) -> None:
    """List the rounds, newest first."""
    from salon.api.round_shapes import summary_of
    from salon.cli.council_view import round_line

    rounds = salon.rounds()[:limit]
    values = {"rounds": [summary_of(one).model_dump(mode="json") for one in rounds]}
    emit(values, "\n".join(map(round_line, rounds)) or "no round yet", as_json=as_json)


@council.command()
@click.argument("round_id", metavar="ROUND")
@click.option("--draft", help="Show this candidate with what was said of it.")
@json_option
@with_salon
def show(salon: Salon, round_id: str, draft: str | None, as_json: bool) -> None:
    """Show a round with its ballot and chapter, or one of its drafts."""
    from salon.api.round_shapes import ballot_body, candidate_body, chapter_body
    from salon.cli.council_view import ballot_text, round_text

    if draft is not None:
        found = salon.candidate(round_id, draft)
        said = [f"\n{one.seat}: {text}" for one, text in found.critiques]
        text = "\n".join([found.markdown, *said])
        emit(candidate_body(found).model_dump(mode="json"), text, as_json=as_json)
        return
    round_ = salon.round(round_id)
    ballot = salon.ballot(round_id)
    chapter = salon.chapter(round_id) if round_.published is not None else None
    values = {
        "round": _round_json(salon, round_id),
        "ballot": ballot_body(ballot).model_dump(mode="json"),
        "chapter": None if chapter is None else chapter_body(chapter).model_dump(mode="json"),
    }
    parts = [round_text(round_, salon.round_due(round_id)), ballot_text(ballot)]
    parts += [chapter.markdown] if chapter is not None else []
    emit(values, "\n\n".join(parts), as_json=as_json)


@council.command()
@click.argument("round_id", metavar="ROUND")
@json_option
@with_salon
@click.pass_context
def verify(ctx: click.Context, salon: Salon, round_id: str, as_json: bool) -> None:
    """Check a round again: its cards, its votes, its signature, every citation of its chapter."""
    from salon.api.round_shapes import report_body

    report = salon.verify_round(round_id)
    lines = [
        f"{'ok    ' if one.holds else 'FAILED'}  {one.name}"
        + (f": {one.reason}" * bool(one.reason))
        for one in report.checks
    ]
    emit(report_body(report).model_dump(mode="json"), "\n".join(lines), as_json=as_json)
    if not report.holds:
        ctx.exit(DAMAGED)


@council.command()
@click.argument("round_id", metavar="ROUND")
@click.argument("became", type=click.Choice(["held", "failed"]))
@json_option
@with_salon
def outcome(salon: Salon, round_id: str, became: str, as_json: bool) -> None:
    """Say what became of a published chapter; from this the weights of votes are learned."""
    weights = salon.record_outcome(round_id, held=became == "held")
    shown = {str(seat): round(weight, 3) for seat, weight in weights.items()}
    text = ", ".join(f"{seat} {weight:.2f}" for seat, weight in shown.items())
    values = {"round_id": round_id, "outcome": became, "weights": shown}
    emit(values, f"{round_id} {became}; the votes now weigh {text}", as_json=as_json)


@council.command()
@json_option
@with_salon
def souls(salon: Salon, as_json: bool) -> None:
    """Show the seats, who holds them, their souls and how they have done.

    Also how the latest vote on a seat stands or ended, and what is to do about a vacant seat.
    """
    from salon.api.round_shapes import soul_body
    from salon.cli.council_view import evolution_text

    found, evolution = salon.souls(), salon.evolution()
    values = {
        "souls": [soul_body(one).model_dump(mode="json") for one in found],
        "evolution": asdict(evolution),
    }
    texts = [evolution_text(evolution)] if evolution.seat is not None or evolution.ended else []
    emit(values, "\n\n".join([*texts, *map(_soul_text, found)]), as_json=as_json)


def _soul_text(soul: "SoulShown") -> str:
    facts = [soul.holder, "has a token" if soul.has_token else "no token"]
    facts += ["vacant"] if soul.hash is None else ["on probation"] if soul.on_probation else []
    facts += [_fact(name, value) for name, value in soul.performance.items()]
    head = f"{soul.seat} {soul.title} ({soul.virtue}): {', '.join(facts)}"
    return head if soul.hash is None else f"{head}\n{soul.handle}\n{soul.text}"


def _fact(name: str, value: object) -> str:
    """Return one figure of a seat in words; what is not known says why."""
    why = value.get("absent") if isinstance(value, dict) else None
    called = name.replace("_", " ")
    return f"{called} {value}" if why is None else f"{called} not known ({why})"


@council.command()
@click.option(
    "--seat", required=True, type=click.Choice([str(one) for one in Seat]), help="Whose token."
)
@click.option("--revoke", is_flag=True, help="Let the seat's token no longer count.")
@json_option
@with_salon
def token(salon: Salon, seat: str, revoke: bool, as_json: bool) -> None:
    """Make the token with which an MCP client sits in a seat; it is shown this once.

    An earlier token of the seat no longer counts from then on.
    """
    chosen = Seat(seat)
    if revoke:
        had = salon.revoke_seat_token(chosen)
        text = f"the token of seat {seat} no longer counts" if had else f"seat {seat} had none"
        emit({"seat": seat, "revoked": had}, text, as_json=as_json)
        return
    made = salon.issue_seat_token(chosen)
    values: dict[str, Any] = {
        "seat": seat,
        "token": made.token,
        "issued_at": made.issued_at,
        "replaced": made.replaced,
    }
    emit(values, made.token, as_json=as_json)
    if not as_json:
        note = " The earlier one no longer counts." if made.replaced else ""
        title = CHARGES[chosen].title
        click.echo(f"for seat {seat}, the {title}; it is not shown again.{note}", err=True)


def _holders(given: tuple[str, ...]) -> dict[Seat, str]:
    found = {}
    for one in given:
        name, sign, holder = one.partition("=")
        try:
            seat = Seat(name.strip().upper())
        except ValueError:
            seat = None
        if seat is None or not sign or not holder:
            raise InvalidInput(
                f"{one!r} does not say who holds a seat",
                hint="write --seat II=outside, with a seat from I to V",
            )
        found[seat] = holder
    return found


def _round_json(salon: Salon, round_id: str) -> dict[str, Any]:
    from salon.api.round_shapes import round_of

    return round_of(
        salon.round(round_id), salon.round_due(round_id), salon.critiques(round_id)
    ).model_dump(mode="json")
