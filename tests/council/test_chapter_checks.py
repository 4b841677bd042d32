"""Looking at a chapter afterwards: what holds, and what was forged."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from salon.archive.audit.signing import Signer
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.documents import DocumentId, Provenance
from salon.core.errors import InvalidInput
from salon.core.events import CouncilMoved
from salon.core.hashing import CardHash, content_hash
from salon.council.chapter_checks import ChapterReport, verify_chapter
from salon.council.keeping import RoundCards, ballot_to_json, round_to_json
from salon.council.naming import ballot_handle, chapter_handle, record_handle
from salon.council.records import read_record, sign_record
from salon.council.rounds import Phase, Round, Vote
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from tests.council.desks import GOOD, SIGNER, TOPIC_ID, Council, moves


def _verify(council: Council, round_: Round, key: str = SIGNER.key) -> ChapterReport:
    verification = Verification(Citations(council.archive), lambda: load_judge(None))
    return verify_chapter(council.archive, round_.id, key=key, verification=lambda: verification)


def _record(council: Council, round_: Round) -> dict[str, object]:
    assert round_.published is not None
    return read_record(council.archive.get(round_.published.record).content)


def _delete(council: Council, card: CardHash) -> None:
    council.archive.write(lambda tx: tx.delete(card, reason="tidying up"))


# Looking at it afterwards


def test_a_published_chapter_verifies_and_says_how_much_was_checked(council: Council) -> None:
    round_ = council.vote(council.to(Phase.RATIFICATION), default=GOOD)
    report = _verify(council, round_)
    assert report.faults == ()
    assert report.holds
    assert (report.citations, report.ballots) == (3, 3)
    assert report.moves == len(moves(council.archive, round_.id))


def test_a_round_that_published_nothing_cannot_be_verified(council: Council) -> None:
    with pytest.raises(InvalidInput):
        _verify(council, council.open())


def _rewrite(council: Council, round_: Round) -> None:
    """Put another round behind the handle, as somebody with the file could."""
    content = round_to_json(round_)
    council.archive.put(f"council/rounds/{round_.id}", content, by="an intruder")


def _other_vote(council: Council, round_: Round, **changes: object) -> Round:
    assert round_.published is not None
    chosen = round_.published.candidate
    votes = list(round_.votes)
    place = next(number for number, one in enumerate(votes) if one.candidate == chosen)
    votes[place] = replace(votes[place], **changes)  # type: ignore[arg-type]
    return replace(round_, votes=tuple(votes))


def _forge_ballot(council: Council, round_: Round) -> None:
    """Change a vote in the round and in the ledger."""
    changed = _other_vote(council, round_, scores=replace(GOOD, accuracy=10))
    vote = next(one for one in changed.votes if one.scores.accuracy == 10)
    content = ballot_to_json(changed, vote)
    council.archive.put(ballot_handle(round_.id, vote.id), content, by="an intruder")
    ballot = content_hash(content)
    votes = tuple(
        replace(one, ballot=ballot) if one.id == vote.id else one for one in changed.votes
    )
    _rewrite(council, replace(changed, votes=votes))


def _forge_record(council: Council, round_: Round) -> None:
    record = _record(council, round_)
    unsigned = {name: value for name, value in record.items() if name not in {"key", "signature"}}
    other = Signer(Ed25519PrivateKey.generate())
    content = sign_record({**unsigned, "title": "Mine"}, other)
    card = council.archive.put(record_handle(TOPIC_ID), content, by="an intruder").current
    assert round_.published is not None
    _rewrite(council, replace(round_, published=replace(round_.published, record=card)))


def _other_text(council: Council, round_: Round) -> None:
    card = council.archive.add(council.draft(salt=7).encode(), by="an intruder").hash
    assert round_.published is not None
    _rewrite(council, replace(round_, published=replace(round_.published, text=card)))


def _stuffed(council: Council, round_: Round) -> None:
    assert round_.published is not None
    chosen = round_.published.candidate
    votes: tuple[Vote, ...] = tuple(
        one for one in round_.votes if one.candidate != chosen or one.seat is Seat.MINER
    )
    _rewrite(council, replace(round_, votes=votes))


def _no_document(council: Council, round_: Round) -> None:
    assert round_.published is not None
    name = DocumentId(round_.published.document)
    council.archive.write(lambda tx: tx.remove_document(name))


def _plain_document(council: Council, round_: Round) -> None:
    assert round_.published is not None
    text = round_.published.text
    document = council.archive.write(
        lambda tx: tx.add_document(Provenance(title="Not derived"), source=text)
    )
    _rewrite(council, replace(round_, published=replace(round_.published, document=document.id)))


def _gone(what: str) -> Callable[[Council, Round], None]:
    """Delete a card of the chapter by force."""

    def forge(council: Council, round_: Round) -> None:
        assert round_.published is not None
        chosen = round_.published.candidate
        vote = next(one for one in round_.votes if one.candidate == chosen)
        card = {
            "text": round_.published.text,
            "record": round_.published.record,
            "rationale": vote.rationale,
        }[what]
        council.archive.write(lambda tx: tx.delete(card, reason="gone", force=True))

    return forge


def _other_record(change: Callable[[dict[str, object]], None]) -> Callable[[Council, Round], None]:
    """Sign another record with the right key, and move the handle as the system would."""

    def forge(council: Council, round_: Round) -> None:
        record = dict(_record(council, round_))
        for name in ("key", "signature"):
            record.pop(name)
        change(record)
        content = sign_record(record, SIGNER)
        card = council.archive.put(record_handle(TOPIC_ID), content, by="system").current
        assert round_.published is not None
        _rewrite(council, replace(round_, published=replace(round_.published, record=card)))

    return forge


def _no_ballot(council: Council, round_: Round) -> None:
    """Put something else behind the ledger's handle, and let the round agree."""
    assert round_.published is not None
    chosen = round_.published.candidate
    vote = next(one for one in round_.votes if one.candidate == chosen)
    card = council.archive.put(ballot_handle(round_.id, vote.id), b"{}", by="seat II").current
    _rewrite(council, _other_vote(council, round_, ballot=card))


