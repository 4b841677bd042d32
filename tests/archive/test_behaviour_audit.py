"""The audit log, in every backend: one event for every change, none for anything else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import DocumentId, Provenance, Span, VerificationStatus
from salon.core.errors import SalonError
from salon.core.events import GENESIS, AvatarUsed
from salon.core.hashing import CardHash, content_hash
from tests.archive.backends import Place
from tests.archive.samples import NOBODY, kinds, log
from tests.collisions import COLLIDING

V1, V2, V3 = (content_hash(content) for content in (b"v1", b"v2", b"v3"))
DOCUMENT = "the document of the scene"


@dataclass(slots=True)
class Scene:
    """An archive with a little of everything in it."""

    archive: Archive
    documents: dict[str, DocumentId] = field(default_factory=dict)

    @property
    def document(self) -> DocumentId:
        return self.documents[DOCUMENT]


def set_scene(archive: Archive) -> Scene:
    """Make three cards, a handle that moved once, a document, a citation, a derivation."""
    scene = Scene(archive)

    def work(tx: ArchiveTransaction) -> None:
        tx.add_many([b"v1", b"v2", b"v3", b"free", b"derived"])
        tx.set_handle("notes", V1)
        tx.set_handle("notes", V2)
        tx.set_handle("pruned", V1)
        tx.set_handle("pruned", V2)
        tx.prune_history("pruned")
        scene.documents[DOCUMENT] = tx.add_document(Provenance(title="T"), source=V1).id
        tx.cite(V3, [Span(hash=V1, start=0, end=1)])
        tx.mark_derived(content_hash(b"derived"), from_card=V1)

    archive.write(work)
    return scene


@pytest.fixture
def scene(archive: Archive) -> Scene:
    """An archive with a little of everything in it."""
    return set_scene(archive)


Verb = Callable[[ArchiveTransaction, Scene], object]

CHANGES: dict[str, list[tuple[str, Verb]]] = {
    "add": [
        ("cards_added", lambda tx, _: tx.add(b"new")),
        ("cards_added", lambda tx, _: tx.add(b"v1", algorithm="sha512")),
    ],
    "add_many": [
        ("cards_added", lambda tx, _: tx.add_many([b"new"])),
        ("cards_added", lambda tx, _: tx.add_many([b"v1", b"new", b"newer", b"new"])),
        ("cards_added", lambda tx, _: tx.add_many(COLLIDING, algorithm="md5")),
    ],
    "set_handle": [
        ("handle_set", lambda tx, _: tx.set_handle("fresh", V1)),
        ("handle_set", lambda tx, _: tx.set_handle("notes", V3, expected_current=V2)),
    ],
    "rename_handle": [("handle_renamed", lambda tx, _: tx.rename_handle("notes", "renamed"))],
    "remove_handle": [("handle_removed", lambda tx, _: tx.remove_handle("notes"))],
    "prune_history": [("handle_history_pruned", lambda tx, _: tx.prune_history("notes"))],
    "add_document": [
        ("document_added", lambda tx, _: tx.add_document(Provenance(title="U"), source=V2)),
        ("document_added", lambda tx, _: tx.add_document(Provenance(title="T"), source=V1)),
    ],
    "set_verification": [
        (
            "document_verified",
            lambda tx, scene: tx.set_verification(scene.document, VerificationStatus.VERIFIED),
        ),
        (
            "document_verified",  # the same status, but another judgement
            lambda tx, scene: tx.set_verification(
                scene.document, VerificationStatus.PENDING, notes="looked again"
            ),
        ),
    ],
    "remove_document": [("document_removed", lambda tx, scene: tx.remove_document(scene.document))],
    "cite": [
        ("spans_cited", lambda tx, _: tx.cite(V2, [Span(hash=V1, start=0, end=1)])),
        ("spans_cited", lambda tx, _: tx.cite(V3, [Span(hash=V1, start=0, end=2)])),
    ],
    "note": [
        (
            "avatar_used",
            lambda tx, _: tx.note(
                AvatarUsed(avatar="a", act="query", question_sha256="", outcome="answered")
            ),
        ),
    ],
    "mark_derived": [
        ("derivation_marked", lambda tx, _: tx.mark_derived(V3, from_card=V2)),
    ],
    "delete": [
        ("cards_deleted", lambda tx, _: tx.delete(content_hash(b"free"), reason="r")),
        ("cards_deleted", lambda tx, _: tx.delete(V1, reason="r", force=True)),
    ],
}

NOTHING: dict[str, list[Verb]] = {
    "add": [lambda tx, _: tx.add(b"v1")],
    "add_many": [lambda tx, _: tx.add_many([]), lambda tx, _: tx.add_many([b"v1", b"v2", b"v1"])],
    "set_handle": [
        lambda tx, _: tx.set_handle("notes", V2),
        lambda tx, _: tx.set_handle("notes", V2, expected_current=V2),
    ],
    "rename_handle": [lambda tx, _: tx.rename_handle("notes", " notes ")],
    "prune_history": [lambda tx, _: tx.prune_history("pruned")],
    "cite": [
        lambda tx, _: tx.cite(V3, []),
        lambda tx, _: tx.cite(V3, [Span(hash=V1, start=0, end=1)]),
    ],
    "mark_derived": [
        lambda tx, _: tx.mark_derived(content_hash(b"derived"), from_card=V1),
        lambda tx, _: tx.mark_derived(V1, from_card=V1),
    ],
}

REFUSED: dict[str, list[Verb]] = {
    "add": [lambda tx, _: tx.add(b"")],
    "add_many": [lambda tx, _: tx.add_many([b"new", b""])],
    "set_handle": [
        lambda tx, _: tx.set_handle("notes", NOBODY),
        lambda tx, _: tx.set_handle("@", V1),
        lambda tx, _: tx.set_handle("notes", V1, expected_current=V1),
    ],
    "rename_handle": [
        lambda tx, _: tx.rename_handle("notes", "pruned"),
        lambda tx, _: tx.rename_handle("nobody", "somebody"),
    ],
    "remove_handle": [lambda tx, _: tx.remove_handle("nobody")],
    "prune_history": [lambda tx, _: tx.prune_history("nobody")],
    "add_document": [lambda tx, _: tx.add_document(Provenance(title="U"), source=NOBODY)],
    "set_verification": [
        lambda tx, _: tx.set_verification(DocumentId("doc_0"), VerificationStatus.VERIFIED)
    ],
    "remove_document": [lambda tx, _: tx.remove_document(DocumentId("doc_0"))],
    "cite": [lambda tx, _: tx.cite(V3, [Span(hash=V1, start=0, end=99)])],
    "note": [
        lambda tx, _: tx.note(
            AvatarUsed(avatar="a", act="respond", question_sha256="", outcome="", turn=NOBODY)
        )
    ],
    "mark_derived": [lambda tx, _: tx.mark_derived(V1, from_card=NOBODY)],
    "delete": [
        lambda tx, _: tx.delete(V1, reason="r"),
        lambda tx, _: tx.delete(NOBODY, reason="r", force=True),
    ],
}


def each(table: dict[str, list[Verb]]) -> pytest.MarkDecorator:
    cases = [(name, verb) for name, verbs in table.items() for verb in verbs]
    names = [f"{name}-{number}" for name in table for number in range(len(table[name]))]
    return pytest.mark.parametrize(("name", "verb"), cases, ids=names)


LOOKS: dict[str, list[Verb]] = {
    "find_document_by_source": [lambda tx, _: tx.find_document_by_source(V1)],
    "is_derived": [lambda tx, _: tx.is_derived(V1)],
}


def test_the_tables_know_every_verb_of_a_transaction() -> None:
    verbs = {name for name in vars(ArchiveTransaction) if not name.startswith("_")}
    assert set(CHANGES) | set(LOOKS) == verbs
    assert set(REFUSED) | set(LOOKS) == verbs


@pytest.mark.parametrize(
    ("kind", "verb"),
    [case for cases in CHANGES.values() for case in cases],
    ids=[f"{name}-{number}" for name in CHANGES for number in range(len(CHANGES[name]))],
)
def test_every_change_is_exactly_one_event(scene: Scene, kind: str, verb: Verb) -> None:
    before = scene.archive.checkpoint().seq
    scene.archive.write(lambda tx: verb(tx, scene))
    assert kinds(scene.archive, after=before) == [kind]


@each(NOTHING | LOOKS)
def test_what_changes_nothing_is_no_event(scene: Scene, name: str, verb: Verb) -> None:
    before, head = scene.archive.stats(), scene.archive.checkpoint()
    scene.archive.write(lambda tx: verb(tx, scene))
    assert scene.archive.stats() == before
    assert scene.archive.checkpoint() == head


@each(REFUSED)
def test_what_is_refused_is_no_event(scene: Scene, name: str, verb: Verb) -> None:
    before, head = scene.archive.stats(), scene.archive.checkpoint()
    with pytest.raises(SalonError):
        scene.archive.write(lambda tx: verb(tx, scene))
    assert scene.archive.stats() == before
    assert scene.archive.checkpoint() == head


@each(REFUSED)
def test_a_refusal_that_is_caught_inside_a_transaction_leaves_the_rest_whole(
    scene: Scene, name: str, verb: Verb
) -> None:
    before = scene.archive.checkpoint().seq

    def work(tx: ArchiveTransaction) -> CardHash:
        added = tx.add(b"before").hash
        with pytest.raises(SalonError):
            verb(tx, scene)
        tx.set_handle("after", added)
        return added

    scene.archive.write(work)
    assert kinds(scene.archive, after=before) == ["cards_added", "handle_set"]


def test_reading_is_no_event(scene: Scene) -> None:
    archive, head = scene.archive, scene.archive.checkpoint()
    archive.get(V1)
    archive.open(V1).close()
    archive.needs(V1)
    list(archive.cards())
    list(archive.handles())
    list(archive.documents())
    archive.history("notes")
    archive.verifications(scene.document)
    archive.stats()
    assert archive.checkpoint() == head


# The shape of the log


def test_an_empty_archive_has_an_empty_log(archive: Archive) -> None:
    assert log(archive) == []
    assert (archive.checkpoint().seq, archive.checkpoint().hash) == (0, GENESIS)


def test_entries_are_numbered_from_one_without_gaps_and_name_their_predecessor(
    scene: Scene,
) -> None:
    scene.archive.add(b"another")
    entries = log(scene.archive)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert entries[0].previous == GENESIS
    assert all(later.previous == earlier.hash for earlier, later in pairwise(entries))
    assert len({entry.hash for entry in entries}) == len(entries)
    head = scene.archive.checkpoint()
    assert (head.seq, head.hash) == (entries[-1].seq, entries[-1].hash)
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)


def test_the_log_can_be_read_from_any_place(scene: Scene) -> None:
    entries = log(scene.archive)
    for after in (0, 1, 3, len(entries), len(entries) + 5):
        assert list(scene.archive.audit_entries(after=after)) == entries[after:]


def test_the_actor_is_recorded(place: Place) -> None:
    archive = place.open(actor="the server")
    archive.add(b"1")
    archive.add(b"2", by="ann")
    archive.add_many([b"3"], by="ben")
    archive.put("notes", b"4", by="cem")
    archive.write(lambda tx: tx.remove_handle("notes"), by="dee")
    archive.write(lambda tx: tx.add(b"5"))
    assert [entry.by for entry in log(archive)] == [
        "the server",
        "ann",
        "ben",
        "cem",
        "cem",
        "dee",
        "the server",
    ]


def test_the_log_goes_on_where_it_stopped_after_opening_again(place: Place) -> None:
    first = place.open()
    first.add(b"1")
    head = first.checkpoint()
    first.close()
    second = place.open()
    second.add(b"2")
    assert [entry.seq for entry in log(second)] == [1, 2]
    assert log(second)[1].previous == head.hash


def test_stats_count_everything(scene: Scene) -> None:
    archive = scene.archive
    stats = archive.stats()
    assert stats.cards == 5
    assert stats.bytes == sum(len(c) for c in (b"v1", b"v2", b"v3", b"free", b"derived"))
    assert (stats.handles, stats.documents, stats.citations, stats.tombstones) == (2, 1, 1, 0)
    assert stats.audit_entries == len(log(archive))
    assert stats.file_bytes > 0
