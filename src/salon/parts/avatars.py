"""Keeping avatars: make, feed, check, describe and carry them, and build those of the demo.

Each capability is one function; what it does stands in `salon.experts`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.errors import AvatarNotFound, InvalidInput, SalonError

if TYPE_CHECKING:
    from salon.archive.deliveries import Deliveries
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.corpus.fetch import Fetcher
    from salon.corpus.ingest import Details, Result
    from salon.corpus.layout import ReadText
    from salon.corpus.sandbox import Sandbox
    from salon.corpus.search import SearchAnswer
    from salon.corpus.sources import Source
    from salon.experts.avatars import AvatarPlace, FindSource
    from salon.experts.carrying import CarriedAvatar
    from salon.experts.checking import AvatarCheck
    from salon.experts.deleting import DeletedAvatar
    from salon.experts.demo import DemoAvatar
    from salon.experts.describing import Descriptions
    from salon.experts.profile import Profile
    from salon.experts.replies import AvatarInfo
    from salon.settings import Settings


def failure_of(result: "Result") -> SalonError | None:
    """Return why a source could not be read, if so."""
    return getattr(result, "error", None)


class AvatarsPart:
    """What the application can do for those who keep avatars."""

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

    # The application has these.
    settings: "Settings"
    search: "Callable[..., SearchAnswer]"
    index_words: Callable[..., object]
    start_indexing: Callable[[], None]
    _sandbox: "Callable[[], Sandbox]"
    note_use: Callable[[str, str, str, str], None]
    _fetcher: "Callable[[], Fetcher]"

    # Capabilities

    def new_avatar(self, profile: "Profile") -> "Profile":
        """Make an avatar: a folder to edit, a profile that counts, an empty corpus."""
        return self._place(profile.id).create(profile)

    def refresh_avatar(self, avatar: str) -> "Profile":
        """Take in what was edited in an avatar's folder, and return the profile that counts."""
        return self._place(avatar).refresh(avatar)

    def add_sources(
        self,
        avatar: str,
        sources: "Iterable[Source]",
        *,
        details: "Details | None" = None,
        encoding: str | None = None,
    ) -> "Iterator[Result]":
        """Read sources into an avatar's corpus; what its profile says of one is recorded.

        So is what a `sources.json` beside the files says, where the profile says nothing.
        """
        profile = self.refresh_avatar(avatar)
        return self._add(profile, sources, details=details, encoding=encoding)

    def sources_in_folder(self, avatar: str) -> "list[Path]":
        """Return the files and folders of sources that lie in an avatar's own folder."""
        from salon.experts.avatars import files_of

        return files_of(self.refresh_avatar(avatar), self.avatar_folder(avatar))

    def check_avatar(
        self,
        avatar: str,
        *,
        links: bool = False,
        accept_private_data: bool = False,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> "AvatarCheck":
        """Look at everything an avatar rests on; the network is touched only for `links`."""
        from salon.corpus.filters import Where
        from salon.experts.checking import check_avatar

        profile = self.refresh_avatar(avatar)
        where = Where(avatar=profile.avatar)
        return check_avatar(
            self.archive,
            profile,
            search=lambda query, limit: self.search(query, limit=limit, where=where),
            reach=self._fetcher().fetch if links else None,
            accept_private_data=accept_private_data,
            on_progress=on_progress,
        )

    def avatars(self) -> "list[AvatarInfo]":
        """Describe every avatar, by id."""
        from salon.experts.profile import profile_ids

        return [self.describe_avatar(avatar) for avatar in profile_ids(self.archive)]

    def describe_avatar(self, avatar: str) -> "AvatarInfo":
        """Return who an avatar is and what it rests on, for a list or a page: this is no use."""
        return self._descriptions.get(avatar)

    def avatar_info(self, avatar: str) -> "AvatarInfo":
        """Return who an avatar is and what it rests on, or raise `AvatarNotFound`."""
        info = self.describe_avatar(avatar)
        self.note_use(avatar, "describe", "", "answered")
        return info

    def export_avatar(self, avatar: str, path: Path) -> "CarriedAvatar":
        """Write an avatar with all its sources to a folder or a zip file."""
        from salon.experts.carrying import write_avatar

        profile = self.refresh_avatar(avatar)
        with self._sandbox() as sandbox:

            def reread(file: Path) -> "ReadText":
                from salon.corpus.readers import SourceHints

                return sandbox.read(file.read_bytes(), SourceHints(name=str(file)))

            return write_avatar(self.archive, profile, path, reread=reread)

    def import_avatar(self, path: Path, *, avatar: str | None = None) -> "Iterator[Result]":
        """Make an avatar from what `export_avatar` wrote, or from any folder with a profile.

        Its sources go into the archive; with `avatar`, it gets another id.
        """
        from salon.corpus.sources import expand
        from salon.experts.avatars import files_of, find_source, settled
        from salon.experts.carrying import opened_avatar
        from salon.experts.profile import load_profile

        with opened_avatar(path) as folder:
            carried = load_profile(folder)
            listed = carried.corpus.sources
            profile = self.new_avatar(settled(carried, avatar or carried.id))
            yield from self._add(
                profile,
                expand(files_of(carried, folder)).sources,
                find=lambda source: find_source(listed, source, folder),
            )

    def delete_avatar(self, avatar: str, *, documents: bool = False) -> "DeletedAvatar":
        """Delete an avatar; with `documents` also those that no other avatar needs."""
        from salon.experts.deleting import delete_avatar

        return delete_avatar(self._place(avatar), avatar, documents=documents)

    def avatar_folder(self, avatar: str) -> Path:
        """Return the folder where an avatar is edited."""
        from salon.corpus.manifest import as_avatar_id

        return self.settings.home / "avatars" / as_avatar_id(avatar)

    @cached_property
    def deliveries(self) -> "Deliveries":
        """The events of chat platforms that avatars answer, each of them once."""
        from salon.archive.deliveries import Deliveries

        return Deliveries(self.archive)

    # The demo

    def ensure_demo(
        self,
        avatars: Sequence[str] | None = None,
        *,
        background: bool = True,
        on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> dict[str, SalonError | None]:
        """Build the avatars of the demo, all or these, as far as they are not there yet.

        Returns what was looked after, each with the reason where it cannot be had. They can be
        searched by their words at once; with `background`, vectors follow while others work.
        """
        from salon.experts.demo import DEMO_AVATARS

        outcome: dict[str, SalonError | None] = {}
        wanted: list[DemoAvatar] = []
        for avatar in DEMO_AVATARS if avatars is None else avatars:
            try:
                wanted.append(self._demo(avatar))
            except SalonError as error:
                outcome[avatar] = error
        total, done = sum(len(one.sources) for one in wanted), 0
        for one in wanted:
            outcome[one.profile.id] = None
            for result in self._build(one):
                done += 1
                on_progress(done, total)
                outcome[one.profile.id] = failure_of(result) or outcome[one.profile.id]
        self.index_words()
        if background:
            self.start_indexing()
        return outcome

    def ensure_avatar(self, avatar: str, *, say: Callable[[str], None] = lambda _: None) -> bool:
        """Make an avatar ready to be used, and tell whether it had to be built.

        What was edited in its folder is taken in. One of the demo is built where it is not there,
        which takes seconds; `say` is told so.
        """
        from salon.experts.demo import DEMO_AVATARS
        from salon.experts.profile import find_profile

        if self._place(avatar).has_config():
            self.refresh_avatar(avatar)
        if avatar not in DEMO_AVATARS or find_profile(self.archive, avatar) is not None:
            return False
        say(f"building {avatar}, once; vectors follow in the background, or with `salon demo`")
        problem = self.ensure_demo([avatar])[avatar]
        if problem is not None:
            raise problem
        return True

    def _demo(self, avatar: str) -> "DemoAvatar":
        from salon.experts.demo import GUIDE, PRESIDENTS, guide, president
        from salon.experts.handbook import find_pages
        from salon.providers.sotu import find_messages

        if avatar in PRESIDENTS:
            return president(avatar, find_messages)
        if avatar != GUIDE:
            raise AvatarNotFound(f"the demo has no avatar {avatar!r}")
        pages = find_pages()
        if not pages:
            raise InvalidInput("this Salon was installed without its documentation")
        return guide(pages)

    def _build(self, built: "DemoAvatar") -> "Iterator[Result]":
        from salon.corpus.sources import FileSource
        from salon.experts.demo import settle

        place = self._place(built.profile.id)
        profile = settle(place, built)
        sources = [FileSource(path=path) for path in built.sources]
        yield from self._add(profile, sources, find=built.find, by=built.by)
        built.drop_what_is_old(self.archive)

    # What they stand on

    def _place(self, avatar: str) -> "AvatarPlace":
        from salon.experts.avatars import AvatarPlace

        return AvatarPlace(archive=self.archive, folder=self.avatar_folder(avatar))

    @cached_property
    def _descriptions(self) -> "Descriptions":
        from salon.experts.describing import Descriptions, WordCounts

        is_one_file = self.settings.index.engine == "single-file"
        counts = None if is_one_file else self.settings.index_path / "words.json"
        return Descriptions(self.archive, WordCounts(counts))

    def _add(
        self,
        profile: "Profile",
        sources: "Iterable[Source]",
        *,
        details: "Details | None" = None,
        encoding: str | None = None,
        find: "FindSource | None" = None,
        by: str | None = None,
    ) -> "Iterator[Result]":
        from salon.corpus.ingest import ingest
        from salon.experts.avatars import find_source
        from salon.experts.source_lists import SourceLists

        place = self._place(profile.id)
        listed = profile.corpus.sources
        find = find or (lambda source: find_source(listed, source, place.folder))
        lists = SourceLists()
        with self._sandbox() as sandbox:
            fetcher = self._fetcher()
            yield from place.add_sources(
                profile,
                sources,
                ingest=lambda batch, about: ingest(
                    self.archive,
                    batch,
                    details=about,
                    encoding=encoding,
                    sandbox=sandbox,
                    fetcher=fetcher,
                    by=by,
                ),
                find=lambda source: find(source) or lists.find(source),
                details=details,
                by=by,
            )
