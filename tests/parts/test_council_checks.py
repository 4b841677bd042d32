"""A second look at rounds that published nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.events import CouncilMoved
from salon.council.naming import chapter_handle
from salon.council.rounds import Phase
from tests.parts.council_homes import POOR, TOPIC_ID, make_council_home, play_by_hand


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    with Salon(make_council_home(tmp_path / "home", council={"retries": 0})) as opened:
        yield opened


def test_a_round_without_a_quorum_may_have_written_what_another_published(salon: Salon) -> None:
    first = play_by_hand(salon)
    second = play_by_hand(salon, POOR)
    assert (first.phase, second.phase) == (Phase.PUBLISHED, Phase.NO_QUORUM)
    assert first.published is not None
    assert first.published.text in {one.text for one in second.candidates}, "or this tests nothing"
    assert salon.verify_round(second.id).holds


def test_a_text_that_no_round_published_does_not_stand_in_completed(salon: Salon) -> None:
    over = play_by_hand(salon, POOR)
    text = over.candidates[0].text
    salon.archive.write(lambda tx: tx.set_handle(chapter_handle(TOPIC_ID), text))
    report = salon.verify_round(over.id)
    assert [one.reason for one in report.checks if not one.holds] == [
        f"completed/{TOPIC_ID} leads to its text, which no round published"
    ]


def test_a_log_that_says_published_is_believed_more_than_the_round(salon: Salon) -> None:
    over = play_by_hand(salon, POOR)
    note = CouncilMoved(
        round=over.id, act="publish", seat="system", phase="published", rule="agreed"
    )
    salon.archive.write(lambda tx: tx.note(note), by="system")
    assert not salon.verify_round(over.id).holds
