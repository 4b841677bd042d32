"""The one error tree of Salon.

    SalonError
    ├── InvalidInput          the caller can fix what was handed in
    │   ├── EmptyContent
    │   ├── ContentTooLarge
    │   ├── InvalidHash
    │   ├── InvalidHandle
    │   ├── UnknownAlgorithm
    │   ├── InvalidDocument
    │   ├── InvalidSettings
    │   ├── UngroundedPassage  a passage handed in that the archive does not say
    │   ├── InvalidProfile    an avatar's profile with a field that cannot be
    │   ├── InvalidExport     an export file that is damaged or not ours
    │   ├── UnreadableSource  a file or page that a reader cannot turn into text
    │   ├── ForbiddenAddress  a URL that Salon refuses to fetch
    │   ├── UnknownProvider   an address `kind:name` that nothing answers to, or an extra missing
    │   └── ArchiveTooNew     written by a later Salon
    ├── NotFound
    │   ├── CardNotFound
    │   ├── CardDeleted       there is a tombstone: who, when, why
    │   ├── HandleNotFound
    │   ├── DocumentNotFound
    │   ├── AvatarNotFound
    │   ├── RoundNotFound
    │   └── FileMissing
    ├── Conflict              somebody else was faster, or something still needs it
    │   ├── HandleMoved
    │   ├── HandleExists
    │   ├── CardInUse
    │   ├── NotAllowed        a seat did what its role or the phase of the round forbids
    │   └── ModelMismatch     vectors of one model meet those of another
    ├── OutsideFailed         the disk, the network or another program failed
    │   ├── StorageFull
    │   ├── StorageReadOnly
    │   ├── StorageBusy
    │   ├── StorageFailed
    │   ├── ReaderFailed      a parser crashed, hung or wanted too much memory
    │   ├── FetchFailed
    │   ├── ProviderFailed    a model server or a database did not answer as it should
    │   └── TimedOut          a call took longer than it may
    ├── Refused               whoever asks may not come in
    │   ├── Unauthorised
    │   ├── ForeignHost       a name that this server does not answer to
    │   └── ForeignOrigin     a page of another origin
    ├── LimitReached          a limit that somebody set is used up; they can raise it
    └── IntegrityFailed       stored bytes do not agree with what vouches for them
        ├── HashMismatch
        ├── AuditBroken
        └── ArchiveCorrupt

Every class has a stable `code` for machines, a message that says what happened and, where we
know it, a `hint` that says what to do. Outcomes (a corpus miss, a closed gate, silence) are
return values and never appear here. Programmer mistakes stay plain Python exceptions.
"""

from collections.abc import Mapping
from typing import ClassVar, TypeAlias

Detail: TypeAlias = str | int | float | bool | list[str] | None


class SalonError(Exception):
    """The root: everything Salon raises on purpose."""

    code: ClassVar[str] = "salon_error"

    def __init__(self, message: str, *, hint: str | None = None, **details: Detail) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, Detail] = details

    def __reduce__(self) -> tuple[object, ...]:
        # Readers run in subprocesses, so errors travel between processes whole.
        return (_rebuild, (type(self), self.message, self.hint, dict(self.details)))

    def as_json(self) -> dict[str, object]:
        """Return the one JSON shape in which every surface reports an error."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "hint": self.hint,
                "details": dict(self.details),
            }
        }


def _rebuild(
    kind: type[SalonError], message: str, hint: str | None, details: dict[str, Detail]
) -> SalonError:
    return kind(message, hint=hint, **details)


class InvalidInput(SalonError):
    """What was handed in is not acceptable; the caller can fix it."""

    code = "invalid_input"


class EmptyContent(InvalidInput):
    """A card without a single byte."""

    code = "empty_content"


class ContentTooLarge(InvalidInput):
    """More bytes than one card may hold."""

    code = "content_too_large"


class InvalidHash(InvalidInput):
    """Not a lowercase hex digest of a known length."""

    code = "invalid_hash"


class InvalidHandle(InvalidInput):
    """A name that breaks the rules for handles."""

    code = "invalid_handle"


class UnknownAlgorithm(InvalidInput):
    """A hash algorithm that the archive does not speak."""

    code = "unknown_algorithm"


class InvalidDocument(InvalidInput):
    """Provenance that is incomplete or contradicts itself."""

    code = "invalid_document"


class InvalidSettings(InvalidInput):
    """A setting that does not exist or has a value that makes no sense."""

    code = "invalid_settings"


class UngroundedPassage(InvalidInput):
    """A passage was handed in that the archive does not have there, byte for byte."""

    code = "ungrounded_passage"


class InvalidProfile(InvalidInput):
    """An avatar's profile with an unknown field or a wrong value; `path` says where."""

    code = "invalid_profile"


