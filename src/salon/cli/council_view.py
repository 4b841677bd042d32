"""A round on the terminal: what each seat does while it does it, and what came of it in the end.

On a terminal this is one picture that changes; elsewhere it is one line for each thing that
happens. Topics, texts and reasons come from anywhere and are printed as text alone.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from salon.cli.printing import printable
from salon.core.absent import Absent
from salon.council.driving import RoundEvent, Step
from salon.council.rounds import Phase, Round
from salon.council.seats import CHARGES, Seat

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from salon.council.bias import Slope
    from salon.parts.council_shapes import Ballot, BallotRow, EvolutionShown

PATH = (
    Phase.SPRINT,
    Phase.CRITIQUE,
    Phase.REFINEMENT,
    Phase.VOTE,
    Phase.RUNOFF,
    Phase.RATIFICATION,
)
WORDS: dict[Step, str] = {
    Step.ASKED: "works on {work}",
    Step.ACTED: "handed in {work}",
    Step.SENT_BACK: "got {work} back: {detail}",
    Step.FAILED: "failed at {work}: {detail}",
    Step.ABSENT: "is absent: {detail}",
    Step.WAITING: "is waited for: {work}",
}
ENDS: dict[Step, str] = {
    Step.PHASE: "{phase}, attempt {attempt}",
    Step.PUBLISHED: "published",
    Step.NO_QUORUM: "no quorum: {detail}",
}
STYLES: dict[Step, str] = {
    Step.ASKED: "dim",
    Step.ACTED: "green",
    Step.SENT_BACK: "yellow",
    Step.FAILED: "red",
    Step.ABSENT: "red",
    Step.WAITING: "cyan",
}
_LATEST = 8
_LONGEST = 160
_WHOLE_TEXTS = frozenset({"draft", "refinement", "fusion"})


def in_words(event: RoundEvent) -> str:
    """Return what happened, as one line without the seat."""
    words = WORDS.get(event.step) or ENDS[event.step]
    line = words.format(
        work=_work(event), detail=event.detail, phase=event.phase, attempt=event.attempt + 1
    )
    return printable(line.replace("\n", " "))[:_LONGEST]


def line_of(event: RoundEvent) -> str:
    """Return what happened, as one line."""
    if event.seat is None:
        return in_words(event)
    return f"  {event.seat:<3} {CHARGES[event.seat].title:<9} {in_words(event)}"


def _work(event: RoundEvent) -> str:
    if event.work in _WHOLE_TEXTS:
        return event.work
    if event.step is Step.WAITING:
        return ", ".join(map(short, event.work.split(", ")))
    what = "its review of" if event.phase is Phase.CRITIQUE else "its vote on"
    return f"{what} {short(event.work)}"


def short(candidate: str) -> str:
    """Return a candidate's id without the round that it begins with."""
    return candidate.rpartition(".")[2]


@contextmanager
def following(round_: Round) -> Iterator[Callable[[RoundEvent], None]]:
    """Show a round while it runs; hand out what is to be told of each event."""
    click.echo(printable(f"{round_.topic}  ({round_.id})"))
    if not sys.stdout.isatty():
        yield _tell_line
        return
    from rich.live import Live

    picture = Picture(round_)
    with Live(picture, refresh_per_second=8, transient=True) as live:

        def hear(event: RoundEvent) -> None:
            picture.hear(event)
            live.refresh()

        yield hear


def _tell_line(event: RoundEvent) -> None:
    if event.step is not Step.ASKED:
        click.echo(line_of(event))


class Picture:
    """The round as it stands: the way of phases, the seats, and what happened last."""

    def __init__(self, round_: Round) -> None:
        self._holders = dict(round_.holders)
        self._phase = round_.phase
        self._attempt = round_.attempt
        self._latest: dict[Seat, RoundEvent] = {}
        self._done: dict[Seat, int] = {}
        self._lines: deque[str] = deque(maxlen=_LATEST)

    def hear(self, event: RoundEvent) -> None:
        """Take in what happened."""
        if (event.phase, event.attempt) != (self._phase, self._attempt):
            self._phase, self._attempt = event.phase, event.attempt
            self._latest.clear()
            self._done.clear()
        if event.seat is not None:
            self._latest[event.seat] = event
            self._done[event.seat] = self._done.get(event.seat, 0) + (event.step is Step.ACTED)
        if event.step is not Step.ASKED:
            self._lines.append(line_of(event))

    def __rich__(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        path = Text()
        for phase in PATH:
            is_here = phase is self._phase
            path.append(f" {phase} ", style="reverse bold" if is_here else "dim")
        if self._attempt:
            path.append(f"  attempt {self._attempt + 1}", style="yellow")
        return Group(path, self._seats(), Text("\n".join(self._lines), style="dim"))

    def _seats(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2), show_header=False)
        for seat in Seat:
            event = self._latest.get(seat)
            doing = Text("") if event is None else Text(in_words(event), STYLES.get(event.step, ""))
            done = self._done.get(seat, 0)
            table.add_row(
                Text(seat, "bold"),
                CHARGES[seat].title,
                Text(printable(self._holders.get(seat, "")), "dim"),
                f"{done} done" if done else "",
                doing,
            )
        return table


