"""The vectors kept in the archive: what is kept, what goes with its card, what is never touched."""

import io
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.archive import vectors as stored
from salon.archive.export.transfer import export_archive, import_archive
from salon.archive.migrations import MIGRATIONS
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.vectors import Row, VectorStore
from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.errors import ArchiveCorrupt, InvalidInput, StorageReadOnly
from salon.core.hashing import CardHash
from tests.archive.raw import tamper
from tests.archive.scratch import scratch_archive

MODEL = EmbeddingModel(address="test:small", fingerprint="a" * 64, dimensions=8)
OTHER = EmbeddingModel(address="test:small", fingerprint="b" * 64, dimensions=8)
WIDER = EmbeddingModel(address="test:wide", fingerprint="a" * 64, dimensions=12)
HALF = 1e-3
"""How far a float16 may be from the number it stands for, below 1."""


def random_rows(count: int, *, seed: int = 1, dimensions: int = 8) -> Vectors:
    rows: Vectors = (
        np.random.default_rng(seed).uniform(-1, 1, (count, dimensions)).astype(np.float32)
    )
    return rows


def rows_of(card: CardHash, count: int, *, seed: int = 1, dimensions: int = 8) -> list[Row]:
    found = random_rows(count, seed=seed, dimensions=dimensions)
    return [(card, 5 * n, 5 * n + 5, found[n]) for n in range(count)]


@pytest.fixture
def card(sqlite: SqliteArchive) -> CardHash:
    return sqlite.add(b"Gravity bends light. " * 10).hash


@pytest.fixture
def store(sqlite: SqliteArchive) -> VectorStore:
    return VectorStore(sqlite)


def test_what_is_put_comes_back_as_it_was_but_for_rounding(
    store: VectorStore, card: CardHash
) -> None:
    rows = rows_of(card, 5)
    store.put(MODEL, rows)
    found = list(store.walk(MODEL))
    assert [(one.card, one.start, one.end) for one in found] == [row[:3] for row in rows]
    assert [one.id for one in found] == sorted(one.id for one in found)
    for one, (_, _, _, vector) in zip(found, rows, strict=True):
        assert one.vector.dtype == np.float32
        np.testing.assert_allclose(one.vector, vector, atol=HALF)
    held = store.of_card(MODEL, card)
    assert list(held) == [(start, end) for _, start, end, _ in rows]
    np.testing.assert_array_equal(held[5, 10], found[1].vector)
    assert store.count(MODEL) == 5
    assert store.models() == [MODEL]


def test_an_archive_without_vectors_says_so(store: VectorStore, card: CardHash) -> None:
    assert store.models() == []
    assert store.count(MODEL) == 0
    assert list(store.walk(MODEL)) == []
    assert store.of_card(MODEL, card) == {}
    assert store.missing(MODEL, [(card, 0, 5)]) == [(card, 0, 5)]
    assert store.forget(MODEL) == 0
    store.put(MODEL, [])
    assert store.models() == []


