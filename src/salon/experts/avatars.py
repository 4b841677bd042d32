"""Avatars as a whole: a folder to edit, a profile that counts, a corpus that grows.

A folder `avatars/ID` in Salon's home holds `config.json`; what stands there is taken in whenever
somebody works on the avatar. The archive holds the truth: profile, corpus and documents.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from salon.core.archive import Archive
from salon.core.documents import Document, DocumentId, VerificationStatus
from salon.core.errors import FileMissing, HandleExists
from salon.corpus.ingest import Details, Failed, Result
from salon.corpus.manifest import add_to_corpus, find_manifest, set_period
from salon.corpus.sources import FileSource, Source
from salon.experts.profile import (
    CONFIG_NAME,
    Profile,
    find_profile,
    get_profile,
    load_profile,
    make_profile,
    register_profile,
    save_profile,
)
from salon.experts.profile_blocks import ProfileSource

SOURCES_FOLDER = "sources"
CORPUS_FOLDER = "corpus"
"""Where the Avatar SDK has them."""

Ingest = Callable[[Sequence[Source], Details], Iterable[Result]]
"""Reads sources that share what is known about them, and stores each as a document."""
FindSource = Callable[[Source], ProfileSource | None]
"""Returns what a profile says of a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvatarPlace:
    """Where one avatar lives: the archive, and the folder that people edit."""

    archive: Archive
    folder: Path

    def create(self, profile: Profile, *, by: str | None = None) -> Profile:
        """Make an avatar: its folder, its profile and an empty corpus."""
        if find_profile(self.archive, profile.id) is not None:
            raise HandleExists(
                f"there is already an avatar {profile.id!r}",
                hint=f"edit {self.folder / CONFIG_NAME}, or choose another id",
            )
        if self.has_config():
            raise HandleExists(
                f"{self.folder} already holds a profile",
                hint=f"`salon avatar check {profile.id}` takes it in as it is",
            )
        save_profile(profile, self.folder)
        (self.folder / SOURCES_FOLDER).mkdir(exist_ok=True)
        self.take_in(profile, by=by)
        return profile

    def has_config(self) -> bool:
        """Tell whether there is a profile in the folder."""
        return (self.folder / CONFIG_NAME).is_file()

    def refresh(self, avatar: str, *, by: str | None = None) -> Profile:
        """Take in what was edited in the folder, and return the profile that counts now."""
        try:
            edited = load_profile(self.folder)
        except FileMissing:
            return get_profile(self.archive, avatar)
        if edited.id != avatar:
            raise HandleExists(
                f"{self.folder / CONFIG_NAME} describes {edited.id!r} and not {avatar!r}",
                hint="an id does not change; make a new avatar instead",
            )
        self.take_in(edited, by=by)
        return edited

    def replace(self, profile: Profile, *, by: str | None = None) -> Profile:
        """Put another profile in the place of the one that counts, in the folder too."""
        save_profile(profile, self.folder)
        self.take_in(profile, by=by)
        return profile

    def take_in(self, profile: Profile, *, by: str | None = None) -> None:
        """Make a profile count, and its period that of the corpus."""
        register_profile(self.archive, profile, by=by)
        if find_manifest(self.archive, profile.avatar) is None:
            add_to_corpus(self.archive, profile.avatar, (), by=by)
        set_period(self.archive, profile.avatar, profile.period, by=by)

    def add_sources(
        self,
        profile: Profile,
        sources: Iterable[Source],
        *,
        ingest: Ingest,
        find: FindSource,
        details: Details | None = None,
        by: str | None = None,
    ) -> Iterator[Result]:
        """Read sources into the corpus; what the profile says of one is recorded with it.

        A source that the profile does not list yet is listed afterwards, as `find` knows it; what
        nobody knows is not verified.
        """
        listed: list[ProfileSource] = []
        members: list[DocumentId] = []
        try:
            for known, batch in _batches(sources, find):
                about = details or Details() if known is None else _details(known)
                for result in ingest(batch, about):
                    if not isinstance(result, Failed):
                        members.append(result.document.id)
                        self._judge(known, result.document, by)
                        if not _is_listed(profile, listed, result.document, known):
                            listed.append(_without_file(known) or as_source(result.document))
                    yield result
        finally:  # whoever stops half way keeps what was read
            add_to_corpus(self.archive, profile.avatar, members, by=by)
            if listed:
                self._list(profile, listed, by)

    def _judge(self, known: ProfileSource | None, document: Document, by: str | None) -> None:
        """Record that the profile vouches for a document, unless somebody judged it already."""
        unjudged = document.verification.status is VerificationStatus.PENDING
        if known is not None and known.verified and unjudged:
            notes = known.notes or "the avatar's profile says so"
            self.archive.write(
                lambda tx: tx.set_verification(
                    document.id, VerificationStatus.VERIFIED, notes=notes
                ),
                by=by,
            )

    def _list(self, profile: Profile, more: list[ProfileSource], by: str | None) -> None:
        config = profile.as_config()
        config["corpus"]["sources"] += [
            one.model_dump(mode="json", by_alias=True, exclude_unset=True) for one in more
        ]
        self.replace(make_profile(config), by=by)


