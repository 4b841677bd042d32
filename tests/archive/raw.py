"""Touching the file behind the archive's back, as damage, tampering and other programs do.

Never with the standard `sqlite3` in this process: it is a second copy of SQLite, and two copies
in one process break each other's locks on the same file. `foreign` runs it in a process apart.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

_FOREIGN = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
for sql, values in json.loads(sys.stdin.read()):
    connection.execute(sql, values)
connection.commit()
connection.close()
"""


@contextmanager
def raw(path: Path) -> Iterator[apsw.Connection]:
    """Open the file without Salon: no foreign keys, and what guards the log taken away."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5_000)
    try:
        connection.execute("DROP TRIGGER IF EXISTS salon_audit_no_update")
        connection.execute("DROP TRIGGER IF EXISTS salon_audit_no_delete")
        yield connection
    finally:
        connection.close()


def tamper(path: Path, sql: str, values: Sequence[object] = ()) -> None:
    """Run one statement behind the archive's back; it must change something."""
    with raw(path) as connection:
        before = connection.total_changes()
        connection.execute(sql, tuple(values)).fetchall()
        assert connection.total_changes() > before, f"nothing was tampered with by {sql}"


def foreign(path: Path, *statements: tuple[str, list[str]]) -> None:
    """Let another program with plain `sqlite3` write to the file; `x'…'` spells its bytes."""
    subprocess.run(
        [sys.executable, "-c", _FOREIGN, str(path)],
        input=json.dumps(statements).encode(),
        check=True,
        capture_output=True,
    )


def damage(path: Path, card: str) -> None:
    """Change the bytes of a card behind the archive's back."""
    tamper(path, "UPDATE card SET content = x'41' WHERE hash = ?", (card,))
