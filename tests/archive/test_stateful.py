"""Random lives of an archive, step by step beside a model in plain Python."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.clock import SteppingClock
from salon.core.documents import DocumentType, Provenance, Span, VerificationStatus
from salon.core.errors import (
    CardDeleted,
    CardInUse,
    CardNotFound,
    HandleExists,
    HandleMoved,
    HandleNotFound,
    NotFound,
)
from salon.core.handles import ANYTHING, Anything, HandleName
from salon.core.hashing import CardHash, content_hash
from salon.core.ids import RandomIds
from tests.archive.backends import START
from tests.archive.exports import exported, imported
from tests.archive.model import Model, ModelDocument
from tests.archive.scratch import scratch_archive, scratch_folder

CONTENTS = [b"zero", b"one", b"two", b"three\0\xff", b"four" * 300]
CARDS = [content_hash(content) for content in CONTENTS]
NAMES = ["a", "b/c", "é"]

contents = st.sampled_from(CONTENTS)
cards = st.sampled_from(CARDS)
names = st.sampled_from(NAMES)
words = st.sampled_from(["because", "Ünïcode", "x" * 50])


class Undo(Exception):
    """Raised in the middle of a transaction to undo it."""


class ArchiveLife(RuleBasedStateMachine):
    """Whatever is done to the archive is done to the model, and they stay the same."""

    def __init__(self) -> None:
        super().__init__()
        self._scratch = scratch_folder()
        self.path = self._scratch.__enter__() / "salon.db"
        self.clock = SteppingClock(START)
        self.archive = self._open()
        self.model = Model()

    def _open(self) -> SqliteArchive:
        return SqliteArchive(self.path, actor="tester", clock=self.clock, ids=RandomIds())

    # Cards

    @initialize(first=st.lists(contents, min_size=2, max_size=4))
    def begin(self, first: list[bytes]) -> None:
        self.add_many(first)

    @rule(content=contents)
    def add(self, content: bytes) -> None:
        created = self.archive.add(content).created
        assert created == bool(self.model.add({content_hash(content): content}))

    @rule(batch=st.lists(contents, max_size=4))
    def add_many(self, batch: list[bytes]) -> None:
        new = self.model.add({content_hash(content): content for content in batch})
        added = self.archive.add_many(batch)
        assert [card.hash for card in added] == [content_hash(content) for content in batch]
        assert [card.hash for card in added if card.created] == new

    @rule(card=cards, reason=words, force=st.booleans())
    def delete(self, card: CardHash, reason: str, force: bool) -> None:
        def work() -> None:
            self.archive.write(lambda tx: tx.delete(card, reason=reason, force=force))

        if card not in self.model.cards:
            gone = card in self.model.tombstones
            with pytest.raises(CardDeleted if gone else CardNotFound):
                work()
        elif not force and self.model.needs(self.model.doomed(card)):
            with pytest.raises(CardInUse):
                work()
        else:
            work()
            self.model.delete(card, reason)

    @rule(card=cards, source=cards)
    def derive(self, card: CardHash, source: CardHash) -> None:
        def work() -> None:
            self.archive.write(lambda tx: tx.mark_derived(card, from_card=source))

        if not {card, source} <= self.model.cards.keys():
            with pytest.raises(NotFound):
                work()
            return
        work()
        if card != source and (card, source) not in self.model.derivations:
            self.model.derivations.add((card, source))
            self.model.entries += 1

    @rule(citing=cards, cited=cards, end=st.integers(1, 3))
    def cite(self, citing: CardHash, cited: CardHash, end: int) -> None:
        span = Span(hash=cited, start=0, end=end)

        def work() -> None:
            self.archive.write(lambda tx: tx.cite(citing, [span]))

        if not {citing, cited} <= self.model.cards.keys():
            with pytest.raises(NotFound):
                work()
            return
        if (citing, cited, 0, end) not in self.model.citations:
            work()
            self.model.citations.add((citing, cited, 0, end))
            self.model.entries += 1

    # Handles

    @rule(name=names, content=contents, expected=st.sampled_from(["anything", "right", *CARDS]))
    def put(self, name: str, content: bytes, expected: str) -> None:
        current = self.model.handles.get(name)
        wanted: CardHash | Anything | None = CardHash(expected)
        if expected == "anything":
            wanted = ANYTHING
        elif expected == "right":
            wanted = current
        if wanted not in (ANYTHING, current):
            with pytest.raises(HandleMoved):
                self.archive.put(name, content, expected_current=wanted)
            return
        card = content_hash(content)
        assert self.archive.put(name, content, expected_current=wanted).current == card
        self.model.add({card: content})
        self.model.set_handle(name, card)

    @rule(name=names, card=cards)
    def point(self, name: str, card: CardHash) -> None:
        if card in self.model.cards:
            self.archive.write(lambda tx: tx.set_handle(name, card))
            self.model.set_handle(name, card)
        else:
            with pytest.raises(NotFound):
                self.archive.write(lambda tx: tx.set_handle(name, card))

    @rule(name=names)
    def remove_handle(self, name: str) -> None:
        if name in self.model.handles:
            self.archive.write(lambda tx: tx.remove_handle(name))
            self.model.remove_handle(name)
        else:
            with pytest.raises(HandleNotFound):
                self.archive.write(lambda tx: tx.remove_handle(name))

    @rule(old=names, new=names)
    def rename(self, old: str, new: str) -> None:
        def work() -> None:
            self.archive.write(lambda tx: tx.rename_handle(old, new))

        if old not in self.model.handles:
            with pytest.raises(HandleNotFound):
                work()
        elif old != new and new in self.model.handles:
            with pytest.raises(HandleExists):
                work()
        else:
            work()
            self.model.rename(old, new)

    @rule(name=names)
    def prune(self, name: str) -> None:
        if name in self.model.handles:
            removed = self.archive.write(lambda tx: tx.prune_history(name))
            assert removed == self.model.prune(name)

    # Documents

    @rule(
        source=cards,
        text=cards,
        layout=st.none() | cards,
        kind=st.sampled_from(DocumentType),
        derived=st.booleans(),
    )
    def add_document(
        self,
        source: CardHash,
        text: CardHash,
        layout: CardHash | None,
        kind: DocumentType,
        derived: bool,
    ) -> None:
        about = Provenance(title="A title", type=kind, authors=("é",), derived=derived)

        def work(tx: ArchiveTransaction) -> None:
            document = tx.add_document(about, source=source, text=text, layout=layout)
            self.model.documents[document.id] = ModelDocument(
                about, (source, text, layout), [(VerificationStatus.PENDING, "")]
            )
            self.model.entries += 1

        if {source, text, layout or text} <= self.model.cards.keys():
            self.archive.write(work)
        else:
            with pytest.raises(NotFound):
                self.archive.write(work)

    @precondition(lambda self: self.model.documents)
    @rule(data=st.data(), status=st.sampled_from(VerificationStatus), notes=words)
    def judge(self, data: st.DataObject, status: VerificationStatus, notes: str) -> None:
        number = data.draw(st.integers(0, len(self.model.documents) - 1))
        document = list(self.model.documents)[number]
        self.archive.write(lambda tx: tx.set_verification(document, status, notes=notes))
        self.model.documents[document].judgements.append((status, notes))
        self.model.entries += 1

    @precondition(lambda self: self.model.documents)
    @rule(data=st.data())
    def remove_document(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.model.documents) - 1))
        document = list(self.model.documents)[number]
        self.archive.write(lambda tx: tx.remove_document(document))
        del self.model.documents[document]
        self.model.entries += 1

    # Everything else that happens to an archive

    @rule(name=names, content=contents, card=cards)
    def fail_in_the_middle(self, name: str, content: bytes, card: CardHash) -> None:
        def work(tx: ArchiveTransaction) -> None:
            tx.set_handle(name, tx.add(content).hash)
            tx.prune_history(name)
            tx.add_document(Provenance(title="Never"), source=content_hash(content))
            tx.delete(content_hash(content), reason="never", force=True)
            raise Undo

        with pytest.raises(Undo):
            self.archive.write(work)

    @rule()
    def close_and_open(self) -> None:
        self.archive.close()
        self.archive = self._open()

    # What must hold

    @invariant()
    def same_cards(self) -> None:
        assert [info.hash for info in self.archive.cards()] == list(self.model.cards)
        for card in CARDS:
            found = self.archive.find(card)
            assert (found.content if found else None) == self.model.cards.get(card)
            tombstone = self.archive.find_tombstone(card)
            assert (tombstone.reason if tombstone else None) == self.model.tombstones.get(card)
            assert self.archive.needs(card) == self.model.needs({card})

    @invariant()
    def same_handles(self) -> None:
        there = {handle.name: handle.current for handle in self.archive.handles()}
        assert there == self.model.handles
        for name, steps in self.model.steps.items():
            if steps and steps[-1][1] != there.get(HandleName(name)):
                continue  # pruned, then renamed onto a name with a past: has a test of its own
            if steps or name in there:
                found = self.archive.history(name)
                assert [(move.previous, move.current) for move in reversed(found)] == steps

    @invariant()
    def same_documents_and_counts(self) -> None:
        there = list(self.archive.documents())
        assert [document.id for document in there] == list(self.model.documents)
        for document in there:
            expected = self.model.documents[document.id]
            assert document.provenance == expected.provenance
            assert (document.source, document.text, document.layout) == expected.cards
            judged = [(one.status, one.notes) for one in self.archive.verifications(document.id)]
            assert list(reversed(judged)) == expected.judgements
        stats = self.archive.stats()
        assert stats.citations == len(self.model.citations)
        assert stats.audit_entries == self.model.entries

    def teardown(self) -> None:
        try:
            assert self.archive.verify().problems == ()
            data = exported(self.archive)
            with scratch_archive() as copy:
                imported(copy, data)
                assert exported(copy) == data
                assert copy.verify().problems == ()
        finally:
            self.archive.close()
            self._scratch.__exit__(None, None, None)


ArchiveLife.TestCase.settings = settings(max_examples=30, stateful_step_count=30)
TestArchiveLife = ArchiveLife.TestCase
