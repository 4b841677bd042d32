"""The index in PostgreSQL, where it differs from others: transactions, graphs, many servers."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest

from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.errors import ModelMismatch, ProviderFailed
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.providers.vectors import pgvector_search, pgvector_tables
from salon.providers.vectors.pgvector_index import PgvectorIndex
from tests.postgres import schema_for
from tests.retrieval.dense.backends import MODEL, RETRAINED, card, fill, unit_rows

QUERY = unit_rows(1, seed=99)[0]


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A schema of its own for each test."""
    return schema_for(tmp_path)


@pytest.fixture
def index(address: str) -> Iterator[PgvectorIndex]:
    """An empty index."""
    with PgvectorIndex(address, MODEL) as opened:
        yield opened


def tables_in(address: str) -> list[str]:
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        ).fetchall()
    return [name for (name,) in rows]


def test_others_see_a_change_after_its_commit_and_not_before(address: str) -> None:
    with PgvectorIndex(address, MODEL) as writer, PgvectorIndex(address, MODEL) as reader:
        fill(writer, 4)
        writer.add([PassageId(90)], [card(90)], QUERY[None])
        writer.remove([card(0)])
        assert reader.count() == writer.count() == 4
        assert 90 not in reader.search(QUERY, 10).ids
        writer.commit()
        assert reader.count() == 3
        assert reader.search(QUERY, 1).ids.tolist() == [90]


def test_a_commit_that_fails_leaves_the_old_state_and_can_be_made_again(address: str) -> None:
    with PgvectorIndex(address, MODEL) as index:
        fill(index, 4)
        with psycopg.connect(address, autocommit=True) as admin:
            admin.execute("ALTER TABLE salon_passage_vector_1 ADD CHECK (id < 100) NOT VALID")
            index.add([PassageId(1), PassageId(200)], [card(7), card(7)], unit_rows(2, seed=8))
            index.remove([card(1)])
            with pytest.raises(ProviderFailed, match="violates check constraint"):
                index.commit()
            assert index.count() == 4
            assert index.search(QUERY, 10, cards=[card(7)]).ids.tolist() == []
            admin.execute(
                "ALTER TABLE salon_passage_vector_1 DROP CONSTRAINT salon_passage_vector_1_id_check"
            )
        index.commit()
        assert sorted(index.search(QUERY, 10).ids.tolist()) == [0, 1, 200]


def test_servers_may_start_and_write_together(address: str) -> None:
    def work(number: int) -> int:
        with PgvectorIndex(address, MODEL) as index:
            for part in range(5):
                fill(index, 10, first=1000 * number + 10 * part, seed=number)
                fill(index, 5, first=0, seed=part)  # the same passages, by everyone
            return len(index.search(QUERY, 5).ids)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(1, 7))) == [5] * 6
    with PgvectorIndex(address, MODEL) as index:
        assert index.count() == 6 * 50 + 5
    assert tables_in(address) == ["salon_embedding_model", "salon_passage_vector_1"]


def test_readers_go_on_while_tables_are_moved_and_replaced(address: str) -> None:
    writer = PgvectorIndex(address, MODEL)
    fill(writer, 60)
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            with PgvectorIndex(address, MODEL, exact_up_to=40) as reader:
                while not done.is_set():
                    assert len(reader.search(QUERY, 5).ids) == 5
                    assert len(reader.search(QUERY, 5, cards=[card(n) for n in range(40)]).ids) == 5
                    assert len(reader.vectors([PassageId(4)])[0]) == 1
                    assert reader.count() == 60
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        writer.compact()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(tables_in(address)) == 2
    writer.close()


def test_an_index_cleared_for_another_model_is_refused_by_those_who_had_it_open(
    address: str,
) -> None:
    with PgvectorIndex(address, MODEL) as old, PgvectorIndex(address, RETRAINED) as new:
        fill(old, 4)
        old.add([PassageId(50)], [card(50)], QUERY[None])
        new.clear()
        with pytest.raises(ModelMismatch):
            old.search(QUERY, 1)
        with pytest.raises(ModelMismatch):
            old.commit()
        with pytest.raises(ModelMismatch):
            old.compact()
        assert new.count() == 0
    assert tables_in(address) == ["salon_embedding_model", "salon_passage_vector_2"]


def test_a_table_that_somebody_dropped_is_reported_until_the_index_is_cleared(
    address: str, index: PgvectorIndex
) -> None:
    fill(index, 4)
    with psycopg.connect(address) as admin:
        admin.execute("DROP TABLE salon_passage_vector_1")
    with pytest.raises(ProviderFailed, match="salon_passage_vector_1"):
        index.count()
    index.clear()
    assert index.count() == 0


def test_compacting_what_is_not_there_yet_does_nothing(address: str, index: PgvectorIndex) -> None:
    index.compact()
    assert tables_in(address) == ["salon_embedding_model"]


def test_an_index_that_somebody_reads_only_needs_no_right_to_write(address: str) -> None:
    with PgvectorIndex(address, MODEL) as index:
        fill(index, 4)
    read_only = address.replace("-csearch", "-cdefault_transaction_read_only%3Don%20-csearch")
    with PgvectorIndex(read_only, MODEL) as index:
        assert len(index.search(QUERY, 10).ids) == 4


