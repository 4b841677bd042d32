"""Reports on a relationship, in words, from the records of its turns: what was read, and when.

They say nothing that no step wrote. What was never read is said to be unknown.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from salon.blackboard.slots import Slot
from salon.conversation.turns import Turn
from salon.core.absent import Absent
from salon.steps.emotion import EMOTION
from salon.steps.milestone_values import MilestoneReport
from salon.steps.milestones import MILESTONE
from salon.steps.outlook import EVERY, Outlook, look_ahead
from salon.steps.relationship import RELATIONSHIP, RelationshipResult
from salon.steps.scam import SCAM
from salon.steps.wire import RecordedBoard

T = TypeVar("T")
FUTURE_TURN = 50
"""The turn that `/predict-future` looks at."""
_LEVELS = ("none", "low", "medium", "high")


def readings(turns: Sequence[Turn], slot: Slot[T]) -> list[tuple[int, T]]:
    """Return what a slot held, turn by turn, where it held something."""
    found: list[tuple[int, T]] = []
    for turn in turns:
        value: T | Absent = RecordedBoard(turn)[slot]
        if not isinstance(value, Absent):
            found.append((turn.number, value))
    return found


def relationship_report(turns: Sequence[Turn]) -> str:
    """Return all that is known about a relationship, the first turn first in."""
    read = readings(turns, RELATIONSHIP)
    count = "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
    lines = [f"{count} so far, {turns[0].at} to {turns[-1].at}."]
    if read:
        lines += _standing(*read[-1])
        lines.append(_trust(read))
    else:
        lines.append(f"Status: not known yet. It is read for the first time in turn {EVERY}.")
    lines += [_feelings(turns), _scam(turns)]
    for _, report in readings(turns, MILESTONE):
        lines += _milestone(report)
    return "\n".join(lines)


def _standing(turn: int, found: RelationshipResult) -> Iterator[str]:
    yield f"Read in turn {turn}:"
    yield f"  status: {found.rel_status} ({_spread(found.rel_status_probs)})"
    yield f"  kind: {found.rel_type} ({_spread(found.rel_type_probs)})"
    yield f"  sentiment: {found.sentiment} (confidence {found.sentiment_confidence:.2f})"
    answers = " or ".join(found.advance_prediction_set)
    promise = (
        f"this set holds the answer in {found.advance_coverage_guarantee:.0%} of cases"
        if found.advance_calibrated
        else "no data to promise more"
    )
    yield f"  can it advance: {'yes' if found.can_advance else 'no'}; {answers} ({promise})"
    yield f"  next: {found.next_status_prediction} ({_spread(found.next_status_probs)})"
    for expert in found.experts:
        finding = f"{expert.advance:.2f} for a step on; {expert.finding}"
        yield f"  {expert.name} (weight {expert.weight:.1f}): {finding}"
    yield f"  reasons: {found.reasoning_trace}"


def _trust(read: Sequence[tuple[int, RelationshipResult]]) -> str:
    course = ", ".join(f"turn {turn}: {found.trust_score:.2f}" for turn, found in read)
    return f"Trust: {course}."


def _feelings(turns: Sequence[Turn]) -> str:
    felt = [value for _, value in readings(turns, EMOTION)]
    if not felt:
        return "Feelings: not known."
    counts = Counter(one.emotion for one in felt).most_common()
    named = ", ".join(f"{name} {count}" for name, count in counts)
    mean = sum(one.valence for one in felt) / len(felt)
    return f"Feelings in the messages: {named}; mean valence {mean:+.2f}."


def _scam(turns: Sequence[Turn]) -> str:
    read = readings(turns, SCAM)
    if not read:
        return "Scam: not read yet."
    turn, worst = max(read, key=lambda one: _LEVELS.index(one[1].scam_warning_level))
    if worst.scam_warning_level == "none":
        return f"Scam: nothing found in {len(read)} readings."
    patterns = ", ".join(worst.scam_patterns).replace("_", " ")
    return f"Scam: level {worst.scam_warning_level} in turn {turn} ({patterns})."


def _milestone(report: MilestoneReport) -> Iterator[str]:
    yield f"Milestone of turn {report.turn}:"
    for name in _MILESTONE_FIELDS[report.turn]:
        value = getattr(report, name)
        shown = f"not known: {value.reason}" if isinstance(value, Absent) else _shown(value)
        yield f"  {name.replace('_', ' ')}: {shown}"


_MILESTONE_FIELDS = {
    10: ("current_status", "predicted_status_at_30", "sentiment_trend", "trust_level"),
    30: ("final_status", "prediction_accuracy", "conformal_efficiency", "memory_contribution"),
}


def _shown(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _spread(probabilities: Mapping[str, float]) -> str:
    ordered = sorted(probabilities.items(), key=lambda one: -one[1])
    return ", ".join(f"{name} {share:.2f}" for name, share in ordered if share >= 0.005)


# The future


def outlook_of(turns: Sequence[Turn], *, at: int = FUTURE_TURN) -> Outlook | Absent:
    """Return where a relationship may stand in a later turn, or why that cannot be said."""
    read = readings(turns, RELATIONSHIP)
    if not read:
        return Absent(f"the relationship is read for the first time in turn {EVERY}")
    turn, found = read[-1]
    if turns[-1].number >= at:
        return Absent(f"turn {at} has been; the latest reading, of turn {turn}, stands")
    chance = 1.0 - found.next_status_probs[found.rel_status]
    return look_ahead(found.rel_status_probs, round(chance, 6), from_turn=turn, to_turn=at)


def outlook_text(turns: Sequence[Turn], *, at: int = FUTURE_TURN) -> str:
    """Return the same in words, with how little it is."""
    found = outlook_of(turns, at=at)
    if isinstance(found, Absent):
        return f"Turn {at}: not known: {found.reason}."
    hits = _own_record(turns)
    others = ", ".join(f"{name} {status}" for name, status in found.otherwise.items())
    return "\n".join(
        [
            f"Turn {at}, seen from the reading of turn {found.from_turn}:",
            f"  likeliest: {found.likeliest} ({_spread(found.probabilities)})",
            f"  {found.share:.0%} of the probability: {', '.join(found.prediction_set)}",
            f"  {found.steps} steps of a chain that is assumed, not measured on people: a step on",
            f"  with {found.chance:.2f} every {EVERY} turns. No coverage is promised.",
            f"  With other chances: {others}.",
            f"  {hits}",
        ]
    )


def _own_record(turns: Sequence[Turn]) -> str:
    read = [found for _, found in readings(turns, RELATIONSHIP)]
    if len(read) < 2:
        return "Its predictions for the next reading could not be checked yet."
    right = sum(
        before.next_status_prediction == after.rel_status for before, after in pairwise(read)
    )
    return (
        f"In this conversation {right} of its {len(read) - 1} predictions of the next reading held."
    )
