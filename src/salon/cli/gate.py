"""`salon gate`: why an action may be offered or not, and learning from a reviewer."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from salon.app import Salon
from salon.cli.common import amount_progress, emit, json_option, with_salon
from salon.core.errors import FileMissing, InvalidInput

if TYPE_CHECKING:
    from salon.gate.feedback import Rates
    from salon.gate.transcripts import ExplainedTurn

_LONGEST_QUOTE = 70


@click.group()
def gate() -> None:
    """The gate: when an action may be offered, and why."""


@gate.command()
@click.argument("transcript", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--policy",
    type=click.Choice(["sentence", "conservative"]),
    help="Judge sentence by sentence, or let any question mark block; the setting "
    "`actions.gate_policy` by default.",
)
@click.option("--assistant", help="Who the assistant is, where the names do not say it.")
@json_option
@with_salon
def explain(
    salon: Salon, transcript: Path, policy: str | None, assistant: str | None, as_json: bool
) -> None:
    """Print the verdict on each reply of TRANSCRIPT, with the rule and the words that counted.

    A transcript is a JSON list of {"role": …, "content": …} or lines like "Name: text"; - reads
    standard input.
    """
    turns = salon.explain_transcript(_read(transcript), policy=policy, assistant=assistant)
    strictness = policy or salon.settings.actions.gate_policy
    shown = [f"policy {strictness}", *(_turn_text(one) for one in turns)]
    emit(turns, "\n\n".join(shown), as_json=as_json)


@gate.command()
@click.argument("feedback", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what was learned to this file instead of letting it count here.",
)
@click.option(
    "--llm", is_flag=True, help="Compile the language model variant with DSPy (salon[dspy])."
)
@json_option
@with_salon
def train(salon: Salon, feedback: Path, out: Path | None, llm: bool, as_json: bool) -> None:
    """Learn when to trigger from FEEDBACK, a CSV file Turn,User,ERA,Improvement,Label.

    The rates are those of rows that were held back while learning.
    """
    content = _read_bytes(feedback)
    if llm:
        _train_with_llm(salon, content, out, as_json=as_json)
        return
    with amount_progress("learning") as show:
        made = salon.train_gate(content, keep=out is None, on_progress=show)
    if out is not None:
        out.write_text(json.dumps(asdict(made.gate), indent=2, sort_keys=True) + "\n", "utf-8")
    place = f"in {out}" if out is not None else f"behind the handle {made.handle}"
    text = "\n".join(
        [
            f"{made.gate.positives} rows with a trigger, {made.gate.negatives} without",
            _rates("learned", made.gate.rates),
            _rates("rules alone", made.rules),
            f"kept {place}",
        ]
    )
    emit(made, text, as_json=as_json)


def _train_with_llm(salon: Salon, content: bytes, out: Path | None, *, as_json: bool) -> None:
    from salon.providers.dspy_gate import as_language_model, compile_decision

    made = compile_decision(content, as_language_model(salon.chat))
    if out is not None:
        out.write_text(json.dumps(made.program, indent=2, sort_keys=True) + "\n", "utf-8")
    emit(made, _rates("compiled", made.rates), as_json=as_json)


def _read(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return _read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}", hint="save it as UTF-8") from error


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error


def _turn_text(turn: "ExplainedTurn") -> str:
    verdict = turn.verdict
    action = verdict.action or ("nothing, but now would be the time" if verdict.is_suggested
                                else "nothing")  # fmt: skip
    lines = [
        f"[{turn.index}] {turn.name}: {_short(turn.reply)}",
        f"    offers {action}  ({verdict.state}, rule {verdict.rule}: {verdict.reason})",
    ]
    for one in verdict.evidence:
        where = "" if one.where == "reply" else f" in message {one.where}"
        lines.append(f"    {one.kind}{where} {one.start} to {one.end}: {_short(one.quote)!r}")
    return "\n".join(lines)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"


def _rates(name: str, rates: "Rates") -> str:
    return (
        f"{name}: premature {rates.premature:.3f}, missed {rates.missed:.3f} "
        f"on {rates.rows} rows ({rates.held_back})"
    )
