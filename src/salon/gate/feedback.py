"""Learning from a reviewer's file: when a trigger came at the right time, and when too early.

The file is CSV with the columns `Turn,User,ERA,Improvement,Label`; a label is
`should_trigger=True` or `should_trigger=False`. What is learned is a small logistic model over
what the gate reads anyway, so that a few dozen rows suffice; its rates are those of rows that were
held back. It is kept as a card behind the handle `gate/learned`.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from salon.core.archive import Archive
from salon.core.errors import InvalidInput
from salon.core.records import RecordKind
from salon.gate.deciding import decide
from salon.gate.learned import LearnedDecision
from salon.gate.lexicon import lexicon_of
from salon.gate.messages import read_message
from salon.gate.policy import Policy, make_policy
from salon.gate.signals import OFFER, RECOMMENDATION, read_reply
from salon.gate.verdicts import Said, Side

KIND = "salon.gate_learned"
VERSION = 1
HANDLE = "gate/learned"
COLUMNS = ("Turn", "User", "ERA", "Improvement", "Label")
_OTHER_COLUMNS = ("Turn", "User Message", "ERA Response", "Improvement Notes", "Category")
_LABEL = re.compile(r"\s*should_trigger\s*=\s*(true|false)\s*", re.IGNORECASE)
_LONGEST = 2_000_000
_FEWEST = 4
_FOLDS = 5
_RIDGE = 0.3
_STEPS = 40
_LEFT_OUT_BELOW = 50
"""Below so many rows each is judged by a model of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRow:
    """A reviewed turn: the person's message, the reply, and whether a trigger was right."""

    line: int
    turn: int
    user: str
    reply: str
    improvement: str
    should_trigger: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often a decision triggers too early, or not at all where it should."""

    rows: int
    premature: float
    missed: float
    held_back: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackGate:
    """What was learned from a file, and how it did on rows that were held back."""

    weights: dict[str, float]
    threshold: float
    rates: Rates
    positives: int
    negatives: int

    def consider(self, history: tuple[Said, ...], reply: str) -> LearnedDecision:
        """Return what was learned about a reply after a history."""
        user = next((one.text for one in reversed(history) if one.side is Side.PERSON), "")
        values = signals_of(len(history) + 1, user, reply)
        chance = _chance(self.weights, values)
        return LearnedDecision(
            context_sufficient=values["asks"] == 0.0 and chance >= self.threshold,
            should_trigger=chance >= self.threshold,
            probability=round(chance, 6),
        )


def read_feedback(content: bytes) -> list[FeedbackRow]:
    """Read a reviewer's file, or raise `InvalidInput` with the line that is wrong."""
    if len(content) > _LONGEST:
        raise InvalidInput(
            "the feedback file is too large", hint=f"keep it below {_LONGEST:,} bytes"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the feedback file is not UTF-8: {error}", hint="save it as UTF-8"
        ) from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    rows: list[FeedbackRow] = []
    try:
        _check_head(next(reader, []))
        rows += [
            _row(cells, reader.line_num) for cells in reader if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise InvalidInput(
            f"line {reader.line_num}: {error}", hint="quote cells with commas"
        ) from error
    if not rows:
        raise InvalidInput("the feedback file has no rows", hint=f"columns: {','.join(COLUMNS)}")
    return rows


def _check_head(head: Sequence[str]) -> None:
    found = tuple(cell.strip() for cell in head)
    if found == COLUMNS:
        return
    if found[: len(_OTHER_COLUMNS)] == _OTHER_COLUMNS:
        raise InvalidInput(
            "line 1: this file gives categories of improvement, and no labels to learn from",
            hint=f"rename the columns to {','.join(COLUMNS)} and label each row "
            "should_trigger=True or should_trigger=False",
        )
    raise InvalidInput(
        f"line 1: the columns are {', '.join(found) or 'missing'}",
        hint=f"the first line must be {','.join(COLUMNS)}",
    )


def _row(cells: Sequence[str], line: int) -> FeedbackRow:
    if len(cells) != len(COLUMNS):
        raise InvalidInput(
            f"line {line}: {len(cells)} cells instead of {len(COLUMNS)}",
            hint="quote cells that hold commas",
        )
    turn, user, reply, improvement, label = (cell.strip() for cell in cells)
    found = _LABEL.fullmatch(label)
    if found is None:
        raise InvalidInput(
            f"line {line}: the label is {label[:40]!r}",
            hint="write should_trigger=True or should_trigger=False",
        )
    if not turn.isdecimal() or not 1 <= int(turn) <= 10_000:
        raise InvalidInput(f"line {line}: {turn[:20]!r} is no turn", hint="a number from 1")
    if not user or not reply:
        raise InvalidInput(f"line {line}: the message or the reply is empty")
    return FeedbackRow(
        line=line,
        turn=int(turn),
        user=user,
        reply=reply,
        improvement=improvement,
        should_trigger=found.group(1).lower() == "true",
    )


def signals_of(turn: int, user: str, reply: str) -> dict[str, float]:
    """Return what is learned from: the turn, and what the gate reads in both texts."""
    policy = make_policy()
    lexicon = lexicon_of(policy.actions, policy.language)
    said, reading = read_message(user, lexicon), read_reply(reply, lexicon)
    kinds = {one.kind for one in reading.best}
    values: dict[str, float] = {
        "one": 1.0,
        "early": turn <= 2,
        "late": turn > 4,
        "asks": bool(reading.asking),
        "question_mark": reading.has_question_mark,
        "offers": OFFER in kinds,
        "recommends": RECOMMENDATION in kinds,
        "taken_back": bool(kinds) and not reading.is_guiding,
        "requests": bool(said.requests),
        "refuses": bool(said.refusals) or said.is_declining,
        "affirms": said.is_affirming,
        "active": said.stance == "active",
        "hypothetical": said.stance == "hypothetical",
        "user_asks": "?" in user,
        "offers_early": OFFER in kinds and turn <= 2,
    }
    return {name: float(value) for name, value in values.items()}


def learn(
    rows: Sequence[FeedbackRow],
    *,
    most_premature: float = 0.05,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> FeedbackGate:
    """Learn from reviewed turns; rates are those of rows that the model did not see."""
    positives = sum(one.should_trigger for one in rows)
    if len(rows) < _FEWEST or positives in {0, len(rows)}:
        raise InvalidInput(
            f"{len(rows)} rows with {positives} triggers are too few to learn from",
            hint=f"give at least {_FEWEST} rows, and both labels",
        )
    values = [signals_of(one.turn, one.user, one.reply) for one in rows]
    labels = [one.should_trigger for one in rows]
    folds = len(rows) if len(rows) < _LEFT_OUT_BELOW else _FOLDS
    chances = [0.0] * len(rows)
    for fold in range(folds):
        inside = [row for row in range(len(rows)) if row % folds != fold]
        weights = _fit([values[row] for row in inside], [labels[row] for row in inside])
        for row in range(fold, len(rows), folds):
            chances[row] = _chance(weights, values[row])
        on_progress(fold + 1, folds)
    threshold = _threshold(chances, labels, most_premature)
    chosen = [one >= threshold for one in chances]
    return FeedbackGate(
        weights={name: round(value, 6) for name, value in _fit(values, labels).items()},
        threshold=round(threshold, 6),
        rates=rates_of(labels, chosen, "each row by a model of all others"
                       if folds == len(rows) else f"{folds} folds"),
        positives=positives,
        negatives=len(rows) - positives,
    )  # fmt: skip


def rates_of(labels: Sequence[bool], chosen: Sequence[bool], held_back: str) -> Rates:
    """Return the rates of choices on labelled rows."""
    wrong = [one for label, one in zip(labels, chosen, strict=True) if not label]
    right = [one for label, one in zip(labels, chosen, strict=True) if label]
    return Rates(
        rows=len(labels),
        premature=round(sum(wrong) / len(wrong), 6) if wrong else 0.0,
        missed=round(sum(not one for one in right) / len(right), 6) if right else 0.0,
        held_back=held_back,
    )


def rule_rates(rows: Sequence[FeedbackRow], policy: Policy) -> Rates:
    """Return how the rules alone do on the same rows, with a plain history of that length."""
    chosen = []
    for one in rows:
        padding = [
            Said(Side.PERSON if at % 2 == 0 else Side.ASSISTANT, "My employee." if at == 0 else "…")
            for at in range(max(0, one.turn - 2))
        ]
        history = (*padding, Said(Side.PERSON, one.user))
        chosen.append(decide(history, one.reply, None, policy).action is not None)
    return rates_of([one.should_trigger for one in rows], chosen, "not trained")


def save_feedback_gate(archive: Archive, made: FeedbackGate) -> None:
    """Let what was learned count in this home."""
    archive.put(HANDLE, _CARD.write(asdict(made)))


def find_feedback_gate(archive: Archive) -> FeedbackGate | None:
    """Return what was learned in this home, or `None`."""
    handle = archive.find_handle(HANDLE)
    return None if handle is None else parse_feedback_gate(archive.get(handle.current).content)


def parse_feedback_gate(content: bytes) -> FeedbackGate:
    """Read what was learned from its bytes, or raise `InvalidDocument`."""
    return _CARD.read(content)


def _check(found: dict[str, Any]) -> FeedbackGate:
    weights = {str(name): float(value) for name, value in found.pop("weights").items()}
    return FeedbackGate(weights=weights, rates=Rates(**found.pop("rates")), **found)


_CARD = RecordKind(kind=KIND, version=VERSION, called="what a gate learned", check=_check)


def _threshold(chances: Sequence[float], labels: Sequence[bool], most: float) -> float:
    """Return the lowest threshold from one half up that is premature rarely enough."""
    wrong = sorted(
        (one for one, label in zip(chances, labels, strict=True) if not label), reverse=True
    )
    allowed = int(most * len(wrong))
    rival = wrong[allowed] if len(wrong) > allowed else 0.0
    return max(0.5, min(0.99, math.nextafter(rival, 2.0)))


def _chance(weights: dict[str, float], values: dict[str, float]) -> float:
    total = sum(weights.get(name, 0.0) * value for name, value in values.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def _fit(values: Sequence[dict[str, float]], labels: Sequence[bool]) -> dict[str, float]:
    """Fit a ridge logistic model by Newton's method."""
    import numpy as np  # noqa: PLC0415 - heavy: only where it is fitted

    names = list(values[0])
    rows = np.array([[one[name] for name in names] for one in values])
    wanted = np.array(labels, float)
    penalty = np.diag([1e-3 if name == "one" else _RIDGE for name in names])
    weights = np.zeros(len(names))
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -50, 50)))
        slope = rows.T @ (chance - wanted) + penalty @ weights
        bend = rows.T @ (rows * (chance * (1 - chance))[:, None]) + penalty
        weights -= np.linalg.solve(bend, slope)
    return {name: float(one) for name, one in zip(names, weights, strict=True)}
