"""Servers that go away, refuse or are set up wrongly; and passwords, which nobody gets to see."""

import logging
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from salon.core.errors import InvalidSettings, ProviderFailed, StorageFull, StorageReadOnly
from salon.core.indexes import PassageId
from salon.providers.vectors.pgvector_index import PgvectorIndex
from salon.providers.vectors.pgvector_tables import take_turn
from salon.providers.vectors.postgres_link import Connection, PostgresLink
from tests.postgres import (
    address_of,
    fresh_database,
    running_postgres,
    schema_for,
    start_postgres,
    stop_postgres,
)
from tests.retrieval.dense.backends import MODEL, card, fill, unit_rows

QUERY = unit_rows(1, seed=99)[0]
SECRET = "open-sesame"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, because a socket will be in it."""
    made = Path(tempfile.mkdtemp(prefix="salon-pg-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database that a test may spoil."""
    with fresh_database() as address:
        yield address


@pytest.fixture
def guest(database: str) -> Iterator[str]:
    """The address of the same database for somebody without any rights."""
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE ROLE guest LOGIN")
        yield database.replace("postgres@", "guest@")
        admin.execute("DROP OWNED BY guest")
        admin.execute("DROP ROLE guest")


def test_an_index_outlives_the_fall_of_its_server(folder: Path) -> None:
    process = start_postgres(folder)
    index = PgvectorIndex(address_of(folder), MODEL)
    rows = fill(index, 6)
    stop_postgres(process, signal.SIGQUIT)
    process = start_postgres(folder)
    assert index.search(rows[2], 1).ids.tolist() == [2]
    stop_postgres(process, signal.SIGQUIT)
    process = start_postgres(folder)
    index.add([PassageId(70)], [card(70)], QUERY[None])
    index.commit()
    assert index.count() == 7
    stop_postgres(process)
    for _ in range(2):
        with pytest.raises(ProviderFailed, match="no connection to database postgres"):
            index.count()
    with pytest.raises(ProviderFailed, match="no connection"):
        PgvectorIndex(address_of(folder), MODEL)
    process = start_postgres(folder)
    assert index.count() == 7
    index.close()
    stop_postgres(process)


def test_what_waits_for_a_commit_survives_a_server_that_was_away(folder: Path) -> None:
    process = start_postgres(folder)
    index = PgvectorIndex(address_of(folder), MODEL)
    fill(index, 4)
    index.add([PassageId(70)], [card(70)], QUERY[None])
    stop_postgres(process)
    with pytest.raises(ProviderFailed):
        index.commit()
    process = start_postgres(folder)
    assert index.count() == 4
    index.commit()
    assert index.count() == 5
    index.close()
    stop_postgres(process)


def test_nothing_of_what_was_removed_is_in_the_files_after_compacting(folder: Path) -> None:
    def found_in_files(vector: bytes) -> bool:
        with psycopg.connect(address_of(folder), autocommit=True) as admin:
            admin.execute("CHECKPOINT")
        base = folder / "data" / "base"
        return any(vector in path.read_bytes() for path in base.rglob("*") if path.is_file())

    with (
        running_postgres(folder) as address,
        PgvectorIndex(address, MODEL) as index,
    ):
        rows = fill(index, 40)
        gone, kept = rows[0].tobytes(), rows[30].tobytes()
        assert found_in_files(gone)
        index.remove([card(0)])
        index.commit()
        index.compact()
        assert not found_in_files(gone)
        assert found_in_files(kept)


def test_a_server_without_the_extension_is_told_what_is_missing(database: str) -> None:
    with pytest.raises(ProviderFailed, match="does not have the extension vector") as caught:
        PgvectorIndex(f"{database}&options=-cextension_control_path%3D/nowhere", MODEL)
    assert "install pgvector" in (caught.value.hint or "")


def test_a_role_that_may_not_add_the_extension_is_told_who_may(database: str, guest: str) -> None:
    with pytest.raises(ProviderFailed, match="may not add the extension") as caught:
        PgvectorIndex(guest, MODEL)
    assert "administrator" in (caught.value.hint or "")
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    with pytest.raises(ProviderFailed, match="permission denied") as caught:
        PgvectorIndex(guest, MODEL)
    assert "grant" in (caught.value.hint or "")
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA guest AUTHORIZATION guest")
    with PgvectorIndex(guest, MODEL) as index:
        fill(index, 3)
        assert index.count() == 3


