"""What the judge looks at when it holds a claim against a piece of evidence, as named numbers.

Invariant: the same pair always gives the same numbers.
"""

import math
from dataclasses import dataclass

from salon.grounding.support.alignment import (
    WINDOW,
    Alignment,
    align,
    gram_share,
    order_share,
    pair_share,
)
from salon.grounding.support.disagreements import Disagreement, disagreements
from salon.grounding.support.meaning import Remembering, claim_features, likeness
from salon.grounding.support.quantities import missing_quantities, values_of
from salon.grounding.support.readings import Claim, Evidence
from salon.grounding.support.words import Tellingness

MOST_COMPARED = 4
"""How many sentences are compared by meaning: those that hold most of the claim's words."""

FALLING = frozenset(
    {
        "missing_mass", "most_telling_missing", "numbers_missing", "numbers_elsewhere",
        "names_missing", "denied", "reversed",
    }
)  # fmt: skip
"""Features that can only speak against a claim; all others, but `uneven`, only for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was seen when a claim was held against evidence."""

    values: dict[str, float]
    alignment: Alignment
    found: tuple[Disagreement, ...]


def look(claim: Claim, evidence: Evidence, telling: Tellingness) -> Looked:
    """Hold a claim against evidence that has at least one sentence, by words alone."""
    aligned = align(claim, evidence, telling)
    window = evidence.sentences[slice(*aligned.window)]
    window_text = "\n".join(one.text for one in window)
    covered = aligned.covered
    in_window = aligned.present[slice(*aligned.window)].max(axis=0)
    missing = [
        telling.of(stem) for stem, there in zip(claim.stems, covered, strict=False) if not there
    ]
    found = tuple(disagreements(claim, evidence, aligned))
    kinds = [one.kind for one in found]
    numbers = kinds.count("number") + kinds.count("date")
    outside = len(missing_quantities(claim.sentence.text, values_of(window_text)))
    values = {
        "covered": float((covered * aligned.weights).sum()),
        "covered_by_sentence": float(aligned.by_sentence[aligned.best]),
        "covered_by_window": float((in_window * aligned.weights).sum()),
        "pairs": pair_share(claim, evidence.sentences),
        "pairs_in_window": pair_share(claim, window),
        "grams_in_window": gram_share(claim, window_text),
        "order": order_share(claim, window, telling),
        "missing_mass": math.log1p(sum(missing)),
        "most_telling_missing": max(missing, default=0.0),
        "numbers_missing": min(3.0, numbers),
        "numbers_elsewhere": min(3.0, max(0, outside - numbers)),
        "names_missing": min(3.0, kinds.count("name")),
        "denied": float("negation" in kinds),
        "reversed": float("comparison" in kinds),
    }
    return Looked(values=values, alignment=aligned, found=found)


def compared(aligned: Alignment) -> list[int]:
    """Return which sentences to compare by meaning: the best window, then the best others."""
    held = aligned.by_sentence
    by_words = sorted(range(len(held)), key=lambda place: -held[place])
    return list(dict.fromkeys([*range(*aligned.window), *by_words]))[:MOST_COMPARED]


def look_closer(
    claim: Claim,
    evidence: Evidence,
    aligned: Alignment,
    telling: Tellingness,
    encoder: Remembering,
) -> dict[str, float] | None:
    """Compare the claim with the sentences that hold most of it, by meaning."""
    places = compared(aligned)
    vectors = encoder.read(
        [claim.sentence.text, *(evidence.sentences[place].text for place in places)]
    )
    found = likeness(claim.sentence.words, vectors[0], vectors[1:], telling)
    return None if found is None else claim_features(found, places, WINDOW)
