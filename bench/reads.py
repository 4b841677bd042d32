"""Reading by hash, in random order. Salon also checks each card against its hash."""

import sqlite3
from pathlib import Path
from random import Random

from bench import raw
from bench.figures import Row, Sizes, alternate, timed
from salon.archive.sqlite_archive import SqliteArchive


def reads_by_hash(folder: Path, sizes: Sizes) -> Row:
    """Read cards by hash, against a raw `SELECT` of the same rows in the same file."""
    path = folder / "reads.db"
    with SqliteArchive(path) as archive:
        added = archive.add_many(
            f"card {number} ".encode().ljust(sizes.card_bytes, b".")
            for number in range(sizes.batch)
        )
        hashes = Random(0).choices([card.hash for card in added], k=sizes.reads)  # noqa: S311
        connection = sqlite3.connect(path)

        def salon() -> float:
            with timed() as watch:
                for card in hashes:
                    archive.get(card)
            return sizes.reads / watch.seconds

        def peer() -> float:
            with timed() as watch:
                for card in hashes:
                    connection.execute(raw.SELECT, (card,)).fetchone()
            return sizes.reads / watch.seconds

        figures = alternate(salon, peer, sizes.repetitions)
        connection.close()
    return Row(
        name="reads",
        what="reads by hash",
        unit="cards/s",
        salon=figures[0],
        peer=figures[1],
        peer_is="sqlite3, SELECT",
        least_ratio=0.5,
        repetitions=sizes.repetitions,
    )
