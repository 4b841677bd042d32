"""What the notes of a draft really stand for: each looked up in the archive, none believed.

Unlike `checks` this judges nothing: it gives whoever reads a draft its sentences with the citations
that hold, and says how many do not.
"""

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.errors import SalonError
from salon.core.hashing import CardHash, as_card_hash
from salon.council.checks import is_usable
from salon.council.draft_reading import Note, read_draft
from salon.council.drafts import Section, Sentence, read_sections


def find_cited(note: Note, archive: Archive) -> Citation | None:
    """Return the citation that a note stands for, if a document in use says this there."""
    try:
        card = as_card_hash(note.card)
        content = archive.get(card).content
    except SalonError:
        return None
    documents = [one for one in archive.documents_of(card) if is_usable(one)]
    quoted = note.quote.encode(errors="ignore")
    start = content.find(quoted) if note.start is None else note.start
    if not documents or not quoted.strip() or start < 0:
        return None
    if content[start : start + len(quoted)] != quoted:
        return None
    return Citation(
        hash=card,
        start=start,
        end=start + len(quoted),
        quote=note.quote,
        source=min(documents, key=lambda one: one.provenance.derived).provenance.title,
    )


def read_with_citations(markdown: str, archive: Archive) -> tuple[tuple[Section, ...], int]:
    """Return the sections of a draft with the citations that hold, and how many do not."""
    notes = read_draft(markdown).notes
    found = [find_cited(note, archive) or _nothing(note) for note in notes]
    sections = tuple(
        Section(
            heading=section.heading,
            paragraphs=tuple(
                tuple(_only_held(sentence) for sentence in paragraph)
                for paragraph in section.paragraphs
            ),
        )
        for section in read_sections(markdown, found)
    )
    return sections, sum(not one.quote for one in found)


def is_derived(card: CardHash, archive: Archive) -> bool:
    """Tell whether Salon itself made every document with this text."""
    return all(one.provenance.derived for one in archive.documents_of(card))


def _nothing(note: Note) -> Citation:
    """Return what keeps the place of a note that does not hold."""
    return Citation(hash=CardHash(note.card), start=0, end=0, quote="", source=note.label)


def _only_held(sentence: Sentence) -> Sentence:
    held = tuple(one for one in sentence.citations if one.quote)
    return Sentence(text=sentence.text, citations=held)
