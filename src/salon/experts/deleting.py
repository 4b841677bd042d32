"""Deleting an avatar: its names in the archive, its profile in the folder, its documents if asked.

What it was stays on record: the cards and the audit log are not touched, and neither are files
that somebody put into its folder.
"""

from contextlib import suppress
from dataclasses import dataclass

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import DocumentId
from salon.core.errors import AvatarNotFound
from salon.core.ids import AvatarId
from salon.corpus.manifest import as_avatar_id, find_manifest, get_manifest
from salon.experts.avatars import SOURCES_FOLDER, AvatarPlace
from salon.experts.profile import CONFIG_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedAvatar:
    """What went with an avatar, and what stayed."""

    avatar: str
    handles: tuple[str, ...]
    documents: tuple[DocumentId, ...]
    """Documents that were taken out of the archive's corpus; their cards stay."""
    kept: tuple[DocumentId, ...]
    """Documents that stay: another avatar needs them, or nobody asked for them to go."""
    folder_left: str | None
    """The folder, where there are files in it that Salon did not make."""


def delete_avatar(
    place: AvatarPlace, avatar: str, *, documents: bool, by: str | None = None
) -> DeletedAvatar:
    """Delete an avatar, in the archive in one step, or raise `AvatarNotFound`."""
    archive, name = place.archive, as_avatar_id(avatar)
    handles = tuple(sorted(one.name for one in archive.handles(prefix=f"avatars/{name}/")))
    if not handles and not place.has_config():
        raise AvatarNotFound(f"there is no avatar {avatar!r}", hint="`salon avatar list` shows all")
    members = _members(archive, name)
    needed = _needed_by_others(archive, name)
    going = tuple(one for one in members if documents and one not in needed)

    def work(tx: ArchiveTransaction) -> None:
        for handle in handles:
            tx.remove_handle(handle)
        for document in going:
            tx.remove_document(document)

    archive.write(work, by=by)
    return DeletedAvatar(
        avatar=name,
        handles=handles,
        documents=going,
        kept=tuple(one for one in members if one not in going),
        folder_left=_clear_folder(place),
    )


def _members(archive: Archive, avatar: AvatarId) -> tuple[DocumentId, ...]:
    """Return the documents of a corpus that are still in the archive."""
    manifest = find_manifest(archive, avatar)
    there = {document.id for document in archive.documents()}
    return tuple(one for one in (manifest.documents if manifest else ()) if one in there)


def _needed_by_others(archive: Archive, avatar: AvatarId) -> frozenset[DocumentId]:
    others = {
        one.name.split("/")[1]
        for one in archive.handles(prefix="avatars/")
        if one.name.endswith("/corpus")
    } - {avatar}
    return frozenset(
        document
        for other in others
        for document in get_manifest(archive, AvatarId(other)).documents
    )


def _clear_folder(place: AvatarPlace) -> str | None:
    """Remove the profile, and the folder if nothing else is in it."""
    (place.folder / CONFIG_NAME).unlink(missing_ok=True)
    for folder in (place.folder / SOURCES_FOLDER, place.folder):
        with suppress(OSError):  # it is not empty, or not there
            folder.rmdir()
    return str(place.folder) if place.folder.exists() else None
