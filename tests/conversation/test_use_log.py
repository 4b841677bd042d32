"""Uses of avatars reach the audit log, each once."""

from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.use_log import UseLog, make_use
from salon.core.hashing import content_hash


def _noted(archive: SqliteArchive) -> list[str]:
    return [
        str(entry.body["question_sha256"])
        for entry in archive.audit_entries()
        if entry.body["kind"] == "avatar_used"
    ]


def test_every_use_is_noted_once_and_by_its_digest(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        with UseLog(archive) as log:
            for number in range(50):
                log.note(make_use("ada-berg", "query", f"question {number}", "answered"))
        noted = _noted(archive)
        assert noted == [content_hash(f"question {n}".encode()) for n in range(50)]
        assert archive.verify().problems == ()


def test_flushing_writes_at_once(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive, UseLog(archive) as log:
        log.note(make_use("ada-berg", "describe", "", "answered"))
        log.flush()
        assert _noted(archive) == [""]
        log.flush()
        assert len(_noted(archive)) == 1


def test_a_log_that_was_never_used_closes(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        UseLog(archive).close()
        assert _noted(archive) == []


@pytest.mark.parametrize("question", ["\ud800", "x" * 100_000])
def test_any_question_has_a_digest(question: str) -> None:
    assert len(make_use("a", "query", question, "").question_sha256) == 64
