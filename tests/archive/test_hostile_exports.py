"""Exports that lie: whatever they say, the archive stays sound or says no in its own words."""

import copy
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.core.errors import HashMismatch, InvalidExport, SalonError
from salon.core.hashing import content_hash
from tests.archive.deeds import BEGINNING, Deed, perform
from tests.archive.exports import Part, exported, imported, put_together, take_apart
from tests.archive.samples import NOBODY
from tests.archive.scratch import scratch_archive

DEEDS = [
    *BEGINNING,
    Deed("put", 3, 0, 0),
    Deed("judge", 0, 3, 0),
    Deed("remove", 0, 0, 1),
    Deed("cite", 3, 5, 0),
    Deed("add", 5, 3, 0),
    Deed("cite", 3, 5, 0),
    Deed("force", 5, 1, 0),
]


def _honest() -> bytes:
    with scratch_archive() as archive:
        perform(archive, DEEDS)
        return exported(archive)


HONEST = _honest()
PARTS = take_apart(HONEST)
KINDS = {str(part.fields["kind"]) for part in PARTS}


def said(data: bytes, kind: str) -> set[tuple[object, object]]:
    """Return what an export says about its handles or documents, as far as it can be read."""
    found: set[tuple[object, object]] = set()
    key, value = {"handle": ("name", "current"), "document": ("id", "source")}[kind]
    for line in data.split(b"\n"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and fields.get("kind") == kind:
            found.add((str(fields.get(key)), str(fields.get(value))))
    return found


def check(data: bytes) -> bool:
    """Import `data` into an empty archive, check the archive, return whether all was accepted."""
    with scratch_archive() as archive:
        try:
            imported(archive, data)
            accepted = True
        except SalonError:
            accepted = False
        assert archive.verify().problems == ()
        handles = {(str(handle.name), str(handle.current)) for handle in archive.handles()}
        documents = {(str(doc.id), str(doc.source)) for doc in archive.documents()}
        assert handles <= said(data, "handle")
        assert documents <= said(data, "document")
        if not accepted:
            assert handles == documents == set()
        else:
            again = exported(archive)
            with scratch_archive() as other:
                imported(other, again)
                assert exported(other) == again
    return accepted


def test_the_honest_export_has_every_kind_of_record_and_is_accepted() -> None:
    assert {"card", "handle", "document", "citation", "derivation", "tombstone"} == KINDS
    assert check(HONEST)
    assert check(put_together(PARTS))


# Damage on the way: no last line covers it


@settings(max_examples=80)
@given(st.integers(0, len(HONEST) - 1), st.integers(1, 255))
def test_a_changed_byte_is_never_accepted(place: int, flip: int) -> None:
    damaged = bytearray(HONEST)
    damaged[place] ^= flip
    assert not check(bytes(damaged))


@settings(max_examples=40)
@given(st.integers(0, len(HONEST)), st.binary(min_size=1, max_size=20))
def test_inserted_bytes_are_never_accepted(place: int, noise: bytes) -> None:
    assert not check(HONEST[:place] + noise + HONEST[place:])


@settings(max_examples=40)
@given(st.integers(0, len(HONEST) - 1), st.integers(1, 200))
def test_lost_bytes_are_never_accepted(place: int, count: int) -> None:
    assert not check(HONEST[:place] + HONEST[place + count :])


@settings(max_examples=40)
@given(st.data())
def test_lines_in_another_order_are_never_accepted(data: st.DataObject) -> None:
    lines = HONEST.splitlines(keepends=True)
    shuffled = data.draw(st.permutations(lines))
    if b"".join(shuffled) != HONEST:
        assert not check(b"".join(shuffled))


@settings(max_examples=40)
@given(st.binary(max_size=300))
def test_noise_is_never_accepted(noise: bytes) -> None:
    assert not check(noise)
    assert not check(b'{"salon_export":1}\n' + noise)


# Lies that the last line covers

HASHES = [content_hash(b"a"), NOBODY, content_hash(b"y" * 40), "abc", "A" * 64, "a" * 32]
TIMES = [
    "2026-11-15T00:23:23.229924Z",
    "yesterday",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-11-15",
]
NUMBERS = [0, 1, -1, 2**31, 2**63, -(2**63) - 1, 10**400, 1.0, 1e308, float("nan"), True]
TEXTS = ["", " ", "x", "\0", "\ud800", "é", "e\u0301", "a@b", "a" * 300, "doc_1", "card", "poem"]
SHAPES: list[object] = [None, [], {}, [[]], {"a": {}}, [None], ["\ud800"], [{"status": "verified"}]]
ODD_VALUES = st.sampled_from([*HASHES, *TIMES, *NUMBERS, *TEXTS, *SHAPES])


@settings(max_examples=150)
@given(st.data())
def test_a_record_with_a_changed_field_is_refused_or_sound(data: st.DataObject) -> None:
    parts = copy.deepcopy(PARTS)
    for _ in range(data.draw(st.integers(1, 3))):
        part = data.draw(st.sampled_from(parts))
        fields = part.fields
        if fields.get("moves") and isinstance(fields["moves"], list) and data.draw(st.booleans()):
            fields = data.draw(st.sampled_from(fields["moves"]))
        if not fields:
            continue
        field = data.draw(st.sampled_from(sorted(fields)))
        change = data.draw(st.sampled_from(["set", "set", "set", "drop", "add"]))
        if change == "set":
            fields[field] = data.draw(ODD_VALUES)
        elif change == "drop":
            del fields[field]
        else:
            fields["surplus"] = data.draw(ODD_VALUES)
    check(put_together(parts))


@settings(max_examples=60)
@given(st.data())
def test_records_repeated_reordered_or_left_out_are_refused_or_sound(data: st.DataObject) -> None:
    parts = list(PARTS)
    for _ in range(data.draw(st.integers(1, 4))):
        one = data.draw(st.integers(0, len(parts) - 1))
        other = data.draw(st.integers(0, len(parts) - 1))
        change = data.draw(st.sampled_from(["repeat", "swap", "drop", "move"]))
        if change == "repeat":
            parts.insert(other, parts[one])
        elif change == "swap":
            parts[one], parts[other] = parts[other], parts[one]
        elif change == "drop" and len(parts) > 1:
            del parts[one]
        elif change == "move":
            parts.insert(other, parts.pop(one))
    check(put_together(parts))


@settings(max_examples=40)
@given(st.sampled_from([part for part in PARTS if part.content]), st.binary(max_size=50))
def test_a_card_with_other_bytes_is_refused(victim: Part, content: bytes) -> None:
    parts = [
        Part(part.fields | {"size": len(content)}, content) if part is victim else part
        for part in PARTS
    ]
    assert check(put_together(parts)) == (content == victim.content)


# Lies that deserve to be named


def only(kind: str) -> Callable[[list[Part]], dict[str, object]]:
    """Return the first record of a kind."""
    return lambda parts: next(part.fields for part in parts if part.fields["kind"] == kind)


def the_tombstoned_citation(parts: list[Part]) -> dict[str, object]:
    dead = {part.fields["hash"] for part in parts if part.fields["kind"] == "tombstone"}
    return next(part.fields for part in parts if part.fields.get("cited") in dead)


def a_living_citation(parts: list[Part]) -> dict[str, object]:
    living = {part.fields["hash"] for part in parts if part.fields["kind"] == "card"}
    return next(part.fields for part in parts if part.fields.get("cited") in living)


def a_living_handle(parts: list[Part]) -> dict[str, object]:
    return next(part.fields for part in parts if part.fields.get("name") and part.fields["current"])


LIES: dict[str, tuple[Callable[[list[Part]], dict[str, object]], dict[str, object]]] = {
    "a card with no bytes": (only("card"), {"size": 0}),
    "a card with minus one byte": (only("card"), {"size": -1}),
    "a card with true bytes": (only("card"), {"size": True}),
    "a card with a fraction of a byte": (only("card"), {"size": 1.0}),
    "a card larger than a card can be": (only("card"), {"size": 10**15}),
    "a card with a size beyond all numbers": (only("card"), {"size": 10**400}),
    "a card with a size in words": (only("card"), {"size": "1"}),
    "a card whose time is no text": (only("card"), {"g_time": 7}),
    "a card whose time is half a character": (only("card"), {"g_time": "\ud800"}),
    "a card whose time is empty": (only("card"), {"g_time": ""}),
    "a card under a name in capitals": (only("card"), {"hash": content_hash(b"a").upper()}),
    "a card with a surplus field": (only("card"), {"surplus": 1}),
    "an unknown kind": (only("handle"), {"kind": "mystery"}),
    "a kind that is a list": (only("handle"), {"kind": []}),
    "a handle that points at nothing": (a_living_handle, {"current": NOBODY}),
    "a handle with an improper name": (only("handle"), {"name": "a@b"}),
    "a handle not in its normal form": (only("handle"), {"name": "e\u0301"}),
    "a handle that is not stripped": (only("handle"), {"name": "a "}),
    "a handle without its times": (a_living_handle, {"created_at": None}),
    "a handle made at no time": (a_living_handle, {"created_at": "noon"}),
    "a handle made before all time": (
        a_living_handle,
        {"created_at": "0001-01-01T00:00:00+23:59"},
    ),
    "a handle whose history ends elsewhere": (
        a_living_handle,
        {"moves": [{"previous": None, "current": NOBODY, "moved_at": "2026-11-15"}]},
    ),
    "a document of an unknown type": (only("document"), {"type": "poem"}),
    "a document without a title": (only("document"), {"title": "  "}),
    "a document titled with half a character": (only("document"), {"title": "\ud800"}),
    "a document of no year": (only("document"), {"year": 123456}),
    "a document with a year in words": (only("document"), {"year": "1990"}),
    "a document without cards": (only("document"), {"source": NOBODY}),
    "a document without a judgement": (only("document"), {"judgements": []}),
    "a document with an odd judgement": (
        only("document"),
        {"judgements": [{"status": "maybe", "by": "x", "at": "2026-11-15", "notes": ""}]},
    ),
    "a document with an odd id": (only("document"), {"id": "1; DROP TABLE card"}),
    "a document with an id on two lines": (only("document"), {"id": "doc_1\n"}),
    "a citation of nothing": (only("citation"), {"cited": NOBODY}),
    "a citation by nothing": (only("citation"), {"citing": NOBODY}),
    "a citation beyond the end": (a_living_citation, {"end": 10**6}),
    "a citation beyond all numbers": (a_living_citation, {"end": 2**63}),
    "a citation before the start": (only("citation"), {"start": -1}),
    "a citation turned around": (only("citation"), {"start": 1, "end": 1}),
    "a citation of a deleted card beyond all numbers": (the_tombstoned_citation, {"end": 2**63}),
    "a derivation of nothing": (only("derivation"), {"card": NOBODY}),
    "a derivation from nothing": (only("derivation"), {"from_card": NOBODY}),
    "a tombstone without a hash": (only("tombstone"), {"hash": "abc"}),
    "a tombstone at no time": (only("tombstone"), {"deleted_at": "never"}),
    "a tombstone with half a character": (only("tombstone"), {"reason": "\udfff"}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused_in_our_words_and_leaves_no_handle_and_no_document(lie: str) -> None:
    find, change = LIES[lie]
    parts = copy.deepcopy(PARTS)
    find(parts).update(change)
    assert not check(put_together(parts))


@pytest.mark.requirement("cap/concepts/document-kinds")
@pytest.mark.parametrize("kind", ["poem", "", "Book", None, 1])
def test_a_document_of_an_unknown_type_is_refused(kind: object) -> None:
    parts = copy.deepcopy(PARTS)
    only("document")(parts)["type"] = kind
    with scratch_archive() as archive:
        with pytest.raises(InvalidExport, match="type"):
            imported(archive, put_together(parts))
        assert list(archive.documents()) == []


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "another kind of file": lambda _: b"%PDF-1.7\n",
    "a later version": lambda data: data.replace(b'"salon_export":1', b'"salon_export":2'),
    "no version": lambda data: data.replace(b'"salon_export":1', b'"other":1'),
    "a version in words": lambda data: data.replace(b'"salon_export":1', b'"salon_export":"1"'),
    "a list instead of a record": lambda data: data.replace(b'{"salon_export":1}', b"[]"),
    "more after the end": lambda data: data + b"\n",
    "the export twice": lambda data: data * 2,
    "no last line": lambda data: data[: data.rindex(b'{"kind"')],
    "a wrong count": lambda data: data.replace(b'"records":', b'"records":1'),
    "a deep record": lambda data: data.replace(b'"moves":[', b'"moves":' + b"[" * 100_000, 1),
    "a number of many digits": lambda data: data.replace(b'"size":1', b'"size":' + b"1" * 9_999, 1),
    "zero bytes": lambda data: data.replace(b'{"g_time"', b'\0{"g_time"', 1),
    "another encoding": lambda data: data.decode("utf-8", "replace").encode("utf-16"),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_file_that_is_not_a_whole_export_is_refused(frame: str) -> None:
    data = FRAMES[frame](HONEST)
    assert data != HONEST
    with scratch_archive() as archive, pytest.raises(InvalidExport):
        imported(archive, data)
    assert not check(data)


def test_a_card_after_the_other_records_is_refused() -> None:
    card = next(part for part in PARTS if part.content)
    with scratch_archive() as archive, pytest.raises(InvalidExport, match="after the handles"):
        imported(archive, put_together([*PARTS, card]))


def test_other_bytes_than_the_hash_says_are_named() -> None:
    parts = [Part(part.fields, part.content and b"!" * len(part.content)) for part in PARTS]
    with scratch_archive() as archive, pytest.raises(HashMismatch, match="other bytes"):
        imported(archive, put_together(parts))


def test_an_absurd_size_is_refused_before_anything_is_read() -> None:
    line = {"kind": "card", "hash": content_hash(b"a"), "size": 999_000_001, "g_time": "g"}
    with scratch_archive() as archive, pytest.raises(InvalidExport, match="999000001"):
        imported(archive, put_together([Part(line, b"a")]))


def test_a_promised_size_that_never_comes_is_a_cut_and_not_memory() -> None:
    line = {"kind": "card", "hash": content_hash(b"a"), "size": 998_000_000, "g_time": "g"}
    with scratch_archive() as archive, pytest.raises(InvalidExport, match="in the middle"):
        imported(archive, put_together([Part(line, b"a")]))


def test_lies_in_an_export_do_not_touch_what_is_there() -> None:
    for find, change in LIES.values():
        parts = copy.deepcopy(PARTS)
        find(parts).update(change)
        with scratch_archive() as archive:
            mine = archive.put("mine", b"my own")
            before = archive.checkpoint().seq
            try:
                imported(archive, put_together(parts))
            except SalonError:
                added = list(archive.audit_entries(after=before))
                assert all(entry.body["kind"] == "cards_added" for entry in added)
            assert archive.resolve("mine") == mine
            assert archive.verify().problems == ()
