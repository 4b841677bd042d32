"""Who an avatar is and what it rests on, described at once however large its corpus.

A description is kept as long as nothing changed that it rests on; the audit log tells. The number
of words of a text is counted once: its card never changes.
"""

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from salon.core.archive import Archive
from salon.core.documents import Document, VerificationStatus
from salon.core.errors import DocumentNotFound
from salon.core.events import AuditEntry
from salon.core.hashing import CardHash
from salon.corpus.manifest import find_manifest
from salon.experts.limits import label_of
from salon.experts.presets import SERVED
from salon.experts.profile import Profile, get_profile
from salon.experts.profile_blocks import ToolName
from salon.experts.replies import AvatarInfo

TOOLS: tuple[str, ...] = get_args(ToolName)
ASSISTANT_TOOLS = frozenset({"assist"})
"""Tools that only assistants have."""
EXPERT_TOOLS = frozenset({"generate_response"})
"""Tools that only experts have: an assistant answers in a session, where its gate counts."""
_MOST_ENTRIES = 10_000
_DECISIVE = frozenset(
    {
        *("document_verified", "document_removed", "cards_deleted", "export_imported"),
        *("handles_adopted", "cards_adopted"),
    }
)


class WordCounts:
    """How many words each text has, kept in a file that can be deleted at any time."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._counts: dict[str, int] | None = None

    def total(self, archive: Archive, texts: list[CardHash]) -> int:
        """Return the words in all of these texts; one that is gone has none."""
        counts = self._known()
        missing = [text for text in texts if text not in counts]
        for text in missing:
            card = archive.find(text)
            counts[text] = 0 if card is None else len(card.content.split())
        if missing:
            self._save(counts)
        return sum(counts[text] for text in texts)

    def _known(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = {} if self._path is None else _read_counts(self._path)
        return self._counts

    def _save(self, counts: Mapping[str, int]) -> None:
        if self._path is None or not self._path.parent.is_dir():
            return
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):  # a read-only home: they are counted again next time
            fresh.write_text(json.dumps(counts))
            fresh.replace(self._path)


def _tools_of(profile: Profile) -> tuple[str, ...]:
    """Return the tools that an avatar's MCP server offers."""
    wanted = TOOLS if profile.mcp.tools is None else profile.mcp.tools
    return tuple(one for one in wanted if has_tool(profile, one))


def has_tool(profile: Profile, tool: str) -> bool:
    """Tell whether an avatar of this kind can have a tool, whatever its profile wishes."""
    if profile.salon.preset not in SERVED:
        return False
    return tool not in (EXPERT_TOOLS if is_assistant(profile) else ASSISTANT_TOOLS)


def is_assistant(profile: Profile) -> bool:
    """Tell whether an avatar offers actions."""
    return profile.salon.preset == "assistant"


def _read_counts(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: count for name, count in found.items() if type(count) is int}


class Descriptions:
    """Describes avatars; safe with several threads."""

    def __init__(self, archive: Archive, counts: WordCounts) -> None:
        self._archive = archive
        self._counts = counts
        self._lock = threading.Lock()
        self._seq = 0
        self._known: dict[str, AvatarInfo] = {}

    def get(self, avatar: str) -> AvatarInfo:
        """Return the description of an avatar, or raise `AvatarNotFound`."""
        with self._lock:
            self._forget_what_changed()
            found = self._known.get(avatar)
            if found is None:
                found = self._describe(get_profile(self._archive, avatar))
                self._known[avatar] = found
            return found

    def _forget_what_changed(self) -> None:
        seq = self._archive.checkpoint().seq
        if seq == self._seq:
            return
        if self._known and (
            seq - self._seq > _MOST_ENTRIES
            or any(_is_decisive(one) for one in self._archive.audit_entries(after=self._seq))
        ):
            self._known.clear()
        self._seq = seq

    def _describe(self, profile: Profile) -> AvatarInfo:
        documents = corpus_documents(self._archive, profile)
        verified = [
            one for one in documents if one.verification.status is VerificationStatus.VERIFIED
        ]
        period = profile.period
        return AvatarInfo(
            id=profile.id,
            name=profile.name,
            description=profile.description,
            expertise=profile.expertise,
            corpus_summary=_summary(profile, len(documents)),
            corpus_size=self._counts.total(self._archive, [one.text for one in documents]),
            document_count=len(documents),
            verified_count=len(verified),
            ai=True,
            ai_label=label_of(profile),
            period=(period.first, period.last),
            voice=profile.salon.voice,
            tools=_tools_of(profile),
        )


def _summary(profile: Profile, count: int) -> str:
    """Return in words what a corpus rests on."""
    period = profile.period
    years = "" if period.is_open else f", {period.first or '…'} to {period.last or '…'}"
    noun = "document" if count == 1 else "documents"
    return f"{profile.corpus.description.rstrip('.')}. {count:,} {noun}{years}."


def corpus_documents(archive: Archive, profile: Profile) -> list[Document]:
    """Return the documents of an avatar's corpus that are still there, in its order."""
    manifest = find_manifest(archive, profile.avatar)
    found = []
    for document in manifest.documents if manifest else ():
        with contextlib.suppress(DocumentNotFound):
            found.append(archive.get_document(document))
    return found


def _is_decisive(entry: AuditEntry) -> bool:
    kind = str(entry.body["kind"])
    if kind.startswith("handle_"):
        named = (entry.body.get("handle"), entry.body.get("renamed_to"))
        return any(str(name).startswith("avatars/") for name in named)
    return kind in _DECISIVE
