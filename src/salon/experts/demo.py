"""The avatars that come with Salon: three presidents from their own words, and the guide.

It decides who they are and what each rests on; where the presidents' texts come from is handed
in. Building them twice changes nothing, and what a person edited in the meantime stays.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from salon import __version__
from salon.core.archive import Archive
from salon.core.hashing import content_hash
from salon.corpus.manifest import remove_from_corpus
from salon.corpus.sources import FileSource, Source
from salon.experts.avatars import AvatarPlace
from salon.experts.describing import corpus_documents
from salon.experts.handbook import Page
from salon.experts.profile import Profile, find_profile, make_profile
from salon.experts.profile_blocks import ProfileSource

GUIDE = "guide"
PRESIDENTS: dict[str, str] = {
    "abraham-lincoln": "Abraham Lincoln",
    "theodore-roosevelt": "Theodore Roosevelt",
    "franklin-d-roosevelt": "Franklin D. Roosevelt",
}
"""The avatars made from annual messages, and the names under which these are found."""
VERSION = f"salon {__version__}"
DEMO_AVATARS: tuple[str, ...] = (*PRESIDENTS, GUIDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One annual message: its text file, and what is known about it."""

    id: str
    path: Path
    delivered: date
    url: str
    sha256: str
    vouched_by: str
    """The package that lists it."""


FindMessages: TypeAlias = Callable[[str], Sequence[Message]]
"""Returns the annual messages of a president, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAvatar:
    """A profile whose list of sources is complete, and the file of each source."""

    profile: Profile
    sources: dict[Path, ProfileSource]
    by: str
    """Who vouches for the sources."""

    def find(self, source: Source) -> ProfileSource | None:
        """Return what is known of one of these sources."""
        return self.sources.get(source.path) if isinstance(source, FileSource) else None

    def drop_what_is_old(self, archive: Archive) -> None:
        """Take pages of an earlier Salon out of the guide's corpus."""
        if self.profile.id != GUIDE:
            return
        current = {content_hash(path.read_bytes()) for path in self.sources}
        old = [
            document.id
            for document in corpus_documents(archive, self.profile)
            if document.source not in current
        ]
        if old:
            remove_from_corpus(archive, self.profile.avatar, old, by=self.by)


def settle(place: AvatarPlace, built: DemoAvatar) -> Profile:
    """Make the avatar if it is not there; what a person changed in it since stays changed."""
    avatar = built.profile.id
    if find_profile(place.archive, avatar) is None and not place.has_config():
        return place.create(built.profile, by=built.by)
    edited = place.refresh(avatar)
    if edited.corpus.sources == built.profile.corpus.sources:
        return edited
    config = edited.as_config()
    sources = built.profile.as_config()["corpus"]["sources"]
    return place.replace(make_profile(config | {"corpus": config["corpus"] | {"sources": sources}}))


def president(avatar: str, find_messages: FindMessages) -> DemoAvatar:
    """Return the avatar of a president with all his annual messages."""
    name = PRESIDENTS[avatar]
    messages = find_messages(name)
    entries = [_of_message(message, name) for message in messages]
    paths = (message.path for message in messages)
    by = messages[0].vouched_by if messages else name
    return _with_sources(avatar, zip(paths, entries, strict=True), by)


def guide(pages: Sequence[Page]) -> DemoAvatar:
    """Return the avatar that knows Salon's own documentation."""
    return _with_sources(GUIDE, ((page.path, _of_page(page)) for page in pages), VERSION)


def _with_sources(
    avatar: str, sources: Iterable[tuple[Path, dict[str, object]]], by: str
) -> DemoAvatar:
    listed = dict(sources)
    text = files("salon.experts").joinpath("demo_profiles", f"{avatar}.json").read_text("utf-8")
    config = json.loads(text)
    config["corpus"]["sources"] = list(listed.values())
    return DemoAvatar(
        profile=make_profile(config),
        sources={path: ProfileSource.model_validate(entry) for path, entry in listed.items()},
        by=by,
    )


def _of_message(message: Message, author: str) -> dict[str, object]:
    day = message.delivered
    return {
        "id": message.id,
        "title": f"Annual Message to Congress, {day:%B} {day.day}, {day.year}",
        "authors": [author],
        "year": day.year,
        "type": "speech",
        "url": message.url,
        "license": "Public domain",
        "format": "TXT",
        "verified": True,
        "priority": "primary",
        "notes": f"SHA-256 {message.sha256}, as the package {message.vouched_by} lists it; text of "
        "the American Presidency Project",
    }


def _of_page(page: Page) -> dict[str, object]:
    return {
        "id": page.place,
        "title": page.title,
        "type": "guide",
        "license": "Apache-2.0",
        "format": "Markdown",
        "verified": True,
        "priority": "primary",
        "notes": f"came with {VERSION} as {page.place}",
    }
