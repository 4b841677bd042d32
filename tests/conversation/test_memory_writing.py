"""From messages to memories: facts reconciled, moments kept, episodes closed, requests obeyed."""

import pytest

from salon.conversation.memory.kinds import Memory
from salon.conversation.memory.store import InMemoryStore
from salon.conversation.memory.writing import Heard, Written, write_episode, write_messages
from salon.core.embedding import Embedder
from salon.providers.embedders import open_embedder
from tests.conversation.memory_talk import said


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded:minilm")


def tell(store: InMemoryStore, embedder: Embedder, *texts: str, first: int = 1) -> list[Written]:
    """Say things one turn after another, each written at once."""
    done = []
    for turn, text in enumerate(texts, first):
        heard = Heard(said=said(text, turn=turn, day=min(turn, 9)))
        done.append(write_messages(store, [heard], embedder))
        store.settle()
    return done


def facts(store: InMemoryStore, attribute: str) -> list[Memory]:
    return [one for one in store.memories() if one.fact and one.fact.attribute == attribute]


def test_a_contradicted_fact_is_closed_with_a_time_and_not_doubled(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    done = tell(
        store, embedder, "I live in Lyon.", "The weather is fine here.", "I moved to Ghent."
    )
    old, new = sorted(facts(store, "lives_in"), key=lambda one: one.valid_from)
    assert (old.content, old.valid_to) == ("I live in Lyon", "2026-03-03T10:00:00.000000Z")
    assert old.closed_by is not None
    assert old.closed_by.quote == "I moved to Ghent"
    assert (new.fact is not None and new.fact.value, new.is_open) == ("Ghent", True)
    assert done[2].action == "update"
    assert {old.id, new.id} <= set(done[2].affected)


def test_what_no_longer_holds_is_not_recalled_nor_the_words_that_said_it(
    embedder: Embedder,
) -> None:
    store = InMemoryStore("ann")
    tell(store, embedder, "I live in Lyon near the old harbour.", "I moved to Ghent in the spring.")
    found = [one.memory.content for one in store.search("Which city do I live in?", embedder)]
    assert found
    assert not [one for one in found if "Lyon" in one]


def test_the_same_fact_again_makes_it_surer_and_adds_no_second(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    done = tell(store, embedder, "I love hiking.", "As I said, I love hiking.")
    (fact,) = facts(store, "likes")
    assert fact.confidence == pytest.approx(0.9)
    assert [one.turn for one in fact.sources] == [1, 2]
    assert done[1].action == "update"


def test_disliking_what_was_liked_closes_the_liking(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    tell(store, embedder, "I love coffee.", "I hate coffee.")
    assert [one.is_open for one in facts(store, "likes")] == [False]
    assert [one.is_open for one in facts(store, "dislikes")] == [True]


def test_several_likes_stand_side_by_side(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    tell(store, embedder, "I love coffee.", "I love hiking.")
    assert [one.is_open for one in facts(store, "likes")] == [True, True]


def test_a_lost_job_closes_work_and_stores_no_empty_fact(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    tell(store, embedder, "I work as a baker.", "I lost my job yesterday.")
    assert [one.is_open for one in facts(store, "works_as")] == [False]
    assert facts(store, "works_at") == []


def test_writing_the_same_turn_twice_changes_nothing_more(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    heard = Heard(said=said("I live in Lyon near the old harbour."))
    write_messages(store, [heard], embedder)
    before = store.memories()
    again = write_messages(store, [heard], embedder)
    assert store.memories() == before
    assert again.action == "none"


def test_a_life_event_is_a_milestone(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    tell(
        store,
        embedder,
        "I got the job at the flower shop in town!",
        "It rained all day in the hills.",
    )
    types = {one.content[:5]: one.memory_type for one in store.memories() if one.kind == "moment"}
    assert types == {"I got": "milestone", "It ra": "conversation"}


def test_what_must_not_be_kept_is_not(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    text = "I live in Lyon and my number is 0612345678."
    private = (text.index("0612"), len(text) - 1)
    done = write_messages(
        store,
        [
            Heard(said=said("Everything is dark and I want it to end.", turn=1), is_kept=False),
            Heard(said=said(text, turn=2), private=(private, (0, 14))),
        ],
        embedder,
    )
    assert store.memories() == ()
    assert (done.action, done.affected) == ("none", ())


def test_a_request_to_forget_reaches_facts_moments_and_episodes(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    texts = [f"Today I walked to garden number {n} beside the river." for n in range(1, 10)]
    messages = [Heard(said=said(text, turn=turn)) for turn, text in enumerate(texts, 1)]
    messages.append(Heard(said=said("I love marzipan cake from the old bakery.", turn=10)))
    write_messages(store, messages, embedder)
    write_episode(store, messages, embedder, trend="stable", is_milestone=False)
    assert [one.kind for one in store.memories() if "marzipan" in one.content]
    done = write_messages(
        store, [Heard(said=said("Please forget that I love marzipan cake", turn=11))], embedder
    )
    assert done.action == "delete"
    assert not [one for one in store.memories() if "marzipan" in one.content]
    assert [one for one in store.memories() if "garden" in one.content]
    write_messages(store, [Heard(said=said("forget everything", turn=12))], embedder)
    assert store.memories() == ()


def test_what_is_said_and_unsaid_between_two_writes_is_not_kept(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    done = write_messages(
        store,
        [
            Heard(said=said("I love marzipan cake very much.", turn=1)),
            Heard(said=said("forget that I love marzipan cake", turn=2)),
        ],
        embedder,
    )
    assert store.memories() == ()
    assert done.stored == []


# Episodes


def talk(count: int) -> list[Heard]:
    themes = ("violin", "garden", "kitchen", "harbour", "mountain", "library", "market", "bridge")
    return [
        Heard(
            said=said(
                f"Today the {themes[n % 8]} kept me busy with {themes[(n + 3) % 8]} number {n}.",
                turn=n,
            )
        )
        for n in range(1, count + 1)
    ]


def test_ten_turns_make_an_episode_of_the_users_own_sentences(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    messages = talk(10)
    made = write_episode(store, messages, embedder, trend="improving", is_milestone=False)
    assert made is not None
    memory = store.find(made)
    assert memory is not None
    assert memory.episode is not None
    assert (memory.episode.first_turn, memory.episode.last_turn) == (1, 10)
    assert memory.episode.emotion_trend == "improving"
    assert memory.memory_type == "conversation"
    spoken = {one.said.turn: one.said.text for one in messages}
    for source in memory.sources:
        assert spoken[source.turn][source.start : source.end] == source.quote
    assert memory.content == " ".join(one.quote for one in memory.sources)


def test_nine_turns_make_none_and_the_next_ten_the_next(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    made = {"trend": "stable", "is_milestone": False}
    assert write_episode(store, talk(9), embedder, **made) is None  # type: ignore[arg-type]
    assert write_episode(store, talk(10), embedder, **made)  # type: ignore[arg-type]
    assert write_episode(store, talk(19), embedder, **made) is None  # type: ignore[arg-type]
    assert write_episode(store, talk(20), embedder, **made)  # type: ignore[arg-type]
    ranges = [
        (one.episode.first_turn, one.episode.last_turn) for one in store.memories() if one.episode
    ]
    assert sorted(ranges) == [(1, 10), (11, 20)]


def test_an_event_is_a_key_event_and_makes_the_episode_a_milestone(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    messages = [*talk(9), Heard(said=said("I got the job at the bakery!", turn=10))]
    made = write_episode(store, messages, embedder, trend="stable", is_milestone=False)
    memory = store.find(made) if made else None
    assert memory is not None
    assert memory.episode is not None
    assert memory.episode.key_events == ("I got the job at the bakery!",)
    assert memory.memory_type == "milestone"


def test_ten_turns_of_nothing_make_no_episode(embedder: Embedder) -> None:
    store = InMemoryStore("ann")
    messages = [Heard(said=said("ok?", turn=n)) for n in range(1, 11)]
    assert write_episode(store, messages, embedder, trend="stable", is_milestone=False) is None
    assert write_episode(store, [], embedder, trend="stable", is_milestone=False) is None
