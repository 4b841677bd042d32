"""What the desk answers to an act, in the words that the protocol gives."""

from dataclasses import dataclass
from typing import Literal

from salon.core.absent import Absent
from salon.council.rounds import Failing

AWAITING: Literal["awaiting_peer_review"] = "awaiting_peer_review"
PENDING: Literal["pending_ratification"] = "pending_ratification"
SENT_BACK: Literal["sent_back"] = "sent_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A draft or a refined text was taken in, or the checks sent it back with `failings`."""

    candidate_id: str
    status: Literal["awaiting_peer_review", "sent_back"]
    failings: tuple[Failing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A critique was entered."""

    review_id: str
    status: Literal["sent"] = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A fusion was taken in, or the checks sent it back with `failings`."""

    fusion_id: str
    status: Literal["pending_ratification", "sent_back"]
    failings: tuple[Failing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A vote was counted; the average is that of the candidate so far."""

    vote_id: str
    current_average: float | Absent
    consensus_met: bool
