"""The tables of a vector index in PostgreSQL: how they are made, filled, moved and dropped.

Functions over an open connection; which of them belong together in a transaction, and when, is
decided by `PgvectorIndex`.
"""

import struct
from dataclasses import dataclass

import numpy as np
import psycopg
from psycopg.sql import SQL, Identifier, Literal

from salon.core.embedding import EmbeddingModel, Vector
from salon.core.errors import ProviderFailed
from salon.core.hashing import CardHash
from salon.core.indexes import PassageId
from salon.providers.vectors.pending import Change
from salon.providers.vectors.postgres_link import Connection

MOST_INDEXED_DIMENSIONS = 2000
"""What pgvector can build a graph for; longer vectors are always scanned."""

_NEEDED_VERSION = (0, 8)  # walks that go on until a filter has let enough through
_ROWS_PER_WRITE = 256

_REGISTRY = """
CREATE TABLE IF NOT EXISTS salon_embedding_model (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address text NOT NULL,
    fingerprint text NOT NULL,
    dimensions integer NOT NULL
)
"""
# Where the server is set to confirm commits before they are on disk, it is asked not to: an index
# whose last commits are lost would never know. Building a graph may take as long as it takes.
_TURN = """
SELECT pg_advisory_xact_lock(
        hashtextextended('salon_embedding_model in ' || current_schema(), 0)),
    set_config('synchronous_commit', replace(
        current_setting('synchronous_commit'), 'off', 'on'), true),
    set_config('statement_timeout', '0', true)
"""
_EXTENSION = """
SELECT extversion, extnamespace::regnamespace::text, to_regtype('vector') IS NOT NULL
FROM pg_extension WHERE extname = 'vector'
"""
_TABLE = """
CREATE TABLE {table} (
    id bigint PRIMARY KEY,
    card text NOT NULL,
    vector vector({dimensions}) NOT NULL
)
"""
_GRAPH = """
CREATE INDEX ON {table} USING hnsw (vector vector_ip_ops) WITH (m = 16, ef_construction = 128)
"""
# One process builds: shared memory for helpers is scarce where servers run in containers.
_GRAPH_SETTINGS = """
SELECT set_config('max_parallel_maintenance_workers', '0', true),
    set_config('maintenance_work_mem', greatest(
        pg_size_bytes(current_setting('maintenance_work_mem')), pg_size_bytes('256MB')
    ) / 1024 || 'kB', true)
"""
_HAS_GRAPH = """
SELECT EXISTS (
    SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    WHERE indrelid = to_regclass(%s) AND amname = 'hnsw'
)
"""
_COPY_START = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = struct.pack(">h", -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldVectors:
    """The vectors of which model are held in which table."""

    number: int
    model: EmbeddingModel

    @property
    def name(self) -> str:
        """Return the table's name."""
        return f"salon_passage_vector_{self.number}"

    @property
    def table(self) -> Identifier:
        """Return the table's name as a part of a statement."""
        return Identifier(self.name)


def take_turn(connection: Connection) -> None:
    """Wait until no other writer of this schema is in a transaction."""
    connection.execute(_TURN)


def ensure_registry(connection: Connection) -> None:
    """Make what every table needs, by one server at a time."""
    found = connection.execute("SELECT to_regclass('salon_embedding_model')").fetchone()
    if found != (None,):
        return
    with connection.transaction():
        # Wider than a writer's turn: the extension belongs to the database, not to a schema.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('salon', 0))")
        _ensure_extension(connection)
        connection.execute(_REGISTRY)


def _ensure_extension(connection: Connection) -> None:
    hint = "install pgvector on the server, then run CREATE EXTENSION vector as its administrator"
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise ProviderFailed(
            "this role may not add the extension vector to the database", hint=hint
        ) from error
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise ProviderFailed(
            "the PostgreSQL server does not have the extension vector", hint=hint
        ) from error
    ((version, schema, visible),) = connection.execute(_EXTENSION).fetchall()
    if not visible:
        raise ProviderFailed(
            f"the extension vector is in the schema {schema}, which is not on the search path",
            hint=f"add options=-csearch_path%3DYOURS,{schema} to the address",
        )
    if tuple(int(part) for part in version.split(".")[:2]) < _NEEDED_VERSION:
        raise ProviderFailed(
            f"the extension vector is of version {version}; 0.8 or later is needed",
            hint="install a newer pgvector, then run ALTER EXTENSION vector UPDATE",
        )


def find_held(connection: Connection) -> HeldVectors | None:
    """Return which vectors are held, `None` where nobody ever committed any."""
    row = connection.execute(
        "SELECT id, address, fingerprint, dimensions FROM salon_embedding_model"
    ).fetchone()
    if row is None:
        return None
    number, address, fingerprint, dimensions = row
    model = EmbeddingModel(address=address, fingerprint=fingerprint, dimensions=dimensions)
    return HeldVectors(number=number, model=model)


def create_table(connection: Connection, model: EmbeddingModel) -> HeldVectors:
    """Make an empty table for the vectors of a model."""
    ((number,),) = connection.execute(
        "INSERT INTO salon_embedding_model (address, fingerprint, dimensions)"
        " VALUES (%s, %s, %s) RETURNING id",
        (model.address, model.fingerprint, model.dimensions),
    ).fetchall()
    held = HeldVectors(number=number, model=model)
    connection.execute(SQL(_TABLE).format(table=held.table, dimensions=Literal(model.dimensions)))
    # What the planner would note about the column is vectors, and they would outlive the table.
    connection.execute(
        SQL("ALTER TABLE {} ALTER COLUMN vector SET STATISTICS 0").format(held.table)
    )
    connection.execute(SQL("CREATE INDEX ON {} (card)").format(held.table))
    return held


def drop_table(connection: Connection, held: HeldVectors) -> None:
    """Forget a table; from here to the end of the transaction its readers have to wait."""
    connection.execute("DELETE FROM salon_embedding_model WHERE id = %s", (held.number,))
    connection.execute(SQL("DROP TABLE IF EXISTS {}").format(held.table))


def copy_table(connection: Connection, old: HeldVectors, new: HeldVectors) -> None:
    """Write the rows of one table into another."""
    connection.execute(
        SQL("INSERT INTO {} SELECT * FROM {} ORDER BY id").format(new.table, old.table)
    )


def apply_change(connection: Connection, held: HeldVectors, change: Change) -> None:
    """Delete what goes or is replaced, then write the rows as one stream."""
    connection.execute(
        SQL("DELETE FROM {} WHERE card = ANY(%s) OR id = ANY(%s::bigint[])").format(held.table),
        (change.removed_cards, [*change.removed_ids, *change.ids]),
    )
    statement = SQL("COPY {} (id, card, vector) FROM STDIN (FORMAT BINARY)").format(held.table)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_COPY_START)
        for start in range(0, len(change.ids), _ROWS_PER_WRITE):
            copy.write(_binary_rows(change, start, start + _ROWS_PER_WRITE))
        copy.write(_COPY_END)


