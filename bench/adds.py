"""Writing: a large batch, and many writers who each want their card to be durable."""

import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bench import raw
from bench.figures import Row, Sizes, alternate, timed
from bench.slow_disk import COMMON_DISK_SYNC_S, SlowSyncs
from salon.archive.sqlite_archive import SqliteArchive

_numbers = count()


def batch_add(folder: Path, sizes: Sizes) -> Row:
    """Many small cards at once, against one raw transaction."""
    settings = _settings(folder)

    def salon() -> float:
        contents = _contents(sizes.batch, sizes.card_bytes)
        with SqliteArchive(_new_path(folder)) as archive:
            archive.add(b"the writer is awake")
            with timed() as watch:
                archive.add_many(contents)
        return sizes.batch / watch.seconds

    def peer() -> float:
        rows = raw.as_rows(_contents(sizes.batch, sizes.card_bytes))
        connection = raw.connect(_new_path(folder), settings)
        with timed() as watch:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(raw.INSERT, rows)
            connection.execute("COMMIT")
        connection.close()
        return sizes.batch / watch.seconds

    figures = alternate(salon, peer, sizes.repetitions)
    return Row(
        name="batch-add",
        what=f"batch of {sizes.batch:,} cards",
        unit="cards/s",
        salon=figures[0],
        peer=figures[1],
        peer_is="sqlite3, one transaction",
        least_ratio=0.5,
        repetitions=sizes.repetitions,
    )


def concurrent_adds(folder: Path, sizes: Sizes) -> Row:
    """Durable single adds by many threads, against one raw commit per insert, on this disk."""
    settings = _settings(folder)

    def peer() -> float:
        rows = raw.as_rows(_contents(sizes.single_commits, sizes.card_bytes))
        connection = raw.connect(_new_path(folder), settings)
        with timed() as watch:
            for row in rows:
                connection.execute(raw.INSERT, row)
        connection.close()
        return len(rows) / watch.seconds

    figures = alternate(
        lambda: _rate_of_writers(folder, sizes, sizes.adds_per_writer), peer, sizes.repetitions
    )
    return Row(
        name="concurrent-adds",
        what=f"durable adds, {sizes.writers} writers, this disk",
        unit="cards/s",
        salon=figures[0],
        peer=figures[1],
        peer_is="sqlite3, one commit each",
        least_ratio=8.0,
        repetitions=sizes.repetitions,
    )


def concurrent_adds_against_the_ceiling(folder: Path, sizes: Sizes) -> Row:
    """The same on this disk, against what sharing a commit can give at all.

    The peer is one raw connection that commits as many rows at once as there are writers: no
    threads, no audit log. How far its rate lies above one commit per row is what a group commit
    could win here at the very most.
    """
    settings = _settings(folder)

    def peer() -> float:
        rows = raw.as_rows(_contents(sizes.adds_per_writer * sizes.writers, sizes.card_bytes))
        connection = raw.connect(_new_path(folder), settings)
        with timed() as watch:
            for start in range(0, len(rows), sizes.writers):
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(raw.INSERT, rows[start : start + sizes.writers])
                connection.execute("COMMIT")
        connection.close()
        return len(rows) / watch.seconds

    figures = alternate(
        lambda: _rate_of_writers(folder, sizes, sizes.adds_per_writer), peer, sizes.repetitions
    )
    return Row(
        name="concurrent-adds-ceiling",
        what=f"durable adds, {sizes.writers} writers, this disk",
        unit="cards/s",
        salon=figures[0],
        peer=figures[1],
        peer_is=f"sqlite3, {sizes.writers} rows a commit",
        repetitions=sizes.repetitions,
    )


def concurrent_adds_on_a_slow_disk(folder: Path, sizes: Sizes) -> Row:
    """The same where every sync takes as long as on a common disk, on both sides."""
    settings = _settings(folder)
    vfs = SlowSyncs(f"slow-syncs-{next(_numbers)}", COMMON_DISK_SYNC_S)

    def peer() -> float:
        rows = raw.as_rows(_contents(sizes.slow_single_commits, sizes.card_bytes))
        connection = raw.connect_through(vfs.name, _new_path(folder), settings)
        with timed() as watch:
            for row in rows:
                connection.execute(raw.INSERT, row)
        connection.close()
        return len(rows) / watch.seconds

    def salon() -> float:
        return _rate_of_writers(folder, sizes, sizes.slow_adds_per_writer, vfs=vfs.name)

    try:
        figures = alternate(salon, peer, sizes.repetitions)
    finally:
        vfs.unregister()
    return Row(
        name="concurrent-adds-slow-disk",
        what=f"durable adds, {sizes.writers} writers, {COMMON_DISK_SYNC_S * 1000:.1f} ms syncs",
        unit="cards/s",
        salon=figures[0],
        peer=figures[1],
        peer_is="SQLite, one commit each",
        least_ratio=8.0,
        repetitions=sizes.repetitions,
    )


def _rate_of_writers(folder: Path, sizes: Sizes, adds: int, *, vfs: str | None = None) -> float:
    with SqliteArchive(_new_path(folder), vfs=vfs) as archive:
        archive.add(b"the writer is awake")
        shares = [_contents(adds, sizes.card_bytes) for _ in range(sizes.writers)]
        start = threading.Barrier(sizes.writers + 1)
        threads = [
            threading.Thread(target=_add_each, args=(archive.add, share, start)) for share in shares
        ]
        for thread in threads:
            thread.start()
        start.wait()
        with timed() as watch:
            for thread in threads:
                thread.join()
    return adds * sizes.writers / watch.seconds


def _add_each(
    add: Callable[[bytes], object], contents: list[bytes], start: threading.Barrier
) -> None:
    start.wait()
    for content in contents:
        add(content)


def _contents(amount: int, size: int) -> list[bytes]:
    return [f"card {next(_numbers)} ".encode().ljust(size, b".") for _ in range(amount)]


def _settings(folder: Path) -> tuple[str, ...]:
    path = _new_path(folder)
    SqliteArchive(path).close()
    return raw.salons_settings(path)


def _new_path(folder: Path) -> Path:
    return folder / f"{next(_numbers)}.db"
