"""A draft: text with the citations it rests on, before it is checked."""

from dataclasses import dataclass

from salon.core.citations import Citation
from salon.experts.replies import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a composer made."""

    response: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    composer: str
