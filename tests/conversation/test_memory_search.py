"""Finding what was said before: words, meaning, neighbours, speakers and time."""

from collections.abc import Sequence

import numpy as np
import pytest

from salon.conversation.memory.search import Utterance, UtteranceSearch, Weights, stems_of
from salon.core.embedding import Embedder
from salon.providers.embedders import open_embedder

AT = "2026-03-01T10:00:00.000000Z"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded:minilm")


def utterances(*texts: str, thread: str = "s", speakers: Sequence[str] = ()) -> list[Utterance]:
    return [
        Utterance(str(n), text, thread, speakers[n] if speakers else "", AT)
        for n, text in enumerate(texts)
    ]


def search(
    said: list[Utterance], query: str, embedder: Embedder, now: str | None = None
) -> list[str]:
    index = UtteranceSearch(said, embedder.embed_passages([one.text for one in said]))
    vector = embedder.embed_query(index.query_text(query))
    return [said[hit.place].text for hit in index.search(query, vector, limit=len(said), now=now)]


def test_the_same_in_other_words_is_found(embedder: Embedder) -> None:
    said = utterances(
        "The train to the coast was late again.",
        "I bring up my two kids on my own.",
        "We painted the kitchen yellow.",
    )
    assert search(said, "single parent", embedder)[0] == said[1].text


def test_rare_words_outweigh_common_ones(embedder: Embedder) -> None:
    said = utterances(
        "I saw a film yesterday.", "I saw a quokka yesterday.", "I saw a play yesterday."
    )
    assert search(said, "quokka", embedder)[0] == said[1].text


def test_an_answer_is_found_by_the_question_before_it(embedder: Embedder) -> None:
    beside = [
        Utterance("0", "Which instrument does your daughter play?", "s", "Bo", AT),
        Utterance("1", "The one with four strings, since May.", "s", "Al", AT),
        Utterance("2", "Nice weather for the time of year.", "s", "Bo", AT),
        Utterance("3", "The one with two wheels, since June.", "other", "Al", AT),
    ]
    found = search(beside, "What instrument is played?", embedder)
    assert found.index(beside[1].text) < found.index(beside[3].text)


def test_a_named_speaker_comes_first_and_names_do_not_count_as_words(embedder: Embedder) -> None:
    said = utterances("I have been to Rome.", "I have been to Rome.", speakers=("Anna", "Bert"))
    index = UtteranceSearch(said, embedder.embed_passages([one.text for one in said]))
    query = "Where has Bert been?"
    vector = embedder.embed_query(index.query_text(query))
    assert [hit.id for hit in index.search(query, vector, limit=2)] == ["1", "0"]
    assert index.query_text("What is Anna's dog called, and who is Bert?") == (
        "What is their dog called, and who is they?"
    )


def test_of_two_alike_the_newer_one_comes_first(embedder: Embedder) -> None:
    old = Utterance("old", "I went for a swim.", "a", "", "2026-01-01T10:00:00.000000Z")
    new = Utterance("new", "I went for a swim.", "b", "", "2026-03-01T10:00:00.000000Z")
    index = UtteranceSearch([old, new], embedder.embed_passages([old.text, new.text]))
    vector = embedder.embed_query("swimming")
    now = "2026-03-02T10:00:00.000000Z"
    assert [hit.id for hit in index.search("swimming", vector, limit=2, now=now)] == ["new", "old"]


def test_scores_lie_between_0_and_1_and_fall(embedder: Embedder) -> None:
    said = utterances("Red apples.", "Why?", "A long walk through the old town and its gardens.")
    index = UtteranceSearch(said, embedder.embed_passages([one.text for one in said]))
    hits = index.search("apples", embedder.embed_query("apples"), limit=3)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= one <= 1 for one in scores)


def test_nothing_said_means_nothing_found() -> None:
    index = UtteranceSearch([], np.zeros((0, 4), dtype=np.float32))
    assert index.search("anything", np.ones(4, dtype=np.float32), limit=5) == []


def test_words_without_meaning_and_other_scripts_do_not_break_it(embedder: Embedder) -> None:
    said = utterances("...", "the of and", "\u732b\u304c\u597d\u304d", "caf\u00e9 cr\u00e8me")
    assert search(said, "?", embedder)
    assert search(said, "cafe creme", embedder)[0] == said[3].text


def test_stems_drop_stop_words_and_endings() -> None:
    assert stems_of("The dog's walks were longest, and I walked") == (
        stems_of("dog")[0],
        stems_of("walk")[0],
        stems_of("longest")[0],
        stems_of("walk")[0],
    )


def test_the_highest_score_is_the_sum_of_what_counts_for_an_utterance() -> None:
    by = Weights()
    assert by.most == pytest.approx(1 + 0.7 + 0.3 + 0.3 + 0.15 + 0.15 + 0.1 + 0.1 + 0.02)
