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


def _numbers(salon: CommandLine, *options: str) -> list[int]:
    lines = salon("audit", "log", "--json", *options).text.splitlines()
    return [json.loads(line)["seq"] for line in lines]


def test_entries_are_found_by_what_they_are(salon: CommandLine) -> None:
    _fill(salon)
    salon("archive", "add", "-", "--handle", "other", stdin=b"text 7")
    assert _numbers(salon, "--kind", "handle_set") == [2, 4, 6, 8, 10, 12, 14]
    assert _numbers(salon, "--kind", "handle_set", "--kind", "cards_added", "--limit", "3") == [
        1,
        2,
        3,
    ]
    assert _numbers(salon, "--handle", "other") == [14]
    assert _numbers(salon, "--handle", "n", "--newest", "--limit", "2") == [12, 10]
    assert _numbers(salon, "--newest", "--before", "4") == [3, 2, 1]
    assert _numbers(salon, "--session", "nobody") == []
    assert _numbers(salon, "--until", "2020-01-01") == []
    assert len(_numbers(salon, "--since", "2020-01-01T00:00:00+02:00")) == 14
    actor = json.loads(salon("audit", "log", "--json", "--limit", "1").text)["by"]
    assert len(_numbers(salon, "--by", actor)) == 14
    assert "other" in salon("audit", "log", "--handle", "other").text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--kind", "handle_sat"), "handle_set"),
        (("--since", "yesterday"), "2026-11-15"),
        (("--until", ""), "2026-11-15"),
    ],
    ids=["kind", "since", "until"],
)
def test_what_cannot_be_looked_for_is_said_with_what_can(
    salon: CommandLine, options: tuple[str, ...], said: str
) -> None:
    found = salon("audit", "log", "--json", *options)
    assert found.error["code"] == "invalid_input"
    assert said in found.error["hint"]


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
