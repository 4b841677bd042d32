"""Passages that a caller hands in: used only if the archive says the same, byte for byte."""

from collections.abc import Sequence

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import VerificationStatus
from salon.core.errors import UngroundedPassage
from salon.corpus.search import FoundPassage
from salon.grounding.citing import Allowed, Citations
from salon.retrieval.searcher import NOT_RANKED

MOST_GIVEN = 50


def as_found(
    archive: Archive, passages: Sequence[Citation], allowed: Allowed
) -> list[FoundPassage]:
    """Return given passages as if they had been found, or raise `UngroundedPassage`."""
    if len(passages) > MOST_GIVEN:
        raise UngroundedPassage(
            f"{len(passages)} passages are more than {MOST_GIVEN}", hint="give the best ones"
        )
    citations = Citations(archive)
    found = []
    for number, passage in enumerate(passages, start=1):
        check = citations.check(passage, allowed)
        if not check.holds:
            raise UngroundedPassage(
                f"passage {number} is not what the archive says: {check.reason}",
                hint="hand in passages as `query_corpus` returned them",
                passage=number,
                fault=str(check.fault),
            )
        document = next(
            one
            for one in archive.documents_of(passage.hash)
            if one.provenance.title == passage.source and allowed.is_in_period(one)
        )
        found.append(
            FoundPassage(
                content=passage.quote,
                source=passage.source,
                page=passage.page,
                section=None,
                score=GIVEN_SCORE,
                relevance_score=GIVEN_SCORE,
                hash=passage.hash,
                start=passage.start,
                end=passage.end,
                document_id=document.id,
                verified=document.verification.status is VerificationStatus.VERIFIED,
                derived=document.provenance.derived,
                why=NOT_RANKED,
            )
        )
    return found


GIVEN_SCORE = 0.7
"""Whoever hands a passage in holds it for relevant: the protocol's own threshold."""
