"""Filling in vectors: once each, resumable, of one model, exactly for what is there."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.vectors import VectorStore
from salon.core.errors import ModelMismatch, ProviderFailed
from salon.retrieval.filling import BackgroundFilling, VectorFilling
from salon.retrieval.passage_index import PassageIndex
from tests.archive.raw import damage
from tests.retrieval.embedding import CountingEmbedder
from tests.retrieval.opening import opened_index


def _card(number: int) -> bytes:
    return f"Card {number} is about topic{number % 7} and nothing else.".encode()


def _filling(
    archive: SqliteArchive, index: PassageIndex, embedder: CountingEmbedder, window: int = 10
) -> VectorFilling:
    return VectorFilling(index, VectorStore(archive), embedder, window)


def test_every_passage_gets_its_vector_once(archive: SqliteArchive, index: PassageIndex) -> None:
    archive.add_many([_card(number) for number in range(25)])
    index.catch_up()
    embedder = CountingEmbedder()
    seen: list[tuple[int, int]] = []
    report = _filling(archive, index, embedder).fill(lambda done, total: seen.append((done, total)))
    assert (report.computed, report.taken_from_archive, report.left) == (25, 0, 0)
    assert sorted(embedder.embedded) == sorted(_card(number).decode() for number in range(25))
    assert seen == [(0, 25), (10, 25), (20, 25), (25, 25)]
    assert index.coverage().vectors_share == 1
    again = _filling(archive, index, embedder).fill()
    assert (again.computed, again.taken_from_archive) == (0, 0)


def test_a_vector_leads_back_to_its_passage(archive: SqliteArchive, index: PassageIndex) -> None:
    cards = archive.add_many([_card(number) for number in range(25)])
    index.catch_up()
    embedder = CountingEmbedder()
    _filling(archive, index, embedder).fill()
    assert index.vectors is not None
    found = index.vectors.search(embedder.embed_query(_card(3).decode()), 1)
    (passage,) = index.catalogue.find(found.ids.tolist()).values()
    assert passage.hash == cards[3].hash
    assert found.scores[0] == pytest.approx(1, abs=1e-3)


def test_filling_stops_when_asked_and_goes_on_later(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    archive.add_many([_card(number) for number in range(25)])
    index.catch_up()
    embedder = CountingEmbedder()
    stops = iter([False, True])
    report = _filling(archive, index, embedder).fill(should_stop=lambda: next(stops))
    assert (report.computed, report.left) == (10, 15)
    assert index.coverage().with_vector == 10
    assert _filling(archive, index, embedder).fill().computed == 15
    assert len(embedder.embedded) == 25


def test_a_lost_index_is_filled_from_the_archive_without_computing(
    tmp_path: Path, archive: SqliteArchive
) -> None:
    archive.add_many([_card(number) for number in range(25)])
    embedder = CountingEmbedder()
    with opened_index(tmp_path / "one", archive) as index:
        index.catch_up()
        _filling(archive, index, embedder).fill()
    with opened_index(tmp_path / "two", archive) as index:
        index.catch_up()
        report = _filling(archive, index, embedder).fill()
        assert (report.computed, report.taken_from_archive) == (0, 25)
        assert index.vectors is not None
        assert index.vectors.count() == 25


def test_vectors_that_vanished_under_the_catalogue_come_back(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    archive.add_many([_card(number) for number in range(12)])
    index.catch_up()
    embedder = CountingEmbedder()
    _filling(archive, index, embedder).fill()
    assert index.vectors is not None
    index.vectors.clear()
    index.vectors.commit()
    assert _filling(archive, index, embedder).fill().taken_from_archive == 12
    assert index.vectors.count() == 12


def test_another_model_computes_anew_and_the_vectors_never_meet(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    archive.add_many([_card(number) for number in range(12)])
    index.catch_up()
    one, other = CountingEmbedder("test:one"), CountingEmbedder("test:other")
    _filling(archive, index, one).fill()
    report = _filling(archive, index, other).fill()
    assert (report.computed, report.taken_from_archive) == (12, 0)
    assert index.vectors is not None
    assert index.vectors.model == other.model
    assert index.vectors.count() == 12
    back = _filling(archive, index, one).fill()
    assert (back.computed, back.taken_from_archive) == (0, 12)


def test_an_embedder_that_gives_other_shapes_than_it_says_is_refused(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    class Wrong(CountingEmbedder):
        def embed_passages(self, texts: object) -> np.ndarray:
            return np.zeros((1, 3), np.float32)

    archive.add(_card(1))
    index.catch_up()
    with pytest.raises(ModelMismatch):
        _filling(archive, index, Wrong()).fill()
    assert index.coverage().with_vector == 0


def test_deleting_a_card_takes_its_vectors_everywhere(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    cards = archive.add_many([_card(number) for number in range(12)])
    index.catch_up()
    embedder = CountingEmbedder()
    _filling(archive, index, embedder).fill()
    archive.write(lambda tx: tx.delete(cards[3].hash, reason="a request"))
    index.catch_up()
    assert index.vectors is not None
    assert index.vectors.count() == 11
    assert VectorStore(archive).count(embedder.model) == 11
    assert index.coverage().vectors_share == 1


def test_a_card_whose_bytes_are_damaged_has_no_vector_and_stops_nobody(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    cards = archive.add_many([_card(number) for number in range(5)])
    index.catch_up()
    damage(archive.path, cards[2].hash)
    report = _filling(archive, index, CountingEmbedder()).fill()
    assert (report.computed, report.impossible, report.left) == (4, 1, 1)
    assert _filling(archive, index, CountingEmbedder()).fill().impossible == 0


FILL = """
import sys
from pathlib import Path
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.vectors import VectorStore
from salon.retrieval.filling import VectorFilling
from tests.retrieval.embedding import CountingEmbedder
from tests.retrieval.opening import opened_index
folder = Path(sys.argv[1])
with SqliteArchive(folder / "salon.db") as archive:
    with opened_index(folder / "index", archive) as index:
        print("ready", flush=True)
        VectorFilling(index, VectorStore(archive), CountingEmbedder(), 2).fill()
"""


def test_filling_killed_again_and_again_ends_up_complete(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add_many([_card(number) for number in range(120)])
        with opened_index(tmp_path / "index", archive) as index:
            index.catch_up()
            for kill in range(3):
                with subprocess.Popen(
                    [sys.executable, "-c", FILL, str(tmp_path)], stdout=subprocess.PIPE
                ) as child:
                    assert child.stdout is not None
                    child.stdout.readline()
                    while child.poll() is None and index.stats().with_vector < 8 * (kill + 1):
                        pass
                    child.send_signal(signal.SIGKILL)
            reached = index.stats().with_vector
            embedder = CountingEmbedder()
            _filling(archive, index, embedder).fill()
            assert index.vectors is not None
            assert index.vectors.count() == index.stats().with_vector == 120
            # What was durable was not computed again.
            assert len(embedder.embedded) <= 120 - reached
            assert VectorStore(archive).count(embedder.model) == 120
    assert 0 < reached < 120


def test_background_filling_runs_when_woken_and_survives_failures() -> None:
    rounds = threading.Semaphore(0)
    outcomes = iter([ProviderFailed("the server is away"), None])

    def fill(should_stop: object) -> None:
        outcome = next(outcomes)
        rounds.release()
        if outcome is not None:
            raise outcome

    filling = BackgroundFilling(fill)
    filling.wake()
    assert rounds.acquire(timeout=10)
    filling.wake()
    assert rounds.acquire(timeout=10)
    filling.stop()
    assert filling.failure is None
