"""Measuring a draft, whoever wrote it: what it rests on, what it covers, how it reads.

Everything is derived from the text and the archive. Nothing is taken from what the draft says of
itself, and whatever stands in it is counted, never obeyed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from salon.core.archive import Archive
from salon.core.documents import VerificationStatus
from salon.core.hashing import CardHash
from salon.council.cited import is_derived, read_with_citations
from salon.council.drafts import LINKING, Section, Sentence
from salon.council.offline.choosing import WHOLE_CHAPTER
from salon.council.offline.conflicts import contradict
from salon.council.offline.cues import SAYS_THEY_DIFFER, Role
from salon.council.offline.pool import ON_TOPIC, SAME_WORDS, Pool, Term
from salon.council.offline.sentences import ease_of, leans_on, traits_of
from salon.council.offline.sources import Quote, Sources
from salon.council.offline.strategies import Measure
from salon.council.offline.words import is_shared, overlap, stems

MANY_SOURCES = 8
"""Independent sources from which on a draft could hardly have more."""
ENOUGH_SECTIONS = 3
_PARTLY = 0.6
"""The share of a sentence's words that its quotes must have where it is no quote itself."""
_COVERED = 0.8
"""The share of the important terms that a chapter can be expected to have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One sentence of a draft and what was found about it."""

    sentence: Sentence
    section: int
    is_exact: bool
    is_borne_out: bool
    relevance: float
    repeats: int | None = None
    """The place of an earlier sentence that says the same."""
    leans_on: str | None = None
    """The words at its beginning that nothing before explains."""
    contradicted_by: int | None = None
    """The place of another sentence that contradicts it, where the draft does not say so."""
    is_one_sided: bool = False
    """Whether a source contradicts it that the draft passes over."""

    @property
    def is_contradicted(self) -> bool:
        """Tell whether sources differ in this and the draft does not say so."""
        return self.contradicted_by is not None or self.is_one_sided

    @property
    def is_cited(self) -> bool:
        """Tell whether any citation of it holds."""
        return bool(self.sentence.citations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A draft in numbers."""

    sections: tuple[Section, ...]
    lines: tuple[Line, ...]
    sources: int
    derived: int
    broken: int
    """Notes that do not lead to what they quote."""
    missing: tuple[Term, ...]
    questions: int
    values: dict[Measure, float]

    @property
    def on_topic(self) -> int:
        """Return how many sentences have to do with the topic."""
        return sum(map(_is_on_topic, self.lines))

    @property
    def clashing(self) -> int:
        """Return how many sentences another one of the draft contradicts, as if nothing were."""
        return sum(one.contradicted_by is not None for one in self.lines)

    @property
    def one_sided(self) -> int:
        """Return how many sentences a source contradicts that the draft passes over."""
        return sum(one.is_one_sided for one in self.lines)

    @property
    def exact(self) -> float:
        """Return the share of sentences that are exact quotes with their proof."""
        return _share(one.is_exact for one in self.lines)

    @property
    def borne_out(self) -> float:
        """Return the share of sentences that their own quotes bear out."""
        return _share(one.is_borne_out for one in self.lines)


def measure(markdown: str, pool: Pool, sources: Sources) -> Measured:
    """Measure a draft against what the archive holds on its topic."""
    sections, broken = read_with_citations(markdown, sources.archive)
    lines = _lines(sections, pool, sources)
    questions = sum(
        sentence.text.strip() in LINKING and sentence.text.strip().endswith("?")
        for section in sections
        for paragraph in section.paragraphs
        for sentence in paragraph
    )
    on_topic = list(filter(_is_on_topic, lines))
    cards = {cited.hash for one in on_topic for cited in one.sentence.citations}
    real = {card for card in cards if not is_derived(card, sources.archive)}
    said = stems(" ".join(one.sentence.text for one in lines))
    missing = tuple(
        term for term in pool.important if not all(is_shared(root, said) for root in term.stems)
    )
    values = _values(lines, pool, said)
    values |= {
        Measure.SOURCES: min(1.0, len(real) / MANY_SOURCES),
        Measure.ASPECTS: _covered(len(pool.important) - len(missing), len(pool.important)),
        Measure.VERIFIED: _share(_is_verified(card, sources.archive) for card in real),
        Measure.SPREAD: _spread(on_topic, sources),
    }
    return Measured(
        sections=sections,
        lines=lines,
        sources=len(real),
        derived=len(cards) - len(real),
        broken=broken,
        missing=missing,
        questions=questions,
        values=values,
    )


# Sources


def _is_verified(card: CardHash, archive: Archive) -> bool:
    return any(
        one.verification.status is VerificationStatus.VERIFIED for one in archive.documents_of(card)
    )


# Sentences


def _lines(sections: Sequence[Section], pool: Pool, sources: Sources) -> tuple[Line, ...]:
    placed = [
        (number, sentence)
        for number, section in enumerate(sections)
        for paragraph in section.paragraphs
        for sentence in paragraph
        if sentence.text.strip() not in LINKING
    ]
    texts = [sentence.text for _, sentence in placed]
    if not texts:
        return ()
    vectors = sources.vectors(texts)
    relevant = pool.relevance([sentence for _, sentence in placed], sources)
    alike = vectors @ vectors.T
    clashes = _clashes(placed)
    known = {_flat(one.text): place for place, one in enumerate(pool.quotes)}
    open_ = {number for number, section in enumerate(sections) if _says_they_differ(section)}
    lines = []
    for at, (number, sentence) in enumerate(placed):
        lines.append(
            Line(
                sentence=sentence,
                section=number,
                is_exact=_is_exact(sentence),
                is_borne_out=_is_borne_out(sentence),
                relevance=float(relevant[at]),
                repeats=next(
                    (
                        before
                        for before in range(at)
                        if before not in clashes[at]
                        and (
                            alike[at, before] >= pool.closeness.same
                            or overlap(stems(texts[at]), stems(texts[before])) >= SAME_WORDS
                        )
                    ),
                    None,
                ),
                leans_on=leans_on(sentence.text),
                contradicted_by=next(
                    (
                        other
                        for other in sorted(clashes[at])
                        if not (number in open_ and placed[other][0] == number)
                    ),
                    None,
                ),
                is_one_sided=not clashes[at] and _is_contradicted(sentence, pool, known),
            )
        )
    return tuple(lines)


def _clashes(placed: Sequence[tuple[int, Sentence]]) -> list[set[int]]:
    """Return for each sentence the places of those from other sources that contradict it."""
    found: list[set[int]] = [set() for _ in placed]
    for at, (_, sentence) in enumerate(placed):
        for before, (_, other) in enumerate(placed[:at]):
            if _are_of_others(sentence, other) and contradict(sentence.text, other.text):
                found[at].add(before)
                found[before].add(at)
    return found


def _is_contradicted(sentence: Sentence, pool: Pool, known: Mapping[str, int]) -> bool:
    at = known.get(_flat(sentence.text))
    if at is not None:  # what the pool has was compared when it was gathered
        return at in pool.torn
    return any(
        _are_of_others(sentence, other) and contradict(sentence.text, other.text)
        for other in pool.quotes
    )


def _are_of_others(one: Sentence | Quote, other: Sentence | Quote) -> bool:
    """Tell whether two sentences have no source in common."""
    cards = {cited.hash for cited in one.citations}
    return bool(cards) and cards.isdisjoint(cited.hash for cited in other.citations)


def _says_they_differ(section: Section) -> bool:
    """Tell whether a section says that sources differ: in its heading, or between its quotes."""
    linking = [
        sentence.text
        for paragraph in section.paragraphs
        for sentence in paragraph
        if sentence.text.strip() in LINKING
    ]
    return any(SAYS_THEY_DIFFER.search(text) for text in (section.heading, *linking))


def _is_exact(sentence: Sentence) -> bool:
    text = _folded(sentence.text)
    return any(text in _folded(one.quote) for one in sentence.citations) and bool(text)


def _is_borne_out(sentence: Sentence) -> bool:
    if _is_exact(sentence):
        return True
    own = stems(sentence.text)
    quoted = frozenset(root for one in sentence.citations for root in stems(one.quote))
    return bool(own) and len(own & quoted) / len(own) >= _PARTLY


def _flat(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return _flat(text).strip(" \"'\u201c\u201d\u2018\u2019.!?")


# Values


def _values(lines: Sequence[Line], pool: Pool, said: frozenset[str]) -> dict[Measure, float]:
    texts = [one.sentence.text for one in lines]
    traits = [traits_of(text) for text in texts]
    there = [is_shared(root, said) for root in pool.topic_stems]
    roles = {one.role for one in traits if one.role is not None}
    return {
        Measure.TERMS: _share(there),
        Measure.EXTENT: min(1.0, sum(map(_is_on_topic, lines)) / WHOLE_CHAPTER),
        Measure.ROLES: len(roles) / len(Role),
        Measure.ON_TOPIC: _share(map(_is_on_topic, lines)),
        Measure.FIGURES: min(1.0, 2 * _share(one.figures > 0 or one.names > 0 for one in traits)),
        Measure.ORDER: _order([one.role for one in traits], lines),
        Measure.EASE: ease_of(texts),
        Measure.RESOLVED: _share(one.leans_on is None for one in lines),
        Measure.DISTINCT: _share(one.repeats is None for one in lines),
        Measure.SECTIONS: _sections(lines),
        Measure.OWN_VOICE: fmean([one.own_voice for one in traits]) if traits else 0.0,
    }


def _is_on_topic(line: Line) -> bool:
    return line.relevance >= ON_TOPIC


def _sections(lines: Sequence[Line]) -> float:
    """Return how well a draft is divided: enough sections, each of at least two sentences.

    What is too short for a whole chapter needs one section less.
    """
    sizes = Counter(one.section for one in lines)
    enough = ENOUGH_SECTIONS - (len(lines) < WHOLE_CHAPTER)
    return min(1.0, sum(size > 1 for size in sizes.values()) / enough)


def _order(roles: Sequence[Role | None], lines: Sequence[Line]) -> float:
    """Return how often a section comes before those that need it; a definition early counts too."""
    rank = {role: place for place, role in enumerate(Role)}
    late: dict[int, list[int]] = {}
    for role, line in zip(roles, lines, strict=True):
        if role is not None:
            late.setdefault(line.section, []).append(rank[role])
    means = [fmean(late[number]) for number in sorted(late)]
    if not means:
        return 0.0
    rising = _share(after >= before - 0.25 for before, after in pairwise(means))
    opens_well = any(role is Role.DEFINITION for role in roles[:ENOUGH_SECTIONS])
    return 0.5 * (rising if len(means) > 1 else 1.0) + 0.5 * opens_well


def _spread(lines: Sequence[Line], sources: Sources) -> float:
    """Return how unlike the sentences are that are from different sources."""
    texts = [one.sentence.text for one in lines if one.is_cited]
    cards = [one.sentence.citations[0].hash for one in lines if one.is_cited]
    if len(set(cards)) < 2:
        return 0.0
    alike = sources.vectors(texts) @ sources.vectors(texts).T
    far = [
        1 - float(alike[one, other])
        for one in range(len(cards))
        for other in range(one)
        if cards[one] != cards[other]
    ]
    return min(1.0, 1.5 * fmean(far))


def _covered(there: int, wanted: int) -> float:
    return min(1.0, there / (_COVERED * wanted)) if wanted else 0.0


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    return sum(values) / len(values) if values else 0.0
