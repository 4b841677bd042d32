"""The steps of a companion's turn, in the order in which a person reads them.

The order in which they run follows from what each reads and writes; see docs/guides/blackboard.md.
"""

from typing import Any

from salon.blackboard.steps import Step
from salon.steps import (
    discussion,
    emotion,
    features,
    matching,
    memory_recall,
    memory_write,
    milestones,
    persona,
    probes,
    relationship,
    scam,
    transitions,
)

COMPANION: tuple[Step[Any], ...] = (
    emotion.STEP,
    scam.STEP,
    memory_recall.STEP,
    features.STEP,
    transitions.STEP,
    relationship.STEP,
    milestones.STEP,
    probes.STEP,
    discussion.STEP,
    persona.STEP,
    memory_write.STEP,
    matching.STEP,
)
