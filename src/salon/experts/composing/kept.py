"""What is left of a model's text: the sentences that their citations bear out, numbered anew."""

from collections.abc import Sequence

from salon.core.citations import Citation
from salon.experts.composing.drafts import Draft
from salon.experts.replies import Claim
from salon.grounding.claims import without_marks
from salon.grounding.reports import ClaimCheck, Verdict


def kept_of(claims: Sequence[ClaimCheck]) -> list[ClaimCheck]:
    """Return the sentences that stand."""
    return [one for one in claims if one.verdict is Verdict.SUPPORTED]


def draft_of(kept: Sequence[ClaimCheck], composer: str) -> Draft | None:
    """Return kept sentences as a draft, `None` if none of them cites anything.

    The citations that are left are numbered in the order in which they appear.
    """
    if not any(one.citations for one in kept):
        return None
    used: list[Citation] = []
    claims: list[Claim] = []
    texts: list[str] = []
    for claim in kept:
        places = []
        for one in claim.citations:
            if one.citation not in used:
                used.append(one.citation)
            places.append(used.index(one.citation))
        text = _with_marks(claim.text, places)
        texts.append(text)
        if places:
            support = claim.support.probability if claim.support else 1.0
            claims.append(Claim(text=text, citations=tuple(places), support=support))
    return Draft(
        response=" ".join(texts), citations=tuple(used), claims=tuple(claims), composer=composer
    )


def _with_marks(text: str, places: Sequence[int]) -> str:
    marks = "".join(f" [{place + 1}]" for place in places)
    return f"{without_marks(text)}{marks}"