def _binary_rows(change: Change, start: int, stop: int) -> bytes:
    """Return rows as COPY wants them: each field after its length, biggest byte first."""
    dimensions = change.rows.shape[1]
    vector_start = struct.pack(">ihh", 4 + 4 * dimensions, dimensions, 0)
    vectors = change.rows[start:stop].astype(">f4")
    parts: list[bytes] = []
    for number, card, vector in zip(
        change.ids[start:stop], change.cards[start:stop], vectors, strict=True
    ):
        name = card.encode()
        parts += (struct.pack(">hiqi", 3, 8, number, len(name)), name, vector_start)
        parts.append(vector.tobytes())
    return b"".join(parts)


def read_vectors(
    connection: Connection, held: HeldVectors, ids: list[PassageId]
) -> list[tuple[PassageId, Vector]]:
    """Return the vectors of those of these passages that are there."""
    statement = SQL("SELECT id, vector FROM {} WHERE id = ANY(%s::bigint[])").format(held.table)
    rows = connection.execute(statement, (ids,), binary=True).fetchall()
    # A vector is sent as two short numbers and then its floats, biggest byte first.
    return [
        (number, np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32))
        for number, sent in rows
    ]


def count_passages(connection: Connection, held: HeldVectors) -> int:
    """Count the rows of a table."""
    ((count,),) = connection.execute(SQL("SELECT count(*) FROM {}").format(held.table)).fetchall()
    return int(count)


def has_more_than(
    connection: Connection, held: HeldVectors, count: int, cards: list[CardHash] | None = None
) -> bool:
    """Tell whether there are more passages than `count`, without counting further."""
    statement = SQL(
        "SELECT count(*) > %(count)s::bigint"
        " FROM (SELECT FROM {} WHERE {} LIMIT %(count)s::bigint + 1) AS counted"
    ).format(held.table, allowed(cards))
    ((more,),) = connection.execute(statement, {"count": count, "cards": cards}).fetchall()
    return bool(more)


def allowed(cards: list[CardHash] | None) -> SQL:
    """Return the condition that passages of these cards fulfil; the parameter is `cards`."""
    return SQL("TRUE") if cards is None else SQL("card = ANY(%(cards)s)")


def has_graph(connection: Connection, held: HeldVectors) -> bool:
    """Tell whether a table has an HNSW index, whoever built it."""
    return connection.execute(_HAS_GRAPH, (held.name,)).fetchone() == (True,)


def build_graph(connection: Connection, held: HeldVectors) -> None:
    """Build an HNSW index; readers go on, writers wait."""
    connection.execute(_GRAPH_SETTINGS)
    connection.execute(SQL(_GRAPH).format(table=held.table))
    connection.execute(SQL("ANALYZE {}").format(held.table))


def vacuum(connection: Connection, held: HeldVectors) -> None:
    """Free the places of deleted rows, in the table and in its graph, however few they are."""
    connection.execute(SQL("VACUUM (INDEX_CLEANUP ON) {}").format(held.table))