def find_source(
    sources: Iterable[ProfileSource], source: Source, folder: Path
) -> ProfileSource | None:
    """Return what a profile says of a source: by its file, its address, its id or its title."""
    if not isinstance(source, FileSource):
        same = (one for one in sources if source.url in {one.url, one.archive_url})
        return next(same, None)
    path, stem = source.path.resolve(), source.path.stem.casefold()
    candidates = list(sources)
    for one in candidates:
        if one.file is not None and (folder / one.file).resolve() == path:
            return one
    for one in candidates:
        if stem in {(one.id or "").casefold(), one.title.casefold()}:
            return one
    return None


def files_of(profile: Profile, folder: Path) -> list[Path]:
    """Return the files in an avatar's folder that belong to its corpus and do exist."""
    root = folder.resolve()
    named = [folder / one.file for one in profile.corpus.sources if one.file is not None]
    inside = [path for path in named if path.resolve().is_relative_to(root) and path.is_file()]
    more = (folder / name for name in (SOURCES_FOLDER, CORPUS_FOLDER))
    return [*inside, *(one for one in more if one.is_dir() and not one.is_symlink())]


def settled(profile: Profile, avatar: str) -> Profile:
    """Return a profile under an id, without the files that it came with."""
    config = profile.as_config() | {"id": avatar}
    for source in config["corpus"]["sources"]:
        source.pop("file", None)
    return make_profile(config)


def describes(source: ProfileSource, document: Document) -> bool:
    """Tell whether an entry of a profile's list is about this document."""
    about = document.provenance
    if source.url is not None and source.url in {about.url, about.archive_url}:
        return True
    return source.title == about.title and (source.year is None or source.year == about.year)


def _batches(
    sources: Iterable[Source], find: FindSource
) -> Iterator[tuple[ProfileSource | None, list[Source]]]:
    """Group sources by what is known of them, unlisted ones together."""
    unknown: list[Source] = []
    for source in sources:
        known = find(source)
        if known is None:
            unknown.append(source)
        else:
            yield known, [source]
    if unknown:
        yield None, unknown


def _details(known: ProfileSource) -> Details:
    return Details(
        title=known.title,
        type=known.type,
        authors=known.authors,
        year=known.year,
        url=known.url,
        archive_url=known.archive_url,
        licence=known.license,
        doi=known.doi,
    )


def _is_listed(
    profile: Profile,
    more: Sequence[ProfileSource],
    document: Document,
    known: ProfileSource | None,
) -> bool:
    return any(
        describes(one, document) or (known is not None and one.title == known.title)
        for one in (*profile.corpus.sources, *more)
    )


def _without_file(known: ProfileSource | None) -> ProfileSource | None:
    """Return an entry that came with files elsewhere, as the profile can hold it."""
    if known is None:
        return None
    values = known.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"file"})
    return ProfileSource.model_validate(values)


def as_source(document: Document) -> ProfileSource:
    """Return a document as an entry of a profile's list."""
    about = document.provenance
    known = {
        "title": about.title,
        "type": str(about.type),
        "authors": list(about.authors),
        "year": about.year,
        "url": about.url,
        "archiveUrl": about.archive_url,
        "license": about.licence,
        "doi": about.doi,
        "verified": document.verification.status is VerificationStatus.VERIFIED,
    }
    return ProfileSource.model_validate(
        {name: value for name, value in known.items() if value not in (None, [])}
    )
