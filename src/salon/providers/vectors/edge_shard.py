"""The folder of a Qdrant Edge shard: which model it is of, and how it is opened and replaced.

`model.json` names the model and the subfolder with its shard. A new shard is complete before that
file is swapped, so a kill leaves the old one or the new one; what nobody names is deleted at the
next opening.
"""

import errno
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import qdrant_edge as edge

from salon.core.embedding import EmbeddingModel
from salon.core.errors import StorageFailed, StorageFull

_NOTE = "model.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldShard:
    """An open shard and whose vectors are in it."""

    model: EmbeddingModel
    shard: edge.EdgeShard
    path: Path


class ShardFolder:
    """What all indexes of this process share that have the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writing = threading.RLock()
        with edge_errors(folder):
            self.held = self._load()

    def start_over(self, model: EmbeddingModel, *, exact_up_to: int) -> HeldShard:
        """Replace whatever is here by an empty shard."""
        old = self.held
        number = int(old.path.suffix[1:]) + 1 if old is not None else 1
        path = self.folder / f"shard.{number}"
        shutil.rmtree(path, ignore_errors=True)  # an attempt that failed
        path.mkdir()
        shard = edge.EdgeShard.create(str(path), _config(model, exact_up_to))
        shard.update(
            edge.UpdateOperation.create_field_index("card", edge.PayloadSchemaType.Keyword)
        )
        shard.flush()
        self._write_note(model, path)
        self.held = HeldShard(model=model, shard=shard, path=path)
        if old is not None:
            old.shard.close()
            shutil.rmtree(old.path)
        return self.held

    def close(self) -> None:
        """Let go of the files."""
        held, self.held = self.held, None
        if held is not None:
            with edge_errors(self.folder):
                held.shard.close()

    def _load(self) -> HeldShard | None:
        found = self._read_note()
        for path in self.folder.glob("shard.*"):
            if found is None or path != found[1]:
                shutil.rmtree(path)
        if found is None:
            return None
        model, path = found
        # What an interrupted rewriting left; it may hold vectors that were to go.
        shutil.rmtree(path / "temp_segments", ignore_errors=True)
        return HeldShard(model=model, shard=edge.EdgeShard.load(str(path)), path=path)

    def _read_note(self) -> tuple[EmbeddingModel, Path] | None:
        note = self.folder / _NOTE
        if not note.exists():
            return None
        try:
            read = json.loads(note.read_bytes())
            return EmbeddingModel(**read["model"]), self.folder / read["shard"]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageFailed(
                f"{note} is damaged or is not ours",
                hint="delete the folder: it holds nothing but what can be built again",
            ) from error

    def _write_note(self, model: EmbeddingModel, path: Path) -> None:
        written = json.dumps({"model": asdict(model), "shard": path.name})
        fresh = self.folder / f"{_NOTE}.fresh"
        with fresh.open("w") as stream:
            stream.write(written)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(self.folder / _NOTE)


@contextmanager
def edge_errors(folder: Path) -> Iterator[None]:
    """Translate what the engine and the file system raise into the one error tree."""
    try:
        yield
    except Exception as error:
        # The engine raises nothing narrower; what is narrower is a mistake of ours.
        if type(error) is not Exception and not isinstance(error, OSError):
            raise
        if os.strerror(errno.ENOSPC) in str(error):
            raise StorageFull(f"no room left to write the index in {folder}") from error
        raise StorageFailed(f"the index in {folder} cannot be used: {error}") from error


def _config(model: EmbeddingModel, exact_up_to: int) -> edge.EdgeConfig:
    threshold_kb = max(1, exact_up_to * model.dimensions * 4 // 1024)
    return edge.EdgeConfig(
        vectors=edge.EdgeVectorParams(size=model.dimensions, distance=edge.Distance.Dot),
        hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=128, full_scan_threshold=threshold_kb),
        # Rewriting is asked for when something was removed, and then nothing of it may be left.
        optimizers=edge.EdgeOptimizersConfig(
            deleted_threshold=1e-9,
            vacuum_min_vector_number=1,
            default_segment_number=1,
            indexing_threshold=threshold_kb,
        ),
        # A log would keep removed vectors, and `commit` writes everything out anyway.
        wal_enabled=False,
    )
