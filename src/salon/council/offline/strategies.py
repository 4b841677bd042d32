"""The five strategies as a table: what each seat looks for, how it plans, and what it grades by.

Numbers only. A weight says how much a feature of a sentence, from 0 to 1, is worth to a seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from salon.council.seats import Seat


class Feature(StrEnum):
    """What a sentence is chosen by; each is between 0 and 1."""

    RELEVANCE = "relevance"
    CENTRAL = "central"
    """Close to what the others of its section say."""
    SUBJECT = "subject"
    """Opens with what the topic names, so a reader knows what it is about."""
    ROLE = "role"
    """Defines, tells of the past, explains, or says what follows."""
    FIGURES = "figures"
    NAMES = "names"
    VERIFIED = "verified"
    AGREED = "agreed"
    """Other documents say something close to it."""
    CONTRAST = "contrast"
    EASE = "ease"
    BRIDGE = "bridge"
    """Names what documents far apart have in common."""
    OWN_VOICE = "own_voice"
    """Speaks about the thing, not about its own making."""


class Plan(StrEnum):
    """How the sections of a draft come about."""

    ROLES = "roles"
    THEMES = "themes"
    LIMITS = "limits"
    """Themes, and conditions and objections at the end."""
    BRIDGES = "bridges"


class Order(StrEnum):
    """By what principle the sentences of a section follow each other."""

    STAGES = "stages"
    """From what it is to what follows from it."""
    FIGURES = "figures"
    STRENGTH = "strength"
    """The best proven first."""
    PLAIN = "plain"
    """From the simple to the conditional."""
    TURNS = "turns"
    """The sources speak in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How one seat writes."""

    plan: Plan
    weights: Mapping[Feature, float]
    variety: float
    """How much a sentence loses for being like one that was chosen."""
    sections: int
    per_section: int
    per_document: int
    share: float = 1.0
    """How much of what has to do with the topic it chooses among; the rest it values least."""
    order: Order | None = None
    says_conflicts: bool = False
    """Whether it says both sides where sources contradict each other, or leaves both out."""


F = Feature

STRATEGIES: dict[Seat, Strategy] = {
    Seat.CHAIR: Strategy(
        plan=Plan.ROLES,
        weights={
            F.RELEVANCE: 1.0, F.ROLE: 0.4, F.CENTRAL: 0.4, F.SUBJECT: 0.3, F.EASE: 0.2,
            F.OWN_VOICE: 0.8,
        },
        variety=0.5, sections=4, per_section=4, per_document=3,
        share=0.8, order=Order.STAGES,
    ),
    Seat.MINER: Strategy(
        plan=Plan.THEMES,
        weights={
            F.RELEVANCE: 1.0, F.FIGURES: 0.7, F.NAMES: 0.4, F.SUBJECT: 0.1, F.OWN_VOICE: 0.8,
        },
        variety=0.4, sections=4, per_section=4, per_document=3,
        share=0.75, order=Order.FIGURES,
    ),
    Seat.AUDITOR: Strategy(
        plan=Plan.THEMES,
        weights={
            F.RELEVANCE: 1.0, F.VERIFIED: 0.8, F.AGREED: 0.7, F.SUBJECT: 0.2, F.OWN_VOICE: 0.8,
        },
        variety=0.4, sections=3, per_section=4, per_document=2,
        share=0.75, order=Order.STRENGTH, says_conflicts=True,
    ),
    Seat.PROFESSOR: Strategy(
        plan=Plan.LIMITS,
        weights={
            F.RELEVANCE: 1.0, F.EASE: 0.9, F.CONTRAST: 0.3, F.ROLE: 0.2, F.SUBJECT: 0.3,
            F.OWN_VOICE: 0.8,
        },
        variety=0.5, sections=4, per_section=4, per_document=3,
        share=0.8, order=Order.PLAIN, says_conflicts=True,
    ),
    Seat.VIZIER: Strategy(
        plan=Plan.BRIDGES,
        weights={
            F.RELEVANCE: 0.9, F.BRIDGE: 0.9, F.CENTRAL: 0.1, F.SUBJECT: 0.2, F.OWN_VOICE: 0.8,
        },
        variety=0.8, sections=4, per_section=4, per_document=2,
        share=0.8, order=Order.TURNS, says_conflicts=True,
    ),
}  # fmt: skip


class Measure(StrEnum):
    """What a draft is graded by; each is between 0 and 1."""

    SOURCES = "sources"
    EXTENT = "extent"
    """Sentences that have to do with the topic, beside those of a whole chapter."""
    TERMS = "terms"
    ASPECTS = "aspects"
    ROLES = "roles"
    ON_TOPIC = "on_topic"
    FIGURES = "figures"
    SPREAD = "spread"
    """How far apart the sources are that it brings together."""
    VERIFIED = "verified"
    ORDER = "order"
    EASE = "ease"
    RESOLVED = "resolved"
    """Sentences that lean on nothing the draft does not say."""
    DISTINCT = "distinct"
    SECTIONS = "sections"
    OWN_VOICE = "own_voice"


M = Measure

DEPTH: dict[Seat, Mapping[Measure, float]] = {
    Seat.CHAIR: {M.SOURCES: 2, M.EXTENT: 1, M.TERMS: 2, M.ASPECTS: 2, M.ROLES: 3},
    Seat.MINER: {M.SOURCES: 2, M.EXTENT: 2, M.TERMS: 2, M.ASPECTS: 2, M.FIGURES: 2},
    Seat.AUDITOR: {M.SOURCES: 5, M.EXTENT: 1, M.TERMS: 2, M.ASPECTS: 2},
    Seat.PROFESSOR: {M.SOURCES: 2, M.EXTENT: 1, M.TERMS: 3, M.ASPECTS: 2, M.ROLES: 2},
    Seat.VIZIER: {M.SOURCES: 3, M.EXTENT: 1, M.TERMS: 1, M.ASPECTS: 2, M.SPREAD: 3},
}
"""What each seat finds deep; every mean is then held down by the share that is on topic."""

PEDAGOGY: dict[Seat, Mapping[Measure, float]] = {
    Seat.CHAIR: {M.ORDER: 4, M.SECTIONS: 4, M.EASE: 1, M.OWN_VOICE: 1},
    Seat.MINER: {M.ORDER: 2, M.SECTIONS: 3, M.EASE: 2, M.OWN_VOICE: 3},
    Seat.AUDITOR: {M.ORDER: 2, M.SECTIONS: 3, M.EASE: 1, M.OWN_VOICE: 4},
    Seat.PROFESSOR: {M.ORDER: 2, M.SECTIONS: 2, M.EASE: 4, M.OWN_VOICE: 2},
    Seat.VIZIER: {M.ORDER: 1, M.SECTIONS: 3, M.EASE: 2, M.OWN_VOICE: 2, M.SPREAD: 2},
}
"""What each seat finds well taught; what repeats or leans on nothing takes its share away."""

DOUBT: dict[Seat, int] = {Seat.AUDITOR: 1}
"""Points of accuracy that a seat takes off where most sources were never verified by anybody."""
