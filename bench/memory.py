"""How much memory large work takes, measured in a process of its own.

As a program (`python -m bench.memory WORK SOURCE ARCHIVE`) this prints by how many bytes the
largest memory of the process grew during the work.
"""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from salon.archive.export.transfer import import_archive
from salon.archive.sqlite_archive import SqliteArchive

Work: TypeAlias = Literal["stream", "import", "raw"]
LIMIT_MB = 64.0
_ROOT = Path(__file__).parent.parent


def run_work(work: Work, archive: SqliteArchive, source: Path) -> None:
    """Take `source` into `archive`."""
    with source.open("rb") as file:
        if work == "stream":
            archive.add_stream(file)
        elif work == "raw":
            _insert_raw(archive.path.with_suffix(".raw"), file.read())
        else:
            import_archive(archive, file)


def _insert_raw(path: Path, content: bytes) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    with database:
        database.execute("CREATE TABLE card (hash TEXT PRIMARY KEY, content BLOB, g_time TEXT)")
        database.execute("INSERT INTO card VALUES (?, ?, ?)", ("hash", content, "g_time"))
    database.close()


def growth_mb(work: Work, source: Path, archive: Path) -> float:
    """Return by how much memory grew while a new process did the work."""
    command = [sys.executable, "-m", "bench.memory", work, str(source), str(archive)]
    done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return int(done.stdout) / 1_000_000


def _largest_bytes() -> int:
    # Not `ru_maxrss`: that one begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text("ascii")
    (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024


def main() -> None:
    """Do the work that the arguments name, and print the growth."""
    work, source, target = sys.argv[1:]
    (chosen,) = (known for known in get_args(Work) if known == work)
    with SqliteArchive(Path(target)) as archive:
        archive.get(archive.add(b"reader and writer are awake").hash)
        before = _largest_bytes()
        run_work(chosen, archive, Path(source))
        sys.stdout.write(f"{_largest_bytes() - before}\n")


if __name__ == "__main__":
    main()
