"""The audit chain in SQLite: every tampering shows, at the first entry it touched."""

import json
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.audit.log import ChainFault, entry_hash, find_chain_fault
from salon.archive.audit.signing import Signer, is_signed_by, load_or_make_signer, load_signer
from salon.archive.checks.problems import Problem
from salon.archive.checks.verification import VerificationReport
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.clock import SteppingClock
from salon.core.documents import Provenance, VerificationStatus
from salon.core.errors import InvalidSettings, SalonError
from salon.core.events import GENESIS, Checkpoint
from tests.archive.backends import START
from tests.archive.raw import raw, tamper
from tests.archive.samples import delete, log
from tests.archive.scratch import scratch_archive

ENTRIES = 8


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    """A key of its own."""
    return load_or_make_signer(tmp_path / "keys" / "audit.key")


@pytest.fixture
def signed(tmp_path: Path, signer: Signer) -> Iterator[SqliteArchive]:
    """An archive with a signed log of eight entries."""
    with SqliteArchive(
        tmp_path / "salon.db",
        actor="tester",
        clock=SteppingClock(START),
        signer=lambda: signer,
    ) as archive:
        for number in range(ENTRIES):
            archive.add(b"content %d" % number)
        yield archive


def check(archive: SqliteArchive, signer: Signer, *witnesses: Checkpoint) -> VerificationReport:
    """Verify as the owner of the key would."""
    return archive.verify(
        witnesses=witnesses, is_signed=lambda head: is_signed_by(head, signer.key)
    )


def of_kind(report: VerificationReport, kind: str) -> list[Problem]:
    return [problem for problem in report.problems if problem.kind == kind]


def first_bad_entry(report: VerificationReport) -> int:
    """Return the entry that the report names as the first bad one."""
    (problem,) = of_kind(report, "audit_broken")
    return int(problem.subject.removeprefix("entry "))


def rewrite_chain(connection: apsw.Connection, *, after: int = 0) -> tuple[int, str]:
    """Make the chain consistent again, as a forger without the key would; return its head."""
    previous, last = GENESIS, 0
    rows = connection.execute("SELECT seq, at, by, body, hash FROM audit ORDER BY seq").fetchall()
    for row in rows:
        last = int(str(row[0]))
        at, by, body, digest = (str(value) for value in row[1:])
        if last > after:
            digest = entry_hash(last, at, by, body.encode(), previous)
            connection.execute(
                "UPDATE audit SET previous = ?, hash = ? WHERE seq = ?", (previous, digest, last)
            )
        previous = digest
    return last, previous


# Sound


@pytest.mark.requirement("cap/security/audit-log")
def test_a_log_that_nobody_touched_is_sound_and_its_seal_is_valid(
    signed: SqliteArchive, signer: Signer
) -> None:
    report = check(signed, signer, signed.checkpoint())
    assert report.problems == ()
    assert report.seal == "valid"
    assert report.audit_entries == ENTRIES


def test_the_hash_of_an_entry_covers_everything_in_it(signed: SqliteArchive) -> None:
    entry = log(signed)[3]
    body = json.dumps(entry.body, sort_keys=True, separators=(",", ":")).encode()
    assert entry_hash(entry.seq, entry.at, entry.by, body, entry.previous) == entry.hash
    others = [
        (entry.seq + 1, entry.at, entry.by, body, entry.previous),
        (entry.seq, entry.at + " ", entry.by, body, entry.previous),
        (entry.seq, entry.at, entry.by + " ", body, entry.previous),
        (entry.seq, entry.at, entry.by, body + b" ", entry.previous),
        (entry.seq, entry.at, entry.by, body, GENESIS),
        (entry.seq, entry.by, entry.at, body, entry.previous),
    ]
    assert entry.hash not in {entry_hash(*other) for other in others}


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=3, max_size=3),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=3, max_size=3),
)
def test_two_different_entries_never_hash_alike(one: list[str], other: list[str]) -> None:
    hashes = [entry_hash(1, at, by, body.encode(), GENESIS) for at, by, body in (one, other)]
    assert (hashes[0] == hashes[1]) == (one == other)


