"""Citations: what is made holds, and whatever is changed is noticed for the right reason."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from salon.core.citations import Citation
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash, content_hash
from salon.grounding.citing import ANYTHING, Allowed
from salon.grounding.reports import Fault, Verdict
from tests.grounding.worlds import World, make_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    yield made
    made.archive.close()


def test_a_citation_that_was_made_holds(world: World) -> None:
    cited = world.cite(world.garden, "Those who do not water lose their bed after two warnings.")
    check = world.citations.check(cited)
    assert check.holds
    assert (check.verdict, check.fault) == (Verdict.SUPPORTED, None)
    assert cited.source == "Rules of the Garden"
    assert cited.page == 4
    assert world.cite(world.garden, "The garden has").page == 3
    assert world.cite(world.bridge, "The bridge").page is None


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 5), (9, 4), (0, 10_000)])
def test_no_citation_is_made_of_what_is_no_span(world: World, start: int, end: int) -> None:
    with pytest.raises(InvalidInput, match="no span"):
        world.citations.make(world.garden, start, end)


def test_no_citation_cuts_a_character(world: World) -> None:
    card = world.archive.add("größe".encode())
    document = replace(world.bridge, text=card.hash)
    with pytest.raises(InvalidInput, match="cut a character"):
        world.citations.make(document, 0, 3)


def _changed(cited: Citation, how: str, chance: random.Random) -> Citation:
    match how:
        case "byte":
            place = chance.randrange(len(cited.quote))
            other = chr((ord(cited.quote[place]) + chance.randrange(1, 20)) % 0xD800)
            return replace(cited, quote=cited.quote[:place] + other + cited.quote[place + 1 :])
        case "start":
            return replace(cited, start=max(0, cited.start + chance.choice([-3, -2, -1, 1, 2])))
        case "end":
            return replace(cited, end=cited.end + chance.choice([-2, -1, 1, 9_000]))
        case "source":
            return replace(cited, source=cited.source + chance.choice([" ", ".", "s", "\u200b"]))
        case "page":
            return replace(cited, page=(cited.page or 0) + chance.choice([1, 2, 50]))
    return replace(cited, hash=CardHash(content_hash(str(chance.random()).encode())))


FAULTS = {
    "byte": {Fault.QUOTE_DIFFERS},
    "start": {Fault.QUOTE_DIFFERS},
    "end": {Fault.QUOTE_DIFFERS, Fault.SPAN_OUTSIDE_CARD},
    "source": {Fault.WRONG_SOURCE},
    "page": {Fault.WRONG_PAGE},
    "hash": {Fault.NO_SUCH_CARD},
}
VERDICTS = {
    Fault.QUOTE_DIFFERS: Verdict.FABRICATED,
    Fault.SPAN_OUTSIDE_CARD: Verdict.FABRICATED,
    Fault.NO_SUCH_CARD: Verdict.FABRICATED,
    Fault.WRONG_SOURCE: Verdict.MISATTRIBUTED,
    Fault.WRONG_PAGE: Verdict.MISATTRIBUTED,
}


def test_a_thousand_changed_citations_are_refused_for_the_right_reason(world: World) -> None:
    chance = random.Random(7)
    texts = {one.id: world.archive.get(one.text).content for one in (world.garden, world.bridge)}
    tried = 0
    while tried < 1_000:
        document = chance.choice([world.garden, world.bridge])
        start = chance.randrange(len(texts[document.id]) - 30)
        cited = world.citations.make(document, start, start + chance.randrange(10, 30))
        assert world.citations.check(cited).holds
        how = chance.choice(list(FAULTS))
        wrong = _changed(cited, how, chance)
        if wrong == cited:
            continue
        check = world.citations.check(wrong)
        assert check.fault in FAULTS[how], (how, wrong, check)
        assert check.fault is not None
        assert check.verdict is VERDICTS[check.fault]
        assert not check.holds
        assert check.reason
        tried += 1


def test_a_document_outside_of_the_corpus_is_misattributed(world: World) -> None:
    cited = world.cite(world.bridge, "The bridge was built in 1874")
    other = Allowed(is_member=lambda one: one.id == world.garden.id, is_in_period=lambda _: True)
    check = world.citations.check(cited, other)
    assert (check.fault, check.verdict) == (Fault.NOT_IN_CORPUS, Verdict.MISATTRIBUTED)


def test_a_document_outside_of_the_period_is_told_apart(world: World) -> None:
    cited = world.cite(world.garden, "The garden has thirty members.")
    early = Allowed(
        is_member=lambda _: True, is_in_period=lambda one: (one.provenance.year or 0) < 1900
    )
    check = world.citations.check(cited, early)
    assert (check.fault, check.verdict) == (Fault.OUTSIDE_PERIOD, Verdict.OUT_OF_PERIOD)
    assert "1901" in check.reason


def test_a_card_that_is_no_document_cannot_be_cited(world: World) -> None:
    card = world.archive.add(b"just a card")
    cited = Citation(hash=card.hash, start=0, end=4, quote="just", source="somewhere")
    assert world.citations.check(cited, ANYTHING).fault is Fault.NOT_A_DOCUMENT


def test_what_was_deleted_holds_no_more(world: World) -> None:
    cited = world.cite(world.bridge, "The bridge was built in 1874")
    world.archive.write(lambda tx: tx.delete(cited.hash, reason="asked to", force=True))
    assert world.citations.check(cited).fault is Fault.NO_SUCH_CARD


@pytest.mark.parametrize("hash_", ["", "zz", "0" * 63, "../../etc/passwd", "\x00"])
def test_a_hash_that_is_none_is_fabricated(world: World, hash_: str) -> None:
    cited = Citation(hash=CardHash(hash_), start=0, end=4, quote="just", source="somewhere")
    assert world.citations.check(cited).verdict is Verdict.FABRICATED


def test_years_and_derivation_are_those_of_the_document_that_is_meant(world: World) -> None:
    garden = world.cite(world.garden, "The garden has thirty members.")
    made = world.cite(world.made, "The council thinks")
    assert world.citations.years(garden) == {"1901"}
    assert not world.citations.is_derived(garden)
    assert world.citations.is_derived(made)
    assert world.citations.years(replace(garden, source="Another")) == frozenset()
