"""What an avatar gives back: a reply with its claims, citations and outcome.

The field names are those of the source protocols; edges hand them on as they are.
"""

from dataclasses import dataclass
from typing import Literal

from salon.core.citations import Citation
from salon.core.outcomes import Outcome

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of a reply, and what bears it out.

    `citations` are places in the reply's list; `support` is the probability that they bear the
    sentence out.
    """

    text: str
    citations: tuple[int, ...]
    support: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, or an honest reason for none; never unlabelled."""

    response: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    confidence: Confidence
    outcome: Outcome
    suggestion: str | None = None
    redirect: str | None = None
    ai_label: str
    avatar: str
    composer: str
    """Who put the words together: `extractive`, or the address of a chat model."""
    score: float
    """The calibrated probability that the corpus answers the question."""
    is_crisis: bool = False
    """Whether this is the fixed reply to a cry for help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakDecision:
    """Whether to speak now, how surely, and why."""

    speak: bool
    score: float
    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AvatarInfo:
    """Who an avatar is and what it rests on: the union of both source protocols."""

    id: str
    name: str
    description: str
    expertise: tuple[str, ...]
    corpus_summary: str
    corpus_size: int
    """In words."""
    document_count: int
    verified_count: int
    ai: bool
    ai_label: str
    period: tuple[int | None, int | None]
    voice: str
    tools: tuple[str, ...]
