"""The offline seats over a few short documents: they differ, and publish what is well covered."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest

from salon.app import Salon
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.documents import DocumentId, Provenance, VerificationStatus
from salon.core.ids import CountedIds
from salon.council.chapter_checks import verify_chapter
from salon.council.driving import drive
from salon.council.offline.seat import OfflineSeat
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from salon.settings import load_settings
from tests.api.page.valley import VALLEY
from tests.council.desks import SIGNER
from tests.council.libraries import Library, brief, shown

COVERED = ("How the Orrin Valley shares its water", "The canal court and its fines")
TWO_SENTENCES = "The spring meeting in Brenn"
ONE_SOURCE = "Bees in winter"
UNSAID = "How the Orrin Valley taxes its water"
"""It names a thing that no source names, beside others that all name."""
NOTHING = "The price of copper in Peru"
IDS = CountedIds()
"""One for all rounds of the library, so that no two have the same id."""
BEES = (
    "A colony of bees needs thirty pounds of honey to live through the winter. "
    "Smoke calms the bees because they fill themselves with honey. "
    "Bees that are fed too late in autumn seldom live through the winter. "
    "A swarm of bees leaves the hive on the first warm morning after rain."
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with _library(tmp_path_factory.mktemp("small")) as salon:
        yield Library(salon, [])


def _library(home: Path) -> Salon:
    salon = Salon(load_settings(home=home, environment={}))
    for note in VALLEY:
        made = _add(salon.archive, note.title, "\n\n".join(note.pages))
        salon.archive.write(partial(_judge, document=made, status=note.status))
    _add(salon.archive, "Bees", BEES)
    salon.index()
    return salon


def _add(archive: SqliteArchive, title: str, text: str) -> DocumentId:
    card = archive.add(text.encode()).hash
    return archive.write(lambda tx: tx.add_document(Provenance(title=title), source=card)).id


def _judge(tx: ArchiveTransaction, *, document: DocumentId, status: VerificationStatus) -> None:
    tx.set_verification(document, status)


def _drafts(held: Library, topic: str) -> dict[Seat, str]:
    seats = held.seats()
    return {seat: seats[seat].draft(brief(seat, topic=topic)) for seat in Seat}


def _refined(
    seats: dict[Seat, OfflineSeat], drafts: dict[Seat, str], topic: str
) -> dict[Seat, str]:
    """Let everybody criticise everybody, and everybody act on it."""
    found = {}
    for seat in Seat:
        said = [
            seats[peer].review(brief(peer, Phase.CRITIQUE, topic), shown(drafts[seat]))
            for peer in Seat
            if peer is not seat
        ]
        own = shown(drafts[seat], *said)
        found[seat] = seats[seat].refine(brief(seat, Phase.REFINEMENT, topic, own=own))
    return found


def _play(held: Library, topic: str) -> Round:
    desk = held.desk(ids=IDS)
    opened = desk.open(topic, holders=dict.fromkeys(Seat, "offline"))
    return drive(desk, opened.id, held.seats(), patience=0)


@pytest.mark.parametrize("topic", [*COVERED, ONE_SOURCE])
def test_drafts_and_refined_texts_are_five_each(topic: str, held: Library) -> None:
    drafts = _drafts(held, topic)
    refined = _refined(held.seats(), drafts, topic)
    for texts in (drafts, refined):
        for one, other in combinations(Seat, 2):
            assert texts[one] != texts[other], f"{one} and {other} wrote the same"


@pytest.mark.parametrize("topic", COVERED)
def test_seats_choose_other_sentences_and_no_two_take_all(topic: str, held: Library) -> None:
    bodies = [text.split("\n[^1]:")[0] for text in _drafts(held, topic).values()]
    chosen = {frozenset(_sentences(body)) for body in bodies}
    assert len(chosen) >= 3
    everything = frozenset().union(*chosen)
    assert sum(one == everything for one in chosen) <= 1


def _sentences(body: str) -> list[str]:
    lines = [line for line in body.splitlines() if line and not line.startswith("#")]
    return [part.strip() for line in lines for part in line.split("]") if part.strip()]


@pytest.mark.parametrize("topic", COVERED)
def test_a_topic_that_a_small_library_covers_is_published_and_holds(
    topic: str, held: Library
) -> None:
    over = _play(held, topic)
    assert over.phase is Phase.PUBLISHED, over.reasons
    verification = Verification(Citations(held.archive), lambda: load_judge(None))
    report = verify_chapter(
        held.archive, over.id, key=SIGNER.key, verification=lambda: verification
    )
    assert report.holds, report.faults
    disputed = next(one for one in VALLEY if one.title.startswith("A visitor"))
    assert over.published is not None
    chapter = held.archive.get(over.published.text).content.decode()
    assert "Anselm Roth" in disputed.pages[0]
    assert "Anselm Roth" not in chapter


def test_everybody_who_may_vote_has_something_to_vote_on(held: Library) -> None:
    over = _play(held, COVERED[0])
    drafts = [one for one in over.candidates if len(one.authors) == 1]
    for draft in drafts:
        voters = {one.seat for one in over.votes if one.candidate == draft.id}
        assert voters == set(Seat) - set(draft.authors)


def test_one_source_is_not_enough_however_well_it_reads(held: Library) -> None:
    over = _play(held, ONE_SOURCE)
    assert over.phase is Phase.NO_QUORUM
    assert not over.absences
    assert "below 8" in over.reasons[-1]


def test_a_chapter_that_never_names_a_word_of_its_topic_is_rejected(held: Library) -> None:
    over = _play(held, UNSAID)
    assert over.phase is Phase.NO_QUORUM
    assert over.votes
    assert all(one.scores.depth < 5 for one in over.votes)


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        (NOTHING, "the archive has nothing on this"),
        (TWO_SENTENCES, "the archive has too little on this"),
    ],
    ids=["nothing", "two sentences"],
)
def test_a_topic_without_a_draft_says_why(topic: str, reason: str, held: Library) -> None:
    over = _play(held, topic)
    assert over.phase is Phase.NO_QUORUM
    assert {one.reason for one in over.absences} == {reason}


def test_the_same_library_has_the_same_chapter(held: Library, tmp_path: Path) -> None:
    topic = COVERED[1]
    with _library(tmp_path / "again") as salon:
        again = Library(salon, [])
        drafts = _drafts(again, topic)
        refined = _refined(again.seats(), drafts, topic)
    assert drafts == _drafts(held, topic)
    assert refined == _refined(held.seats(), drafts, topic)
