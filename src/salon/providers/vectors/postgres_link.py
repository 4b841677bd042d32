"""Connections to a PostgreSQL server: lent to one thread at a time, replaced when they break.

Not a pool with limits and not an ORM: as many connections as threads work at the same moment, kept
for the next one. It is made for work that may be done twice, since a server that goes away does
not say how far it came.

Invariant: no message, log line or representation from here holds a password.
"""

import threading
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from salon.core.errors import (
    InvalidSettings,
    ProviderFailed,
    SalonError,
    StorageFull,
    StorageReadOnly,
)

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[TupleRow]

# Without these a server that vanished without a word is waited for without end.
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class PostgresLink:
    """The way to one database."""

    def __init__(self, address: str) -> None:
        given = _parse(address)
        self._password = str(given.get("password") or "")
        self.place = _describe(given)
        self._conninfo = make_conninfo(
            **{"application_name": "salon", **_PATIENCE, **given}  # type: ignore[arg-type]
        )
        self._lock = threading.Lock()
        self._kept: list[Connection] = []
        self._keeps = True

    def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` makes of a connection in autocommit mode.

        It is done once more, with a fresh connection, if one that was kept turns out to be dead.
        """
        try:
            kept = self._take_kept()
            if kept is not None:
                try:
                    return self._lend(kept, work)
                except psycopg.Error as error:
                    if not _went_away(error):
                        raise
                    self._drop_kept()  # after a restart of the server they are all dead
            return self._lend(self._connect(), work)
        except psycopg.Error as error:
            raise self._translate(error) from error

    def close(self) -> None:
        """Keep no connections any more; one that is still lent is closed when it comes back."""
        self._keeps = False
        self._drop_kept()

    def _drop_kept(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()

    def _lend(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        try:
            return work(connection)
        finally:
            idle = psycopg.pq.TransactionStatus.IDLE
            if self._keeps and connection.info.transaction_status == idle:
                with self._lock:
                    self._kept.append(connection)
            else:
                connection.close()

    def _take_kept(self) -> Connection | None:
        with self._lock:
            return self._kept.pop() if self._kept else None

    def _connect(self) -> Connection:
        # A pooler between us and the server gives each transaction another session, so nothing
        # may be prepared in one.
        return psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None)

    def _translate(self, error: psycopg.Error) -> SalonError:
        said = self._without_password(error.diag.message_primary or str(error).strip())
        match error:
            case psycopg.errors.DiskFull():
                return StorageFull(f"{self.place} has no room left: {said}")
            case psycopg.errors.ReadOnlySqlTransaction():
                return StorageReadOnly(
                    f"{self.place} may only be read: {said}",
                    hint="give the address of the primary server",
                )
            case psycopg.errors.InsufficientPrivilege():
                return ProviderFailed(
                    f"{self.place} does not permit it: {said}",
                    hint="grant the role the right to create tables in its schema",
                )
            case _ if _went_away(error):
                return ProviderFailed(
                    f"no connection to {self.place}: {said}",
                    hint="is the server running, and are address, user and password right?",
                )
            case _:
                return ProviderFailed(f"{self.place} failed: {said}")

    def _without_password(self, text: str) -> str:
        return text.replace(self._password, "…") if self._password else text


def _parse(address: str) -> dict[str, str | int | None]:
    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # What libpq says about an address it cannot read quotes it, password included.
        given = {"host": "@"}
    if "@" in str(given.get("host", "")):
        raise InvalidSettings(
            "this is not an address of a PostgreSQL database",
            hint="postgresql://user:password@host:5432/database, with @ : / ? # and % in the"
            " password written as %40 %3A %2F %3F %23 and %25",
        ) from None
    return dict(given)


def _went_away(error: psycopg.Error) -> bool:
    """Tell whether the server was not there, rather than refused a statement."""
    code = error.sqlstate
    told_by_client = code is None and isinstance(
        error, psycopg.OperationalError | psycopg.InterfaceError
    )
    return told_by_client or (code is not None and code.startswith(("08", "57P")))


def _describe(given: dict[str, str | int | None]) -> str:
    where = given.get("host") or given.get("hostaddr") or "this machine"
    database = given.get("dbname") or given.get("user")
    named = f"database {database}" if database else "the database"
    return f"{named} on {where}" + (f" port {given['port']}" if given.get("port") else "")
