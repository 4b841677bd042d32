"""Where an evaluation keeps its archive: a folder that was named, or one that goes afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def home_for(keep: Path | None) -> Iterator[Path]:
    """Return the folder to keep, or a temporary one for the length of a block."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="salon-eval-") as folder:
        yield Path(folder)
