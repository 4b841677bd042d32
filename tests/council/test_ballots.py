"""Counting: geometric mean, runoff, publication, and what a panel's votes are worth."""

import re
from itertools import permutations
from math import isclose, prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.absent import Absent
from salon.council.ballots import (
    Tally,
    counted_votes,
    draft_score,
    effective_votes,
    is_publishable,
    mean_correlation,
    mean_score,
    runoff,
    tally,
)
from salon.council.rounds import Failing, Scorecard
from salon.council.seats import Seat
from tests.council.made_rounds import (
    candidate,
    card,
    draft_id,
    five_drafts,
    made_round,
    vote,
)

CHAIR, MINER, AUDITOR, PROFESSOR, VIZIER = Seat

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "council.md"
scores = st.integers(1, 10)
cards = st.builds(Scorecard, accuracy=scores, depth=scores, pedagogy=scores)
some_cards = st.lists(cards, min_size=1, max_size=5)


def _tally(id_: str, score: float, **rest: Any) -> Tally:
    fields: dict[str, Any] = {"voters": 4, "mean": score, "lowest": 5, "weighted": Absent("")}
    return Tally(candidate=id_, score=score, **(fields | rest))


@pytest.mark.requirement("council/cast-vote/aggregation")
@given(some_cards)
def test_a_score_is_the_geometric_mean_of_the_voters_means(given_cards: list[Scorecard]) -> None:
    expected = prod(one.mean for one in given_cards) ** (1 / len(given_cards))
    assert isclose(draft_score(given_cards), expected, rel_tol=1e-9)


@given(some_cards)
def test_the_geometric_mean_lies_between_the_extremes_and_below_the_plain_one(
    given_cards: list[Scorecard],
) -> None:
    means = [one.mean for one in given_cards]
    assert min(means) <= draft_score(given_cards) <= max(means)
    assert draft_score(given_cards) <= mean_score(given_cards) + 1e-9


@given(some_cards, st.randoms())
def test_the_order_of_voters_changes_nothing(given_cards: list[Scorecard], random: Any) -> None:
    shuffled = list(given_cards)
    random.shuffle(shuffled)
    assert round(draft_score(shuffled), 9) == round(draft_score(given_cards), 9)
    assert mean_score(shuffled) == mean_score(given_cards)


@given(some_cards, st.integers(0, 4), st.sampled_from(["accuracy", "depth", "pedagogy"]))
def test_a_better_grade_never_lowers_a_score(
    given_cards: list[Scorecard], which: int, name: str
) -> None:
    place = which % len(given_cards)
    old = given_cards[place]
    better = {**{f: getattr(old, f) for f in ("accuracy", "depth", "pedagogy")}}
    better[name] = min(10, better[name] + 1)
    raised = [*given_cards[:place], Scorecard(**better), *given_cards[place + 1 :]]
    assert draft_score(raised) >= draft_score(given_cards)
    assert mean_score(raised) >= mean_score(given_cards)


@pytest.mark.requirement("council/cast-vote/aggregation")
def test_a_tally_says_what_the_votes_on_a_draft_come_to() -> None:
    round_ = made_round(
        [candidate("a", CHAIR), candidate("b", MINER)],
        [
            vote(MINER, "a", card(9, 8, 7)),
            vote(AUDITOR, "a", card(6, 6, 6)),
            vote(CHAIR, "b", card(9, 9, 9)),
        ],
    )
    best, second = tally(round_)
    assert (best.candidate, best.voters, best.mean, best.lowest) == ("b", 1, 9.0, 9)
    assert second.score == pytest.approx((8 * 6) ** 0.5)
    assert (second.mean, second.lowest, second.voters) == (7.0, 6, 2)
    assert isinstance(second.weighted, Absent)


