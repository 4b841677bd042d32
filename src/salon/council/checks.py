"""Mechanical checks: what a draft must be before anybody has an opinion on it.

Every note leads to bytes of a document in the archive that say what it quotes; every sentence that
claims something carries a mark, and what its own marks quote bears it out; a title or heading that
states something is borne out by what its section quotes; texts that Salon made itself are never the
only support, disputed documents none at all. A quote that is the sentence needs no model. Nothing
here knows rounds, seats or votes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import Document, VerificationStatus
from salon.core.errors import InvalidInput, SalonError
from salon.core.hashing import CardHash, as_card_hash
from salon.council.draft_reading import Note
from salon.council.drafts import (
    LINKING,
    MARK,
    Block,
    BlockKind,
    Draft,
    cut_sentences,
    read_draft,
    with_notes,
)
from salon.council.heading_claims import Saying, is_made_of, is_said_by, is_same_name, saying
from salon.council.hidden import visible
from salon.council.rounds import Failing
from salon.council.rules import TextLimits
from salon.council.source_lines import LONGEST_SOURCE, source_line
from salon.grounding.citing import Allowed, Citations
from salon.grounding.claims import Sentence, without_marks
from salon.grounding.reports import ClaimCheck, Fault, ResponseReport, Verdict
from salon.grounding.verifying import Speaker, Verification

MOST_FAILINGS = 50
"""A seat that is told so much has enough to do."""
_PLAIN_MARK = re.compile(r"\[[\d ,]+\]")
_WORD = re.compile(rb"\S+")
_LARGEST_FOLDED = 4_000_000
"""In larger cards a quote is only looked for as it stands."""
_SIGNS = ".!?,;: \"'\u201c\u201d\u2018\u2019\u00ab\u00bb"

_MESSAGES: dict[Fault, str] = {
    Fault.NOT_IN_CORPUS: "the document is disputed and cannot be used",
    Fault.NO_CITATION: "the sentence claims something and carries no mark",
    Fault.ONLY_DERIVED: "only a text that the council made itself says so; cite its sources",
}
"""What a seat is told where the check's own words are about avatars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A text after the checks; with nothing to fail, `markdown` names every span it rests on."""

    markdown: str
    title: str
    citations: tuple[Citation, ...]
    failings: tuple[Failing, ...]

    @property
    def holds(self) -> bool:
        """Tell whether the text may be shown to reviewers."""
        return not self.failings


