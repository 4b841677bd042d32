"""What a commit does is what the calls before it would have done one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from salon.core.indexes import PassageId
from salon.providers.vectors.pending import Change, PendingChanges
from tests.retrieval.dense.backends import card

Store = dict[int, tuple[str, float]]

Addition = list[tuple[int, int, int]]
Removal = frozenset[int]

rows = st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 100))
calls = st.one_of(
    st.lists(rows, min_size=1, max_size=5), st.frozensets(st.integers(0, 3), max_size=3)
)


def do(pending: PendingChanges, call: Addition | Removal) -> None:
    """Make one call."""
    if isinstance(call, frozenset):
        pending.remove(card(owner) for owner in call)
        return
    values = np.array([[value] for _, _, value in call], dtype=np.float32)
    pending.add([PassageId(n) for n, _, _ in call], [card(owner) for _, owner, _ in call], values)


def apply(store: Store, change: Change) -> Store:
    """Do what `Change` says, in the simplest way."""
    kept = {
        number: held
        for number, held in store.items()
        if held[0] not in change.removed_cards and number not in change.removed_ids
    }
    return kept | {
        int(number): (owner, float(row[0]))
        for number, owner, row in zip(change.ids, change.cards, change.rows, strict=True)
    }


@given(
    before=st.dictionaries(st.integers(0, 8), st.integers(0, 3)), script=st.lists(calls, max_size=8)
)
def test_a_change_leaves_what_the_calls_would_have_left_and_twice_the_same(
    before: dict[int, int], script: list[Addition | Removal]
) -> None:
    store: Store = {number: (card(owner), -1.0) for number, owner in before.items()}
    expected, pending = dict(store), PendingChanges(1)
    for call in script:
        do(pending, call)
        if isinstance(call, frozenset):
            gone = {card(owner) for owner in call}
            expected = {n: held for n, held in expected.items() if held[0] not in gone}
        else:
            expected |= {n: (card(owner), float(value)) for n, owner, value in call}
    change = pending.boiled_down()
    assert apply(store, change) == expected
    assert apply(apply(store, change), change) == expected


@given(script=st.lists(calls, max_size=8))
def test_passages_of_removed_cards_that_stay_are_named(script: list[Addition | Removal]) -> None:
    pending = PendingChanges(1)
    for call in script:
        do(pending, call)
    change = pending.boiled_down()
    owners = dict(zip(change.ids, change.cards, strict=True))
    assert set(change.added_again()) == {n for n, c in owners.items() if c in change.removed_cards}
    assert not set(change.removed_ids) & set(change.ids)


def test_rows_are_copied_because_their_memory_may_be_used_again() -> None:
    pending, mine = PendingChanges(2), np.ones((1, 2), dtype=np.float32)
    pending.add([PassageId(1)], [card(1)], mine)
    mine[:] = 7
    assert pending.boiled_down().rows.tolist() == [[1, 1]]


def test_nothing_is_left_after_forgetting() -> None:
    pending = PendingChanges(2)
    assert not pending
    pending.remove([card(1)])
    assert pending
    pending.forget()
    assert not pending
    assert pending.boiled_down().rows.shape == (0, 2)
