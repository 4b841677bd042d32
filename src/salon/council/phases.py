"""The round's machine as tables: what follows what, and who may do what when.

What is not in `MOVES` cannot happen; only the system moves a round. `PERMISSIONS` says for each
skill in which phases it may be used and by whom; the roles themselves are worked out in `roles`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from salon.council.rounds import Phase

SYSTEM = "system"
"""Who moves rounds and publishes; no seat is called so."""


class Skill(StrEnum):
    """What a seat can do, by the names that the protocol gives."""

    SEARCH = "skill_qdrant_search"
    SUBMIT_CANDIDATE = "skill_submit_candidate"
    PEER_REVIEW = "skill_peer_review"
    SUBMIT_FUSION = "skill_submit_fusion"
    CAST_VOTE = "skill_cast_vote"
    SYNTHESIZE_SOUL = "skill_synthesize_soul"


ALIASES: Mapping[str, Skill] = MappingProxyType({"skill_broadcast_draft": Skill.SUBMIT_CANDIDATE})
"""Other names that a skill goes by."""


class Event(StrEnum):
    """Why the system moves a round."""

    DRAFTED = "drafted"
    REVIEWED = "reviewed"
    REFINED = "refined"
    TIED = "tied"
    FUSED = "fused"
    AGREED = "agreed"
    DISAGREED = "disagreed"
    GIVEN_UP = "given_up"


_ENDINGS = {
    Event.AGREED: Phase.PUBLISHED,
    Event.DISAGREED: Phase.REFINEMENT,
    Event.GIVEN_UP: Phase.NO_QUORUM,
}

MOVES: Mapping[tuple[Phase, Event], Phase] = MappingProxyType(
    {
        (Phase.SPRINT, Event.DRAFTED): Phase.CRITIQUE,
        (Phase.SPRINT, Event.GIVEN_UP): Phase.NO_QUORUM,
        (Phase.CRITIQUE, Event.REVIEWED): Phase.REFINEMENT,
        (Phase.REFINEMENT, Event.REFINED): Phase.VOTE,
        (Phase.VOTE, Event.TIED): Phase.RUNOFF,
        (Phase.RUNOFF, Event.FUSED): Phase.RATIFICATION,
    }
    | {
        (phase, event): end
        for phase in (Phase.VOTE, Phase.RUNOFF, Phase.RATIFICATION)
        for event, end in _ENDINGS.items()
    }
)
"""In which phase, after which event, comes which phase."""


class Role(StrEnum):
    """What somebody must be, in a round, to use a skill."""

    SEAT = "seat"
    """Any of the five."""
    ENTRANT = "entrant"
    """In the sprint any seat; in refinement the author of the candidate."""
    PEER = "peer"
    """A seat that did not write the candidate."""
    VOTER = "voter"
    """A peer that is not on probation."""
    FINALIST = "finalist"
    """One of the two authors of a runoff."""
    SURVIVOR = "survivor"
    """A seat that stays when another one is retired; `souls` knows which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """In which phases a skill may be used, by whom; no phases: it belongs to no round."""

    role: Role
    phases: frozenset[Phase] = frozenset()


PERMISSIONS: Mapping[Skill, Permission] = MappingProxyType(
    {
        Skill.SEARCH: Permission(role=Role.SEAT),
        Skill.SUBMIT_CANDIDATE: Permission(
            role=Role.ENTRANT, phases=frozenset({Phase.SPRINT, Phase.REFINEMENT})
        ),
        Skill.PEER_REVIEW: Permission(role=Role.PEER, phases=frozenset({Phase.CRITIQUE})),
        Skill.SUBMIT_FUSION: Permission(role=Role.FINALIST, phases=frozenset({Phase.RUNOFF})),
        Skill.CAST_VOTE: Permission(
            role=Role.VOTER, phases=frozenset({Phase.VOTE, Phase.RATIFICATION})
        ),
        Skill.SYNTHESIZE_SOUL: Permission(role=Role.SURVIVOR),
    }
)
"""Every seat has every skill; the phase and the part it plays in a round decide when."""

STAGING = "staging/"
COMPLETED = "completed/"
ROUNDS = "council/rounds/"
TOPICS = "council/topics/"
CRITIQUES = "council/critiques/"
BALLOTS = "council/ballots/"
RETURNS = "council/returns/"


def move(phase: Phase, event: Event) -> Phase:
    """Return the phase after an event; a pair not in the table is a programmer's mistake."""
    return MOVES[phase, event]