class InvalidExport(InvalidInput):
    """An export file that is damaged, cut short or of another kind."""

    code = "invalid_export"


class UnreadableSource(InvalidInput):
    """A file or page that its reader cannot turn into text."""

    code = "unreadable_source"


class ForbiddenAddress(InvalidInput):
    """A URL that Salon refuses to fetch, for the safety of the machine it runs on."""

    code = "forbidden_address"


class UnknownProvider(InvalidInput):
    """No provider has this address, or the package that it needs is not installed."""

    code = "unknown_provider"


class ArchiveTooNew(InvalidInput):
    """The archive was written by a later version of Salon."""

    code = "archive_too_new"


class NotFound(SalonError):
    """What was asked for does not exist."""

    code = "not_found"


class CardNotFound(NotFound):
    """No card has this hash, and none ever had."""

    code = "card_not_found"


class CardDeleted(NotFound):
    """The card was deleted; its tombstone says by whom, when and why."""

    code = "card_deleted"


class HandleNotFound(NotFound):
    """No handle has this name."""

    code = "handle_not_found"


class DocumentNotFound(NotFound):
    """No document has this id."""

    code = "document_not_found"


class AvatarNotFound(NotFound):
    """No avatar has this id."""

    code = "avatar_not_found"


class RoundNotFound(NotFound):
    """No round of the council has this id."""

    code = "round_not_found"


class FileMissing(NotFound):
    """A path that leads nowhere."""

    code = "file_missing"


class Conflict(SalonError):
    """The state has moved on, or something still depends on what should change."""

    code = "conflict"


class HandleMoved(Conflict):
    """The handle no longer points where the caller believed."""

    code = "handle_moved"


class HandleExists(Conflict):
    """The name is already taken."""

    code = "handle_exists"


class CardInUse(Conflict):
    """A handle, a citation or a document needs the card."""

    code = "card_in_use"


class NotAllowed(Conflict):
    """A seat did something that its role, recusal or the phase of the round forbids."""

    code = "not_allowed"


class ModelMismatch(Conflict):
    """Vectors of one model were about to be mixed with those of another."""

    code = "model_mismatch"


class OutsideFailed(SalonError):
    """Something outside Salon failed: the disk, the network, another program."""

    code = "outside_failed"


class StorageFull(OutsideFailed):
    """The disk has no room left."""

    code = "storage_full"


class StorageReadOnly(OutsideFailed):
    """The archive cannot be written to."""

    code = "storage_read_only"


class StorageBusy(OutsideFailed):
    """Another process held the archive for too long."""

    code = "storage_busy"


class StorageFailed(OutsideFailed):
    """The storage answered with an error that has no narrower name here."""

    code = "storage_failed"


class ReaderFailed(OutsideFailed):
    """A parser crashed, ran too long or wanted too much memory."""

    code = "reader_failed"


class FetchFailed(OutsideFailed):
    """A page could not be fetched."""

    code = "fetch_failed"


class ProviderFailed(OutsideFailed):
    """A model server, a vector store or a database failed, or answered with nonsense."""

    code = "provider_failed"


class TimedOut(OutsideFailed):
    """A call took longer than it may."""

    code = "timed_out"


class Refused(SalonError):
    """Whoever asks may not come in, whatever they ask for."""

    code = "refused"


class Unauthorised(Refused):
    """No token, or not the right one."""

    code = "unauthorised"


class ForeignHost(Refused):
    """The request names a host that this server does not answer to."""

    code = "foreign_host"


class ForeignOrigin(Refused):
    """A page of another origin asked."""

    code = "foreign_origin"


class LimitReached(SalonError):
    """A limit that somebody set for a session is used up; whoever set it can raise it."""

    code = "limit_reached"


class IntegrityFailed(SalonError):
    """Stored bytes do not agree with what vouches for them."""

    code = "integrity_failed"


class HashMismatch(IntegrityFailed):
    """The content of a card does not hash to its name."""

    code = "hash_mismatch"


class AuditBroken(IntegrityFailed):
    """The audit chain does not hold."""

    code = "audit_broken"


class ArchiveCorrupt(IntegrityFailed):
    """The archive file is damaged or is not an archive."""

    code = "archive_corrupt"
