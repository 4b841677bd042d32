"""What belongs to an avatar: its documents and the years it may speak about.

The manifest is a card behind the handle `avatars/ID/corpus`, so every version of a corpus is kept,
audited and named by its hash. It lists documents by id; one that has left the archive is passed
over. It is not the avatar's profile.
"""

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from salon.core.archive import Archive
from salon.core.canonical import canonical_json
from salon.core.documents import DocumentId
from salon.core.errors import AvatarNotFound, HandleMoved, InvalidDocument, InvalidInput
from salon.core.hashing import CardHash
from salon.core.ids import AvatarId

KIND = "salon.corpus"
VERSION = 1
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Years from `first` to `last`, both included; `None` leaves that end open."""

    first: int | None = None
    last: int | None = None

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.first > self.last:
            raise InvalidInput(f"a period cannot begin in {self.first} and end in {self.last}")

    @property
    def is_open(self) -> bool:
        """Tell whether every year is inside."""
        return self.first is None and self.last is None

    def holds(self, year: int | None) -> bool:
        """Tell whether a year is known to be inside."""
        if self.is_open:
            return True
        if year is None:
            return False
        return (self.first is None or self.first <= year) and (
            self.last is None or year <= self.last
        )


ALWAYS = Period()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusManifest:
    """The documents of one avatar and the period they must lie in."""

    documents: tuple[DocumentId, ...] = ()
    period: Period = ALWAYS

    def to_json(self) -> bytes:
        """Return the manifest as a card."""
        return canonical_json(
            {
                "kind": KIND,
                "version": VERSION,
                "documents": list(self.documents),
                "first_year": self.period.first,
                "last_year": self.period.last,
            }
        )

    @classmethod
    def from_json(cls, content: bytes) -> "CorpusManifest":
        """Read a manifest card, or raise `InvalidDocument`."""
        try:
            found = json.loads(content)
            kind, version = found["kind"], found["version"]
            documents = tuple(DocumentId(str(one)) for one in found["documents"])
            period = Period(first=found["first_year"], last=found["last_year"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidDocument(f"this card is not the manifest of a corpus: {error}") from error
        if (kind, version) != (KIND, VERSION):
            raise InvalidDocument(f"this card is not the manifest of a corpus but {kind} {version}")
        return cls(documents=documents, period=period)


def as_avatar_id(name: str) -> AvatarId:
    """Return a name as the id of an avatar, or raise `InvalidInput`."""
    if len(name) > _LONGEST_ID or not _ID.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is not the id of an avatar",
            hint="use lower-case letters, digits and single hyphens: abraham-lincoln",
        )
    return AvatarId(name)


def corpus_handle(avatar: AvatarId) -> str:
    """Return the handle behind which an avatar's manifest is."""
    return f"avatars/{avatar}/corpus"


def find_manifest(archive: Archive, avatar: AvatarId) -> CorpusManifest | None:
    """Return the manifest of an avatar, or `None`."""
    handle = archive.find_handle(corpus_handle(avatar))
    return None if handle is None else _read(archive, handle.current)


def get_manifest(archive: Archive, avatar: AvatarId) -> CorpusManifest:
    """Return the manifest of an avatar, or raise `AvatarNotFound`."""
    found = find_manifest(archive, avatar)
    if found is None:
        known = sorted(
            handle.name.split("/")[1]
            for handle in archive.handles(prefix="avatars/")
            if handle.name.endswith("/corpus")
        )
        raise AvatarNotFound(
            f"there is no avatar {avatar!r}",
            hint=f"there are {', '.join(known)}"
            if known
            else "`salon corpus add --avatar ID FILE…` gives it a corpus",
        )
    return found


def add_to_corpus(
    archive: Archive, avatar: AvatarId, documents: Iterable[DocumentId], *, by: str | None = None
) -> CorpusManifest:
    """Put documents into an avatar's corpus, which begins with the first one."""
    more = tuple(documents)

    def extended(manifest: CorpusManifest) -> CorpusManifest:
        return replace(manifest, documents=tuple(dict.fromkeys((*manifest.documents, *more))))

    return _change(archive, avatar, extended, by)


def remove_from_corpus(
    archive: Archive, avatar: AvatarId, documents: Iterable[DocumentId], *, by: str | None = None
) -> CorpusManifest:
    """Take documents out of an avatar's corpus; they stay in the archive."""
    gone = frozenset(documents)

    def reduced(manifest: CorpusManifest) -> CorpusManifest:
        return replace(
            manifest, documents=tuple(one for one in manifest.documents if one not in gone)
        )

    get_manifest(archive, avatar)
    return _change(archive, avatar, reduced, by)


def set_period(
    archive: Archive, avatar: AvatarId, period: Period, *, by: str | None = None
) -> CorpusManifest:
    """Say which years an avatar's corpus covers."""
    get_manifest(archive, avatar)
    return _change(archive, avatar, lambda manifest: replace(manifest, period=period), by)


def _change(
    archive: Archive,
    avatar: AvatarId,
    change: Callable[[CorpusManifest], CorpusManifest],
    by: str | None,
) -> CorpusManifest:
    """Move the handle to the changed manifest, again if somebody else was faster."""
    name = corpus_handle(avatar)
    while True:  # each time around somebody else has moved the handle, so somebody gets on
        handle = archive.find_handle(name)
        before = CorpusManifest() if handle is None else _read(archive, handle.current)
        after = change(before)
        if handle is not None and after == before:
            return before
        expected = None if handle is None else handle.current
        with suppress(HandleMoved):
            archive.put(name, after.to_json(), expected_current=expected, by=by)
            return after


def _read(archive: Archive, card: CardHash) -> CorpusManifest:
    return CorpusManifest.from_json(archive.get(card).content)
