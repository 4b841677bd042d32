"""Lists of sources that lie beside the files: `sources.json`, as the Avatar SDK lays it out.

Such a list says of each source what a profile's own list says: title, authors, year, kind, address,
licence, identifiers, and whether somebody verified it. It is looked for in the folder of a file, in
the one above, and in the folder `corpus` of either. A file of that name that holds no object with
`sources` is somebody else's and is passed over; an entry that cannot be is an error.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from salon.core.errors import InvalidInput
from salon.corpus.sources import FileSource, Source
from salon.experts.avatars import CORPUS_FOLDER, find_source
from salon.experts.profile_blocks import ProfileSource

NAME = "sources.json"
_LARGEST = 10_000_000


class SourceLists:
    """The lists beside some files; each is read once."""

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=None)(read_source_list)

    def find(self, source: Source) -> ProfileSource | None:
        """Return what a list says of a file: by its path, its id or its title."""
        if not isinstance(source, FileSource):
            return None
        for path in _places(source.path):
            known = find_source(self._read(path), source, path.parent)
            if known is not None:
                return known
        return None


def read_source_list(path: Path) -> tuple[ProfileSource, ...]:
    """Return the entries of a list; none where there is no such file or it is no such list."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError:  # nobody promised that there is one
        return ()
    if len(content) > _LARGEST:
        return ()
    try:
        found = from_json(content)
    except ValueError:
        return ()
    rows = found.get("sources") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return ()
    return tuple(_entry(path, number, row) for number, row in enumerate(rows, start=1))


def _places(path: Path) -> Iterator[Path]:
    for folder in list(path.resolve().parents)[:2]:
        yield folder / NAME
        yield folder / CORPUS_FOLDER / NAME


def _entry(path: Path, number: int, row: Any) -> ProfileSource:
    known = set(ProfileSource.json_names())
    fields = row if isinstance(row, dict) else {}
    values = {to_camel(str(name)): value for name, value in fields.items() if value is not None}
    values = {name: value for name, value in values.items() if name in known}
    if values.get("verified") is True:
        values.setdefault("notes", f"{NAME} of the corpus says so")
    try:
        return ProfileSource.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "entry"
        raise InvalidInput(
            f"{path}, source {number}: {where}: {first['msg'].lower()}",
            hint="mend the list, or move it away",
            file=str(path),
        ) from error
