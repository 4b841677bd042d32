"""One clause of a source protocol as a value, and the heading it stands under.

It holds no list of clauses (`requirements` does) and judges nothing (`links` does).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One testable fact that a source protocol demands of Salon."""

    id: str
    source: str
    """Number of the source document, such as "000"."""
    section: str
    """Heading path in the source, joined by " > "."""
    sentence: str
    """What must be true in Salon, in one sentence."""
    decision: int | None = None
    """Row of DESIGN section 5, where the sources disagree or Salon decides otherwise."""
    open_until: str | None = None
    """Title of the issue that will close it; None means that a test proves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading of a source document, under which clauses are written."""

    source: str
    prefix: str
    heading: str

    def clause(
        self,
        slug: str,
        sentence: str,
        *,
        decision: int | None = None,
        open_until: str | None = None,
    ) -> Requirement:
        """Return the requirement `prefix/slug` under this heading."""
        return Requirement(
            id=f"{self.prefix}/{slug}",
            source=self.source,
            section=self.heading,
            sentence=sentence,
            decision=decision,
            open_until=open_until,
        )
