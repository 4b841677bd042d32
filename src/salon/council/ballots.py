"""Counting: what a draft scored, which two go to a runoff, and whether a draft may be published.

Pure functions of a round; nothing here asks who may vote or moves anything. A vote counts once per
seat, candidate and attempt, never where the voter wrote the candidate, is on probation, or graded
outside 1 to 10, whatever a round may hold.
Without weights every seat counts the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, fsum, log, sqrt

from salon.core.absent import Absent
from salon.council.rounds import Candidate, Round, Scorecard, Vote
from salon.council.seats import Seat

LEAST_MEAN = 8.0
LEAST_SCORE = 5
LEAST_VOTERS = 3
RUNOFF_WITHIN = 0.5
LOWEST, HIGHEST = 1, 10
_DIGITS = 9
"""Scores are compared to so many digits: 8.1 and 7.6 differ by 0.5, whatever floats say."""
_SHARED_DRAFTS = 3
"""Two voters who graded fewer drafts in common say nothing about how alike they vote."""
_PRIOR_CORRELATION = 0.5
_PRIOR_WEIGHT = 20
"""Few votes are drawn towards the middle as if so many comparisons had shown it. One round of five
voters is 20 comparisons, so it counts for half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the votes on one candidate come to; `score` is the one that ranks."""

    candidate: str
    voters: int
    score: float | Absent
    """The geometric mean over voters of the mean of their three scores."""
    mean: float | Absent
    """The plain mean of the same."""
    lowest: int | Absent
    """The lowest single accuracy, depth or pedagogy that any voter gave."""
    weighted: float | Absent
    """The geometric mean with each voter as heavy as its record makes it."""
    is_fusion: bool = False


def draft_score(scores: Sequence[Scorecard]) -> float:
    """Return the geometric mean of the scorecards' means, of which there is at least one."""
    return _geometric([(_total(card) / 3, 1.0) for card in scores])


def mean_score(scores: Sequence[Scorecard]) -> float:
    """Return the plain mean of the scorecards' means, exact where it is a whole number."""
    return sum(_total(card) for card in scores) / (3 * len(scores))


def counted_votes(round_: Round, *, attempt: int | None = None) -> tuple[Vote, ...]:
    """Return the votes of an attempt (the current one) that count, in the order they came."""
    wanted = round_.attempt if attempt is None else attempt
    authors = {one.id: one.authors for one in round_.candidates if one.attempt == wanted}
    first: dict[tuple[Seat, str], Vote] = {}
    for vote in round_.votes:
        if (
            vote.attempt == wanted
            and vote.candidate in authors
            and vote.seat not in authors[vote.candidate]
            and vote.seat not in round_.on_probation
            and _is_valid(vote.scores)
        ):
            first.setdefault((vote.seat, vote.candidate), vote)
    return tuple(first.values())


def tally(
    round_: Round, *, weights: Mapping[Seat, float] | None = None, attempt: int | None = None
) -> tuple[Tally, ...]:
    """Count an attempt (the current one), best first; candidates with failings are left out.

    Candidates that nobody voted on come last; ties stand in the order of their ids.
    """
    wanted = round_.attempt if attempt is None else attempt
    votes = counted_votes(round_, attempt=wanted)
    counted = [
        _count(one, [vote for vote in votes if vote.candidate == one.id], weights)
        for one in round_.candidates
        if one.attempt == wanted and not one.failings
    ]
    return tuple(sorted(counted, key=_rank))


def runoff(tallies: Sequence[Tally], *, within: float = RUNOFF_WITHIN) -> tuple[str, str] | None:
    """Return the two best drafts if they are at most `within` apart, best first; else `None`."""
    scored = [(one.score, one) for one in tallies if not one.is_fusion]
    known = [(score, one) for score, one in scored if not isinstance(score, Absent)]
    if len(known) < 2:
        return None
    (best, first), (next_, second), *_ = sorted(known, key=lambda pair: _rank(pair[1]))
    if round(best - next_, _DIGITS) > round(within, _DIGITS):
        return None
    return first.candidate, second.candidate


def is_publishable(
    tally: Tally,
    *,
    least_mean: float = LEAST_MEAN,
    least_score: int = LEAST_SCORE,
    least_voters: int = LEAST_VOTERS,
) -> str | None:
    """Return `None` if the votes allow publication, else why they do not."""
    if tally.voters < least_voters:
        return f"{tally.voters} of at least {least_voters} peers have graded it"
    if isinstance(tally.mean, Absent) or isinstance(tally.lowest, Absent):
        return "nobody has graded it"
    if tally.mean < least_mean:
        # Rounded down, so that a mean just below the bar is not shown as the bar.
        return f"its mean is {int(tally.mean * 100) / 100:.2f}, below {least_mean:g}"
    if tally.lowest < least_score:
        return f"a single score is {tally.lowest}, below {least_score}"
    return None


