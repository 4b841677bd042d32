"""How the words of a claim lie in a text: which are there, how close together, in which order.

Everything is weighed by how telling a word is. Nothing here knows what words mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from salon.grounding.support.quantities import values_of
from salon.grounding.support.readings import Claim, Evidence, Sentence
from salon.grounding.support.words import Tellingness

WINDOW = 3
"""How many sentences in a row are looked at as one."""
_GRAM = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where in the evidence the words of a claim are.

    `weights` says how telling each stem of the claim is, with sum one; `present` has a row for
    each sentence and a column for each stem; `window` are the sentences that together hold most
    of the claim, `best` is the one that alone does.
    """

    weights: npt.NDArray[np.float64]
    present: npt.NDArray[np.float64]
    best: int
    window: tuple[int, int]

    @property
    def by_sentence(self) -> npt.NDArray[np.float64]:
        """How much of the claim each sentence holds."""
        # Not `@`: numpy would start threads for it.
        held: npt.NDArray[np.float64] = np.einsum("ij,j->i", self.present, self.weights)
        return held

    @property
    def covered(self) -> npt.NDArray[np.float64]:
        """Which stems are anywhere in the evidence."""
        whole: npt.NDArray[np.float64] = self.present.max(axis=0)
        return whole


def align(claim: Claim, evidence: Evidence, telling: Tellingness) -> Alignment:
    """Find the words of a claim in the evidence, which has at least one sentence."""
    weights = np.array([telling.of(stem) for stem in claim.stems] or [1.0])
    present = np.array(
        [[stem in one.stems for stem in claim.stems] or [False] for one in evidence.sentences],
        dtype=np.float64,
    )
    _find_numbers(claim, evidence, present)
    weights = weights / weights.sum()
    held = np.einsum("ij,j->i", present, weights)
    best = int(held.argmax())
    return Alignment(
        weights=weights, present=present, best=best, window=_best_window(present, weights, held)
    )


def _find_numbers(claim: Claim, evidence: Evidence, present: npt.NDArray[np.float64]) -> None:
    """Mark numbers as present that the evidence holds only in another spelling."""
    for column, stem in enumerate(claim.stems):
        value = claim.numbers.get(stem)
        if value is not None and value in evidence.values and not present[:, column].any():
            for row, one in enumerate(evidence.sentences):
                present[row, column] = value in values_of(one.text)


def _best_window(
    present: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    held: npt.NDArray[np.float64],
) -> tuple[int, int]:
    """Return the window that holds most; among equals the shortest that has the best sentence."""
    count = len(present)
    found, highest = (int(held.argmax()), int(held.argmax()) + 1), -1.0
    for size in range(1, min(WINDOW, count) + 1):
        whole = present[: count - size + 1].copy()
        for step in range(1, size):
            np.maximum(whole, present[step : count - size + 1 + step], out=whole)
        together = np.einsum("ij,j->i", whole, weights)
        first = int((together + 1e-3 * held[: len(together)]).argmax())
        # A longer window has to hold more, not only as much.
        if together[first] > highest + 0.02:
            highest, found = float(together[first]), (first, first + size)
    return found


def pair_share(claim: Claim, sentences: Sequence[Sentence]) -> float:
    """Return the share of the claim's neighbouring content words that are neighbours there too."""
    wanted = _pairs([claim.sentence])
    if not wanted:
        return 0.0
    return len(wanted & _pairs(sentences)) / len(wanted)


def _pairs(sentences: Sequence[Sentence]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for sentence in sentences:
        stems = [word.stem for word in sentence.words if word.is_content]
        pairs.update(pairwise(stems))
    return pairs


def gram_share(claim: Claim, text: str) -> float:
    """Return the share of the claim's runs of five letters that the text holds."""
    wanted = _grams(claim.sentence.text)
    return len(wanted & _grams(text)) / len(wanted) if wanted else 0.0


def _grams(text: str) -> set[str]:
    lowered = text.lower()
    return {lowered[place : place + _GRAM] for place in range(len(lowered) - _GRAM + 1)}


def order_share(claim: Claim, sentences: Sequence[Sentence], telling: Tellingness) -> float:
    """Return how much of the claim's words the text holds in the same order."""
    mine = [word.stem for word in claim.sentence.words if word.is_content]
    theirs = [word.stem for one in sentences for word in one.words if word.is_content]
    total = sum(map(telling.of, mine))
    if not total:
        return 0.0
    row = [0.0] * (len(theirs) + 1)
    for stem in mine:
        weight, diagonal = telling.of(stem), 0.0
        for place, other in enumerate(theirs, start=1):
            above = row[place]
            row[place] = diagonal + weight if stem == other else max(above, row[place - 1])
            diagonal = above
    return row[-1] / total
