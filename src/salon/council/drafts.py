"""A draft as Markdown: headings, paragraphs whose sentences carry marks, and notes that prove them.

    # Packet switching

    ## Origins

    Messages were cut into blocks that travel on their own.[^1]

    [^1]: "cut into blocks that travel on their own" card:HASH#120-160 — On Nets, A. Byron, 1964

A note names a card, may name the bytes in it, and quotes them as a JSON string. What follows the
dash is the system's: `checks` writes it from the provenance of the document, whatever a seat put
there. Notes stand at the end, one a line. This module writes drafts and reads them; whether a draft
is true is the business of `checks`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from salon.core.citations import Citation
from salon.council.draft_reading import MARK, Block, BlockKind, Draft, read_draft
from salon.council.hidden import is_hidden_at, visible
from salon.grounding import claims

__all__ = [
    "LINKING",
    "MARK",
    "Block",
    "BlockKind",
    "Draft",
    "Section",
    "Sentence",
    "cut_sentences",
    "numbered",
    "plain_block",
    "plain_text",
    "read_draft",
    "read_sections",
    "with_notes",
    "without_links",
    "write_draft",
]

LINKING = frozenset(
    {
        "One source puts it this way:",
        "Another source adds:",
        "The same source goes on:",
        "In the words of the source:",
        "What do the sources say?",
        "Why does this matter?",
        "How did it come to this?",
        "What is not settled?",
    }
)
"""Words between quotes that claim nothing, so that they need no mark of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with the citations that bear it out."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and its paragraphs."""

    heading: str
    paragraphs: tuple[tuple[Sentence, ...], ...] = field(default_factory=tuple)


def write_draft(title: str, sections: Sequence[Section]) -> str:
    """Return a draft as Markdown; the same citation is one note."""
    numbers: dict[Citation, int] = {}
    lines = [f"# {_flat(title)}"]
    for section in sections:
        lines.append(f"## {_flat(section.heading)}")
        lines.extend(
            " ".join(_marked(one, numbers) for one in paragraph) for paragraph in section.paragraphs
        )
    body = "\n\n".join(line for line in lines if line)
    return with_notes(body, {str(number): one for one, number in numbers.items()})


def with_notes(
    body: str, notes: Mapping[str, Citation], sources: Mapping[str, str] | None = None
) -> str:
    """Return a body with its notes, each in the one spelling that they have when published.

    `sources` says by the same labels whose words they are.
    """
    lines = [
        f"[^{label}]: {_spelled(one.quote)} card:{one.hash}#{one.start}-{one.end}"
        + _tail((sources or {}).get(label, ""))
        for label, one in notes.items()
    ]
    return "\n".join([body.rstrip(), "", *lines]).rstrip() + "\n"


def read_sections(markdown: str, citations: Sequence[Citation] = ()) -> tuple[Section, ...]:
    """Return the sections of a draft whose notes are these citations, in the same order.

    For a candidate they are `Candidate.citations`. Left out, the sentences carry none.
    """
    draft = read_draft(markdown)
    sections: list[Section] = []
    paragraphs: list[tuple[Sentence, ...]] = []
    for block in draft.blocks:
        if block.kind is BlockKind.HEADING:
            paragraphs = []
            sections.append(Section(heading=block.text))
        elif block.is_prose and sections:
            paragraphs.append(tuple(_sentences(block, draft, citations)))
            sections[-1] = Section(heading=sections[-1].heading, paragraphs=tuple(paragraphs))
    return tuple(sections)


def cut_sentences(
    block: Block, draft: Draft, citations: Sequence[Citation]
) -> list[claims.Sentence]:
    """Cut a block into sentences; `marked` are places in the list of notes."""
    # A source may hold what no draft may; the sentence that quotes it is written without.
    shown = [replace(one, quote=visible(one.quote)) for one in citations]
    return claims.take_apart(numbered(block.text, draft), shown)


def numbered(text: str, draft: Draft) -> str:
    """Return a text with `[2]` in the place of each mark that leads to the second note."""
    places = {note.label: number for number, note in enumerate(draft.notes, start=1)}
    # A mark without a note gets a number that no note has.
    return MARK.sub(lambda found: f"[{places.get(found[1], 0)}]", without_links(text))


def without_links(text: str) -> str:
    """Return a text in which each link is only the words it is put on."""
    return _LINK.sub(r"\1", text)


def plain_text(draft: Draft) -> str:
    """Return what a draft says, without marks, notes and signs of Markdown."""
    texts = (plain_block(one) for one in draft.blocks)
    return "\n\n".join(text for text in texts if text) + "\n"


def plain_block(block: Block) -> str:
    """Return what a block says, without marks and links, on one line."""
    return " ".join(without_links(MARK.sub("", block.text)).split())


_LINK = re.compile(r"\[([^\]\[]*)\]\([^)]{0,2000}\)")


def _sentences(block: Block, draft: Draft, citations: Sequence[Citation]) -> list[Sentence]:
    return [
        Sentence(
            text=claims.without_marks(one.text),
            citations=tuple(citations[place] for place in one.marked),
        )
        for one in cut_sentences(block, draft, citations)
    ]


def _marked(sentence: Sentence, numbers: dict[Citation, int]) -> str:
    marks = (numbers.setdefault(one, len(numbers) + 1) for one in sentence.citations)
    return _flat(sentence.text) + "".join(f"[^{number}]" for number in dict.fromkeys(marks))


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))


def _tail(source: str) -> str:
    return f" — {source}" if source else ""


def _spelled(quote: str) -> str:
    """Spell a quote so that it stays on one line and no reader takes it for Markdown or HTML."""
    spelled = json.dumps(quote, ensure_ascii=False)
    for sign in "<>[]`&":
        spelled = spelled.replace(sign, f"\\u{ord(sign):04x}")
    if visible(spelled) == spelled:
        return spelled
    return "".join(
        json.dumps(one)[1:-1] if is_hidden_at(spelled, at) else one
        for at, one in enumerate(spelled)
    )