def test_weights_make_some_voters_heavier_and_stand_beside_the_plain_score() -> None:
    round_ = made_round([candidate("a", CHAIR)], [vote(MINER, "a", 9), vote(AUDITOR, "a", 4)])
    (even,) = tally(round_, weights=dict.fromkeys(Seat, 0.7))
    assert even.weighted == pytest.approx(even.score)
    (leaning,) = tally(round_, weights={MINER: 3.0, AUDITOR: 1.0})
    assert leaning.score == even.score
    assert leaning.weighted == pytest.approx((9**3 * 4) ** 0.25)
    (alone,) = tally(round_, weights={MINER: 1.0})
    assert alone.weighted == pytest.approx(9)
    (nobody,) = tally(round_, weights=dict.fromkeys(Seat, 0.0))
    assert isinstance(nobody.weighted, Absent)


def test_what_does_not_count_is_not_counted() -> None:
    drafts = [
        candidate("a", CHAIR),
        candidate("b", MINER, failings=(Failing(code="x", message="y"),)),
    ]
    votes = [
        vote(CHAIR, "a", 10),  # its own
        vote(MINER, "a", 8),
        vote(MINER, "a", 1),  # a second time
        vote(AUDITOR, "a", 9, attempt=1),  # another attempt
        vote(PROFESSOR, "nowhere", 9),
        vote(VIZIER, "a", 2),  # on probation
        vote(AUDITOR, "a", card(0, 11, 5)),  # no grade
        vote(CHAIR, "b", 9),
    ]
    (only,) = tally(made_round(drafts, votes, on_probation=(VIZIER,)))
    assert (only.candidate, only.voters, only.score) == ("a", 1, 8.0)


def test_each_attempt_is_counted_on_its_own() -> None:
    drafts = [candidate("a", CHAIR), candidate("a", CHAIR, attempt=1)]
    votes = [vote(MINER, "a", 4), vote(MINER, "a", 9, attempt=1)]
    round_ = made_round(drafts, votes, attempt=1)
    assert tally(round_)[0].score == 9.0
    assert tally(round_, attempt=0)[0].score == 4.0
    assert len(counted_votes(round_, attempt=0)) == 1


def test_drafts_without_votes_come_last_and_ties_stand_by_id() -> None:
    drafts = [candidate(name, seat) for name, seat in zip("dcba", Seat, strict=False)]
    votes = [vote(VIZIER, "d", 7), vote(VIZIER, "c", 7), vote(VIZIER, "a", 8)]
    ranked = tally(made_round(drafts, votes))
    assert [one.candidate for one in ranked] == ["a", "c", "d", "b"]
    assert isinstance(ranked[-1].score, Absent)


@pytest.mark.parametrize(
    ("best", "second", "is_runoff"),
    [(8.5, 8.0, True), (8.1, 7.6, True), (9.3, 8.8, True), (8.501, 8.0, False), (8.0, 8.0, True)],
)
def test_half_a_point_is_still_a_runoff_whatever_floats_say(
    best: float, second: float, is_runoff: bool
) -> None:
    for order in permutations([_tally("a", best), _tally("b", second), _tally("c", 1.0)]):
        found = runoff(order)
        assert (found is not None) is is_runoff
        assert found in {None, ("a", "b")}


def test_a_runoff_needs_two_graded_drafts_and_no_fusion() -> None:
    nobody = _tally("b", 0.0, voters=0)
    ungraded = Tally(
        candidate="b",
        voters=0,
        score=Absent(""),
        mean=Absent(""),
        lowest=Absent(""),
        weighted=Absent(""),
    )
    assert runoff([_tally("a", 9.0), ungraded]) is None
    assert runoff([_tally("a", 0.2), nobody]) == ("a", "b")
    assert runoff([_tally("f", 9.5, is_fusion=True), _tally("a", 9.0), _tally("b", 8.0)]) is None


@given(st.lists(st.integers(3, 30), min_size=3, max_size=4), st.floats(0, 2))
def test_the_runoff_rule_is_monotone(sums: list[int], within: float) -> None:
    tallies = [_tally(f"c{place}", total / 3) for place, total in enumerate(sums)]
    if runoff(tallies, within=within):
        assert runoff(tallies, within=within + 1) == runoff(tallies, within=within)


