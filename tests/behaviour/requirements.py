"""The requirements manifest: every clause of the five source documents, one testable fact each.

A test proves a requirement by carrying `@pytest.mark.requirement("id")`; the clause then loses its
`open_until`. A clause that no test proves names the issue that will close it.

Invariant, kept by `links.problems` and `test_requirements.py`: each requirement is either linked
to a test or open with a known issue, never both and never neither, and each mark names a
requirement that exists.
"""

from tests.behaviour.clauses import (
    avatar_sdk,
    cap,
    companion_agents_01_05,
    companion_agents_06_12,
    companion_wire,
    context_protocol,
    skill_registry,
)
from tests.behaviour.requirement import Requirement

__all__ = ["BY_ID", "REQUIREMENTS", "Requirement"]

REQUIREMENTS: tuple[Requirement, ...] = (
    *cap.CLAUSES,
    *avatar_sdk.CLAUSES,
    *context_protocol.CLAUSES,
    *companion_agents_01_05.CLAUSES,
    *companion_agents_06_12.CLAUSES,
    *companion_wire.CLAUSES,
    *skill_registry.CLAUSES,
)

BY_ID: dict[str, Requirement] = {requirement.id: requirement for requirement in REQUIREMENTS}
