"""Large content: one large file, and a whole export, against `sha256sum` and `cp`.

The peer does the least that anybody could do: read the bytes for their hash, then copy them. It
does not even sync.
"""

import subprocess
from itertools import count
from pathlib import Path
from random import Random

from bench.figures import Row, Sizes, alternate, timed
from bench.memory import Work, run_work
from salon.archive.export.transfer import export_archive
from salon.archive.sqlite_archive import SqliteArchive

MEGABYTE = 1_000_000
_numbers = count()


def stream_add(folder: Path, sizes: Sizes) -> Row:
    """One large file as one card."""
    return _against_coreutils(
        "stream", make_large_file(folder, sizes), sizes, name="stream-add", what="one file of"
    )


def import_export(folder: Path, sizes: Sizes) -> Row:
    """An export of many middling cards."""
    return _against_coreutils(
        "import", make_export(folder, sizes), sizes, name="import", what="import of"
    )


def make_large_file(folder: Path, sizes: Sizes) -> Path:
    """Return a file that nothing can compress."""
    path = folder / f"{next(_numbers)}.bin"
    path.write_bytes(Random(1).randbytes(sizes.stream_bytes))  # noqa: S311
    return path


def make_export(folder: Path, sizes: Sizes) -> Path:
    """Return an export with as many bytes of cards."""
    path, random = folder / f"{next(_numbers)}.export", Random(2)  # noqa: S311
    cards = max(1, sizes.stream_bytes // sizes.export_card_bytes)
    with SqliteArchive(folder / f"{next(_numbers)}.db") as archive, path.open("wb") as file:
        archive.add_many(random.randbytes(sizes.export_card_bytes) for _ in range(cards))
        export_archive(archive, file)
    return path


def _against_coreutils(work: Work, source: Path, sizes: Sizes, *, name: str, what: str) -> Row:
    folder = source.parent
    megabytes = source.stat().st_size / MEGABYTE

    def salon() -> float:
        target = folder / f"{next(_numbers)}.db"
        with SqliteArchive(target) as archive:
            archive.add(b"the writer is awake")
            with timed() as watch:
                run_work(work, archive, source)
        target.unlink()
        return megabytes / watch.seconds

    def peer() -> float:
        copy = folder / f"{next(_numbers)}.copy"
        with timed() as watch:
            _run("sha256sum", str(source))
            _run("cp", "--reflink=never", str(source), str(copy))
        copy.unlink()
        return megabytes / watch.seconds

    figures = alternate(salon, peer, sizes.repetitions)
    return Row(
        name=name,
        what=f"{what} {megabytes:.3g} MB",
        unit="MB/s",
        salon=figures[0],
        peer=figures[1],
        peer_is="sha256sum + cp",
        least_ratio=0.3,
        repetitions=sizes.repetitions,
    )


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