def test_putting_again_changes_nothing_and_another_vector_takes_the_place(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    rows = rows_of(card, 3)
    store.put(MODEL, rows)
    first = [one.id for one in store.walk(MODEL)]
    store.put(MODEL, rows)
    assert [one.id for one in store.walk(MODEL)] == first
    changed = random_rows(1, seed=9)[0]
    store.put(MODEL, [(card, 5, 10, changed)])
    assert store.count(MODEL) == 3
    np.testing.assert_allclose(store.of_card(MODEL, card)[5, 10], changed, atol=HALF)


def test_models_do_not_meet(store: VectorStore, card: CardHash) -> None:
    store.put(MODEL, rows_of(card, 3))
    store.put(OTHER, rows_of(card, 2, seed=2))
    store.put(WIDER, rows_of(card, 4, seed=3, dimensions=12))
    assert [store.count(model) for model in (MODEL, OTHER, WIDER)] == [3, 2, 4]
    assert store.models() == [MODEL, OTHER, WIDER]
    assert {one.vector.shape for one in store.walk(WIDER)} == {(12,)}
    assert len(store.of_card(OTHER, card)) == 2


def test_what_is_missing_is_told_in_the_order_asked(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    other = sqlite.add(b"another card").hash
    store.put(MODEL, rows_of(card, 3))
    store.put(OTHER, rows_of(other, 1))
    asked = [(other, 0, 5), (card, 10, 15), (card, 15, 20), (card, 0, 4)]
    assert store.missing(MODEL, asked) == [asked[0], asked[2], asked[3]]
    assert store.missing(OTHER, iter(asked)) == asked[1:]


def test_a_walk_goes_on_where_the_last_one_ended(store: VectorStore, card: CardHash) -> None:
    rows = rows_of(card, 10)
    store.put(MODEL, rows[:4])
    store.put(OTHER, rows[4:6])
    store.put(MODEL, rows[6:])
    first = list(store.walk(MODEL, limit=3))
    rest = list(store.walk(MODEL, after=first[-1].id))
    assert [one.start for one in first + rest] == [row[1] for row in rows[:4] + rows[6:]]
    assert list(store.walk(MODEL, limit=0)) == []


def test_many_rows_are_written_and_read_in_pieces(
    store: VectorStore, card: CardHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "ROWS_PER_COMMIT", 7)
    monkeypatch.setattr(stored, "ROWS_PER_READ", 4)
    store.put(MODEL, rows_of(card, 40))
    assert [one.start for one in store.walk(MODEL)] == [5 * n for n in range(40)]
    assert len(list(store.walk(MODEL, limit=10))) == 10
    assert store.forget(MODEL) == 40
    assert store.count(MODEL) == 0
    assert store.models() == []


def test_vectors_go_when_their_card_goes(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    other = sqlite.add(b"another card").hash
    store.put(MODEL, rows_of(card, 3))
    store.put(MODEL, rows_of(other, 2))
    sqlite.write(lambda transaction: transaction.delete(card, reason="a wish"))
    assert store.count(MODEL) == 2
    assert store.of_card(MODEL, card) == {}
    assert {one.card for one in store.walk(MODEL)} == {other}


def test_vectors_of_a_card_that_went_meanwhile_are_left_out(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    gone = sqlite.add(b"gone soon").hash
    sqlite.write(lambda transaction: transaction.delete(gone, reason="a wish"))
    store.put(MODEL, [*rows_of(gone, 2), *rows_of(card, 1)])
    assert {one.card for one in store.walk(MODEL)} == {card}
    assert sqlite.verify().is_sound


def test_pruning_keeps_one_model(store: VectorStore, card: CardHash) -> None:
    store.put(MODEL, rows_of(card, 3))
    store.put(OTHER, rows_of(card, 2))
    store.put(WIDER, rows_of(card, 1, dimensions=12))
    assert store.prune(keep=OTHER) == 4
    assert store.models() == [OTHER]
    assert store.prune(keep=OTHER) == 0
    assert store.prune(keep=MODEL) == 2
    assert store.models() == []


def test_nothing_of_a_forgotten_vector_stays_in_the_files(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    rows = rows_of(card, 30)
    store.put(MODEL, rows)
    needles = [vector.astype("<f2").tobytes() for *_, vector in rows]

    def held() -> int:
        folder = sqlite.path.parent
        content = b"".join(path.read_bytes() for path in folder.glob("salon.db*"))
        return sum(needle in content for needle in needles)

    assert held() == 30
    store.forget(MODEL)
    assert held() == 0
    store.put(MODEL, rows)
    sqlite.write(lambda transaction: transaction.delete(card, reason="a wish"))
    sqlite.compact()
    assert held() == 0


def test_no_audit_event_and_no_export_speaks_of_vectors(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash, tmp_path: Path
) -> None:
    before = sqlite.checkpoint()
    plain = io.BytesIO()
    export_archive(sqlite, plain)
    store.put(MODEL, rows_of(card, 3))
    assert sqlite.checkpoint() == before
    with_vectors = io.BytesIO()
    export_archive(sqlite, with_vectors)
    assert len(with_vectors.getvalue()) == len(plain.getvalue())
    with SqliteArchive(tmp_path / "copy.db") as copy:
        with_vectors.seek(0)
        import_archive(copy, with_vectors)
        assert VectorStore(copy).models() == []
    store.forget(MODEL)
    assert sqlite.checkpoint() == before
    assert sqlite.verify().is_sound


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE passage_vector SET vector = x'0102' WHERE start = 5",
        "UPDATE passage_vector SET vector = 'sixteen letters!' WHERE start = 5",
        "UPDATE passage_vector SET stop = 100000 WHERE start = 5",
        "UPDATE passage_vector SET stop = 5 WHERE start = 5",
        "UPDATE passage_vector SET start = -1 WHERE start = 5",
        "UPDATE embedding_model SET dimensions = 9",
        "DELETE FROM card",
        "DELETE FROM embedding_model",
    ],
)
def test_verifying_finds_vectors_that_cannot_be(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash, damage: str
) -> None:
    store.put(MODEL, rows_of(card, 3))
    assert sqlite.verify().is_sound
    tamper(sqlite.path, damage)
    found = [problem for problem in sqlite.verify().problems if problem.kind == "bad_vector"]
    assert found
    assert card in found[0].message


def test_a_vector_of_the_wrong_length_is_not_returned(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    store.put(MODEL, rows_of(card, 3))
    tamper(sqlite.path, "UPDATE passage_vector SET vector = x'0102' WHERE start = 5")
    with pytest.raises(ArchiveCorrupt):
        list(store.walk(MODEL))
    with pytest.raises(ArchiveCorrupt):
        store.of_card(MODEL, card)


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(9, dtype=np.float32),
        np.zeros((1, 8), dtype=np.float32),
        np.full(8, np.nan, dtype=np.float32),
        np.full(8, 1e6, dtype=np.float32),
    ],
    ids=["too long", "a matrix", "not a number", "too large"],
)
def test_what_is_no_vector_is_refused_whole(
    store: VectorStore, card: CardHash, vector: Vectors
) -> None:
    with pytest.raises(InvalidInput):
        store.put(MODEL, [*rows_of(card, 1), (card, 5, 10, vector)])
    assert store.count(MODEL) == 0


def test_an_archive_opened_for_reading_keeps_what_it_has(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash
) -> None:
    store.put(MODEL, rows_of(card, 3))
    with SqliteArchive(sqlite.path, read_only=True) as reader:
        assert VectorStore(reader).count(MODEL) == 3
        with pytest.raises(StorageReadOnly):
            VectorStore(reader).put(MODEL, rows_of(card, 1))


def test_writers_and_readers_go_on_while_vectors_come_in(
    store: VectorStore, sqlite: SqliteArchive, card: CardHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "ROWS_PER_COMMIT", 10)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for n in range(20):
                sqlite.add(f"card {number} {n}".encode())
                list(store.walk(MODEL))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    store.put(MODEL, rows_of(card, 40))
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.count(MODEL) == 40
    assert sqlite.stats().cards == 61
    assert sqlite.verify().is_sound


def test_an_archive_from_before_gets_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("salon.archive.migrations.MIGRATIONS", MIGRATIONS[:4])
        with SqliteArchive(tmp_path / "salon.db") as archive:
            card = archive.add(b"Gravity bends light. " * 10).hash
            head = archive.checkpoint()
    with SqliteArchive(tmp_path / "salon.db") as archive:
        VectorStore(archive).put(MODEL, rows_of(card, 2))
        assert VectorStore(archive).count(MODEL) == 2
        assert archive.checkpoint() == head
        assert archive.verify().is_sound


@given(
    script=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([MODEL, OTHER])),
        max_size=20,
    )
)
def test_any_sequence_is_kept_as_in_a_dictionary(
    script: Sequence[tuple[int, int, EmbeddingModel]],
) -> None:
    held: dict[tuple[EmbeddingModel, CardHash, int], int] = {}
    pool = random_rows(len(script) + 1, seed=5)
    with scratch_archive() as archive:
        cards = [added.hash for added in archive.add_many([b"card %d" % n * 9 for n in range(4)])]
        store = VectorStore(archive)
        for step, (owner, place, model) in enumerate(script):
            if place == 4:
                assert store.forget(model) == sum(key[0] == model for key in held)
                held = {key: value for key, value in held.items() if key[0] != model}
            else:
                store.put(model, [(cards[owner], place, place + 5, pool[step])])
                held[model, cards[owner], place] = step
        for model in (MODEL, OTHER):
            expected = {key[1:]: pool[value] for key, value in held.items() if key[0] == model}
            found = {(one.card, one.start): one.vector for one in store.walk(model)}
            assert found.keys() == expected.keys()
            for key, vector in found.items():
                np.testing.assert_allclose(vector, expected[key], atol=HALF)
