"""Approval: a digest that changes with everything it covers."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from salon.gate.approval import Proposal, order_key

PROPOSAL = Proposal(
    action="email", arguments={"a": "1", "b": "2"}, policy="1", session="s-1", turn=4
)


def test_the_digest_does_not_depend_on_the_order_of_the_arguments() -> None:
    assert replace(PROPOSAL, arguments={"b": "2", "a": "1"}).digest == PROPOSAL.digest
    assert len(PROPOSAL.digest) == 64


def test_the_digest_covers_action_arguments_policy_session_and_turn() -> None:
    others = [
        replace(PROPOSAL, action="calendar"),
        replace(PROPOSAL, arguments={"a": "1", "b": "3"}),
        replace(PROPOSAL, arguments={"a": "1"}),
        replace(PROPOSAL, policy="2"),
        replace(PROPOSAL, session="s-2"),
        replace(PROPOSAL, turn=5),
    ]
    assert len({PROPOSAL.digest, *(one.digest for one in others)}) == 7


def test_a_key_belongs_to_one_flow_and_one_digest() -> None:
    keys = {order_key(flow, digest) for flow in ("f1", "f2") for digest in ("d1", "d2")}
    assert len(keys) == 4


words = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4)


@given(words, words)
def test_only_equal_arguments_have_equal_digests(one: dict[str, str], two: dict[str, str]) -> None:
    first, second = (replace(PROPOSAL, arguments=some).digest for some in (one, two))
    assert (first == second) == (one == two)