def _other_citations(council: Council, round_: Round) -> None:
    """Let the round rest on another report than the text has."""
    reports = {one.id: one.report for one in round_.candidates}
    other = reports[council.candidate_of(round_, Seat.VIZIER)]
    assert round_.published is not None
    chosen = round_.published.candidate
    candidates = tuple(
        replace(one, report=other) if one.id == chosen else one for one in round_.candidates
    )
    _rewrite(council, replace(round_, candidates=candidates))


def _ballot_on_another_text(council: Council, round_: Round) -> None:
    """Say in the round and in the ledger that another text was graded."""
    other = round_.standing[-1].text
    changed = _other_vote(council, round_, text=other)
    vote = next(one for one in changed.votes if one.text == other and one not in round_.votes)
    content = ballot_to_json(changed, vote)
    council.archive.put(ballot_handle(round_.id, vote.id), content, by="seat II")
    votes = tuple(
        replace(one, ballot=content_hash(content)) if one.id == vote.id else one
        for one in changed.votes
    )
    _rewrite(council, replace(changed, votes=votes))


def _no_votes(council: Council, round_: Round) -> None:
    _rewrite(council, replace(round_, votes=()))


def _moved_by_a_seat(council: Council, round_: Round) -> None:
    """Add to the log that somebody else moved the round."""
    note = CouncilMoved(round=round_.id, act="move", seat="II", phase="vote", rule="refined")
    council.archive.write(lambda tx: tx.note(note), by="seat II")


def _opened_by_a_seat(council: Council, round_: Round) -> None:
    """Copy a whole chapter to a round whose log says only that it was published."""
    copy = replace(round_, id="round_copy")
    _rewrite(council, copy)
    assert round_.published is not None
    note = CouncilMoved(
        round="round_copy", act="publish", seat="system", phase="published", rule="agreed",
        artefact=round_.published.record,
    )  # fmt: skip
    council.archive.write(lambda tx: tx.note(note), by="system")


def _exchange(council: Council, round_: Round) -> None:
    """Let `completed/` lead to something else, as `archive handle set` once could."""
    council.archive.put(chapter_handle(TOPIC_ID), b"# Another chapter", by="ann")


def _take_away(council: Council, round_: Round) -> None:
    council.archive.write(lambda tx: tx.remove_handle(chapter_handle(TOPIC_ID)), by="ann")


