"""How the seats did over rounds: the matrix by which the weakest is found. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from statistics import median

from salon.core.absent import Absent
from salon.council.ballots import counted_votes, tally
from salon.council.rounds import Round, Verdict
from salon.council.seats import CHARGES, Seat
from salon.council.weighing import Reliability

_FAR_BEHIND = 0.9
"""Survivors part with a seat that has less than this share of what the middle one of them has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """One row of the matrix."""

    seat: Seat
    rounds: int
    drafts: int
    """Drafts and fusions that the checks let in."""
    checks_failed: int
    """Texts that the checks sent back."""
    mean_score: float | Absent
    """What its drafts scored, 1 to 10."""
    wins: int
    """Rounds in which its draft scored highest in the end."""
    publications: int
    """Chapters that it wrote, alone or with another."""
    absences: int
    agreement: float | Absent
    """How often it put two drafts in the order of the others' grades, or ratified as they did."""
    reliability: Reliability
    """Its record on chapters that held or failed later."""

    @property
    def parts(self) -> dict[str, float]:
        """Return what is known of a seat as shares from 0 to 1, by name."""
        texts = self.drafts + self.checks_failed
        known: dict[str, float | Absent] = {
            "score": _tenth(self.mean_score),
            "checks": self.drafts / texts if texts else 0.0,
            "publications": self.publications / self.rounds if self.rounds else 0.0,
            "presence": max(0.0, 1 - self.absences / self.rounds) if self.rounds else 0.0,
            "agreement": self.agreement,
        }
        return {name: share for name, share in known.items() if not isinstance(share, Absent)}

    @property
    def strength(self) -> float | Absent:
        """Return the mean of its known parts; the weakest seat has the lowest."""
        if not self.rounds:
            return Absent("there are no rounds yet")
        return fsum(self.parts.values()) / len(self.parts)


def matrix(
    rounds: Sequence[Round], reliability: Mapping[Seat, Reliability]
) -> tuple[Performance, ...]:
    """Return a row for each seat over rounds that are over."""
    over = [one for one in rounds if one.is_over]
    return tuple(_performance(seat, over, reliability[seat]) for seat in Seat)


def weakest(rows: Iterable[Performance], *, spared: Iterable[Seat] = ()) -> Performance | None:
    """Return the row with the lowest strength; `None` where nobody can be told apart.

    Of two that are equally weak it is the one that wrote fewer chapters, then the later numeral.
    """
    kept = set(spared)
    known = [
        (row.strength, row)
        for row in rows
        if row.seat not in kept and not isinstance(row.strength, Absent)
    ]
    if not known:
        return None
    places = {seat: place for place, seat in enumerate(Seat)}
    lowest = min(known, key=lambda one: (one[0], one[1].publications, -places[one[1].seat]))
    return lowest[1]


def verdict_on(subject: Seat, rows: Sequence[Performance]) -> Verdict:
    """Return what a survivor that goes by the matrix says: Up where the seat is far behind."""
    own = [row.strength for row in rows if row.seat is subject]
    others = [row.strength for row in rows if row.seat is not subject]
    known = [strength for strength in others if not isinstance(strength, Absent)]
    if not own or isinstance(own[0], Absent) or not known:
        return Verdict.DOWN
    return Verdict.UP if own[0] < _FAR_BEHIND * median(known) else Verdict.DOWN


_SPOTS = {
    "score": "its drafts scored {value:.1f} of 10",
    "checks": "the checks sent back {missed:.0%} of its texts",
    "publications": "{value:.0%} of the rounds ended with a chapter of its own",
    "presence": "it was absent from {missed:.0%} of the rounds",
    "agreement": "{missed:.0%} of its judgements went against those of the others",
}


def blind_spots(subject: Performance, others: Sequence[Performance]) -> tuple[str, ...]:
    """Return where a seat fell behind the middle of the others, the worst first."""
    behind = []
    for name, share in subject.parts.items():
        known = [row.parts[name] for row in others if name in row.parts]
        if known and share < median(known):
            said = share * 10 if name == "score" else share
            text = _SPOTS[name].format(value=said, missed=1 - share)
            behind.append((median(known) - share, text))
    return tuple(text for _, text in sorted(behind, reverse=True))


def goal_of(seat: Seat) -> str:
    """Return what a new soul of a seat is for."""
    charge = CHARGES[seat]
    return f"Look after {charge.virtue} better than the soul before. {charge.about}"


def _performance(seat: Seat, rounds: Sequence[Round], reliability: Reliability) -> Performance:
    scores = [score for one in rounds for score in _scores(one, seat)]
    votes = [right for one in rounds for right in _borne_out(one, seat)]
    return Performance(
        seat=seat,
        rounds=len(rounds),
        drafts=sum(_texts(round_, seat) for round_ in rounds),
        checks_failed=sum(one.seat is seat for round_ in rounds for one in round_.returns),
        mean_score=fsum(scores) / len(scores) if scores else Absent("no draft of it was graded"),
        wins=sum(_has_won(one, seat) for one in rounds),
        publications=sum(_has_written(one, seat) for one in rounds),
        absences=sum(any(gone.seat is seat for gone in one.absences) for one in rounds),
        agreement=sum(votes) / len(votes) if votes else Absent("it has not voted"),
        reliability=reliability,
    )


def _scores(round_: Round, seat: Seat) -> Iterable[float]:
    for attempt in range(round_.attempt + 1):
        own = {
            one.id for one in round_.candidates if one.attempt == attempt and seat in one.authors
        }
        for counted in tally(round_, attempt=attempt):
            if counted.candidate in own and not isinstance(counted.score, Absent):
                yield counted.score


def _texts(round_: Round, seat: Seat) -> int:
    """Count the texts of a seat; a draft's copies in later attempts are still one draft."""
    own = [one.is_fusion for one in round_.candidates if seat in one.authors]
    return own.count(True) + (False in own)


def _borne_out(round_: Round, seat: Seat) -> Iterable[float]:
    """Yield 1 for every judgement that the round bore out, 0 for one that it did not."""
    votes = [one for one in counted_votes(round_) if one.verdict is None]
    given = {one.candidate: one for one in votes if one.seat is seat}
    others: dict[str, list[float]] = {}
    for one in votes:
        if one.seat is not seat and one.candidate in given:
            others.setdefault(one.candidate, []).append(one.scores.mean)
    means = {draft: fsum(grades) / len(grades) for draft, grades in others.items()}
    for first, second in combinations(sorted(means), 2):
        theirs = means[first] - means[second]
        ours = given[first].scores.mean - given[second].scores.mean
        if theirs:
            yield 0.5 if ours == 0 else float((ours > 0) == (theirs > 0))
    chosen = round_.published.candidate if round_.published else None
    for vote in counted_votes(round_):
        if vote.seat is seat and vote.verdict is not None:
            yield float((vote.verdict is Verdict.UP) == (vote.candidate == chosen))


def _has_won(round_: Round, seat: Seat) -> bool:
    drafts = [one for one in tally(round_) if not one.is_fusion and one.voters]
    own = round_.find_own(seat)
    return bool(drafts) and own is not None and drafts[0].candidate == own.id


def _has_written(round_: Round, seat: Seat) -> bool:
    if round_.published is None:
        return False
    chosen = round_.find_candidate(round_.published.candidate)
    return chosen is not None and seat in chosen.authors


def _tenth(score: float | Absent) -> float | Absent:
    return score if isinstance(score, Absent) else score / 10