@pytest.mark.requirement("council/security/consensus-verified")
@pytest.mark.parametrize(
    ("counted", "why"),
    [
        (_tally("a", 8.0), None),
        (_tally("a", 9.9, voters=2), "2 of at least 3 peers have graded it"),
        (_tally("a", 7.999), "its mean is 7.99, below 8"),
        (_tally("a", 9.5, lowest=4), "a single score is 4, below 5"),
        (_tally("a", 9.0, mean=Absent("")), "nobody has graded it"),
    ],
    ids=["exactly", "two-peers", "just-below", "one-low-score", "no-mean"],
)
def test_publication_needs_three_peers_a_mean_of_eight_and_no_score_below_five(
    counted: Tally, why: str | None
) -> None:
    assert is_publishable(counted) == why


@given(st.lists(cards, min_size=3, max_size=4))
def test_whatever_is_publishable_keeps_every_threshold(given_cards: list[Scorecard]) -> None:
    votes = [
        vote(seat, "a", one)
        for seat, one in zip((MINER, AUDITOR, PROFESSOR, VIZIER), given_cards, strict=False)
    ]
    (counted,) = tally(made_round([candidate("a", CHAIR)], votes))
    exact = sum(one.accuracy + one.depth + one.pedagogy for one in given_cards)
    keeps = exact >= 24 * len(given_cards) and min(one.lowest for one in given_cards) >= 5
    assert (is_publishable(counted) is None) is keeps


def _grades(by_voter: dict[Seat, list[int]]) -> Any:
    return {
        voter: {author: row[place] for place, author in enumerate(Seat) if author is not voter}
        for voter, row in by_voter.items()
    }


def test_voters_who_agree_are_worth_fewer_votes_than_voters_who_do_not() -> None:
    alike = five_drafts(_grades({seat: [2, 5, 7, 9, 4] for seat in Seat}))
    rows = [[2, 5, 7, 9, 4], [9, 3, 2, 5, 8], [5, 9, 4, 2, 7], [7, 2, 9, 4, 3], [3, 8, 5, 7, 2]]
    apart = five_drafts(_grades(dict(zip(Seat, rows, strict=True))))
    few, many = effective_votes([alike]), effective_votes([apart])
    assert not isinstance(few, Absent)
    assert not isinstance(many, Absent)
    assert 1 <= few < many <= 5
    # One round is as heavy as the prior, so half of the way to full agreement is believed.
    assert mean_correlation([alike]) == pytest.approx(0.75)
    more = effective_votes([alike] * 20)
    assert not isinstance(more, Absent)
    assert 1 <= more < few


def test_where_nothing_can_be_told_the_number_of_votes_is_absent() -> None:
    assert isinstance(effective_votes([]), Absent)
    assert isinstance(effective_votes([made_round([candidate("a", CHAIR)])]), Absent)
    flat = five_drafts(_grades({seat: [7] * 5 for seat in Seat}))
    assert isinstance(effective_votes([flat]), Absent)
    one = made_round([candidate("a", CHAIR)], [vote(MINER, "a", 8)])
    assert effective_votes([one]) == 1.0


@given(st.lists(st.lists(scores, min_size=5, max_size=5), min_size=5, max_size=5))
def test_effective_votes_lie_between_one_and_the_number_of_voters(rows: list[list[int]]) -> None:
    found = effective_votes([five_drafts(_grades(dict(zip(Seat, rows, strict=True))))])
    if not isinstance(found, Absent):
        assert 1 <= found <= 5


def test_a_round_without_votes_has_no_effective_votes_whatever_came_before() -> None:
    alike = five_drafts(_grades({seat: [2, 5, 7, 9, 4] for seat in Seat}))
    now = made_round([candidate(draft_id(CHAIR), CHAIR)], id_="round_2")
    assert isinstance(effective_votes([alike, now]), Absent)


def test_the_example_in_the_guide_prints_what_the_guide_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    part = GUIDE.read_text(encoding="utf-8").partition("\n## Scoring\n")[2]
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", part, re.DOTALL)
    assert found is not None
    exec(found[1], {})
    assert capsys.readouterr().out == found[2]