def _rename(council: Council, round_: Round) -> None:
    council.archive.write(
        lambda tx: tx.rename_handle(chapter_handle(TOPIC_ID), "my/chapter"), by="ann"
    )


def _set_back(council: Council, round_: Round) -> None:
    """Exchange the chapter and put it back: the log does not forget."""
    _exchange(council, round_)
    assert round_.published is not None
    text = round_.published.text
    council.archive.write(lambda tx: tx.set_handle(chapter_handle(TOPIC_ID), text), by="system")


def _in_the_file(sql: str) -> Callable[[Council, Round], None]:
    """Change the file behind Salon's back."""

    def forge(council: Council, round_: Round) -> None:
        assert round_.published is not None
        with sqlite3.connect(council.archive.path) as file:
            file.execute(
                sql, {"handle": chapter_handle(TOPIC_ID), "record": round_.published.record}
            )
        file.close()

    return forge


def _other_source(council: Council, round_: Round) -> None:
    """Let a note of the chapter name somebody else."""
    assert round_.published is not None
    chosen, before = round_.published.candidate, round_.published.text
    text = council.archive.get(before).content.decode()
    forged = text.replace("Rules of the Garden, 1901", "The Bible, Moses", 1)
    card = council.archive.add(forged.encode(), by="an intruder").hash
    candidates = tuple(
        replace(one, text=card) if one.id == chosen else one for one in round_.candidates
    )
    published = replace(round_.published, text=card)
    _rewrite(council, replace(round_, candidates=candidates, published=published))