def test_an_extension_that_is_too_old_is_refused(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
        admin.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    with pytest.raises(ProviderFailed, match=r"version 0\.7\.4; 0\.8 or later"):
        PgvectorIndex(database, MODEL)


def test_an_extension_out_of_sight_is_pointed_at(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA hidden")
        admin.execute("CREATE EXTENSION vector SCHEMA hidden")
    with pytest.raises(ProviderFailed, match="in the schema hidden") as caught:
        PgvectorIndex(database, MODEL)
    assert "search_path%3DYOURS,hidden" in (caught.value.hint or "")
    with PgvectorIndex(f"{database}&options=-csearch_path%3Dpublic,hidden", MODEL) as index:
        fill(index, 3)
        assert index.count() == 3


def test_writing_where_one_may_only_read_is_refused_by_name(tmp_path: Path) -> None:
    address = schema_for(tmp_path)
    PgvectorIndex(address, MODEL).close()
    read_only = address.replace("-csearch", "-cdefault_transaction_read_only%3Don%20-csearch")
    with PgvectorIndex(read_only, MODEL) as index, pytest.raises(StorageReadOnly) as caught:
        fill(index, 3)
    assert "primary" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/salon",
        f"postgresql://127.0.0.1:1/salon?user=me&password={SECRET}",
        f"postgresql://me:{SECRET.replace('-', '%2D')}@nowhere.invalid:1/salon",
    ],
)
def test_no_password_is_in_an_error_a_log_or_a_representation(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ProviderFailed) as caught:
        PgvectorIndex(address, MODEL)
    link = PostgresLink(address)
    seen = f"{caught.value.as_json()} {caught.value!r} {link!r} {caplog.text}"
    assert "salon" in str(caught.value)
    assert SECRET not in seen
    assert SECRET.replace("-", "%2D") not in seen


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:p@{SECRET}@localhost/salon",
        f"postgresql://me:{SECRET}@localhost/salon?{SECRET}=1",
        f"postgresql://me:{SECRET}%zz@localhost/salon",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(address: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        PgvectorIndex(address, MODEL)
    assert SECRET not in str(caught.value.as_json())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "%40" in (caught.value.hint or "")


def test_work_that_is_interrupted_does_not_leave_its_connection_for_others(database: str) -> None:
    link = PostgresLink(database)

    def stop_in_the_middle(connection: Connection) -> None:
        connection.execute("BEGIN")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        link.run(stop_in_the_middle)
    status = link.run(lambda connection: connection.info.transaction_status)
    assert status == psycopg.pq.TransactionStatus.IDLE
    link.close()


def test_connections_are_kept_for_the_next_one(database: str) -> None:
    link = PostgresLink(database)
    first = link.run(lambda connection: connection.info.backend_pid)
    assert link.run(lambda connection: connection.info.backend_pid) == first
    link.close()


def test_a_connection_that_is_out_when_all_is_closed_is_closed_on_its_return(
    database: str,
) -> None:
    link = PostgresLink(database)

    def close_meanwhile(connection: Connection) -> Connection:
        link.close()
        return connection

    assert link.run(close_meanwhile).closed


def test_a_mistake_of_ours_is_not_taken_for_a_server_that_went_away(database: str) -> None:
    link = PostgresLink(database)
    first = link.run(lambda connection: connection.info.backend_pid)
    with pytest.raises(ProviderFailed, match="failed: the query has 1 placeholder"):
        link.run(lambda connection: connection.execute("SELECT %s", ()))
    assert link.run(lambda connection: connection.info.backend_pid) == first
    link.close()


def test_a_full_disk_of_the_server_is_told_by_its_name(database: str) -> None:
    link = PostgresLink(database)
    with pytest.raises(StorageFull, match="no room left"):
        link.run(lambda c: c.execute("DO $$ BEGIN RAISE SQLSTATE '53100'; END $$"))
    link.close()


def test_a_commit_is_on_disk_and_takes_its_time_whatever_the_server_is_set_to(
    database: str,
) -> None:
    address = f"{database}&options=-csynchronous_commit%3Doff%20-cstatement_timeout%3D100"
    link = PostgresLink(address)

    def look(connection: Connection) -> list[str]:
        with connection.transaction():
            take_turn(connection)
            names = ("synchronous_commit", "statement_timeout")
            return [connection.execute(f"SHOW {n}").fetchall()[0][0] for n in names]

    assert link.run(look) == ["on", "0"]
    link.close()