def test_the_log_refuses_accidents(signed: SqliteArchive) -> None:
    connection = apsw.Connection(str(signed.path))
    for sql in ("UPDATE audit SET by = 'x'", "DELETE FROM audit WHERE seq = 2"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            connection.execute(sql)
    connection.close()


def test_checkpoints_of_all_ages_vouch_for_a_log_that_went_on(
    signed: SqliteArchive, signer: Signer
) -> None:
    witnesses = []
    for number in range(3):
        witnesses.append(signed.checkpoint())
        signed.add(b"more %d" % number)
    assert check(signed, signer, *witnesses, Checkpoint(seq=0, hash=GENESIS)).problems == ()


# Tampering

EDITS = {
    "body": "body = replace(body, 'cards_added', 'cards_adopted')",
    "body spacing": "body = body || ' '",
    "body that is no JSON": "body = 'x'",
    "body that is another JSON": "body = '[]'",
    "body without its fields": 'body = \'{"kind":"cards_added"}\'',
    "body as bytes": "body = CAST(body AS BLOB)",
    "time": "at = '2020-01-01T00:00:00.000000Z'",
    "actor": "by = 'somebody else'",
    "actor as bytes": "by = CAST('tester' AS BLOB)",
    "hash": "hash = replace(hash, substr(hash, 1, 1), 'x')",
    "previous": f"previous = '{GENESIS[:-1]}1'",
}


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize("seq", [1, 4, ENTRIES])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_named(signed: SqliteArchive, signer: Signer, edit: str, seq: int) -> None:
    tamper(signed.path, f"UPDATE audit SET {EDITS[edit]} WHERE seq = ?", (seq,))
    assert first_bad_entry(check(signed, signer)) == seq


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize("seq", [1, 2, 5, ENTRIES - 1])
def test_a_deletion_in_the_middle_is_named(signed: SqliteArchive, signer: Signer, seq: int) -> None:
    tamper(signed.path, "DELETE FROM audit WHERE seq = ?", (seq,))
    report = check(signed, signer)
    assert first_bad_entry(report) == seq
    assert f"entry {seq} is missing" in of_kind(report, "audit_broken")[0].message


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize("seq", [1, 3])
def test_a_deletion_with_the_rest_moved_up_is_named(
    signed: SqliteArchive, signer: Signer, seq: int
) -> None:
    with raw(signed.path) as connection:
        connection.execute("DELETE FROM audit WHERE seq = ?", (seq,))
        for later in range(seq + 1, ENTRIES + 1):
            connection.execute("UPDATE audit SET seq = ? WHERE seq = ?", (later - 1, later))
    assert first_bad_entry(check(signed, signer)) == seq


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 4), (2, 7), (7, ENTRIES)])
def test_a_swap_is_named(signed: SqliteArchive, signer: Signer, one: int, other: int) -> None:
    with raw(signed.path) as connection:
        for old, new in ((one, -1), (other, one), (-1, other)):
            connection.execute("UPDATE audit SET seq = ? WHERE seq = ?", (new, old))
    assert first_bad_entry(check(signed, signer)) == one


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize("left", [0, 1, 5, ENTRIES - 1])
def test_a_cut_tail_is_named(signed: SqliteArchive, signer: Signer, left: int) -> None:
    tamper(signed.path, "DELETE FROM audit WHERE seq > ?", (left,))
    report = check(signed, signer)
    assert first_bad_entry(report) == left + 1
    assert "cut off" in of_kind(report, "audit_broken")[0].message


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize("left", [1, ENTRIES - 1])
def test_a_cut_tail_with_the_head_rewritten_has_no_valid_seal(
    signed: SqliteArchive, signer: Signer, left: int
) -> None:
    with raw(signed.path) as connection:
        connection.execute("DELETE FROM audit WHERE seq > ?", (left,))
        connection.execute(
            "UPDATE audit_head SET seq = ?1, hash = (SELECT hash FROM audit WHERE seq = ?1)",
            (left,),
        )
    report = check(signed, signer)
    assert report.seal == "invalid"
    (problem,) = of_kind(report, "bad_seal")
    assert problem.subject == f"entry {left}"


@pytest.mark.requirement("cap/security/audit-log")
def test_a_cut_tail_with_the_head_rewritten_is_named_by_a_checkpoint_kept_elsewhere(
    signed: SqliteArchive, signer: Signer
) -> None:
    printed = signed.checkpoint()
    with raw(signed.path) as connection:
        connection.execute("DELETE FROM audit WHERE seq > 5")
        connection.execute(
            "UPDATE audit_head SET seq = 5, hash = (SELECT hash FROM audit WHERE seq = 5)"
        )
    assert first_bad_entry(check(signed, signer, printed)) == 6


@pytest.mark.requirement("cap/security/audit-log")
def test_a_whole_chain_rewritten_without_the_key_has_no_valid_seal(
    signed: SqliteArchive, signer: Signer
) -> None:
    printed = signed.checkpoint()
    with raw(signed.path) as connection:
        connection.execute("UPDATE audit SET by = 'nobody' WHERE seq = 3")
        seq, digest = rewrite_chain(connection)
        connection.execute("UPDATE audit_head SET seq = ?, hash = ?", (seq, digest))
    report = check(signed, signer)
    assert of_kind(report, "audit_broken") == []
    assert report.seal == "invalid"
    assert len(of_kind(report, "bad_seal")) == 1
    assert first_bad_entry(check(signed, signer, printed)) == ENTRIES


