"""The numbers of a round: thresholds, retries, and how much a seat may send."""

from dataclasses import dataclass

from salon.core.errors import InvalidSettings
from salon.council.seats import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimits:
    """How long what a seat sends may be, in characters unless it says otherwise."""

    topic: int = 300
    draft: int = 60_000
    title: int = 200
    heading: int = 120
    notes: int = 200
    """Notes of one draft."""
    quote: int = 2_000
    feedback: int = 8_000
    rationale: int = 4_000
    returns: int = 12
    """Texts of one seat that the checks may send back in one phase of one attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilRules:
    """What makes a consensus, and how often the council tries."""

    least_mean: float = 8.0
    least_score: int = 5
    least_voters: int = 3
    runoff_within: float = 0.5
    """Inclusive: two drafts exactly this far apart go to a runoff."""
    retries: int = 3
    evolve_every: int = 100
    probation: int = 10
    retire_votes: int = 4
    evolve_patience_s: float = 86_400.0
    """How long survivors have to vote, and then to write; rounds go on meanwhile."""
    least_survivors: int = 3
    """So many must agree on a soul once that time is over; before it, all four."""
    limits: TextLimits = TextLimits()

    def __post_init__(self) -> None:
        if not 1 <= self.least_voters < len(Seat):
            raise InvalidSettings(
                f"a quorum of {self.least_voters} cannot be had",
                hint="nobody votes on their own draft, so take 1 to 4",
            )
        if not (1 <= self.least_mean <= 10 and 1 <= self.least_score <= 10):
            raise InvalidSettings("scores go from 1 to 10", hint="take thresholds between them")
        if self.retries < 0 or self.runoff_within < 0:
            raise InvalidSettings("retries and the distance of a runoff cannot be negative")
        if self.evolve_patience_s <= 0:
            raise InvalidSettings("survivors need some time to vote", hint="take more than 0")
        if not (len(Seat) - 1) / 2 < self.least_survivors < len(Seat):
            raise InvalidSettings(
                f"{self.least_survivors} survivors cannot agree for all four",
                hint="take 3 or 4, so that no two texts can be agreed on at once",
            )