class Checks:
    """The checks of drafts against one archive."""

    def __init__(
        self, archive: Archive, verification: Callable[[], Verification], limits: TextLimits
    ) -> None:
        self._archive = archive
        self._verification = verification
        self._limits = limits
        self._citations = Citations(archive)

    def check(self, markdown: str, *, topic: str = "") -> Checked:
        """Check a draft: first its form, then its notes, then its sentences and headings.

        The topic was given by a person and may be the title, unless it states something.
        """
        # What the system itself added to the notes takes nothing from the seat's room.
        room = self._limits.draft + self._limits.notes * (LONGEST_SOURCE + 3)
        draft = read_draft(markdown[: room + 1])
        failings = [*self._form(markdown, draft), *draft.problems]
        citations: tuple[Citation, ...] = ()
        if not failings:
            found = {note.label: self._resolve(note) for note in draft.notes}
            failings = _merged(found)
            citations = tuple(one for one in found.values() if isinstance(one, Citation))
        if not failings:
            failings = list(islice(self._sentences(draft, citations, topic), MOST_FAILINGS))
            markdown = self._with_sources(draft, citations)
            failings += self._too_long(markdown, read_draft(markdown))
        return Checked(
            markdown=markdown,
            title=draft.title,
            citations=citations,
            failings=tuple(failings[:MOST_FAILINGS]),
        )

    def sources_of(self, note: Note) -> frozenset[str]:
        """Return what a note may say of its source: a line for each document with that text."""
        cited = self._resolve(note)
        if isinstance(cited, Failing):
            return frozenset()
        documents = (one for one in self._archive.documents_of(cited.hash) if is_usable(one))
        return frozenset(source_line(one, cited) for one in documents)

    def _with_sources(self, draft: Draft, citations: tuple[Citation, ...]) -> str:
        cited = dict(zip((note.label for note in draft.notes), citations, strict=True))
        sources = {}
        for label, one in cited.items():
            document = self._find_document(one.hash)
            assert isinstance(document, Document), "it was there when the note was resolved"
            sources[label] = source_line(document, one)
        return with_notes(draft.body, cited, sources)

    # Form

    def _too_long(self, markdown: str, draft: Draft) -> list[Failing]:
        added = sum(len(note.source) + 3 for note in draft.notes if note.source)
        if len(markdown) - added <= self._limits.draft:
            return []
        return [_fail("too_long", f"a draft has at most {self._limits.draft:,} characters")]

    def _form(self, markdown: str, draft: Draft) -> Iterator[Failing]:
        limits = self._limits
        yield from self._too_long(markdown, draft)
        if len(draft.title) > limits.title:
            yield _fail("too_long", f"a title has at most {limits.title}", draft.title)
        if len(draft.notes) > limits.notes:
            yield _fail("too_long", f"a draft has at most {limits.notes} notes")
        for note in draft.notes:
            if len(note.quote) > limits.quote:
                yield _fail("too_long", f"a quote has at most {limits.quote}", note.quote)
        for block in draft.blocks:
            if block.kind is BlockKind.HEADING and len(block.text) > limits.heading:
                yield _fail("too_long", f"a heading has at most {limits.heading}", block.text)
            if not block.is_prose and block.text.rstrip().endswith((".", "!")):
                yield _fail("heading_claims", "a heading names; it does not state", block.text)
        yield from self._loose_ends(draft)

    def _loose_ends(self, draft: Draft) -> Iterator[Failing]:
        used = {label for block in draft.blocks for label in MARK.findall(block.text)}
        known = {note.label for note in draft.notes}
        for label in sorted(used - known):
            yield _fail("no_note", f"the mark [^{label}] leads to no note", label)
        for label in sorted(known - used):
            yield _fail("unused_note", f"no mark leads to the note [^{label}]", label)

    # Notes

    def _resolve(self, note: Note) -> Citation | Failing:
        """Return the citation that a note stands for, with its bytes found where it names none."""
        try:
            card = as_card_hash(note.card)
        except InvalidInput:
            return _fail("no_such_card", "the note does not name a card", note.card)
        document = self._find_document(card)
        if isinstance(document, Failing):
            return document
        try:
            content = self._archive.get(card).content
        except SalonError as error:
            return _fail("unreadable", f"the card cannot be read: {error.message}", card)
        span = _find_span(content, note)
        if span is None:
            return _fail(Fault.QUOTE_DIFFERS, "the card does not say this there", note.quote)
        return self._citations.make(document, *span)

    def _find_document(self, card: CardHash) -> Document | Failing:
        if not self._archive.has(card):
            return _fail(Fault.NO_SUCH_CARD, "the archive has no such card", card)
        documents = self._archive.documents_of(card)
        if not documents:
            return _fail(Fault.NOT_A_DOCUMENT, "the card is no document's text", card)
        usable = [one for one in documents if is_usable(one)]
        if not usable:
            return _fail("disputed", "the document is disputed and cannot be used", card)
        # A text that is also a real source stands as that.
        return min(usable, key=lambda one: one.provenance.derived)

    # Sentences

    def _sentences(
        self, draft: Draft, citations: tuple[Citation, ...], topic: str
    ) -> Iterator[Failing]:
        for place, block in enumerate(draft.blocks):
            if block.is_prose:
                yield from self._block(block, draft, citations)
            elif not self._is_borne_out(block, _section(draft, place, citations), topic):
                yield _fail(
                    "heading_claims",
                    "a title or heading names; what this one says is not quoted in its section",
                    block.text,
                )

    def _is_borne_out(self, heading: Block, cited: tuple[Citation, ...], topic: str) -> bool:
        """Tell whether a title or heading says no more than its section quotes."""
        text = heading.text
        does = saying(text)
        if does is Saying.NAME or text in LINKING or is_said_by(text, (one.quote for one in cited)):
            return True
        known = [*(one.quote for one in cited), *(one.source for one in cited)]
        if does is not Saying.STATE:
            # Whoever set the topic may ask what no source answers in the same words.
            is_topic = heading.kind is BlockKind.TITLE and is_same_name(text, topic)
            if is_topic or is_made_of(text, known):
                return True
        marks = "".join(f" [{number}]" for number in range(1, len(cited) + 1))
        found = self._verification().verify(f"{text}{marks}", cited, speaker=_COUNCIL)
        return all(one.verdict is Verdict.SUPPORTED for one in found.claims)

    def _block(
        self, block: Block, draft: Draft, citations: tuple[Citation, ...]
    ) -> Iterator[Failing]:
        rest = block.text
        for one in citations:
            rest = rest.replace(visible(one.quote), "")
        if _PLAIN_MARK.search(rest):
            yield _fail("bad_mark", "marks are written [^1], with a note at the end", block.text)
            return
        for sentence in cut_sentences(block, draft, citations):
            for claim in self._verify(sentence, citations).claims:
                if claim.verdict is not Verdict.SUPPORTED:
                    yield _claim_failing(claim, sentence)

    def _verify(self, sentence: Sentence, citations: tuple[Citation, ...]) -> ResponseReport:
        """Verify one sentence by its own marks alone."""
        own = tuple(citations[place] for place in sentence.marked)
        marks = "".join(f" [{number}]" for number in range(1, len(own) + 1))
        bare = without_marks(sentence.text)
        verbatim = next((one.quote for one in own if _is_same_text(one.quote, bare)), None)
        return self._verification().verify(f"{verbatim or bare}{marks}", own, speaker=_COUNCIL)


