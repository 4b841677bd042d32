"""Sources that contradict each other: seen, said with both sides or left out, and graded."""

from collections.abc import Iterator
from functools import partial

import pytest

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.citations import Citation
from salon.core.documents import Provenance
from salon.core.hashing import CardHash, content_hash
from salon.council.checks import Checks
from salon.council.drafts import Section, Sentence, write_draft
from salon.council.driving import drive
from salon.council.offline.conflicts import contradict, groups_of
from salon.council.offline.differing import DIFFER_HEADING, FIRST_SIDE, OTHER_SIDE
from salon.council.offline.strategies import STRATEGIES
from salon.council.rounds import Phase
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from salon.settings import load_settings
from tests.council.libraries import Library, brief, shown

TOPIC = "The lighthouse of Cape Brand"
_BUILT, _TOWER, _LIT, _PAID = (
    "was built in",
    "is a tower of",
    "The light of Cape Brand is seen for",
    "The keeper of the Cape Brand lighthouse is paid",
)


def _text(year: str, tower: str, miles: str, paid: str, *, lost: str, own: str) -> str:
    return (
        f"{TOPIC} {_BUILT} {year} by the harbour board. "
        f"{TOPIC} {_TOWER} {tower} feet high. "
        f"{_LIT} {miles} miles because the lens turns on a bath of mercury. "
        f"{_PAID} {paid} a year. "
        f"{TOPIC} {lost}. "
        f"{own}"
    )


SOURCES = {
    "Pilot Book": _text(
        "1812",
        "granite, ninety",
        "twelve",
        "forty pounds",
        lost="never lost a keeper",
        own="Ships that pass Cape Brand depend on the lighthouse in fog. "
        "The lens of the Cape Brand lighthouse came from a workshop in Paris.",
    ),
    "Harbour Rolls": _text(
        "1844",
        "brick, seventy",
        "twenty",
        "sixty pounds",
        lost="lost two keepers in the storm of 1861",
        own="The lighthouse of Cape Brand reduced the wrecks on the reef by half. "
        "A path of steps leads from the landing to the Cape Brand lighthouse.",
    ),
    "A Keeper Remembers": _text(
        "1830",
        "iron, eighty",
        "sixteen",
        "nothing at all",
        lost="lost one keeper to fever",
        own="The fog horn of the Cape Brand lighthouse is driven by steam from a boiler. "
        "The keepers of Cape Brand grow potatoes in a garden behind the lighthouse.",
    ),
    "Notes on the Coast": (
        "The lighthouse of Cape Brand stands on a rock that the flood surrounds twice a day. "
        "Boats reach the Cape Brand lighthouse only if the wind is in the east. "
        "The reef near the lighthouse of Cape Brand is a refuge for seals in winter. "
        "The lamp room of the Cape Brand lighthouse has windows on every side."
    ),
    "Letters from the Reef": (
        "Painters visit the lighthouse of Cape Brand because the light is clear in autumn. "
        "The chapel near the Cape Brand lighthouse is a house of prayer for sailors. "
        "A bell at the Cape Brand lighthouse calls the boats home before a storm. "
        "The stones of the Cape Brand lighthouse were carried across the ice on sledges."
    ),
}
TORN = (_BUILT, _TOWER, _LIT, _PAID)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("brand")
    settings = load_settings(
        home=home, environment={}, flags={"index": {"embedder": "hashing:256"}}
    )
    with Salon(settings) as salon:
        for title, text in SOURCES.items():
            card = salon.archive.add(text.encode()).hash
            salon.archive.write(partial(_store, title=title, card=card))
        salon.index()
        yield Library(salon, [])


@pytest.fixture(scope="module")
def drafts(held: Library) -> dict[Seat, str]:
    seats = held.seats()
    return {seat: seats[seat].draft(brief(seat, topic=TOPIC)) for seat in Seat}


def _store(tx: ArchiveTransaction, *, title: str, card: CardHash) -> None:
    tx.add_document(Provenance(title=title), source=card)


def _body(markdown: str) -> str:
    return markdown.split("\n[^1]:", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{TOPIC} was built in 1812 by the board.", f"{TOPIC} was built in 1844 by the board."),
        (
            f"{TOPIC} is a tower of granite, ninety feet high.",
            f"{TOPIC} is a tower of oak, fifty feet high.",
        ),
        (
            f"{TOPIC} is a tower of concrete, hundred feet high.",
            f"{TOPIC} is a tower of brick, seventy feet high.",
        ),
        (f"{_PAID} forty pounds a year.", f"{_PAID} nothing at all a year."),
        (f"{TOPIC} never lost a keeper.", f"{TOPIC} lost two keepers in the storm of 1861."),
        (
            "The garden well was dug in 1893 by Amos Pell.",
            "The garden well was dug in 1893 by Ruth Alder.",
        ),
        (
            "The gate of the harbour of Brand opens before the flood.",
            "The gate of the harbour of Brand opens after the flood.",
        ),
    ],
    ids=["year", "number", "hundred", "nothing", "denial", "who", "opposite"],
)
def test_what_cannot_both_be_true_contradicts_each_other(first: str, second: str) -> None:
    assert contradict(first, second)
    assert contradict(second, first)
    assert not contradict(first, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Cape Brand lighthouse is ninety feet high.", "Cape Sele lighthouse is fifty feet high."),
        (
            "The gate of a tide mill is nine feet high above the quay.",
            "The wheel of a tide mill is six feet high above the quay.",
        ),
        (
            "A survey of 1994 counted 61 kinds of birds at the mill of Dorvan.",
            "A survey of 2003 counted 48 kinds of birds at the mill of Dorvan.",
        ),
        (
            "Congress has appropriated five million dollars for the army of the United States.",
            "Congress has appropriated two million dollars for the navy of the United States.",
        ),
        (
            "The receipts of the Treasury during the fiscal year were 500 million dollars.",
            "The receipts of the Treasury during the fiscal year were 600 million dollars.",
        ),
        (
            "Ships had to wait for the gate of the tide mill at Dorvan.",
            "Boats did not wait for the bread of the bakers at Cape Sele.",
        ),
    ],
    ids=[
        "another place",
        "another part",
        "another year",
        "another object",
        "then and now",
        "other",
    ],
)
def test_what_is_said_of_something_else_contradicts_nothing(first: str, second: str) -> None:
    assert not contradict(first, second)


