"""The entity graph: who is named with whom, and how one gets from here to there."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash, content_hash
from salon.retrieval.chunking import ChunkSettings
from salon.retrieval.entity_graph import EntityGraph, Link

TEXTS = (
    "There we met Ada Lovelace and Charles Babbage.",
    "Much later Charles Babbage wrote to Michael Faraday.",
    "It was Michael Faraday who taught James Maxwell.",
    "Some say James Maxwell inspired Albert Einstein.",
    "Nobody knew Grace Hopper or Alan Turing then.",
    "Again Ada Lovelace and Charles Babbage met Alan Turing.",
)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[EntityGraph]:
    with EntityGraph(tmp_path / "graph.db") as opened:
        yield opened


def _add(graph: EntityGraph, *texts: str) -> list[CardHash]:
    cards = [content_hash(text.encode()) for text in texts]
    for card, text in zip(cards, texts, strict=True):
        graph.add(card, text)
    return cards


def _way(links: list[Link] | None) -> list[str] | None:
    return None if links is None else [link.target for link in links]


def _rows(graph: EntityGraph) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    connection = apsw.Connection(str(graph.path))
    entities = connection.execute(
        "SELECT name, type, description, source_hash FROM graph_entities ORDER BY 1, 4"
    ).fetchall()
    links = connection.execute(
        "SELECT a.name, b.name, relationship, weight, r.source_hash FROM graph_relationships AS r"
        " JOIN graph_entities AS a ON a.id = source_entity_id"
        " JOIN graph_entities AS b ON b.id = target_entity_id ORDER BY 1, 2, 5"
    ).fetchall()
    connection.close()
    return [tuple(row) for row in entities], [tuple(row) for row in links]


def test_entities_named_in_one_passage_are_linked(graph: EntityGraph) -> None:
    first, *_, last = _add(graph, *TEXTS)
    found = graph.explore_entity("ada lovelace", hops=1)
    assert found is not None
    assert found.entity.name == "Ada Lovelace"
    assert found.entity.mentions == 2
    assert set(found.entity.sources) == {first, last}
    neighbours = {neighbour.entity.name: neighbour.link.weight for neighbour in found.neighbours}
    assert neighbours == {"Charles Babbage": 2, "Alan Turing": 1}
    assert found.neighbours[0].entity.name == "Charles Babbage"


def test_two_hops_lead_further_than_one(graph: EntityGraph) -> None:
    _add(graph, *TEXTS)
    found = graph.explore_entity("Ada Lovelace")
    assert found is not None
    assert {(near.entity.name, near.hops) for near in found.neighbours} == {
        ("Charles Babbage", 1),
        ("Alan Turing", 1),
        ("Michael Faraday", 2),
        ("Grace Hopper", 2),
    }
    limited = graph.explore_entity("Ada Lovelace", limit=1)
    assert limited is not None
    assert [near.entity.name for near in limited.neighbours] == ["Charles Babbage"]


def test_a_passage_apart_makes_no_link(tmp_path: Path) -> None:
    with EntityGraph(tmp_path / "graph.db", chunks=ChunkSettings(size=60, overlap=20)) as graph:
        _add(graph, "There we met Ada Lovelace in a large room.\n\nIt was Alan Turing who came.")
        found = graph.explore_entity("Ada Lovelace")
        assert found is not None
        assert found.neighbours == ()


def test_the_shortest_connection_is_found_and_every_link_names_its_cards(
    graph: EntityGraph,
) -> None:
    cards = _add(graph, *TEXTS)
    links = graph.find_connection("Grace Hopper", "Albert Einstein", max_depth=6)
    assert _way(links) == [
        "Alan Turing",
        "Charles Babbage",
        "Michael Faraday",
        "James Maxwell",
        "Albert Einstein",
    ]
    assert links is not None
    assert links[0].sources == (cards[4],)


def test_a_connection_beyond_the_depth_is_not_found(graph: EntityGraph) -> None:
    _add(graph, *TEXTS)
    assert graph.find_connection("Grace Hopper", "Albert Einstein") is None
    assert _way(graph.find_connection("Ada Lovelace", "Albert Einstein")) is not None
    assert graph.find_connection("Ada Lovelace", "ada  lovelace") == []
    assert graph.find_connection("Ada Lovelace", "Nobody Special") is None


@pytest.mark.parametrize("hops", [0, -1])
def test_a_walk_of_no_steps_is_refused(graph: EntityGraph, hops: int) -> None:
    with pytest.raises(InvalidInput):
        graph.explore_entity("Ada", hops=hops)
    with pytest.raises(InvalidInput):
        graph.find_connection("Ada", "Bob", max_depth=hops)


def test_an_unknown_entity_is_none(graph: EntityGraph) -> None:
    assert graph.explore_entity("Ada Lovelace") is None
    assert graph.find_entity("Ada Lovelace") is None


def test_adding_a_card_again_changes_nothing(graph: EntityGraph) -> None:
    _add(graph, *TEXTS)
    before = _rows(graph)
    _add(graph, *TEXTS[:2])
    assert _rows(graph) == before


def test_a_removed_card_leaves_nothing_in_the_file(graph: EntityGraph) -> None:
    (kept, gone) = _add(graph, TEXTS[0], "There was Zacharias Xylander with Ada Lovelace.")
    assert graph.remove(gone)
    assert not graph.remove(gone)
    assert graph.has(kept)
    assert graph.find_entity("Zacharias Xylander") is None
    graph.close()
    left = b"".join(path.read_bytes() for path in graph.path.parent.glob("graph.db*"))
    assert b"Xylander" not in left
    assert gone.encode() not in left


@settings(max_examples=20)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, len(TEXTS) - 1)), max_size=20))
def test_after_any_history_the_graph_is_that_of_the_cards_left(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[bool, int]]
) -> None:
    folder = tmp_path_factory.mktemp("graphs")
    left: set[int] = set()
    with EntityGraph(folder / "graph.db") as graph, EntityGraph(folder / "fresh.db") as fresh:
        for is_added, number in history:
            if is_added:
                _add(graph, TEXTS[number])
                left.add(number)
            else:
                graph.remove(content_hash(TEXTS[number].encode()))
                left.discard(number)
        _add(fresh, *(TEXTS[number] for number in sorted(left)))
        assert _rows(graph) == _rows(fresh)


def test_a_list_of_a_thousand_names_stays_a_small_graph(graph: EntityGraph) -> None:
    names = ", ".join(f"Alpha{chr(65 + n % 26)}{n}" for n in range(1000))
    graph.add(CardHash("a" * 64), f"They are {names}.")
    assert graph.stats().entities == 1000
    assert graph.stats().relationships <= 15 * 30 * 29 // 2


def test_the_graph_follows_an_archive(graph: EntityGraph, archive: SqliteArchive) -> None:
    added = archive.add_many([text.encode() for text in TEXTS])
    archive.add(b"\xff\0")
    assert graph.behind(archive) == 2
    assert graph.catch_up(archive).indexed == len(TEXTS)
    archive.write(lambda tx: tx.delete(added[0].hash, reason="test"))
    assert graph.catch_up(archive).removed == 1
    assert graph.behind(archive) == 0
    assert not graph.has(added[0].hash)
    assert graph.rebuild(archive).indexed == len(TEXTS) - 1
    assert graph.stats().cards == len(TEXTS) - 1
