"""A seat that is held by a strategy: it drafts, criticises, refines, grades and fuses.

Every answer is a function of the brief and the archive: asked twice, it says the same. It names no
author and needs none; a draft of a model or of somebody outside is measured like any other.
"""

import threading
from collections.abc import Callable
from statistics import fmean

from salon.core.archive import Archive
from salon.core.embedding import Embedder
from salon.core.errors import NotFound
from salon.council.holders import Brief, Graded, Shown
from salon.council.offline import grading, reviewing
from salon.council.offline.arranging import Chosen
from salon.council.offline.choosing import scores_for, usable
from salon.council.offline.composing import Taken, compose, written
from salon.council.offline.fusing import fuse
from salon.council.offline.measuring import Measured, measure
from salon.council.offline.pool import Pool, gather
from salon.council.offline.refining import refine
from salon.council.offline.sources import Search, Sources
from salon.council.offline.strategies import STRATEGIES
from salon.council.offline.words import title_of
from salon.council.rounds import Phase
from salon.council.seats import CHARGES, Seat

FEWEST_SENTENCES = 3
"""Sentences without which there is no draft."""
NOTHING = "the archive has nothing on this"
TOO_LITTLE = "the archive has too little on this"
_MOST_KEPT = 8
_LONGEST_TOPIC = 300
_MOST_MEASURED = 256


class Bench:
    """What the five seats share: pools and measurements, each made once. Safe between threads."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._lock = threading.RLock()
        self._pools: dict[tuple[str, int], Pool] = {}
        self._measured: dict[tuple[str, int, str], Measured] = {}

    def pool(self, brief: Brief) -> Pool:
        """Return what the archive holds on the topic of a brief; a later attempt looks further."""
        key = (brief.topic, brief.attempt)
        with self._lock:
            if key not in self._pools:
                if len(self._pools) >= _MOST_KEPT:
                    self._pools.clear()
                # Signs of Markdown in a topic name nothing, and would be searched for.
                topic = title_of(brief.topic, _LONGEST_TOPIC)
                self._pools[key] = gather(self.sources, topic, width=brief.attempt)
            return self._pools[key]

    def measured(self, brief: Brief, markdown: str) -> Measured:
        """Return a draft in numbers."""
        key = (brief.topic, brief.attempt, markdown)
        with self._lock:
            if key not in self._measured:
                if len(self._measured) >= _MOST_MEASURED:
                    self._measured.clear()
                self._measured[key] = measure(markdown, self.pool(brief), self.sources)
            return self._measured[key]

    def worth(self, brief: Brief, markdown: str) -> float:
        """Return what all five together would give a text."""
        measured = self.measured(brief, markdown)
        given = [grading.grade(seat, measured, is_fusion=False).scores for seat in Seat]
        # A score that rejects costs more than any mean gains.
        lowest = min(one.lowest for one in given)
        return fmean(one.mean for one in given) - 10 * (lowest < grading.LEAST_SCORE)


class OfflineSeat:
    """One of the five, as `STRATEGIES` describes it."""

    def __init__(self, seat: Seat, bench: Bench) -> None:
        self._seat = seat
        self._bench = bench
        self._strategy = STRATEGIES[seat]

    def draft(self, brief: Brief) -> str:
        """Write a draft, or raise `NotFound` where the archive has nothing on the topic."""
        pool = self._bench.pool(brief)
        chosen = compose(pool, self._strategy, without=brief.failings)
        return self._written(brief, Taken(pool=pool, chosen=tuple(chosen)))

    def review(self, brief: Brief, candidate: Shown) -> str:
        """Say what can be measured about a draft, and which passages would mend it."""
        measured = self._bench.measured(brief, candidate.markdown)
        return reviewing.review(self._seat, measured, self._bench.pool(brief))

    def refine(self, brief: Brief) -> str:
        """Act on what peers said; without a draft of its own, write one."""
        if brief.own is None:
            return self.draft(brief)
        taken = refine(
            brief.own,
            self._bench.measured(brief, brief.own.markdown),
            self._bench.pool(brief),
            self._bench.sources,
            strategy=self._strategy,
            is_again=brief.attempt > 0,
            without=brief.failings,
        )
        return self._written(brief, taken)

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        """Grade a draft by the rubric, with the measurements as the reason."""
        measured = self._bench.measured(brief, candidate.markdown)
        return grading.grade(self._seat, measured, is_fusion=brief.phase is Phase.RATIFICATION)

    def fuse(self, brief: Brief) -> str:
        """Join the two candidates; both authors come to the same text.

        Of the ways to join them that one is taken which all five together would grade highest.
        """
        ways = fuse(
            [one.markdown for one in brief.fusing],
            self._bench.pool(brief),
            self._bench.sources,
            brief.collaborators,
            without=brief.failings,
        )
        whole = [one for one in ways if _count(one.chosen) >= FEWEST_SENTENCES] or ways[:1]
        texts = dict.fromkeys(self._written(brief, taken) for taken in whole)
        return max(texts, key=lambda text: self._bench.worth(brief, text))

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        """Put together a system prompt from the charge of the seat, a goal and what was missed."""
        charge = CHARGES[self._seat]
        first = next((line.strip() for line in old_soul.splitlines() if line.strip()), "")
        missed = "\n".join(f"- {' '.join(spot.split())}" for spot in blind_spots)
        parts = (
            f"# A soul proposed by the {charge.title}",
            f"You hold a seat in a council of five. Your goal: {' '.join(goal.split())}",
            "Say nothing that no passage of the archive says, and cite its card and bytes.",
            f"Look first at what was missed before:\n{missed}" if missed else "",
            f"From the {charge.title} you take this: {charge.about}",
            f"The soul before you began: {first[:200]}" if first else "",
        )
        return "\n\n".join(part for part in parts if part) + "\n"

    def _written(self, brief: Brief, taken: Taken) -> str:
        if _count(taken.chosen) < FEWEST_SENTENCES:
            # What was found counts, not what was kept: a seat may leave out single sentences.
            scores = scores_for(taken.pool, self._strategy.weights)
            is_there = usable(taken.pool, scores, 1) or taken.pool.torn
            reason = TOO_LITTLE if is_there else NOTHING
            raise NotFound(reason, hint="add documents on the topic, or choose another one")
        return written(brief.topic, taken.pool, taken.chosen)


def make_seats(
    search: Search, archive: Archive, embedder: Callable[[], Embedder] | None
) -> dict[Seat, OfflineSeat]:
    """Return the five seats over one archive."""
    bench = Bench(Sources(search, archive, embedder))
    return {seat: OfflineSeat(seat, bench) for seat in Seat}


def _count(chosen: tuple[Chosen, ...]) -> int:
    return sum(len(one.places) for one in chosen)
