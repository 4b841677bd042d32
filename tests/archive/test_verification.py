"""Verification: every kind of damage is found, named, and told apart from every other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from salon.archive.adoption import Adopted
from salon.archive.checks.problems import WORST_OF_A_KIND
from salon.archive.checks.verification import VerificationReport
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.documents import DocumentId, Provenance, Span, VerificationStatus
from salon.core.errors import SalonError
from salon.core.handles import HandleName
from salon.core.hashing import CardHash, content_hash
from tests.archive.raw import foreign, raw, tamper
from tests.archive.samples import NOBODY, add_document, delete, kinds
from tests.archive.scratch import scratch_archive, scratch_folder
from tests.archive.test_behaviour_audit import CHANGES, Verb, set_scene

V1, V2, FREE, REPLY, DERIVED, GONE = (
    content_hash(content) for content in (b"v1", b"v2", b"free", b"reply", b"derived", b"gone")
)
LARGE = b"large" * 600_000


def fill(archive: SqliteArchive) -> DocumentId:
    """Put a little of everything into an archive; return its document."""
    archive.add_many([b"v1", b"v2", b"free", b"reply", b"derived", b"gone"])
    archive.put("notes", b"v1")
    archive.put("notes", b"v2")
    archive.put("other", b"v1")
    document = add_document(archive, V1)
    archive.write(
        lambda tx: tx.set_verification(document.id, VerificationStatus.DISPUTED, notes="hm")
    )
    archive.write(lambda tx: tx.cite(REPLY, [Span(hash=V1, start=0, end=2)]))
    archive.write(lambda tx: tx.cite(REPLY, [Span(hash=GONE, start=0, end=4)]))
    archive.write(lambda tx: tx.mark_derived(DERIVED, from_card=V1))
    delete(archive, GONE, reason="unlawful", force=True)
    return document.id


@pytest.fixture
def full(sqlite: SqliteArchive) -> SqliteArchive:
    """An archive with a little of everything in it."""
    fill(sqlite)
    return sqlite


def found(report: VerificationReport) -> set[tuple[str, str]]:
    """Return kind and subject of every problem."""
    return {(problem.kind, problem.subject) for problem in report.problems}


def insert_card(path: Path, content: bytes, card: str | None = None) -> str:
    """Write a card as another program would."""
    name = content_hash(content) if card is None else card
    tamper(path, "INSERT INTO card VALUES (?, ?, 'sha256|then|UTC')", (name, content))
    return name


# Sound archives


def test_an_empty_archive_is_sound(sqlite: SqliteArchive) -> None:
    report = sqlite.verify()
    assert report == VerificationReport(
        cards=0, bytes=0, handles=0, documents=0, audit_entries=0, seal="not checked", problems=()
    )
    assert report.is_sound


def test_a_full_archive_is_sound_and_counted(full: SqliteArchive) -> None:
    report, stats = full.verify(), full.stats()
    assert report.problems == ()
    assert (report.cards, report.bytes) == (stats.cards, stats.bytes)
    assert (report.handles, report.documents) == (stats.handles, stats.documents)
    assert report.audit_entries == stats.audit_entries


@pytest.mark.parametrize(
    "verb",
    [verb for cases in CHANGES.values() for _, verb in cases],
    ids=[f"{name}-{number}" for name in CHANGES for number in range(len(CHANGES[name]))],
)
def test_after_every_verb_the_log_amounts_to_what_is_there(
    sqlite: SqliteArchive, verb: Verb
) -> None:
    scene = set_scene(sqlite)
    sqlite.write(lambda tx: verb(tx, scene))
    assert sqlite.verify().problems == ()
    sqlite.write(lambda tx: tx.add(b"and it goes on"))
    assert sqlite.verify().problems == ()


def test_progress_counts_every_byte(full: SqliteArchive) -> None:
    full.add(LARGE)
    seen: list[int] = []
    report = full.verify(on_bytes=seen.append)
    assert sum(seen) == report.bytes == full.stats().bytes


def test_an_archive_can_be_verified_by_who_may_only_read_it(full: SqliteArchive) -> None:
    with SqliteArchive(full.path, read_only=True) as reader:
        assert reader.verify().problems == ()


# Damage by SQL: what was done, and exactly the kinds and subjects that must be reported

DAMAGE: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "content changed": (
        f"UPDATE card SET content = x'00' WHERE hash = '{FREE}'",
        {("bad_card", FREE)},
    ),
    "content became text": (
        f"UPDATE card SET content = 'free' WHERE hash = '{FREE}'",
        {("bad_card", FREE)},
    ),
    "content became a number": (
        f"UPDATE card SET content = 7 WHERE hash = '{FREE}'",
        {("bad_card", FREE)},
    ),
    "card removed": (f"DELETE FROM card WHERE hash = '{FREE}'", {("missing_card", FREE)}),
    "name of a card changed": (
        f"UPDATE card SET hash = '{NOBODY}' WHERE hash = '{FREE}'",
        {("bad_card", NOBODY), ("missing_card", FREE), ("unlogged_card", NOBODY)},
    ),
    "card without a proper name": (
        "INSERT INTO card VALUES ('abc', x'00', 't')",
        {("bad_card", "abc"), ("unlogged_card", "abc")},
    ),
    "card in capitals": (
        f"UPDATE card SET hash = upper(hash) WHERE hash = '{FREE}'",
        {
            ("bad_card", FREE.upper()),
            ("missing_card", FREE),
            ("unlogged_card", FREE.upper()),
        },
    ),
    "handle moved": (
        f"UPDATE handle_registry SET current_hash = '{V1}' WHERE handle = 'notes'",
        {("unlogged_handle", "notes")},
    ),
    "handle made": (
        f"INSERT INTO handle_registry VALUES ('fresh', '{V1}', 't', 't')",
        {("unlogged_handle", "fresh")},
    ),
    "handle removed": (
        "DELETE FROM handle_registry WHERE handle = 'other'",
        {("unlogged_handle", "other")},
    ),
    "handle with an improper name": (
        f"INSERT INTO handle_registry VALUES ('a@b', '{V1}', 't', 't')",
        {("bad_handle", "a@b"), ("unlogged_handle", "a@b")},
    ),
    "handle not in its normal form": (
        f"INSERT INTO handle_registry VALUES ('cafe\u0301', '{V1}', 't', 't')",
        {("bad_handle", "cafe\u0301"), ("unlogged_handle", "cafe\u0301")},
    ),
    "citation beyond the end": (
        f"UPDATE citation SET stop = 3 WHERE cited_hash = '{V1}'",
        {("bad_citation", REPLY), ("unlogged_citation", REPLY)},
    ),
    "citation turned around": (
        f"UPDATE citation SET start = 2, stop = 1 WHERE cited_hash = '{V1}'",
        {("bad_citation", REPLY), ("unlogged_citation", REPLY)},
    ),
    "citation of nothing": (
        f"UPDATE citation SET cited_hash = '{NOBODY}' WHERE cited_hash = '{V1}'",
        {("bad_citation", REPLY), ("unlogged_citation", REPLY)},
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_with_its_kind_and_subject(full: SqliteArchive, damage: str) -> None:
    sql, expected = DAMAGE[damage]
    tamper(full.path, sql)
    report = full.verify()
    assert found(report) == expected
    assert all(problem.message for problem in report.problems)
    assert not report.is_sound


def test_a_handle_that_points_at_nothing_dangles(full: SqliteArchive) -> None:
    tamper(
        full.path, f"UPDATE handle_registry SET current_hash = '{NOBODY}' WHERE handle = 'other'"
    )
    kinds_found = {kind for kind, _ in found(full.verify())}
    assert kinds_found == {"dangling_reference", "unlogged_handle"}


@pytest.mark.parametrize("column", ["source_hash", "text_hash", "layout_hash"])
def test_a_document_that_points_at_nothing_dangles(full: SqliteArchive, column: str) -> None:
    tamper(full.path, f"UPDATE document SET {column} = '{NOBODY}'")
    assert "dangling_reference" in {kind for kind, _ in found(full.verify())}


def test_a_removed_card_that_is_needed_is_missing_and_leaves_dangling_references(
    full: SqliteArchive,
) -> None:
    tamper(full.path, f"DELETE FROM card WHERE hash = '{V1}'")
    problems = found(full.verify())
    assert ("missing_card", V1) in problems
    assert ("bad_citation", REPLY) in problems
    assert {kind for kind, _ in problems} == {
        "missing_card",
        "bad_citation",
        "dangling_reference",
    }


def test_one_changed_byte_in_a_large_card_is_found(sqlite: SqliteArchive) -> None:
    card = sqlite.add(LARGE).hash
    with raw(sqlite.path) as connection:
        rowid = connection.execute("SELECT rowid FROM card").get
        with connection.blob_open("main", "card", "content", rowid, True) as blob:
            blob.seek(len(LARGE) - 1)
            blob.write(b"X")
    assert found(sqlite.verify()) == {("bad_card", card)}


def test_a_document_without_a_status_is_found(full: SqliteArchive) -> None:
    tamper(full.path, "DELETE FROM document_verification")
    document = _only_document(full)
    assert ("bad_document", document) in found(full.verify())


@pytest.mark.parametrize(
    "damage", ["type = 'poem'", "authors = 'no list'", "title = ' '", "year = 123456"]
)
def test_a_document_that_cannot_be_read_is_found(full: SqliteArchive, damage: str) -> None:
    document = _only_document(full)
    tamper(full.path, f"UPDATE document SET {damage}")
    assert ("bad_document", document) in found(full.verify())
    with pytest.raises(SalonError):
        list(full.documents())


def test_a_document_behind_the_logs_back_is_found(full: SqliteArchive) -> None:
    document = _only_document(full)
    tamper(full.path, "DELETE FROM document")
    assert ("unlogged_document", document) in found(full.verify())
    tamper(
        full.path,
        "INSERT INTO document VALUES ('doc_x', 'T', 'book', '[]', NULL, NULL, NULL, NULL, NULL, 0,"
        f" '{V1}', '{V1}', NULL, 't')",
    )
    assert ("unlogged_document", "doc_x") in found(full.verify())


def _only_document(archive: SqliteArchive) -> str:
    with raw(archive.path) as connection:
        return str(connection.execute("SELECT id FROM document").get)


VOUCHED_FOR = {
    "a judgement": "UPDATE document_verification SET status = 'verified' WHERE notes = 'hm'",
    "the words of a judgement": "UPDATE document_verification SET notes = '!' WHERE notes = 'hm'",
    "an earlier judgement": "DELETE FROM document_verification WHERE status = 'pending'",
    "the card of a document": f"UPDATE document SET text_hash = '{V2}'",
    "the derived mark": "UPDATE document SET derived = 1",
    "the words of a tombstone": "UPDATE tombstone SET reason = 'no reason'",
    "a tombstone": "DELETE FROM tombstone",
    "a citation": f"DELETE FROM citation WHERE cited_hash = '{V1}'",
    "a derivation": "DELETE FROM derivation",
    "a step in a history": "UPDATE handle_move SET previous_hash = current_hash",
}


@pytest.mark.parametrize("what", VOUCHED_FOR)
def test_whatever_the_log_vouches_for_is_held_against_it(full: SqliteArchive, what: str) -> None:
    """The log names these (or their digest), so a quiet change in the tables must show."""
    tamper(full.path, VOUCHED_FOR[what])
    assert not full.verify().is_sound


def test_a_quiet_change_of_where_a_document_comes_from_shows(full: SqliteArchive) -> None:
    tamper(full.path, "UPDATE document SET title = 'Another', url = 'https://example.org'")
    assert not full.verify().is_sound


@pytest.mark.parametrize("name", [None, 7, b"abc"], ids=["null", "number", "bytes"])
def test_a_card_whose_name_is_not_even_text_is_reported(full: SqliteArchive, name: object) -> None:
    tamper(full.path, "INSERT INTO card VALUES (?, x'00', 't')", (name,))
    assert "bad_card" in {kind for kind, _ in found(full.verify())}


def test_a_nameless_card_does_not_hide_that_others_are_missing(full: SqliteArchive) -> None:
    tamper(full.path, "INSERT INTO card VALUES (NULL, x'00', 't')")
    tamper(full.path, f"DELETE FROM card WHERE hash = '{FREE}'")
    assert ("missing_card", FREE) in found(full.verify())


@pytest.mark.parametrize("name", [b"abc", b"\xff"], ids=["bytes", "noise"])
def test_a_handle_whose_name_is_not_even_text_is_reported(
    full: SqliteArchive, name: object
) -> None:
    tamper(full.path, f"INSERT INTO handle_registry VALUES (?, '{V1}', 't', 't')", (name,))
    assert "bad_handle" in {kind for kind, _ in found(full.verify())}


READS: dict[str, Callable[[SqliteArchive, str], object]] = {
    "get": lambda archive, card: archive.get(card),  # type: ignore[arg-type]
    "open": lambda archive, card: archive.open(card).read(),  # type: ignore[arg-type]
    "add": lambda archive, _: archive.add(b"as text"),
}


ODD_CARDS: dict[str, tuple[str, object]] = {
    "an odd name": ("abc", b"bytes"),
    "an odd name, and text": ("abc", "text"),
    "text instead of bytes": (content_hash(b"as text"), "as text"),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("odd", ODD_CARDS)
def test_a_card_that_another_program_wrote_badly_is_a_clear_error(
    sqlite: SqliteArchive, read: str, odd: str
) -> None:
    card, content = ODD_CARDS[odd]
    tamper(sqlite.path, "INSERT INTO card VALUES (?, ?, 't')", (card, content))
    if read == "add" and card == "abc":
        assert sqlite.add(b"as text").created
    elif read == "open" and odd == "text instead of bytes":
        assert sqlite.open(CardHash(card)).read() == b"as text"  # its bytes are what they should be
    else:
        with pytest.raises(SalonError):
            READS[read](sqlite, card)


# Limits


def test_problems_are_limited_per_kind_and_the_rest_is_counted(sqlite: SqliteArchive) -> None:
    sqlite.add_many([b"%d" % number for number in range(WORST_OF_A_KIND + 15)])
    sqlite.write(lambda tx: [tx.set_handle(f"h{n}", content_hash(b"0")) for n in range(50)])
    tamper(sqlite.path, "UPDATE card SET content = x'00'")
    tamper(sqlite.path, f"UPDATE handle_registry SET current_hash = '{content_hash(b'1')}'")
    problems = sqlite.verify().problems
    assert sum(problem.kind == "bad_card" for problem in problems) == WORST_OF_A_KIND
    assert sum(problem.kind == "unlogged_handle" for problem in problems) == WORST_OF_A_KIND
    rests = [problem.message for problem in problems if problem.kind == "more"]
    assert len(rests) == 2
    assert "15 more" in rests[0]
    assert "30 more" in rests[1]


def test_unlogged_documents_are_limited_too(sqlite: SqliteArchive) -> None:
    card = sqlite.add(b"x").hash
    sqlite.write(
        lambda tx: [tx.add_document(Provenance(title="T"), source=card) for _ in range(60)]
    )
    tamper(sqlite.path, "DELETE FROM document_verification")
    tamper(sqlite.path, "DELETE FROM document")
    problems = sqlite.verify().problems
    assert sum(problem.kind == "unlogged_document" for problem in problems) == WORST_OF_A_KIND


def test_many_problems_of_one_kind_do_not_hide_another(sqlite: SqliteArchive) -> None:
    sqlite.add_many([b"%d" % number for number in range(40)])
    card = content_hash(b"0")
    sqlite.write(lambda tx: [tx.set_handle(f"h{n}", card) for n in range(40)])
    tamper(sqlite.path, "UPDATE handle_registry SET current_hash = ?", (NOBODY,))
    tamper(sqlite.path, f"DELETE FROM card WHERE hash = '{content_hash(b'7')}'")
    tamper(sqlite.path, f"UPDATE card SET content = x'00' WHERE hash = '{content_hash(b'8')}'")
    problems = found(sqlite.verify())
    assert ("missing_card", content_hash(b"7")) in problems
    assert ("bad_card", content_hash(b"8")) in problems
    assert ("unlogged_handle", "h0") in problems


# Other programs


def test_what_another_program_wrote_is_reported_and_adopting_fixes_exactly_that(
    full: SqliteArchive,
) -> None:
    written = content_hash(b"foreign")
    foreign(
        full.path,
        (f"INSERT INTO card VALUES ('{written}', CAST('foreign' AS BLOB), 'g')", []),
        (f"INSERT INTO handle_registry VALUES ('theirs', '{written}', 't', 't')", []),
        ("UPDATE handle_registry SET current_hash = ? WHERE handle = 'other'", [written]),
    )
    tamper(full.path, f"UPDATE card SET content = x'00' WHERE hash = '{FREE}'")
    assert found(full.verify()) == {
        ("unlogged_card", written),
        ("unlogged_handle", "theirs"),
        ("unlogged_handle", "other"),
        ("bad_card", FREE),
    }
    before = full.stats().audit_entries
    assert full.adopt(by="keeper") == Adopted(cards=1, handles=2)
    assert kinds(full, after=before) == ["cards_adopted", "handles_adopted"]
    assert found(full.verify()) == {("bad_card", FREE)}
    assert full.adopt() == Adopted(cards=0, handles=0)
    assert full.stats().audit_entries == before + 2
    assert full.get(written).content == b"foreign"
    assert full.history("theirs")[0].current == written
    assert (full.history("other")[0].previous, full.history("other")[0].current) == (V1, written)


def test_adopting_never_excuses_what_is_missing(full: SqliteArchive) -> None:
    tamper(full.path, f"DELETE FROM card WHERE hash = '{FREE}'")
    tamper(full.path, "DELETE FROM handle_registry WHERE handle = 'other'")
    full.adopt()
    assert found(full.verify()) == {("missing_card", FREE), ("unlogged_handle", "other")}


MCARD_SCHEMA = """
    CREATE TABLE card (
        hash TEXT PRIMARY KEY, content BLOB NOT NULL, g_time TEXT NOT NULL);
    CREATE TABLE handle_registry (
        handle TEXT PRIMARY KEY, current_hash TEXT NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        FOREIGN KEY (current_hash) REFERENCES card(hash));
    CREATE TABLE handle_history (
        id INTEGER PRIMARY KEY AUTOINCREMENT, handle TEXT NOT NULL,
        previous_hash TEXT NOT NULL, changed_at TEXT NOT NULL,
        FOREIGN KEY (handle) REFERENCES handle_registry(handle),
        FOREIGN KEY (previous_hash) REFERENCES card(hash))
