"""Finding the nearest vectors in PostgreSQL, by a scan or by an HNSW graph.

A scan is exact. A walk through the graph is not, so it looks at many more candidates than wanted;
where a filter leaves it too few it gives way to a scan.
"""

from dataclasses import dataclass

from psycopg.sql import SQL

from salon.core.hashing import CardHash
from salon.providers.vectors.pgvector_tables import (
    HeldVectors,
    allowed,
    has_graph,
    has_more_than,
)
from salon.providers.vectors.postgres_link import Connection

_MOST_CANDIDATES = 1000  # what pgvector takes as `hnsw.ef_search`

_SCAN = """
SELECT id, -(vector <#> %(query)s::vector) AS score FROM {table} WHERE {allowed}
ORDER BY score DESC, id LIMIT %(limit)s
"""
# Only an order by the bare operator can be had from the graph, and only nearly: what it hands out
# is ordered once more. Without a graph the very same statement is a scan.
_WALK = """
WITH near AS MATERIALIZED (
    SELECT id, vector <#> %(query)s::vector AS distance FROM {table} WHERE {allowed}
    ORDER BY vector <#> %(query)s::vector, id LIMIT %(candidates)s
)
SELECT id, -distance FROM near ORDER BY distance, id LIMIT %(limit)s
"""
_WALK_SETTINGS = """
SELECT set_config('hnsw.ef_search', %s, true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '200000', true)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for: the vector as pgvector reads it, how many, and in which cards."""

    vector: str
    limit: int
    cards: list[CardHash] | None

    @property
    def candidates(self) -> int:
        """Return how many passages a walk compares to be sure enough of the best."""
        return max(400, 6 * self.limit)

    @property
    def parameters(self) -> dict[str, object]:
        """Return the parameters of a statement."""
        return {
            "query": self.vector,
            "limit": self.limit,
            "cards": self.cards,
            "candidates": self.candidates,
        }


def find_nearest(
    connection: Connection, held: HeldVectors, question: Question, *, exact_up_to: int
) -> list[tuple[int, float]]:
    """Return ids and scores, best first."""
    if _must_scan(connection, held, question, exact_up_to):
        return _scan(connection, held, question)
    found = _walk(connection, held, question)
    if len(found) < question.limit:
        return _scan(connection, held, question)
    return found


def _must_scan(
    connection: Connection, held: HeldVectors, question: Question, exact_up_to: int
) -> bool:
    if question.candidates > _MOST_CANDIDATES:
        return True
    if question.cards is None:
        return False  # without a graph a walk is a scan
    return not (
        has_graph(connection, held) and has_more_than(connection, held, exact_up_to, question.cards)
    )


def _scan(connection: Connection, held: HeldVectors, question: Question) -> list[tuple[int, float]]:
    statement = SQL(_SCAN).format(table=held.table, allowed=allowed(question.cards))
    return connection.execute(statement, question.parameters, binary=True).fetchall()


def _walk(connection: Connection, held: HeldVectors, question: Question) -> list[tuple[int, float]]:
    statement = SQL(_WALK).format(table=held.table, allowed=allowed(question.cards))
    # Everything travels at once; the settings end with the transaction.
    with connection.pipeline(), connection.transaction():
        connection.execute(_WALK_SETTINGS, (str(question.candidates),))
        cursor = connection.execute(statement, question.parameters, binary=True)
    return cursor.fetchall()