@pytest.mark.requirement("cap/security/audit-log")
def test_a_chain_rewritten_and_signed_with_another_key_has_no_valid_seal(
    signed: SqliteArchive, signer: Signer, tmp_path: Path
) -> None:
    forger = load_or_make_signer(tmp_path / "forger.key")
    with raw(signed.path) as connection:
        connection.execute("UPDATE audit SET by = 'nobody' WHERE seq = 3")
        head = forger.signed(*rewrite_chain(connection))
        connection.execute(
            "UPDATE audit_head SET hash = ?, key = ?, signature = ?",
            (head.hash, head.key, head.signature),
        )
    assert check(signed, signer).seal == "invalid"
    assert check(signed, forger).seal == "valid"


@pytest.mark.requirement("cap/security/audit-log")
def test_a_consistent_rollback_is_caught_by_a_later_checkpoint(
    signed: SqliteArchive, signer: Signer
) -> None:
    """The whole file put back as it was: nothing inside can tell, a checkpoint elsewhere can."""
    signed.close()
    old = signed.path.read_bytes()
    with SqliteArchive(signed.path, signer=lambda: signer) as archive:
        archive.add(b"later")
        printed = archive.checkpoint()
    signed.path.write_bytes(old)
    with SqliteArchive(signed.path, signer=lambda: signer) as archive:
        assert check(archive, signer).is_sound
        assert first_bad_entry(check(archive, signer, printed)) == ENTRIES + 1
        archive.add(b"another history")
        assert first_bad_entry(check(archive, signer, printed)) == ENTRIES + 1


@pytest.mark.requirement("cap/security/audit-log")
def test_an_entry_appended_behind_the_archives_back_is_named(
    signed: SqliteArchive, signer: Signer
) -> None:
    last = log(signed)[-1]
    body = b'{"hashes":[],"kind":"cards_added"}'
    digest = entry_hash(last.seq + 1, last.at, "tester", body, last.hash)
    tamper(
        signed.path,
        "INSERT INTO audit VALUES (?, ?, 'tester', ?, ?, ?)",
        (last.seq + 1, last.at, body.decode(), last.hash, digest),
    )
    assert first_bad_entry(check(signed, signer)) == last.seq + 1


@pytest.mark.requirement("cap/security/audit-log")
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM audit_head",
        "UPDATE audit_head SET seq = 3",
        "UPDATE audit_head SET hash = (SELECT hash FROM audit WHERE seq = 1)",
    ],
)
def test_a_head_that_was_tampered_with_is_noticed(
    signed: SqliteArchive, signer: Signer, sql: str
) -> None:
    tamper(signed.path, sql)
    assert first_bad_entry(check(signed, signer)) == ENTRIES
    with suppress(SalonError):  # going on from a false head may be refused, but heals nothing
        signed.add(b"more")
    assert not check(signed, signer).is_sound


@pytest.mark.parametrize("column", ["key", "signature"])
def test_a_signature_that_was_taken_away_is_noticed(
    signed: SqliteArchive, signer: Signer, column: str
) -> None:
    tamper(signed.path, f"UPDATE audit_head SET {column} = NULL")
    expected = "valid" if column == "key" else "invalid"  # the key that counts is the trusted one
    assert check(signed, signer).seal == expected


@settings(max_examples=40)
@given(data=st.data())
def test_any_single_change_to_any_entry_is_named(data: st.DataObject) -> None:
    """Rows as an attacker with SQL would see them: change one cell of one row to anything."""
    with scratch_archive() as archive:
        for number in range(4):
            archive.add(b"%d" % number)
        seq = data.draw(st.integers(1, 4))
        column = data.draw(st.sampled_from(["at", "by", "body", "previous", "hash"]))
        value = data.draw(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
            | st.binary(max_size=8)
            | st.integers(-(2**40), 2**40)
        )
        with raw(archive.path) as connection:
            sql = f"SELECT {column} FROM audit WHERE seq = ?"
            before = connection.execute(sql, (seq,)).get
            connection.execute(f"UPDATE audit SET {column} = ? WHERE seq = ?", (value, seq))
            changed = connection.execute(sql, (seq,)).get != before
            fault = find_chain_fault(connection)
        assert (fault is not None) == changed
        assert fault is None or fault.seq == seq
        assert archive.verify().is_sound == (not changed)


