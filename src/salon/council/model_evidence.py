"""The numbered evidence of a model's seat: sentences of the archive, each with its proof.

A model never writes a quote or a hash: it names numbers, and what they stand for is read from the
archive. A number that stands for nothing proves nothing.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.corpus.search import FoundPassage
from salon.council.checks import is_usable
from salon.council.cited import find_cited, is_derived
from salon.council.draft_reading import read_draft
from salon.council.model_prompts import fenced
from salon.guard.instructions import is_instruction
from salon.retrieval.chunking import sentences

Search: TypeAlias = Callable[[str, int], Sequence[FoundPassage]]

PASSAGES = 20
"""Passages looked up for each query, of which some may be the council's own."""
MOST_SENTENCES, MOST_CHARACTERS = 90, 24_000
SHORTEST, LONGEST = 25, 900
_LONGEST_QUERY = 300


class Evidence:
    """Sentences with numbers from 1, in the order in which they were found."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._found: dict[tuple[str, int, int], Citation] = {}
        self._characters = 0

    def __len__(self) -> int:
        return len(self._found)

    def search(self, search: Search, queries: Sequence[str]) -> None:
        """Add what the archive says on some queries, whatever is nobody's own writing."""
        for query in dict.fromkeys(one.strip()[:_LONGEST_QUERY] for one in queries):
            if query:
                for passage in search(query, PASSAGES):
                    if not passage.derived and self._is_usable(passage):
                        self._add_passage(passage)

    def add_notes(self, markdown: str) -> None:
        """Add what a draft already cites, where the archive says it at that place."""
        for note in read_draft(markdown).notes:
            found = find_cited(note, self._archive)
            if found is not None and not is_derived(found.hash, self._archive):
                self._add(found)

    def numbered(self) -> str:
        """Return the evidence as a model reads it."""
        lines = [
            f"[{number}] {' '.join(one.quote.split())}  ({' '.join(one.source.split())[:80]})"
            for number, one in enumerate(self._found.values(), start=1)
        ]
        return fenced("evidence", "\n".join(lines)) if lines else "There is no evidence."

    def find(self, number: int) -> Citation | None:
        """Return what a number stands for."""
        there = list(self._found.values())
        return there[number - 1] if 1 <= number <= len(there) else None

    def _is_usable(self, passage: FoundPassage) -> bool:
        return any(is_usable(one) for one in self._archive.documents_of(passage.hash))

    def _add_passage(self, passage: FoundPassage) -> None:
        for begin, end in sentences(passage.content):
            text = passage.content[begin:end]
            start = passage.start + len(passage.content[:begin].encode())
            self._add(
                Citation(
                    hash=passage.hash,
                    start=start,
                    end=start + len(text.encode()),
                    quote=text,
                    source=passage.source,
                    page=passage.page,
                )
            )

    def _add(self, citation: Citation) -> None:
        key = (citation.hash, citation.start, citation.end)
        size = len(citation.quote)
        is_full = len(self._found) >= MOST_SENTENCES or self._characters + size > MOST_CHARACTERS
        fits = SHORTEST <= size <= LONGEST and not is_instruction(citation.quote)
        if key not in self._found and fits and not is_full:
            self._found[key] = citation
            self._characters += size
