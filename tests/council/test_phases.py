"""The tables: what may follow what, and who may do what when."""

from dataclasses import replace
from itertools import combinations

import pytest

from salon.core.errors import InvalidInput, InvalidSettings, NotAllowed
from salon.core.hashing import content_hash
from salon.council.deciding import Decision, moved
from salon.council.entering import require_collaborators
from salon.council.naming import (
    as_round_id,
    as_topic_id,
    id_in_attempt,
    require_free,
    round_of,
    stem_of,
    topic_id_of,
)
from salon.council.phases import ALIASES, MOVES, PERMISSIONS, Event, Role, Skill, move
from salon.council.roles import due, require_permission
from salon.council.rounds import Candidate, Phase, Round
from salon.council.rules import CouncilRules
from salon.council.seats import Seat, require_seat

ENDS = {Phase.PUBLISHED, Phase.NO_QUORUM}


def make_round(phase: Phase, **changes: object) -> Round:
    """Return a round in which every seat has a draft."""
    drafts = tuple(
        Candidate(
            id=f"round_1.draft_{number}",
            authors=(seat,),
            text=content_hash(seat.encode()),
            attempt=0,
        )
        for number, seat in enumerate(Seat, start=1)
    )
    made = Round(
        id="round_1",
        topic_id="t",
        topic="t",
        phase=phase,
        opened_at="",
        touched_at="",
        candidates=drafts,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_every_phase_can_be_reached_and_left_except_the_ends() -> None:
    assert set(MOVES.values()) | {Phase.SPRINT} == set(Phase)
    assert {before for before, _ in MOVES} == set(Phase) - ENDS


def test_publication_comes_after_a_vote_alone() -> None:
    before = {phase for (phase, event), after in MOVES.items() if after is Phase.PUBLISHED}
    assert before == {Phase.VOTE, Phase.RUNOFF, Phase.RATIFICATION}
    assert {event for (_, event), after in MOVES.items() if after is Phase.PUBLISHED} == {
        Event.AGREED
    }


def test_what_is_not_in_the_table_cannot_happen() -> None:
    with pytest.raises(KeyError):
        move(Phase.SPRINT, Event.AGREED)
    with pytest.raises(KeyError):
        moved(make_round(Phase.PUBLISHED), Decision(event=Event.DISAGREED))


def test_no_skill_is_for_a_round_that_is_over() -> None:
    assert set(PERMISSIONS) == set(Skill)
    assert not any(one.phases & ENDS for one in PERMISSIONS.values())
    for phase in ENDS:
        over = make_round(phase)
        assert not any(due(over, seat) for seat in Seat)


def test_texts_come_in_only_where_no_votes_are_cast() -> None:
    writing = PERMISSIONS[Skill.SUBMIT_CANDIDATE].phases | PERMISSIONS[Skill.SUBMIT_FUSION].phases
    assert not writing & PERMISSIONS[Skill.CAST_VOTE].phases


@pytest.mark.requirement("council/security/broadcast-alias")
def test_broadcasting_a_draft_is_submitting_a_candidate() -> None:
    assert ALIASES == {"skill_broadcast_draft": Skill.SUBMIT_CANDIDATE}


def test_new_souls_are_for_survivors_and_searching_for_every_seat() -> None:
    assert PERMISSIONS[Skill.SYNTHESIZE_SOUL].role is Role.SURVIVOR
    assert PERMISSIONS[Skill.SEARCH].role is Role.SEAT


@pytest.mark.requirement("council/registry/all-seats")
@pytest.mark.parametrize("seat", list(Seat))
def test_every_seat_submits_reviews_fuses_and_votes(seat: Seat) -> None:
    entered = make_round(Phase.SPRINT, candidates=())
    require_permission(entered, seat, Skill.SUBMIT_CANDIDATE)
    require_permission(make_round(Phase.REFINEMENT), seat, Skill.SUBMIT_CANDIDATE)
    peer = next(one for one in make_round(Phase.VOTE).standing if seat not in one.authors)
    require_permission(make_round(Phase.CRITIQUE), seat, Skill.PEER_REVIEW, peer)
    require_permission(make_round(Phase.VOTE), seat, Skill.CAST_VOTE, peer)
    numbers = [[*Seat].index(seat) + 1, [*Seat].index(peer.authors[0]) + 1]
    tied = make_round(Phase.RUNOFF, finalists=tuple(f"round_1.draft_{one}" for one in numbers))
    require_permission(tied, seat, Skill.SUBMIT_FUSION)


@pytest.mark.parametrize("name", ["", "VI", "i", "1", "system", "Chair", "I I"])
def test_whoever_has_no_seat_may_do_nothing(name: str) -> None:
    with pytest.raises(NotAllowed):
        require_seat(name)


@pytest.mark.requirement("council/submit-fusion/two-authors")
def test_a_fusion_is_by_exactly_the_two_authors_of_the_runoff() -> None:
    tied = make_round(Phase.RUNOFF, finalists=("round_1.draft_2", "round_1.draft_4"))
    two = (Seat.MINER, Seat.PROFESSOR)
    for seat in two:
        require_collaborators(tied, seat, two)
        require_collaborators(tied, seat, ("IV", "II"))
        require_collaborators(tied, seat, ("round_1.draft_2", "IV"))
    for pair in combinations(Seat, 2):
        if set(pair) != set(two):
            with pytest.raises(NotAllowed):
                require_collaborators(tied, pair[0], pair)
    for names in ((), ("II",), ("II", "II"), ("II", "IV", "I"), ("II", "VI"), ("II", "IV", "IV")):
        with pytest.raises(NotAllowed):
            require_collaborators(tied, Seat.MINER, names)
    with pytest.raises(NotAllowed):
        require_collaborators(tied, Seat.CHAIR, two)


def test_ids_say_which_round_they_belong_to_and_nothing_else() -> None:
    assert round_of("round_ab1.draft_cd2") == "round_ab1"
    later = id_in_attempt("round_ab1.draft_cd2", 1)
    assert later == "round_ab1.draft_cd2-1"
    assert id_in_attempt(later, 2) == "round_ab1.draft_cd2-2"
    assert stem_of(later) == "round_ab1.draft_cd2"
    for text in ("", "round_1", "round_1.vote_2", "round_1.draft_2/..", "x round_1.draft_2", "٣"):
        with pytest.raises(InvalidInput):
            round_of(text)
    for text in ("", "round_", "round_A", "round_1/2", "round_1\n"):
        with pytest.raises(InvalidInput):
            as_round_id(text)


@pytest.mark.parametrize(
    ("topic", "id_"),
    [
        ("The slaves and the Union", "the-slaves-and-the-union"),
        ("  the WELL, (1874)! ", "the-well-1874"),
        ("Who dug it?", "who-dug-it"),
        ("x" * 64, "x" * 64),
    ],
    ids=["words", "signs-between", "question", "longest"],
)
def test_the_id_of_a_plain_topic_is_its_words(topic: str, id_: str) -> None:
    assert as_topic_id(topic_id_of(topic)) == id_


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("History of \u6771\u4eac", "History of \u4eac\u90fd"),
        ("C++", "C"),
        ("C++", "C#"),
        ("x" * 64 + " one", "x" * 64 + " two"),
        ("Caf\u00e9", "Cafe"),
        ("\u6771\u4eac", "\u4eac\u90fd"),
    ],
    ids=["other-letters", "signs", "two-signs", "too-long", "accent", "no-latin"],
)
def test_topics_that_lose_something_keep_ids_of_their_own(one: str, other: str) -> None:
    assert as_topic_id(topic_id_of(one)) != as_topic_id(topic_id_of(other))
    assert topic_id_of(one) == topic_id_of(f" {one.upper()}. "), "and are still the same topic"


@pytest.mark.parametrize(
    "name",
    ["completed/x", "completed/x/record", "staging/r/d", "council/rounds/r", "souls/active/I",
     "completed", " council/evolution"],
)  # fmt: skip
def test_names_of_the_council_are_its_own(name: str) -> None:
    with pytest.raises(NotAllowed, match="council's"):
        require_free(name)
    assert require_free("my/completed/x") == "my/completed/x"


@pytest.mark.parametrize(
    "changes",
    [
        {"least_voters": 0},
        {"least_voters": 5},
        {"least_mean": 11},
        {"least_score": 0},
        {"retries": -1},
        {"runoff_within": -0.1},
    ],
    ids=lambda one: next(iter(one)),
)
def test_rules_that_cannot_be_kept_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(InvalidSettings):
        CouncilRules(**changes)  # type: ignore[arg-type]
