"""`salon audit …`: the log can be read, proven, and caught lying."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


def _fill(salon: CommandLine) -> None:
    for number in range(6):
        salon("archive", "add", "-", "--handle", "n", stdin=f"text {number}".encode())


def _tamper(salon: CommandLine, *statements: str) -> None:
    database = sqlite3.connect(salon.home / "salon.db")
    with database:
        database.execute("DROP TRIGGER salon_audit_no_update")
        database.execute("DROP TRIGGER salon_audit_no_delete")
        for statement in statements:
            database.execute(statement)
    database.close()


def test_a_good_log_verifies_and_is_signed(salon: CommandLine) -> None:
    _fill(salon)
    found = salon("audit", "verify", "--json").json
    assert found["sound"] is True
    assert found["checkpoint"]["seq"] == 12
    assert len(found["checkpoint"]["signature"]) == 128


def test_the_log_names_every_change_and_no_content(salon: CommandLine) -> None:
    _fill(salon)
    lines = salon("audit", "log", "--limit", "0", "--json").text.splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["body"]["kind"] for entry in entries] == ["cards_added", "handle_set"] * 6
    assert "text 3" not in salon("audit", "log").text
    assert len(salon("audit", "log", "--after", "10").text.splitlines()) == 2


@pytest.mark.parametrize(
    ("statements", "entry"),
    [
        (("UPDATE audit SET by = 'somebody else' WHERE seq = 5",), 5),
        (("UPDATE audit SET body = replace(body, 'handle_set', 'handle_sat') WHERE seq = 4",), 4),
        (("DELETE FROM audit WHERE seq = 7",), 7),
        (
            (
                "UPDATE audit SET seq = -1 WHERE seq = 3",
                "UPDATE audit SET seq = 3 WHERE seq = 4",
                "UPDATE audit SET seq = 4 WHERE seq = -1",
            ),
            3,
        ),
        (("DELETE FROM audit WHERE seq > 9",), 10),
        (
            (
                "DELETE FROM audit WHERE seq > 9",
                "UPDATE audit_head SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9)",
            ),
            10,
        ),
    ],
    ids=["edited actor", "edited body", "deleted", "swapped", "cut", "cut with its head"],
)
def test_tampering_is_caught_at_the_first_bad_entry(
    salon: CommandLine, statements: tuple[str, ...], entry: int
) -> None:
    _fill(salon)
    _tamper(salon, *statements)
    found = salon("audit", "verify", "--json")
    assert found.code == 6
    assert found.error["code"] == "audit_broken"
    assert found.error["details"]["entry"] == entry


def test_a_checkpoint_kept_elsewhere_shows_a_cut_that_hides_all_traces(
    salon: CommandLine, tmp_path: Path
) -> None:
    _fill(salon)
    kept = tmp_path / "kept.json"
    assert salon("audit", "checkpoint", "-o", str(kept)).code == 0
    old = salon.home / "salon.db"
    before = old.read_bytes()
    salon("archive", "add", "-", stdin=b"one more")
    later = tmp_path / "later.json"
    salon("audit", "checkpoint", "-o", str(later))
    # Somebody puts the older file back and removes what this home remembers.
    for name in ("salon.db-wal", "salon.db-shm", "salon-checkpoint.json"):
        (salon.home / name).unlink(missing_ok=True)
    old.write_bytes(before)
    assert salon("audit", "verify").code == 0, "by itself the older file is sound"
    assert salon("audit", "verify", "--checkpoint", str(kept)).code == 0
    found = salon("audit", "verify", "--checkpoint", str(later), "--json")
    assert (found.code, found.error["details"]["entry"]) == (6, 13)


def test_a_checkpoint_of_another_archive_is_refused(
    salon: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = CommandLine(tmp_path / "other", monkeypatch)
    _fill(salon)
    _fill(other)
    kept = tmp_path / "other.json"
    other("audit", "checkpoint", "-o", str(kept))
    assert salon("audit", "verify", "--checkpoint", str(kept)).code == 6