def is_usable(document: Document) -> bool:
    """Tell whether a document may be cited: nobody has disputed it."""
    return document.verification.status is not VerificationStatus.DISPUTED


_COUNCIL = Speaker(allowed=Allowed(is_member=is_usable, is_in_period=lambda _: True), fixed=LINKING)


def _find_span(content: bytes, note: Note) -> tuple[int, int] | None:
    spellings = tuple(one for one in dict.fromkeys((note.quote, note.raw)) if one.strip())
    if note.start is not None and note.end is not None:
        said = content[note.start : note.end]
        return (note.start, note.end) if any(said == one.encode() for one in spellings) else None
    for quote in spellings:
        start = content.find(quote.encode())
        if start >= 0:
            return start, start + len(quote.encode())
    return _find_folded(content, spellings)


def _find_folded(content: bytes, spellings: tuple[str, ...]) -> tuple[int, int] | None:
    """Find a quote whose white space was changed on the way."""
    if len(content) > _LARGEST_FOLDED:
        return None
    words = [found.span() for found in _WORD.finditer(content)]
    folded = b" ".join(content[start:end] for start, end in words)

    def place(at: int) -> int:
        """Return where a byte of the folded text stands in the content."""
        start, _ = words[folded.count(b" ", 0, at)]
        return start + at - (folded.rfind(b" ", 0, at) + 1)

    for quote in spellings:
        wanted = b" ".join(quote.encode().split())
        found = folded.find(wanted)
        if found >= 0:
            return place(found), place(found + len(wanted) - 1) + 1
    return None


def _section(draft: Draft, place: int, citations: tuple[Citation, ...]) -> tuple[Citation, ...]:
    """Return what is cited under a heading; for a title, and one with only headings, everything."""
    marked: list[str] = []
    if draft.blocks[place].kind is BlockKind.HEADING:
        for block in draft.blocks[place + 1 :]:
            if not block.is_prose:
                break
            marked += MARK.findall(block.text)
    labels = [note.label for note in draft.notes]
    own = (citations[labels.index(one)] for one in dict.fromkeys(marked))
    return tuple(own) or citations


def _is_same_text(quote: str, sentence: str) -> bool:
    """Tell whether a sentence is the quote, whatever white space and signs stand around it.

    What nobody can see is in no sentence, whether the source has it or not.
    """
    return _folded(without_marks(visible(quote))) == _folded(sentence)


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(_SIGNS)


def _merged(found: dict[str, Citation | Failing]) -> list[Failing]:
    """Return what is wrong with the notes, each thing once, with the notes that have it."""
    labels: dict[Failing, list[str]] = {}
    for label, one in found.items():
        if isinstance(one, Failing):
            labels.setdefault(one, []).append(f"[^{label}]")
    return [
        replace(one, message=f"{one.message} ({_counted(marks)})") for one, marks in labels.items()
    ]


def _counted(marks: Sequence[str]) -> str:
    return f"note {marks[0]}" if len(marks) == 1 else f"notes {', '.join(marks)}"


def _claim_failing(claim: ClaimCheck, sentence: Sentence) -> Failing:
    fault = claim.fault or Fault.NOT_BORNE_OUT
    message = _MESSAGES.get(fault, claim.reason)
    return _fail(fault, message, without_marks(sentence.text))


def _fail(code: str, message: str, excerpt: str = "") -> Failing:
    return Failing(code=str(code), message=message, excerpt=" ".join(excerpt.split())[:160])