FORGERIES: dict[str, tuple[Callable[[Council, Round], None], str]] = {
    "scores": (
        lambda council, round_: _rewrite(
            council, _other_vote(council, round_, scores=replace(GOOD, depth=10))
        ),
        "says something else than the round",
    ),
    "voter": (
        lambda council, round_: _rewrite(council, _other_vote(council, round_, seat=Seat.CHAIR)),
        "says something else than the round",
    ),
    "ballot-and-ledger": (_forge_ballot, "not in the audit log as an act of that seat"),
    "ballot-gone": (
        lambda council, round_: _rewrite(council, _other_vote(council, round_, ballot=None)),
        "is not in the ledger",
    ),
    "votes-gone": (_stuffed, "the votes do not allow publication"),
    "record": (_forge_record, "does not carry a signature"),
    "record-moved-by": (_forge_record, "was moved by an intruder"),
    "text": (_other_text, "another text than the one that was voted on"),
    "text-gone": (_gone("text"), "the chapter cannot be read"),
    "record-gone": (_gone("record"), "the record cannot be read"),
    "rationale-gone": (_gone("rationale"), "has lost its rationale"),
    "other-title": (
        _other_record(lambda record: record.update(title="Mine")),
        "says something else about title",
    ),
    "record-without-counts": (
        _other_record(lambda record: record.update(consensus_metadata={})),
        "cannot be derived again",
    ),
    "no-ballot": (_no_ballot, "cannot be read"),
    "other-citations": (_other_citations, "rests on other places"),
    "ballot-on-another-text": (_ballot_on_another_text, "is about another text"),
    "no-votes": (_no_votes, "0 of at least 3 peers"),
    "moved-by-a-seat": (_moved_by_a_seat, "takes the round from published to vote by seat II"),
    "exchanged": (_exchange, "completed/a-garden-and-its-well leads to"),
    "exchanged-by": (_exchange, "completed/a-garden-and-its-well was moved by ann"),
    "taken-away": (_take_away, "completed/a-garden-and-its-well is gone"),
    "taken-away-by": (_take_away, "completed/a-garden-and-its-well was moved by ann"),
    "renamed": (_rename, "completed/a-garden-and-its-well was moved by ann"),
    "set-back": (_set_back, "completed/a-garden-and-its-well was moved by ann"),
    "exchanged-in-the-file": (
        _in_the_file("UPDATE handle_registry SET current_hash = :record WHERE handle = :handle"),
        "completed/a-garden-and-its-well leads to",
    ),
    "other-source": (_other_source, "names a source that is not the card's: The Bible, Moses"),
    "no-document": (_no_document, "is not in the corpus"),
    "plain-document": (_plain_document, "as a derived document"),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with one chapter, to be copied."""
    path = tmp_path_factory.mktemp("published") / "salon.db"
    with SqliteArchive(path) as archive:
        Council(archive).publish()
    return path


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Iterator[Council]:
    path = tmp_path / "salon.db"
    path.write_bytes(published.read_bytes())
    with SqliteArchive(path) as archive:
        yield Council(archive)


@pytest.mark.parametrize("how", sorted(FORGERIES))
def test_what_was_forged_afterwards_is_found(copy: Council, how: str) -> None:
    council = copy
    [round_] = council.desk.rounds()
    forge, fault = FORGERIES[how]
    forge(council, round_)
    report = _verify(council, round_)
    assert not report.holds
    assert any(fault in one for one in report.faults), report.faults


def test_a_later_chapter_of_the_topic_takes_nothing_from_an_earlier_one(council: Council) -> None:
    first = council.publish()
    second = council.publish(winner=Seat.MINER)
    assert second.published is not None
    assert council.archive.resolve(chapter_handle(TOPIC_ID)).current == second.published.text
    assert _verify(council, first).faults == ()
    assert _verify(council, second).faults == ()


def test_an_earlier_chapter_put_back_is_not_the_later_one(council: Council) -> None:
    first, second = council.publish(), council.publish(winner=Seat.MINER)
    assert first.published is not None
    text = first.published.text
    council.archive.write(lambda tx: tx.set_handle(chapter_handle(TOPIC_ID), text), by="system")
    report = _verify(council, second)
    assert any("which no later round published" in one for one in report.faults)


def test_a_chapter_from_before_notes_named_their_sources_still_verifies(
    council: Council, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.council.checks.source_line", lambda *_: "")
    round_ = council.publish()
    monkeypatch.undo()
    assert round_.published is not None
    assert b"1901" not in council.archive.get(round_.published.text).content
    assert "sources" not in str(_record(council, round_)["content_blocks"])
    assert _verify(council, round_).faults == ()


def test_a_damaged_source_is_in_the_report_and_named_once(copy: Council) -> None:
    [round_] = copy.desk.rounds()
    with sqlite3.connect(copy.archive.path) as file:
        file.execute(
            "UPDATE card SET content = CAST('forged' AS BLOB) WHERE hash = ?", (copy.garden.text,)
        )
    file.close()
    [fault] = _verify(copy, round_).faults
    assert "cannot be read" in fault
    assert "(notes [^1], [^2], [^3])" in fault


def test_a_log_that_does_not_begin_with_an_opening_is_found(council: Council) -> None:
    round_ = council.publish()
    _opened_by_a_seat(council, round_)
    report = _verify(council, replace(round_, id="round_copy"))
    assert any("does not begin with the opening" in one for one in report.faults)


def test_another_key_does_not_vouch_for_it(council: Council) -> None:
    other = Signer(Ed25519PrivateKey.generate())
    report = _verify(council, council.publish(), key=other.key)
    assert report.faults == ("the record does not carry a signature of this key",)


def test_a_chapter_that_was_never_voted_on_does_not_verify(council: Council) -> None:
    """Whoever writes all cards and handles still has no log of it."""
    real = council.publish("real")
    fake = replace(real, id="round_fake", topic_id="fake")
    _rewrite(council, fake)
    report = _verify(council, fake)
    assert any("the log does not end with" in one for one in report.faults)
    assert any("never led to" in one for one in report.faults)


def test_stricter_rules_may_be_asked_for_afterwards(council: Council) -> None:
    round_ = council.publish()
    verification = Verification(Citations(council.archive), lambda: load_judge(None))
    report = verify_chapter(
        council.archive,
        round_.id,
        key=SIGNER.key,
        verification=lambda: verification,
        rules=CouncilRules(least_mean=9.5),
    )
    assert report.faults == ("the votes do not allow publication: its mean is 9.00, below 9.5",)


def test_the_whole_archive_still_verifies_and_exports_nothing_unknown(council: Council) -> None:
    council.publish()
    report = council.archive.verify()
    assert report.problems == ()
    rounds = RoundCards(council.archive).all()
    assert [one.phase for one in rounds] == [Phase.PUBLISHED]
    card = council.archive.resolve(record_handle(TOPIC_ID)).current
    assert json.loads(council.archive.get(card).content)["kind"] == "salon.chapter"