"""
MCARD_MOVE = "INSERT INTO handle_history (handle, previous_hash, changed_at) VALUES ('notes', ?, ?)"


def test_an_mcard_file_is_adopted_when_it_is_opened_first(tmp_path: Path) -> None:
    path = tmp_path / "mcard.db"
    one, two, three = (content_hash(content) for content in (b"1", b"2", b"3"))
    at = "2026-11-15T00:23:23.179440+00:00"
    foreign(
        path,
        *[(statement, []) for statement in MCARD_SCHEMA.split(";")],
        *[
            (f"INSERT INTO card VALUES ('{card}', CAST('{text}' AS BLOB), 'g')", [])
            for card, text in ((one, "1"), (two, "2"), (three, "3"))
        ],
        ("INSERT INTO handle_registry VALUES ('notes', ?, ?, ?)", [three, at, at]),
        ("INSERT INTO handle_registry VALUES ('still', ?, ?, ?)", [one, at, at]),
        (MCARD_MOVE, [one, at]),
        (MCARD_MOVE, [two, at]),
    )
    with SqliteArchive(path, actor="keeper") as archive:
        assert archive.verify().problems == ()
        assert kinds(archive) == ["cards_adopted", "handles_adopted"]
        steps = [(move.previous, move.current) for move in archive.history("notes")]
        assert steps == [(two, three), (one, two), (None, one)]
        assert [(m.previous, m.current) for m in archive.history("still")] == [(None, one)]
    with SqliteArchive(path) as again:
        assert len(kinds(again)) == 2


# Damage to the file itself


def _template() -> tuple[bytes, list[tuple[CardHash, bytes]], list[tuple[HandleName, CardHash]]]:
    with scratch_archive() as archive:
        fill(archive)
        archive.add_many([b"%d" % number * 300 for number in range(20)])
        archive.add(bytes(range(256)) * 60)
        cards = [(info.hash, archive.get(info.hash).content) for info in archive.cards()]
        handles = [(handle.name, handle.current) for handle in archive.handles()]
        archive.close()
        return archive.path.read_bytes(), cards, handles


FILE, CARDS, HANDLES = _template()


@settings(max_examples=150)
@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
@example(0, 1)
@example(18, 1)
@example(27, 255)
@example(100, 255)
@example(4096, 255)
def test_a_flipped_byte_is_reported_or_harmless_and_never_a_crash(place: int, flip: int) -> None:
    damaged = bytearray(FILE)
    damaged[place] ^= flip
    check_damaged(bytes(damaged))


@settings(max_examples=40)
@given(st.integers(0, len(FILE) // 512 - 1), st.sampled_from([b"\0", b"\xff", b"x"]))
def test_a_lost_sector_is_reported_or_harmless_and_never_a_crash(
    sector: int, filler: bytes
) -> None:
    start = sector * 512
    check_damaged(FILE[:start] + filler * 512 + FILE[start + 512 :])


@settings(max_examples=25)
@given(st.integers(1, len(FILE) - 1))
def test_a_file_cut_short_is_reported_and_never_a_crash(length: int) -> None:
    check_damaged(FILE[:length])


def check_damaged(content: bytes) -> None:
    with scratch_folder() as folder:
        path = folder / "salon.db"
        path.write_bytes(content)
        try:
            with SqliteArchive(path, read_only=True) as archive:
                if not archive.verify().is_sound:
                    return
                cards = [(info.hash, archive.get(info.hash).content) for info in archive.cards()]
                handles = [(handle.name, handle.current) for handle in archive.handles()]
                list(archive.audit_entries())
        except SalonError:
            return
        assert cards == CARDS
        assert handles == HANDLES
