"""Plain reasons against a claim: what it says and the evidence does not, or says otherwise.

Each reason alone is enough to refuse a claim, however alike the words are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from salon.grounding.support.alignment import Alignment
from salon.grounding.support.edits import Kind, edits
from salon.grounding.support.names import NameBook, unknown_names
from salon.grounding.support.opposites import opposed, pole_stems
from salon.grounding.support.quantities import missing_months, missing_quantities
from salon.grounding.support.readings import Claim, Evidence, Sentence

_ALIKE = 0.5
"""How much of a claim a sentence must hold before the two are about the same thing."""
_ALIKE_WITH_NEIGHBOUR = 0.7
"""How much it must hold together with the sentence before it, where a negation is compared."""
_AS_GOOD = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One reason against a claim."""

    kind: Kind
    reason: str


def disagreements(claim: Claim, evidence: Evidence, aligned: Alignment) -> Iterator[Disagreement]:
    """Walk the reasons against a claim."""
    text = claim.sentence.text
    missing = missing_quantities(text, evidence.values)
    for one in missing:
        what = "year" if one.is_year else "number"
        yield Disagreement(
            kind="date" if one.is_year else "number",
            reason=f"{what} differs: {one.text} is not in the text",
        )
    for month in missing_months(text, evidence.text):
        yield Disagreement(kind="date", reason=f"date differs: {month} is not in the text")
    if claim.names:
        for name in unknown_names(claim.names, NameBook.of(evidence.text)):
            yield Disagreement(kind="name", reason=f"name missing: {name.text} is not in the text")
    for found in _opposites(claim, evidence, aligned):
        if not (missing and found.kind == "number"):
            yield found


def _opposites(claim: Claim, evidence: Evidence, aligned: Alignment) -> Iterator[Disagreement]:
    """Compare with the sentences most alike, unless one of them says the same as the claim."""
    # What differs must not count when it is asked whether the rest is the same.
    rest = np.array([stem not in pole_stems() for stem in claim.stems] or [True])
    weights = aligned.weights * rest if rest.any() else aligned.weights
    weights = weights / weights.sum()
    held = np.einsum("ij,j->i", aligned.present, weights)
    before = np.vstack([aligned.present[:1], aligned.present[:-1]])
    together = np.einsum("ij,j->i", np.maximum(aligned.present, before), weights)
    highest = float(held.max())
    if highest < _ALIKE:
        return
    found: list[Disagreement] = []
    for place in sorted(range(len(held)), key=lambda place: -held[place]):
        if held[place] < max(_ALIKE, highest - _AS_GOOD):
            break
        against = list(_against(claim, evidence.sentences[place], together[place]))
        if not against:
            return
        found = found or against
    yield from found


def _against(claim: Claim, sentence: Sentence, together: float) -> Iterator[Disagreement]:
    reasons = opposed(claim.sentence.text, sentence.text)
    yield from _counted(reasons, is_close=together >= _ALIKE_WITH_NEIGHBOUR)
    for kind, reason in edits(claim.sentence.words, sentence.words):
        yield Disagreement(kind=kind, reason=reason)


def _counted(reasons: Sequence[str], *, is_close: bool) -> Iterator[Disagreement]:
    for reason in reasons:
        if not reason.startswith("negation"):
            yield Disagreement(kind="comparison", reason=reason)
        elif is_close:
            yield Disagreement(kind="negation", reason=reason)
