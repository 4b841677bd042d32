"""Publication: by the system alone, signed, derived, and checked again long afterwards."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from salon.archive.audit.signing import Signer, is_signature_of
from salon.core.canonical import canonical_json
from salon.core.documents import DocumentId, VerificationStatus
from salon.core.errors import CardInUse, InvalidDocument, InvalidInput
from salon.core.hashing import CardHash
from salon.council.ballots import draft_score
from salon.council.chapter_checks import ChapterReport, verify_chapter
from salon.council.naming import chapter_handle, record_handle, staging_handle
from salon.council.phases import Skill
from salon.council.records import PURPOSE, is_signed_by, read_record
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from tests.council.desks import FAIR, GOOD, SIGNER, TOPIC_ID, Council, handles, moves


def _verify(council: Council, round_: Round, key: str = SIGNER.key) -> ChapterReport:
    verification = Verification(Citations(council.archive), lambda: load_judge(None))
    return verify_chapter(council.archive, round_.id, key=key, verification=lambda: verification)


def _record(council: Council, round_: Round) -> dict[str, object]:
    assert round_.published is not None
    return read_record(council.archive.get(round_.published.record).content)


def _delete(council: Council, card: CardHash) -> None:
    council.archive.write(lambda tx: tx.delete(card, reason="tidying up"))


# What is published


@pytest.mark.requirement("council/security/system-actor-publishes")
def test_the_system_moves_the_chapter_from_staging_to_completed_and_the_log_shows_it(
    council: Council,
) -> None:
    round_ = council.publish()
    assert round_.published is not None
    chapter, record = chapter_handle(TOPIC_ID), record_handle(TOPIC_ID)
    assert handles(council.archive, "completed/") == {
        chapter: round_.published.text,
        record: round_.published.record,
    }
    assert council.archive.find_handle(staging_handle(round_.published.candidate)) is None
    setters = {
        entry.by
        for entry in council.archive.audit_entries()
        if str(entry.body.get("handle")).startswith("completed/")
    }
    assert setters == {"system"}
    last = moves(council.archive, round_.id)[-1]
    assert (last["act"], last["by"], last["phase"]) == ("publish", "system", "published")
    assert last["artefact"] == round_.published.record


def test_what_is_published_is_to_the_byte_what_was_voted_on(council: Council) -> None:
    round_ = council.publish()
    assert round_.published is not None
    chosen = round_.published.candidate
    graded = {one.text for one in round_.votes if one.candidate == chosen}
    assert graded == {round_.published.text}


@pytest.mark.requirement("council/cast-vote/aggregation")
def test_the_record_says_what_was_published_who_voted_how_and_what_it_rests_on(
    council: Council,
) -> None:
    round_ = council.to(Phase.VOTE)
    chosen = council.candidate_of(round_, Seat.MINER)
    better = replace(GOOD, accuracy=10)
    council.desk.cast_vote(Seat.CHAIR, chosen, better, "the best")
    round_ = council.vote(round_, {chosen: GOOD})
    record = _record(council, round_)
    assert round_.published is not None
    assert record["module_id"] == TOPIC_ID
    assert record["title"] == "A garden and its well"
    assert record["orchestrator"] == "system"
    assert record["mcard_hash"] == round_.published.text
    assert record["mcard_handle"] == chapter_handle(TOPIC_ID)
    counted = record["consensus_metadata"]
    assert isinstance(counted, dict)
    assert counted["average_score"] == pytest.approx((28 / 3 + 27) / 4)
    assert counted["geometric_mean"] == pytest.approx(draft_score([better, GOOD, GOOD, GOOD]))
    assert counted["geometric_mean"] < counted["average_score"]
    assert (counted["voters"], counted["lowest_score"]) == (4, 9)
    assert counted["weighted_score"] == {"absent": "no weights were given"}
    assert [one["seat"] for one in counted["scores"]] == ["I", "III", "IV", "V"]
    blocks = record["content_blocks"]
    assert isinstance(blocks, list)
    assert [one["type"] for one in blocks] == ["title", "heading", "paragraph"]
    assert blocks[2]["source_hashes"] == [council.garden.text]
    assert blocks[2]["verified_by"] == ["I", "III", "IV", "V"]
    assert "[^" not in blocks[2]["text"]
    assert [one["sources"] for one in blocks] == [[], [], ["Rules of the Garden, 1901"]]


def test_weights_are_reported_beside_the_plain_aggregate(council: Council) -> None:
    council.desk._closing = replace(council.desk._closing, weights=lambda: dict.fromkeys(Seat, 1.0))
    counted = _record(council, council.publish())["consensus_metadata"]
    assert isinstance(counted, dict)
    assert counted["weighted_score"] == pytest.approx(counted["geometric_mean"])


def test_the_record_is_signed_and_one_changed_byte_shows(council: Council) -> None:
    round_ = council.publish()
    record = _record(council, round_)
    assert is_signed_by(record, SIGNER.key)
    for name in record:
        if name == "signature":
            changed = {**record, name: "00" * 64}
        else:
            changed = {**record, name: "another"}
        assert not is_signed_by(changed, SIGNER.key), name
    assert not is_signed_by({**record, "signature": None}, SIGNER.key)
    other = Signer(Ed25519PrivateKey.generate())
    assert not is_signed_by(record, other.key)
    unsigned = {name: value for name, value in record.items() if name != "signature"}
    signature = str(record["signature"])
    content = canonical_json(unsigned)
    assert is_signature_of(PURPOSE, content, key=SIGNER.key, signature=signature)
    assert not is_signature_of("something else", content, key=SIGNER.key, signature=signature)
    assert not is_signature_of(PURPOSE, content, key="no key", signature=signature)


def test_a_card_that_is_no_record_is_not_read_as_one() -> None:
    for content in (b"\xff", b"[]", b"{}", b'{"kind": "salon.round", "version": 1}'):
        with pytest.raises(InvalidDocument):
            read_record(content)


@pytest.mark.requirement("council/mcard/artefacts-are-cards")
def test_everything_a_round_produces_is_a_card_of_its_own_that_is_kept(council: Council) -> None:
    round_ = council.vote(council.to(Phase.RATIFICATION), default=GOOD)
    bad = council.open("another")
    council.desk.submit_candidate(Seat.CHAIR, "no draft", topic_id="another")
    [returned] = council.desk.get(bad.id).returns
    assert round_.published is not None
    drafts = [
        CardHash(str(entry["artefact"]))
        for entry in moves(council.archive, round_.id)
        if entry["act"] in {Skill.SUBMIT_CANDIDATE, Skill.SUBMIT_FUSION}
    ]
    assert len(set(drafts)) == 11, "five drafts, five refined texts, one fusion"
    kept = [
        *drafts,
        *(one.feedback for one in round_.critiques),
        *(one.entry for one in round_.critiques if one.entry),
        *(one.rationale for one in round_.votes),
        *(one.ballot for one in round_.votes if one.ballot),
        *(one.report for one in round_.candidates if one.report),
        returned.text,
        returned.report,
        round_.published.text,
        round_.published.record,
    ]
    for card in set(kept):
        assert council.archive.get(card).content
        with pytest.raises(CardInUse):
            _delete(council, card)


# The chapter in the corpus


def test_a_chapter_enters_the_corpus_as_derived_with_its_plain_text(council: Council) -> None:
    round_ = council.publish()
    assert round_.published is not None
    document = council.archive.get_document(DocumentId(round_.published.document))
    assert document.provenance.derived
    assert document.provenance.title == "A garden and its well"
    assert document.source == round_.published.text
    text = council.desk.text(document.text)
    assert text.startswith("A garden and its well\n\nWhat the rules say, for I and 1\n\n")
    assert "card:" not in text
    assert "[^" not in text


def test_a_source_of_a_chapter_is_kept_and_a_forced_deletion_shows(council: Council) -> None:
    round_ = council.publish()
    assert round_.published is not None
    source = council.garden.text
    with pytest.raises(CardInUse):
        council.archive.write(lambda tx: tx.delete(source, reason="old"))
    council.archive.write(lambda tx: tx.delete(source, reason="must go", force=True))
    assert council.desk.text(round_.published.text), "the chapter stays readable"
    report = _verify(council, round_)
    assert any("no such card" in one for one in report.faults)


def test_a_second_round_on_the_topic_moves_the_chapter_on(council: Council) -> None:
    first = council.publish()
    second = council.publish(winner=Seat.MINER)
    assert first.published is not None
    assert second.published is not None
    assert second.published.text != first.published.text
    chapter = council.archive.resolve(chapter_handle(TOPIC_ID))
    assert chapter.current == second.published.text
    steps = [one.current for one in council.archive.history(chapter.name)]
    assert steps == [second.published.text, first.published.text]
    assert council.desk.text(first.published.text)
    assert _verify(council, first).holds
    assert _verify(council, second).holds


def test_the_same_chapter_again_is_the_same_document(council: Council) -> None:
    first, second = council.publish(), council.publish()
    assert first.published is not None
    assert second.published is not None
    assert first.published.document == second.published.document
    assert first.published.record != second.published.record


# The last look


@pytest.mark.requirement("council/security/citations-verified")
@pytest.mark.parametrize("how", ["disputed", "deleted", "removed"])
def test_a_citation_that_does_not_hold_any_more_stops_the_publication(
    council: Council, how: str
) -> None:
    round_ = council.to(Phase.VOTE)
    chosen = council.candidate_of(round_, Seat.CHAIR)
    for seat in Seat:
        for one in council.desk.brief(seat, round_.id).due:
            scores = GOOD if one == chosen else FAIR
            council.desk.cast_vote(seat, one, scores, "good when I read it")
    garden = council.garden
    acts: dict[str, Callable[[], object]] = {
        "disputed": lambda: council.archive.write(
            lambda tx: tx.set_verification(garden.id, VerificationStatus.DISPUTED)
        ),
        "deleted": lambda: council.archive.write(
            lambda tx: tx.delete(garden.text, reason="a forgery", force=True)
        ),
        "removed": lambda: council.archive.write(lambda tx: tx.remove_document(garden.id)),
    }
    acts[how]()
    after = council.desk.advance(round_.id)
    assert (after.phase, after.attempt, after.published) == (Phase.REFINEMENT, 1, None)
    assert "does not pass the checks any more" in after.reasons[0]
    assert handles(council.archive, "completed/") == {}


def test_documents_that_change_during_the_last_look_make_it_look_again(council: Council) -> None:
    round_ = council.to(Phase.VOTE)
    chosen = council.candidate_of(round_, Seat.CHAIR)
    for seat in Seat:
        for one in council.desk.brief(seat, round_.id).due:
            council.desk.cast_vote(seat, one, GOOD if one == chosen else FAIR, "good")
    original, calls = council.archive.write, 0

    def disturbed(work: object, *, by: str | None = None) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:  # between the last look and the transaction
            original(lambda tx: tx.set_verification(council.garden.id, VerificationStatus.DISPUTED))
        return original(work, by=by)  # type: ignore[arg-type]

    council.archive.write = disturbed  # type: ignore[assignment,method-assign]
    after = council.desk.advance(round_.id)
    council.archive.write = original  # type: ignore[method-assign]
    assert (after.phase, after.published) == (Phase.REFINEMENT, None)


# Nobody else


@pytest.mark.requirement("council/security/writes-to-staging")
@pytest.mark.requirement("council/security/no-seat-publishes")
def test_no_seat_writes_outside_staging_and_the_ledgers_of_its_round(council: Council) -> None:
    round_ = council.vote(council.to(Phase.RATIFICATION), default=GOOD)
    mine = ("staging/", "council/critiques/", "council/ballots/", "council/returns/")
    allowed = (*(f"{one}{round_.id}/" for one in mine), f"council/rounds/{round_.id}")
    by_seats = [
        str(entry.body["handle"])
        for entry in council.archive.audit_entries()
        if entry.body["kind"] == "handle_set" and entry.by.startswith("seat ")
    ]
    assert by_seats
    assert all(one.startswith(allowed) for one in by_seats)
    kinds = {
        str(entry.body["kind"])
        for entry in council.archive.audit_entries()
        if entry.by.startswith("seat ")
    }
    assert kinds == {"cards_added", "handle_set", "spans_cited", "council_moved"}


def test_names_that_lead_to_completed_are_refused_everywhere(council: Council) -> None:
    round_ = council.to(Phase.CRITIQUE)
    before = council.archive.stats()
    for name in ("completed/x", f"../completed/{TOPIC_ID}", f"{round_.id}/../../completed/x"):
        with pytest.raises(InvalidInput):
            council.desk.submit_candidate(Seat.CHAIR, council.draft(), topic_id=name)
        with pytest.raises(InvalidInput):
            council.desk.peer_review(Seat.CHAIR, name, "x")
        with pytest.raises(InvalidInput):
            council.desk.cast_vote(Seat.CHAIR, name, GOOD, "x")
        with pytest.raises(InvalidInput):
            council.desk.submit_fusion(Seat.CHAIR, ("I", "II"), council.draft(), round_id=name)
    assert council.archive.stats() == before
