"""The composer without a model: verbatim sentences, chosen, joined, ordered and lightly framed.

What is quoted is quoted whole; what frames a quote comes from the table in `grounding.frames` and
says no more than whose words follow and where they stand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from salon.core.citations import Citation
from salon.core.documents import Document, DocumentType
from salon.experts.composing.drafts import Draft
from salon.experts.evidence import Quote
from salon.experts.questions import content_words
from salon.experts.replies import Claim
from salon.grounding.frames import fill

NAME = "extractive"
_ALIKE = 0.6
"""Quotes that share more of their words say the same."""
_WORTH = 0.4
"""How good a further quote must be, beside the best one."""
_NEAR = 3
"""Bytes between two sentences that are quoted in one piece."""
_LONGEST_JOINED = 900
_SPOKEN = frozenset({DocumentType.SPEECH, DocumentType.LECTURE, DocumentType.INTERVIEW})

Cite = Callable[[Quote], tuple[Document, Citation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How an avatar speaks of its own texts: `kind` is `first_person` or `student`."""

    kind: str
    name: str


def choose(quotes: Sequence[Quote], most: int, *, said: Sequence[str] = ()) -> list[Quote]:
    """Return the quotes worth giving: the best, and others as good that say something else.

    `said` are texts that were heard already; nobody is told them again.
    """
    chosen: list[Quote] = []
    for quote in quotes:
        if len(chosen) == most:
            break
        if chosen and quote.answers < _WORTH * chosen[0].answers:
            continue
        if any(quote.text in heard for heard in said):
            continue
        if not any(_is_alike(quote, other) for other in chosen):
            chosen.append(quote)
    return chosen


def compose(quotes: Sequence[Quote], voice: Voice, cite: Cite, *, opening: str = "") -> Draft:
    """Return the chosen quotes as a text, the best one first, others in the order of their text."""
    pieces = _joined(quotes)
    first, rest = pieces[0], sorted(pieces[1:], key=lambda one: (one.source, one.hash, one.start))
    sentences, citations, claims = [], [], []
    last: Document | None = None
    for piece in (first, *rest):
        document, citation = cite(piece)
        citations.append(citation)
        text = quote_with_frame(document, citation, voice, number=len(citations), last=last)
        text = f"{opening} {text}" if opening and len(citations) == 1 else text
        sentences.append(text)
        claims.append(Claim(text=text, citations=(len(citations) - 1,), support=1.0))
        last = document
    return Draft(
        response="\n\n".join(sentences),
        citations=tuple(citations),
        claims=tuple(claims),
        composer=NAME,
    )


def quote_with_frame(
    document: Document,
    citation: Citation,
    voice: Voice,
    *,
    number: int,
    last: Document | None = None,
) -> str:
    """Return a quote with the words before it and its mark; `last` is what was quoted before."""
    return f"{_frame(document, last, voice)} “{citation.quote}” [{number}]"


def _joined(quotes: Sequence[Quote]) -> list[Quote]:
    """Make one quote of sentences that follow each other, in the place of the better one."""
    pieces: list[Quote] = []
    for quote in quotes:
        for place, other in enumerate(pieces):
            merged = _merge(other, quote)
            if merged is not None:
                pieces[place] = merged
                break
        else:
            pieces.append(quote)
    return pieces


def _merge(one: Quote, two: Quote) -> Quote | None:
    if one.hash != two.hash or one.document != two.document:
        return None
    first, second = sorted((one, two), key=lambda quote: quote.start)
    if not 0 <= second.start - first.end <= _NEAR:
        return None
    if second.end - first.start > _LONGEST_JOINED:
        return None
    return replace(one, start=first.start, end=second.end, text=f"{first.text} {second.text}")


def _frame(document: Document, last: Document | None, voice: Voice) -> str:
    """Return the words before a quote."""
    about = document.provenance
    if last is not None and last.id == document.id:
        return "And in the same text:"
    year = "" if about.year is None else " ({year})"
    slots = {"source": about.title, "year": about.year, "name": voice.name}
    if last is not None:
        return fill(f"And in “{{source}}”{year}:", **slots)
    verb = "said" if about.type in _SPOKEN else "wrote"
    who = "I" if voice.kind == "first_person" else "{name}"
    return fill(f"In “{{source}}”{year} {who} {verb}:", **slots)


def _is_alike(one: Quote, two: Quote) -> bool:
    mine, theirs = (set(map(str.casefold, content_words(quote.text))) for quote in (one, two))
    if not mine or not theirs:
        return one.text == two.text
    return len(mine & theirs) / min(len(mine), len(theirs)) > _ALIKE