# Graphs

WIDE = EmbeddingModel(address="test:graph", fingerprint="d" * 64, dimensions=48)
MANY = 3000
PER_CARD = 5


def best(rows: Vectors, query: Vectors, limit: int, allowed: set[CardHash] | None) -> set[int]:
    scores = rows @ query
    if allowed is not None:
        scores[[card(n // PER_CARD) not in allowed for n in range(len(rows))]] = -9
    return set(np.argsort(-scores)[:limit].tolist())


def recall(
    index: PgvectorIndex, rows: Vectors, limit: int, allowed: set[CardHash] | None = None
) -> float:
    hits = 0
    queries = unit_rows(20, seed=77, dimensions=WIDE.dimensions)
    for query in queries:
        found = index.search(query, limit, cards=allowed).ids.tolist()
        assert len(found) == limit
        hits += len(best(rows, query, limit, allowed) & set(found))
    return hits / limit / len(queries)


def explained(address: str, held: pgvector_tables.HeldVectors, *, cards: bool) -> str:
    question = pgvector_search.Question(
        vector=str(unit_rows(1, seed=5, dimensions=WIDE.dimensions)[0].tolist()),
        limit=10,
        cards=[card(n) for n in range(500)] if cards else None,
    )
    statement = psycopg.sql.SQL("EXPLAIN " + pgvector_search._WALK).format(
        table=held.table, allowed=pgvector_tables.allowed(question.cards)
    )
    with psycopg.connect(address) as connection:
        rows = connection.execute(statement, question.parameters).fetchall()
    return "\n".join(line for (line,) in rows)


def test_many_passages_are_found_by_a_graph_with_a_recall_above_99_percent(address: str) -> None:
    # So that the planner takes the graph also where it would not be worth it yet.
    address = address.replace("-csearch", "-cenable_seqscan%3Doff%20-cenable_sort%3Doff%20-csearch")
    with PgvectorIndex(address, WIDE, exact_up_to=400) as index:
        rows = fill(index, MANY, per_card=PER_CARD)
        held = index._find_own()
        assert held is not None
        assert "vector_idx" in explained(address, held, cards=False)
        half = {card(n) for n in range(0, MANY // PER_CARD, 2)}
        few = {card(n) for n in range(3)}
        assert recall(index, rows, 10) >= 0.99
        assert recall(index, rows, 50) >= 0.99
        assert recall(index, rows, 10, half) >= 0.99
        assert recall(index, rows, 10, few) == 1.0
        assert recall(index, rows, 300, half) == 1.0  # too many for the graph
        index.remove([card(n) for n in range(0, MANY // PER_CARD, 3)])
        index.commit()
        index.compact()
        left = {card(n) for n in range(MANY // PER_CARD) if n % 3}
        assert index.count() == len(left) * PER_CARD
        assert index._find_own() == held  # a table with a graph stays where it is
        assert recall(index, rows, 10, left) >= 0.99
        fill(index, 10, first=MANY, seed=3)
        assert index.count() == len(left) * PER_CARD + 10


def test_vacuuming_overwrites_removed_vectors_in_the_graph(address: str) -> None:
    with PgvectorIndex(address, WIDE, exact_up_to=20) as index:
        rows = fill(index, 2500)  # so many that a vacuum of its own accord would leave two be
        name = index._find_own().name  # type: ignore[union-attr]

        def is_in_graph(vector: bytes) -> bool:
            with psycopg.connect(address, autocommit=True) as admin:
                admin.execute("CHECKPOINT")
                ((graph,),) = admin.execute(
                    "SELECT pg_read_binary_file(pg_relation_filepath(%s))", (f"{name}_vector_idx",)
                ).fetchall()
            return vector in graph

        assert is_in_graph(rows[0].tobytes())
        index.remove([card(0)])
        index.commit()
        index.compact()
        assert not is_in_graph(rows[0].tobytes())
        assert is_in_graph(rows[30].tobytes())


def test_a_walk_that_finds_too_few_gives_way_to_a_scan(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = pgvector_search._WALK_SETTINGS
    tired = settings.replace("'relaxed_order'", "'off'").replace("%s", "least(%s, '1')")
    address = address.replace("-csearch", "-cenable_seqscan%3Doff%20-cenable_sort%3Doff%20-csearch")
    with PgvectorIndex(address, MODEL, exact_up_to=20) as index:
        rows = fill(index, 200, per_card=PER_CARD)
        monkeypatch.setattr(pgvector_search, "_WALK_SETTINGS", tired)
        nearest = np.argsort(-(rows @ QUERY))[:10].tolist()
        assert index.search(QUERY, 10).ids.tolist() == nearest


def test_vectors_too_long_for_a_graph_are_scanned(address: str) -> None:
    long = EmbeddingModel(address="test:long", fingerprint="e" * 64, dimensions=2500)
    with PgvectorIndex(address, long, exact_up_to=1) as index:
        rows = fill(index, 6)
        assert index.search(rows[3], 1).ids.tolist() == [3]
        _, found = index.vectors([PassageId(2)])
        assert np.array_equal(found[0], rows[2])
