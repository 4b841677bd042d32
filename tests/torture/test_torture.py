"""The short run of the torture, and proof that it notices what goes wrong.

The long run is `make torture`.
"""

from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.hashing import CardHash, content_hash
from tests.torture.checks import find_faults
from tests.torture.kill import run_kills
from tests.torture.ledger import (
    Acknowledged,
    Attempt,
    FileNotebook,
    Note,
    Refused,
    Witnessed,
    read_ledger,
    read_notes,
)
from tests.torture.power_cut import run_power_cuts

SEED = 20
LOST = content_hash(b"never written")


def test_nothing_acknowledged_is_lost_when_the_process_is_killed() -> None:
    report = run_kills(12, seed=SEED)

    assert report.faults == []
    assert report.kills == 12
    assert report.acknowledged > 0


def test_nothing_acknowledged_is_lost_when_the_power_goes() -> None:
    report = run_power_cuts(100, seed=SEED)

    assert report.faults == []
    assert report.cuts == 100
    assert report.acknowledged > 100


def test_the_power_cuts_find_what_a_weaker_sync_loses() -> None:
    report = run_power_cuts(60, seed=SEED, pragmas=("synchronous=NORMAL",))

    assert report.cuts_with_faults >= 5
    assert any("was acknowledged, and lost" in fault for fault in report.faults)


FIRST, SECOND, THIRD = (content_hash(name) for name in (b"first", b"second", b"third"))
MOVE_TO_SECOND = Attempt(number=2, kind="put", cards=(SECOND,), handle="h")
MOVE_TO_THIRD = Attempt(number=3, kind="put", cards=(THIRD,), handle="h")


def acknowledged(attempt: Attempt) -> list[Note]:
    return [attempt, Acknowledged(number=attempt.number)]


def test_the_checks_are_content_with_a_kept_promise(tmp_path: Path) -> None:
    assert faults_of(tmp_path, [*acknowledged(MOVE_TO_SECOND), *acknowledged(MOVE_TO_THIRD)]) == []


def test_moves_at_the_same_time_may_stand_in_either_order(tmp_path: Path) -> None:
    both_at_once: list[Note] = [
        MOVE_TO_THIRD,
        MOVE_TO_SECOND,
        Acknowledged(number=3),
        Acknowledged(number=2),
    ]

    assert faults_of(tmp_path, both_at_once) == []


@pytest.mark.parametrize(
    ("notes", "fault"),
    [
        pytest.param(
            acknowledged(Attempt(number=1, kind="add", cards=(LOST,))),
            "add 1 was acknowledged, and lost",
            id="a lost card",
        ),
        pytest.param(
            [Attempt(number=1, kind="batch", cards=(FIRST, LOST))],
            "batch 1 is half done",
            id="half a batch",
        ),
        pytest.param(
            [Attempt(number=1, kind="add", cards=(FIRST,)), Refused(number=1, code="conflict")],
            "add 1 was refused, and left",
            id="a refusal that left something",
        ),
        pytest.param(
            acknowledged(Attempt(number=1, kind="delete", deletes=FIRST)),
            f"the deletion of card {FIRST[:12]} was acknowledged, and lost",
            id="a lost deletion",
        ),
        pytest.param(
            acknowledged(MOVE_TO_THIRD) + acknowledged(MOVE_TO_SECOND),
            "a later move of h than attempt 3 was undone",
            id="an undone move",
        ),
        pytest.param(
            acknowledged(Attempt(number=1, kind="judge", document="doc_9", notes="fine")),
            "judge 1 was acknowledged, and lost the judgement",
            id="a lost judgement",
        ),
        pytest.param(
            [Witnessed(seq=99, hash="f" * 64)], "were cut off the end", id="a cut audit log"
        ),
    ],
)
def test_the_checks_notice_a_broken_promise(tmp_path: Path, notes: list[Note], fault: str) -> None:
    assert fault in "\n".join(faults_of(tmp_path, notes))


def faults_of(folder: Path, notes: list[Note]) -> list[str]:
    """Return what is wrong with a small sound archive, if `notes` were what it had promised."""
    with SqliteArchive(folder / "salon.db") as archive:
        archive.add(b"first")
        archive.put("h", b"second")
        archive.put("h", b"third")
        return find_faults(archive, [read_ledger(notes)])


def test_a_torn_last_note_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    notebook = FileNotebook(path)
    kept = Attempt(number=1, kind="batch", cards=(CardHash("a"), CardHash("b")))
    notebook.append(kept)
    notebook.append(Acknowledged(number=1))
    path.write_bytes(path.read_bytes()[:-5])

    assert list(read_notes(path)) == [kept]
