"""An avatar as files: its profile, the list of its sources, and the sources themselves.

What is written can be made into the same avatar elsewhere: the same bytes give the same cards.
Each file gets an extension with which its reader finds the very text and layout that are in the
archive, and that is tried, not assumed. The same archive gives the same files, byte for byte.
"""

import json
import re
import shutil
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from salon.core.archive import Archive
from salon.core.documents import Document, VerificationStatus
from salon.core.errors import Conflict, InvalidProfile, SalonError
from salon.core.hashing import content_hash
from salon.corpus.layout import ReadText
from salon.corpus.manifest import corpus_handle
from salon.corpus.readers import DOCX, EPUB, FORMATS, HTML, MARKDOWN, PDF, PLAIN
from salon.experts.avatars import SOURCES_FOLDER, as_source, describes
from salon.experts.describing import corpus_documents
from salon.experts.profile import Profile, make_profile, save_profile

SOURCES_LIST = "sources.json"
_FIRST_MOMENT = (1980, 1, 1, 0, 0, 0)  # what a zip file can say at the earliest
_LONGEST_SLUG = 60
_MOST_UNPACKED = 4_000_000_000
_MOST_FILES = 20_000

Reread: TypeAlias = Callable[[Path], ReadText]
"""Reads a file as ingesting would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedAvatar:
    """What was written, and which sources will not read the same elsewhere."""

    avatar: str
    path: str
    files: int
    bytes: int
    unfaithful: tuple[str, ...]


def write_avatar(
    archive: Archive, profile: Profile, path: Path, *, reread: Reread
) -> CarriedAvatar:
    """Write an avatar to a new folder, or to a zip file where the name says so."""
    if path.exists() and (path.is_file() or any(path.iterdir())):
        raise Conflict(f"{path} is already there", hint="name a new folder or file")
    if path.suffix.lower() != ".zip":
        path.mkdir(parents=True, exist_ok=True)
        return _fill(archive, profile, path, reread, shown=path)
    with tempfile.TemporaryDirectory(prefix="salon-avatar-") as place:
        folder = Path(place)
        carried = _fill(archive, profile, folder, reread, shown=path)
        path.parent.mkdir(parents=True, exist_ok=True)
        _zip(folder, path)
    return carried


@contextmanager
def opened_avatar(path: Path) -> Iterator[Path]:
    """Give the folder of an avatar that came as a folder or a zip file."""
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="salon-avatar-") as place:
        try:
            with zipfile.ZipFile(path) as packed:
                _require_harmless(packed)
                packed.extractall(place)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise InvalidProfile(
                f"{path} is not the zip file of an avatar: {error}",
                hint="`salon avatar export` writes one",
            ) from error
        yield Path(place)


def _require_harmless(packed: zipfile.ZipFile) -> None:
    entries = packed.infolist()
    total = sum(entry.file_size for entry in entries)
    if len(entries) > _MOST_FILES or total > _MOST_UNPACKED:
        raise InvalidProfile(f"the zip file holds {len(entries):,} files of {total:,} bytes")


# Writing


def _fill(
    archive: Archive, profile: Profile, folder: Path, reread: Reread, *, shown: Path
) -> CarriedAvatar:
    documents = corpus_documents(archive, profile)
    (folder / SOURCES_FOLDER).mkdir()
    unfaithful: list[str] = []
    entries: list[dict[str, object]] = []
    for number, document in enumerate(documents, 1):
        name, is_faithful = _write_source(archive, document, folder, number, reread)
        if not is_faithful:
            unfaithful.append(document.provenance.title)
        entries.append(_entry(profile, document) | {"file": name})
    config = profile.as_config()
    unwritten = [
        one.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for one in profile.corpus.sources
        if not any(describes(one, document) for document in documents)
    ]
    config["corpus"]["sources"] = entries + unwritten
    save_profile(make_profile(config), folder)
    listed = _list_of_sources(archive, profile, documents, entries)
    (folder / SOURCES_LIST).write_text(
        json.dumps(listed, ensure_ascii=False, indent=2) + "\n", "utf-8"
    )
    files = [path for path in folder.rglob("*") if path.is_file()]
    return CarriedAvatar(
        avatar=profile.id,
        path=str(shown),
        files=len(files),
        bytes=sum(path.stat().st_size for path in files),
        unfaithful=tuple(unfaithful),
    )


def _write_source(
    archive: Archive, document: Document, folder: Path, number: int, reread: Reread
) -> tuple[str, bool]:
    """Write the bytes of a source under a name with which they read as they did."""
    content = archive.get(document.source).content
    slug = f"{number:03}-{_slug(document.provenance.title)}"
    suffixes = _suffixes(archive, document)
    for suffix in suffixes:
        path = folder / SOURCES_FOLDER / f"{slug}{suffix}"
        path.write_bytes(content)
        if _reads_the_same(path, document, reread):
            return f"{SOURCES_FOLDER}/{path.name}", True
        path.unlink()
    path = folder / SOURCES_FOLDER / f"{slug}{suffixes[0]}"
    path.write_bytes(content)
    return f"{SOURCES_FOLDER}/{path.name}", False


def _reads_the_same(path: Path, document: Document, reread: Reread) -> bool:
    try:
        found = reread(path)
    except SalonError:
        return False
    text = content_hash(found.text.encode())
    layout = content_hash(found.layout.to_json(text))
    return text == document.text and layout == document.layout


def _suffixes(archive: Archive, document: Document) -> list[str]:
    """Return the extensions that a source may have had, most likely first."""
    kind = archive.content_type(document.source)
    likely = [form for form in FORMATS if kind in {form.media_type, *form.aliases}]
    others = (PLAIN, MARKDOWN, HTML, DOCX, EPUB, PDF)
    return list(dict.fromkeys(form.suffixes[0] for form in (*likely, *others)))


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST_SLUG].strip("-") or "source"


def _entry(profile: Profile, document: Document) -> dict[str, object]:
    """Return what the profile says of a document, with what the archive knows."""
    said = next((one for one in profile.corpus.sources if describes(one, document)), None)
    known = as_source(document).model_dump(mode="json", by_alias=True, exclude_unset=True)
    judged = document.verification
    if judged.status is VerificationStatus.VERIFIED and judged.notes:
        known["notes"] = judged.notes
    if said is None:
        return known
    return said.model_dump(mode="json", by_alias=True, exclude_unset=True) | known


def _list_of_sources(
    archive: Archive,
    profile: Profile,
    documents: Sequence[Document],
    entries: Sequence[dict[str, object]],
) -> dict[str, object]:
    """Return the list as the Avatar SDK lays it out, with each file's SHA-256."""
    handle = archive.find_handle(corpus_handle(profile.avatar))
    return {
        "avatar": profile.id,
        "corpus_description": profile.corpus.description,
        "last_updated": None if handle is None else handle.updated_at[:10],
        "sources": [
            {_snake(name): value for name, value in entry.items()} | {"sha256": document.source}
            for document, entry in zip(documents, entries, strict=True)
        ],
    }


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _zip(folder: Path, path: Path) -> None:
    fresh = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _FIRST_MOMENT)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    entry.external_attr = 0o644 << 16
                    with file.open("rb") as source, packed.open(entry, "w") as target:
                        shutil.copyfileobj(source, target)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