def ballot_text(ballot: "Ballot") -> str:
    """Return a ballot as a table of plain text, the best first."""
    if not ballot.rows:
        return "nobody could be voted on"
    lines = [
        _columns("draft", "of", "voters", "score", "mean", "lowest", "weighted"),
        *(_ballot_line(row) for row in ballot.rows),
    ]
    if ballot.runoff:
        lines.append(f"within half a point: {' and '.join(map(short, ballot.runoff))}")
    effective = ballot.effective_votes
    worth = effective.reason if isinstance(effective, Absent) else _number(effective)
    lines.append(f"effective number of votes: {worth}")
    lines.append(f"points per place further back: {_slope(ballot.position_bias)}")
    lines.append(f"points for citing what the voter cites: {_slope(ballot.self_preference)}")
    return printable("\n".join(lines))


def _slope(found: "Slope | Absent") -> str:
    if isinstance(found, Absent):
        return found.reason
    judged = "beyond noise" if found.is_beyond_noise else "within noise"
    return f"{found.points:+.2f} (95 % {found.low:+.2f} to {found.high:+.2f}, {judged})"


def _ballot_line(row: "BallotRow") -> str:
    kind = " (fusion)" if row.is_fusion else ""
    numbers = (row.score, row.mean, row.lowest, row.weighted)
    shown = [_number(one) for one in numbers]
    return _columns(short(row.candidate) + kind, "+".join(row.authors), str(row.voters), *shown)


def _columns(name: str, authors: str, *numbers: str) -> str:
    return f"{name:<34} {authors:<7}" + "".join(f"{one:>9}" for one in numbers)


def _number(value: float | Absent) -> str:
    if isinstance(value, Absent):
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def round_line(round_: Round) -> str:
    """Return a round as one line of a list."""
    attempt = f" attempt {round_.attempt + 1}" if round_.attempt else ""
    where = f" -> {round_.published.handle}" if round_.published else ""
    return printable(
        f"{round_.id}  {round_.opened_at[:16]}  {round_.phase}{attempt}  {round_.topic}{where}"
    )


def round_text(round_: Round, due: Mapping[Seat, tuple[str, ...]]) -> str:
    """Return a round as people read it."""
    lines = [round_line(round_), f"topic id: {round_.topic_id}"]
    lines += [_seat_line(round_, seat, due.get(seat, ())) for seat in Seat]
    for one in round_.candidates:
        kind = "fusion" if one.is_fusion else "refined" if one.is_refined else "draft"
        who = "+".join(one.authors)
        lines.append(
            f"  {short(one.id)}  {kind} of {who}, attempt {one.attempt + 1}, "
            f"{len(one.citations)} citations"
        )
    lines += [f"  {one.seat} was absent in {one.phase}: {one.reason}" for one in round_.absences]
    lines += [f"  no consensus: {reason}" for reason in round_.reasons]
    return printable("\n".join(lines))


def _seat_line(round_: Round, seat: Seat, due: tuple[str, ...]) -> str:
    waits = f", due: {', '.join(map(short, due))}" if due else ""
    learning = ", on probation" if seat in round_.on_probation else ""
    holder = round_.holders.get(seat, "nobody")
    return f"  {seat:<3} {CHARGES[seat].title:<9} {holder}{learning}{waits}"


def evolution_text(shown: "EvolutionShown") -> str:
    """Return as people read it which seat is voted on or vacant, or how that ended last."""
    if shown.seat is None:
        head = f"last review ({shown.review}): {shown.ended}"
    elif shown.stage == "voting":
        head = (
            f"seat {shown.seat} is put to the vote ({shown.review}): {len(shown.ups)} Up, "
            f"{len(shown.downs)} Down; it is over at {shown.due_at}"
        )
    else:
        most = max(map(len, shown.consents), default=0)
        until = "it was due by" if shown.overdue else "it is due by"
        head = (
            f"seat {shown.seat} is vacant ({shown.review}): {most} of {shown.consents_needed} "
            f"have handed in the same soul; {until} {shown.due_at}"
        )
    lines = [head]
    lines += [f"  {seat} was absent: {reason}" for seat, reason in shown.absent.items()]
    lines += [f"  what to do: {shown.to_do}"] if shown.to_do else []
    return printable("\n".join(lines))