def test_a_fault_is_told_even_when_the_log_is_empty(sqlite: SqliteArchive) -> None:
    with raw(sqlite.path) as connection:
        assert find_chain_fault(connection) is None
        witness = Checkpoint(seq=2, hash="a" * 64)
        fault = find_chain_fault(connection, [witness])
    assert fault == ChainFault(seq=1, reason="entries 1 to 2 were cut off the end")


# No content in the log

SECRETS = st.text("abcdefghijklmnopqrstuvwxyz ", min_size=12, max_size=40).filter(
    lambda text: len(text.strip()) > 8
)


@settings(max_examples=30)
@given(content=SECRETS, notes=SECRETS, reason=SECRETS, title=SECRETS)
def test_events_never_contain_content_or_anybodys_words(
    content: str, notes: str, reason: str, title: str
) -> None:
    with scratch_archive() as archive:
        card = archive.put("handle", content.encode()).current
        document = archive.write(
            lambda tx: tx.add_document(Provenance(title=title, url=title), source=card)
        )
        archive.write(
            lambda tx: tx.set_verification(document.id, VerificationStatus.DISPUTED, notes=notes)
        )
        delete(archive, card, reason=reason, force=True)
        with raw(archive.path) as connection:
            bodies = " ".join(str(row[0]) for row in connection.execute("SELECT body FROM audit"))
        entries = len(log(archive))
    assert entries == 5
    for secret in (content, notes, reason, title):
        assert secret not in bodies
        assert secret.encode().hex() not in bodies


# Keys


def test_a_new_key_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "keys" / "audit.key"
    made = load_or_make_signer(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["audit.key"]
    assert load_or_make_signer(path).key == load_signer(path).key == made.key


def test_a_signature_holds_for_its_checkpoint_and_no_other(signer: Signer, tmp_path: Path) -> None:
    signed = signer.signed(7, "a" * 64)
    assert is_signed_by(signed, signer.key)
    assert signed.key == signer.key
    other = load_or_make_signer(tmp_path / "other.key")
    assert not is_signed_by(signed, other.key)
    for forged in (
        Checkpoint(seq=8, hash=signed.hash, key=signed.key, signature=signed.signature),
        Checkpoint(seq=7, hash="b" * 64, key=signed.key, signature=signed.signature),
        Checkpoint(seq=7, hash=signed.hash, key=signed.key, signature=None),
        Checkpoint(seq=7, hash=signed.hash, key=signed.key, signature="00" * 64),
        Checkpoint(seq=7, hash=signed.hash, key=signed.key, signature="no hex"),
        Checkpoint(seq=7, hash=signed.hash, key=signed.key, signature=""),
    ):
        assert not is_signed_by(forged, signer.key)
    for key in ("", "no hex", "00", "é"):
        assert not is_signed_by(signed, key)


@pytest.mark.parametrize(
    "content", [b"", b"not a key", b"\xff\xfe", b"00", b"ab" * 31, b"ab" * 33, b"zz" * 32]
)
def test_a_damaged_key_file_is_a_clear_error_and_is_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "audit.key"
    path.write_bytes(content)
    with pytest.raises(InvalidSettings, match=r"audit\.key"):
        load_or_make_signer(path)
    assert path.read_bytes() == content


def test_a_key_that_is_a_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings):
        load_or_make_signer(tmp_path)


def make_key(path: str) -> str:
    return load_or_make_signer(Path(path)).key


def test_processes_that_make_the_key_at_once_agree_on_one(tmp_path: Path) -> None:
    with get_context("spawn").Pool(4) as pool:
        keys = pool.map(make_key, [str(tmp_path / "audit.key")] * 12, chunksize=1)
    assert len(set(keys)) == 1


def test_threads_that_make_the_key_at_once_agree_on_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, everybody = tmp_path / "audit.key", threading.Barrier(6)
    keys: list[str] = []
    problems: list[BaseException] = []
    looked = Path.exists

    def exists(self: Path) -> bool:
        found = looked(self)
        if self == path:
            everybody.wait(5)  # all of them have seen that there is no key yet
        return found

    def work() -> None:
        try:
            keys.append(load_or_make_signer(path).key)
        except BaseException as error:
            problems.append(error)

    monkeypatch.setattr(Path, "exists", exists)
    run_all([work] * 6)
    assert problems == []
    assert len(set(keys)) == 1
    assert len(keys) == 6


def run_all(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_a_killed_process_left_behind_does_not_stop_the_next_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container the same process number comes back after every restart."""
    path = tmp_path / "audit.key"
    with monkeypatch.context() as killed:
        killed.setattr(Path, "hardlink_to", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        killed.setattr(Path, "unlink", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            load_or_make_signer(path)
    assert not path.exists()
    assert load_or_make_signer(path).key