def effective_votes(rounds: Sequence[Round]) -> float | Absent:
    """Return how many independent votes the voters of the last of these rounds are worth.

    That is n / (1 + (n - 1) r), where r is how alike two voters grade the drafts that both saw, in
    all rounds given, drawn towards 0.5 where there is little to go by. It is a lower bound: voters
    also agree because drafts differ.
    """
    voters = len({vote.seat for vote in counted_votes(rounds[-1])}) if rounds else 0
    if voters == 0:
        return Absent("nobody has voted")
    likeness = mean_correlation(rounds)
    if isinstance(likeness, Absent):
        return likeness if voters > 1 else 1.0
    return voters / (1 + (voters - 1) * min(1.0, max(0.0, likeness)))


def mean_correlation(rounds: Sequence[Round]) -> float | Absent:
    """Return how alike two voters grade, on average over pairs, drawn towards 0.5 if few."""
    grades: dict[Seat, dict[tuple[str, int, str], float]] = {}
    for number, attempt, vote in _all_votes(rounds):
        draft = (f"{number} {rounds[number].id}", attempt, vote.candidate)
        grades.setdefault(vote.seat, {})[draft] = vote.scores.mean
    found = [_pair(grades[one], grades[other]) for one, other in combinations(sorted(grades), 2)]
    pairs = [pair for pair in found if pair is not None]
    if not pairs:
        return Absent(f"no two voters graded {_SHARED_DRAFTS} drafts in common and told them apart")
    weight = fsum(degrees for _, degrees in pairs)
    shown = fsum(correlation * degrees for correlation, degrees in pairs)
    return (shown + _PRIOR_CORRELATION * _PRIOR_WEIGHT) / (weight + _PRIOR_WEIGHT)


def _all_votes(rounds: Sequence[Round]) -> list[tuple[int, int, Vote]]:
    return [
        (number, attempt, vote)
        for number, round_ in enumerate(rounds)
        for attempt in range(round_.attempt + 1)
        for vote in counted_votes(round_, attempt=attempt)
    ]


def _pair(
    one: Mapping[tuple[str, int, str], float], other: Mapping[tuple[str, int, str], float]
) -> tuple[float, int] | None:
    """Return the correlation over shared drafts and its degrees of freedom."""
    shared = sorted(one.keys() & other.keys())
    if len(shared) < _SHARED_DRAFTS:
        return None
    x, y = ([grades[draft] for draft in shared] for grades in (one, other))
    x_mean, y_mean = fsum(x) / len(x), fsum(y) / len(y)
    both = fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    x_spread = fsum((a - x_mean) ** 2 for a in x)
    y_spread = fsum((b - y_mean) ** 2 for b in y)
    if min(x_spread, y_spread) < 10**-_DIGITS:
        return None
    return both / sqrt(x_spread * y_spread), len(shared) - 1


def _count(
    candidate: Candidate, votes: Sequence[Vote], weights: Mapping[Seat, float] | None
) -> Tally:
    if not votes:
        nobody = Absent("nobody has voted on it")
        return Tally(
            candidate=candidate.id,
            voters=0,
            score=nobody,
            mean=nobody,
            lowest=nobody,
            weighted=nobody,
            is_fusion=candidate.is_fusion,
        )
    cards = [vote.scores for vote in votes]
    return Tally(
        candidate=candidate.id,
        voters=len(votes),
        score=draft_score(cards),
        mean=mean_score(cards),
        lowest=min(card.lowest for card in cards),
        weighted=_weighted(votes, weights),
        is_fusion=candidate.is_fusion,
    )


def _weighted(votes: Sequence[Vote], weights: Mapping[Seat, float] | None) -> float | Absent:
    if weights is None:
        return Absent("no weights were given")
    heavy = [(_total(vote.scores) / 3, weights.get(vote.seat, 0.0)) for vote in votes]
    if fsum(weight for _, weight in heavy) <= 0:
        return Absent("no voter's record carries any weight")
    return _geometric(heavy)


def _geometric(values: Sequence[tuple[float, float]]) -> float:
    low, high = min(value for value, _ in values), max(value for value, _ in values)
    weight = fsum(weight for _, weight in values)
    mean = exp(fsum(weight * log(value) for value, weight in values) / weight)
    return min(high, max(low, mean))  # exp and log alone may leave the range by a last digit


def _total(card: Scorecard) -> int:
    return card.accuracy + card.depth + card.pedagogy


def _is_valid(card: Scorecard) -> bool:
    scores = (card.accuracy, card.depth, card.pedagogy)
    return all(LOWEST <= one <= HIGHEST for one in scores)


def _rank(tally: Tally) -> tuple[float, str]:
    # Rounded like the runoff rule, so that equal votes in another order rank alike.
    score = 0.0 if isinstance(tally.score, Absent) else tally.score
    return -round(score, _DIGITS), tally.candidate
