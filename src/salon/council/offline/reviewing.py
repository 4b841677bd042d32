"""Criticism by measurement: what a draft lacks, and exactly which passages would mend it.

A critique is plain text that people read, in lines that another seat can act on:

    - add "gut flora": "The whole sentence." card:HASH#120-240
    - drop sentence 7: it says what sentence 3 says

`read_wishes` reads such lines again, and takes every other line for something to search for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from salon.council.offline.choosing import scores_for, usable
from salon.council.offline.composing import MOST_USED
from salon.council.offline.cues import Role
from salon.council.offline.measuring import Measured
from salon.council.offline.pool import Pool
from salon.council.offline.sentences import traits_of
from salon.council.offline.sources import Quote
from salon.council.offline.strategies import STRATEGIES, Feature, Measure
from salon.council.offline.words import is_shared, telling_words
from salon.council.seats import Seat
from salon.guard.instructions import is_instruction

MOST_WISHES = 8
MOST_SEARCHES = 6
"""Lines of one critique that are searched for."""
_MISSING_TERMS = 3
_OWN_WISHES = 2
_LONGEST_LINE = 400
_FEWEST_WORDS = 2
_MOST_WORDS = 12
_CARD = re.compile(r"\bcard:([0-9a-f]{32,128})#(\d{1,12})-(\d{1,12})")
_DROP = re.compile(r"\b(?:drop|replace|prove)\s+sentence\s+(\d{1,4})\b", re.IGNORECASE)
_MEASURED = re.compile(r"^\s*(?:measured:|read for\b)", re.IGNORECASE)

_FOR: dict[Feature, str] = {
    Feature.AGREED: "because other sources agree with it",
    Feature.BRIDGE: "because it links distant sources",
    Feature.FIGURES: "for its figures",
    Feature.NAMES: "for the names in it",
    Feature.CONTRAST: "because it shows a condition",
    Feature.ROLE: "because it says what the thing is, comes from, does or leads to",
    Feature.EASE: "because it is plain",
}
"""Why a sentence is asked for: what is most true of it, whoever asks, so that nobody is known."""
_BEST_BY: dict[Seat, Feature] = {
    Seat.CHAIR: Feature.CENTRAL,
    Seat.MINER: Feature.FIGURES,
    Seat.AUDITOR: Feature.AGREED,
    Seat.PROFESSOR: Feature.EASE,
    Seat.VIZIER: Feature.BRIDGE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a critique asks for: spans to add, sentences to look at again, words to search for."""

    spans: tuple[tuple[str, int, int], ...] = ()
    doubted: tuple[int, ...] = ()
    """Places of sentences, from 1, that a critic would drop, replace or prove."""
    searches: tuple[str, ...] = ()


def review(seat: Seat, measured: Measured, pool: Pool) -> str:
    """Return a seat's criticism of a draft."""
    values = measured.values
    summary = (
        f"Measured: {len(measured.lines)} sentences from {measured.sources} sources in "
        f"{len(measured.sections)} sections; {measured.exact:.0%} exact quotes, "
        f"{values[Measure.ON_TOPIC]:.0%} on the topic, readability {values[Measure.EASE]:.2f}, "
        f"order {values[Measure.ORDER]:.2f}."
    )
    lines = [summary]
    wishes = [*_faults(measured), *_additions(seat, measured, pool)][:MOST_WISHES]
    lines += [f"- {wish}" for wish in wishes] or ["- keep it as it is: nothing measurable is wrong"]
    return "\n".join(lines)


def _faults(measured: Measured) -> Iterator[str]:
    for number, line in enumerate(measured.lines, start=1):
        if not line.is_borne_out:
            yield f"prove sentence {number}: its notes do not bear it out"
        elif line.repeats is not None:
            yield f"drop sentence {number}: it says what sentence {line.repeats + 1} says"
        elif line.contradicted_by is not None:
            yield (
                f"drop sentence {number}, or say that sources differ: sentence "
                f"{line.contradicted_by + 1} contradicts it"
            )
        elif line.is_one_sided:
            yield (
                f"drop sentence {number}, or say that sources differ: another source contradicts it"
            )
        elif line.leans_on is not None:
            yield f'replace sentence {number}: it begins with "{line.leans_on}", which is not said'
    if measured.values[Measure.ORDER] < 1:
        yield "let the sections go from what it is to what follows from it, a definition first"


def _additions(seat: Seat, measured: Measured, pool: Pool) -> Iterator[str]:
    """Walk sentences of the archive that the draft should have, each with its proof."""
    used = {" ".join(one.sentence.text.split()) for one in measured.lines}
    scores = scores_for(pool, STRATEGIES[seat].weights)
    free = [
        at
        for at in usable(pool, scores, 2 * MOST_USED)
        if " ".join(pool.quotes[at].text.split()) not in used
    ]
    for term in measured.missing[:_MISSING_TERMS]:
        at = next((at for at in free if _has(pool.quotes[at], term.stems)), None)
        if at is not None:
            free.remove(at)
            yield f'add "{term.spelling}", which it does not cover: {_proof(pool.quotes[at])}'
    if seat is Seat.CHAIR:
        there = {traits_of(one.sentence.text).role for one in measured.lines}
        for role in Role:
            at = next((at for at in free if pool.quotes[at].traits.role is role), None)
            if role not in there and at is not None:
                free.remove(at)
                yield f'add a sentence of "{role}": {_proof(pool.quotes[at])}'
    best = pool.features[_BEST_BY[seat]]
    for at in sorted(free[:MOST_USED], key=lambda at: (-best[at] - scores[at], at))[:_OWN_WISHES]:
        yield f"add this, {_why(pool, at)}: {_proof(pool.quotes[at])}"


def _why(pool: Pool, at: int) -> str:
    return _FOR[max(_FOR, key=lambda feature: float(pool.features[feature][at]))]


def _has(quote: Quote, roots: Sequence[str]) -> bool:
    return all(is_shared(root, quote.traits.stems) for root in roots)


def _proof(quote: Quote) -> str:
    cited = quote.citations[0]
    text = " ".join(quote.text.split())
    return f'"{text}" card:{cited.hash}#{cited.start}-{cited.end}'


def read_wishes(critique: str) -> Wishes:
    """Read what a critique asks for; text that speaks to the machine is left out."""
    spans: list[tuple[str, int, int]] = []
    doubted: list[int] = []
    searches: list[str] = []
    for line in critique.splitlines():
        if is_instruction(line) or _MEASURED.match(line):
            continue
        spans += [(card, int(start), int(end)) for card, start, end in _CARD.findall(line)]
        doubted += [int(number) for number in _DROP.findall(line)]
        words = telling_words(line[:_LONGEST_LINE])[:_MOST_WORDS]
        is_plain = not _CARD.search(line) and not _DROP.search(line)
        if is_plain and len(words) >= _FEWEST_WORDS:
            searches.append(" ".join(words))
    return Wishes(
        spans=tuple(dict.fromkeys(spans)),
        doubted=tuple(dict.fromkeys(doubted)),
        searches=tuple(dict.fromkeys(searches))[:MOST_SEARCHES],
    )