def test_who_contradicts_the_same_is_of_one_group() -> None:
    assert groups_of(frozenset({(1, 4), (2, 3), (4, 7)})) == [[1, 4, 7], [2, 3]]
    assert groups_of(frozenset()) == []


@pytest.mark.parametrize("seat", list(Seat))
def test_a_draft_says_both_sides_or_none(seat: Seat, drafts: dict[Seat, str]) -> None:
    body = _body(drafts[seat])
    before, _, differing = body.partition(f"## {DIFFER_HEADING}\n")
    assert not [words for words in TORN if words in before]
    if STRATEGIES[seat].says_conflicts:
        assert FIRST_SIDE in differing
        assert OTHER_SIDE in differing
        assert any(differing.count(words) > 1 for words in TORN)
    else:
        assert not differing


def test_a_draft_that_says_both_sides_passes_the_checks(
    drafts: dict[Seat, str], held: Library
) -> None:
    verification = Verification(Citations(held.archive), lambda: load_judge(None))
    checks = Checks(held.archive, lambda: verification, CouncilRules().limits)
    for seat in Seat:
        assert checks.check(drafts[seat]).failings == ()


def test_what_is_refined_and_joined_says_both_sides_too(
    drafts: dict[Seat, str], held: Library
) -> None:
    seats = held.seats()
    own = shown(drafts[Seat.AUDITOR], "Tell the reader when it was built and how high it is.")
    refined = seats[Seat.AUDITOR].refine(brief(Seat.AUDITOR, Phase.REFINEMENT, TOPIC, own=own))
    two = (shown(drafts[Seat.AUDITOR]), shown(drafts[Seat.MINER]))
    joined = seats[Seat.MINER].fuse(
        brief(
            Seat.MINER,
            Phase.RUNOFF,
            TOPIC,
            fusing=two,
            collaborators=(Seat.MINER, Seat.AUDITOR),
        )
    )
    for text in (refined, joined):
        before, _, differing = _body(text).partition(f"## {DIFFER_HEADING}\n")
        assert not [words for words in TORN if words in before]
        assert any(differing.count(words) > 1 for words in TORN)


def _stating(*titles: str, heading: str = "The tower") -> str:
    """Return a draft of somebody else that says of some sources how high the tower is."""
    sentences = []
    for title in titles:
        text = SOURCES[title]
        quote = next(
            one if one.endswith(".") else f"{one}." for one in text.split(". ") if _TOWER in one
        )
        start = text.index(quote)
        cited = Citation(
            hash=content_hash(text.encode()),
            start=start,
            end=start + len(quote),
            quote=quote,
            source=title,
        )
        sentences.append(Sentence(text=quote, citations=(cited,)))
    return write_draft(TOPIC, [Section(heading=heading, paragraphs=(tuple(sentences),))])


@pytest.mark.parametrize("seat", list(Seat))
def test_accuracy_falls_where_sources_differ_and_nobody_says_so(seat: Seat, held: Library) -> None:
    bench = held.seats()[seat]
    told = brief(seat, Phase.VOTE, TOPIC)

    def accuracy(*titles: str, heading: str = "The tower") -> int:
        return bench.grade(told, shown(_stating(*titles, heading=heading))).scores.accuracy

    said = accuracy("Pilot Book", "Harbour Rolls", heading="Where the sources differ")
    one_side = accuracy("Pilot Book")
    both = accuracy("Pilot Book", "Harbour Rolls")
    assert both <= 5 < one_side < said


def test_a_critique_names_what_is_contradicted(held: Library) -> None:
    seat = held.seats()[Seat.VIZIER]
    told = brief(Seat.VIZIER, Phase.CRITIQUE, TOPIC)
    both = seat.review(told, shown(_stating("Pilot Book", "Harbour Rolls")))
    assert "drop sentence 1, or say that sources differ: sentence 2 contradicts it" in both
    one = seat.review(told, shown(_stating("Pilot Book")))
    assert "drop sentence 1, or say that sources differ: another source contradicts it" in one


def test_a_chapter_tells_of_no_difference_as_if_it_were_settled(held: Library) -> None:
    desk = held.desk()
    opened = desk.open(TOPIC, holders=dict.fromkeys(Seat, "offline"))
    over = drive(desk, opened.id, held.seats(), patience=0)
    for one in over.candidates:
        text = _body(held.archive.get(one.text).content.decode())
        before = text.partition(f"## {DIFFER_HEADING}\n")[0]
        assert not [words for words in TORN if words in before]
