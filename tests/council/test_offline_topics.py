"""Topics that are hard for offline seats: they name nothing, are not English, or hold signs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.errors import NotFound
from salon.core.hashing import CardHash
from salon.council.checks import Checks
from salon.council.driving import drive
from salon.council.offline.pool import NAMES_NOTHING, gather
from salon.council.offline.seat import TOO_LITTLE
from salon.council.rounds import Phase
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from salon.settings import load_settings
from tests.council.libraries import Library, brief, library

GERMAN_TOPIC = "Der Brunnen von Lindental"
GERMAN = {
    "Brunnenbuch": (
        "Der Brunnen von Lindental wurde 1893 von Jakob Weber gegraben. "
        "Er ist achtzehn Meter tief und versorgt dreißig Haushalte im Dorf. "
        "Jedes Mitglied der Genossenschaft darf täglich vierzig Liter schöpfen. "
        "In trockenen Sommern halbiert der Vorstand die Menge für alle Haushalte. "
        "Das Wasser des Brunnens von Lindental kommt aus dem Kalk unter dem Wald."
    ),
    "Genossenschaft": (
        "Die Genossenschaft Lindental wurde 1890 von zwölf Bauern gegründet. "
        "Ihr Vorstand besteht aus fünf Mitgliedern, die jedes Jahr gewählt werden. "
        "Der Brunnen gehört der Genossenschaft und nicht der Gemeinde im Tal. "
        "Die Genossenschaft prüft das Wasser des Brunnens zweimal in jedem Jahr."
    ),
    "Chronik": (
        "Im Jahr 1911 fiel der Brunnen von Lindental drei Wochen lang trocken. "
        "Sie holten das Wasser damals mit Pferden vom Fluss herauf. "
        "Ein Blitz zerstörte 1924 das Dach über dem Brunnen von Lindental."
    ),
}
GARDEN = {
    "Rules": (
        "The garden of Hollow Lane has thirty members who share one well. "
        "The wall of the orchard was painted by children in the spring."
    ),
}


@contextmanager
def _library(home: Path, texts: Mapping[str, str]) -> Iterator[Library]:
    with Salon(load_settings(home=home, environment={})) as salon:
        for title, text in texts.items():
            card = salon.archive.add(text.encode()).hash
            salon.archive.write(partial(_store, title=title, card=card))
        salon.index()
        yield Library(salon, [])


def _store(tx: ArchiveTransaction, *, title: str, card: CardHash) -> None:
    tx.add_document(Provenance(title=title), source=card)


@pytest.fixture(scope="module")
def mills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library(tmp_path_factory.mktemp("mills"), embedder="hashing:256") as opened:
        yield opened


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with _library(tmp_path_factory.mktemp("german"), GERMAN) as opened:
        yield opened


@pytest.mark.parametrize("topic", ["the", "a", "What is it?", "..."])
def test_a_topic_that_names_nothing_is_refused_by_every_seat(topic: str, mills: Library) -> None:
    seats = mills.seats()
    for seat in Seat:
        with pytest.raises(NotFound, match=NAMES_NOTHING):
            seats[seat].draft(brief(seat, topic=topic))


def test_a_round_on_nothing_ends_without_a_quorum(mills: Library) -> None:
    desk = mills.desk()
    opened = desk.open("the", holders=dict.fromkeys(Seat, "offline"))
    over = drive(desk, opened.id, mills.seats(), patience=0)
    assert over.phase is Phase.NO_QUORUM
    assert {one.reason for one in over.absences} == {NAMES_NOTHING}


def test_signs_of_markdown_and_html_do_not_keep_a_topic_from_its_draft(mills: Library) -> None:
    verification = Verification(Citations(mills.archive), lambda: load_judge(None))
    checks = Checks(mills.archive, lambda: verification, CouncilRules().limits)
    text = mills.seats()[Seat.CHAIR].draft(
        brief(Seat.CHAIR, topic="<b>Tide mills</b> [^1] and *their* `ponds`")
    )
    assert text.startswith("# Tide mills and their ponds\n")
    assert checks.check(text).failings == ()


def test_another_language_is_told_and_its_pronouns_are_not_taken(german: Library) -> None:
    pool = gather(german.sources(), GERMAN_TOPIC)
    assert pool.language == "de"
    assert pool.topic_stems == ("brunnen", "lindental")
    assert pool.quotes
    for quote in pool.quotes:
        assert "Brunnen" in quote.text or "Lindental" in quote.text


@pytest.mark.parametrize("seat", list(Seat))
def test_headings_of_another_language_are_titles_of_its_sources(
    seat: Seat, german: Library
) -> None:
    text = german.seats()[seat].draft(brief(seat, topic=GERMAN_TOPIC))
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings
    assert set(headings) <= {*GERMAN, GERMAN_TOPIC}
    body = text.split("\n[^1]:")[0]
    assert not any(words in body for words in ("Er ist", "Ihr Vorstand", "Sie holten", "Menge"))


def test_every_seat_counts_what_it_found(tmp_path: Path) -> None:
    with _library(tmp_path, GARDEN) as held:
        seats = held.seats()
        for seat in Seat:
            with pytest.raises(NotFound, match=TOO_LITTLE):
                seats[seat].draft(brief(seat, topic="The garden of Hollow Lane"))
