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
from salon.core.indexes import PassageId, passage_id
from salon.retrieval.chunking import ChunkSettings, cut_passages
from salon.retrieval.graph.entities import EntityType, Mention
from salon.retrieval.graph.entity_graph import EntityGraph
from salon.retrieval.graph.links import Link

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


def _rows(graph: EntityGraph) -> list[list[tuple[object, ...]]]:
    connection = apsw.Connection(str(graph.path))
    entities = connection.execute(
        "SELECT name, type, description, source_hash FROM graph_entities ORDER BY 1, 4"
    ).fetchall()
    links = connection.execute(
        "SELECT a.name, b.name, relationship, weight, r.source_hash FROM graph_relationships AS r"
        " JOIN graph_entities AS a ON a.id = source_entity_id"
        " JOIN graph_entities AS b ON b.id = target_entity_id ORDER BY 1, 2, 5"
    ).fetchall()
    mentions = connection.execute(
        "SELECT p.id, p.start, p.stop, hash, m.start, m.stop, key, is_subject"
        " FROM graph_passage AS p JOIN graph_card ON graph_card.id = p.card"
        " LEFT JOIN graph_mention AS m ON m.passage = p.id"
        " LEFT JOIN graph_name ON graph_name.id = m.name ORDER BY p.id, m.start"
    ).fetchall()
    connection.close()
    return [[tuple(row) for row in rows] for rows in (entities, links, mentions)]


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


def test_passages_have_the_ids_of_search_and_know_what_they_name(tmp_path: Path) -> None:
    chunks = ChunkSettings(size=60, overlap=20)
    text = (
        "Käse! Then Ada Lovelace came.\n\n"
        "Much later we met Charles Babbage with Ada Lovelace there."
    )
    with EntityGraph(tmp_path / "graph.db", chunks=chunks) as graph:
        (card,) = _add(graph, text)
        passages = cut_passages(text, chunks)
        ids = [passage_id(card, passage.start, passage.end) for passage in passages]
        mentions = graph.mentions_in(ids)
        assert graph.cards_of([*ids, PassageId(7)]) == dict.fromkeys(ids, card)
        assert mentions.keys() == set(ids)
        for id_, passage in zip(ids, passages, strict=True):
            for mention in mentions[id_]:
                assert passage.text[mention.start : mention.end] == mention.name
        assert {mention.key for found in mentions.values() for mention in found} == {
            "ada lovelace",
            "charles babbage",
        }
        assert graph.mentions_in([]) == {}


def test_a_passage_that_opens_with_its_subject_is_about_it(graph: EntityGraph) -> None:
    (about, other) = _add(
        graph, "Ada Lovelace was a countess.", "There was Ada Lovelace with Charles Babbage."
    )
    adjacency = graph.adjacency()
    entity = adjacency.find_entity("ada lovelace")
    assert entity is not None
    assert list(graph.cards_of(adjacency.passages_about(entity)).values()) == [about]
    naming = graph.cards_of(adjacency.passages_naming(entity))
    assert set(naming.values()) == {about, other}


def test_ranks_lead_from_a_passage_or_a_name_to_what_is_near(graph: EntityGraph) -> None:
    cards = _add(graph, "Ada King Lovelace was a countess.", *TEXTS)
    near = graph.passage_ranks({}, {"Ada Lovelace": 1.0, "unknown thing": 1.0})
    found = graph.cards_of(near)
    assert found[next(iter(near))] == cards[0]
    last = passage_id(cards[4], 0, len(TEXTS[3]))
    assert list(graph.cards_of(graph.passage_ranks({last: 1.0}, limit=2)).values())
    assert len(graph.passage_ranks({last: 1.0}, limit=2)) == 2
    assert graph.passage_ranks({}) == {}


def test_the_graph_in_memory_is_read_again_only_after_a_change(tmp_path: Path) -> None:
    with EntityGraph(tmp_path / "graph.db") as graph, EntityGraph(tmp_path / "graph.db") as other:
        _add(graph, TEXTS[0])
        loaded = graph.adjacency()
        assert graph.adjacency() is loaded
        (card,) = _add(other, TEXTS[1])
        grown = graph.adjacency()
        assert grown is not loaded
        assert grown.find_entity("michael faraday") is not None
        other.remove(card)
        assert graph.adjacency().find_entity("michael faraday") is None


def test_a_graph_of_an_earlier_version_is_built_anew(
    tmp_path: Path, archive: SqliteArchive
) -> None:
    archive.add(TEXTS[0].encode())
    with EntityGraph(tmp_path / "graph.db") as graph:
        graph.catch_up(archive)
    connection = apsw.Connection(str(tmp_path / "graph.db"))
    connection.execute("UPDATE salon_follower SET fingerprint = 'v1 size=1000'")
    connection.execute("DROP VIEW graph_entities; CREATE TABLE graph_entities (id INTEGER)")
    connection.close()
    with EntityGraph(tmp_path / "graph.db") as graph:
        assert graph.stats().cards == 0
        assert graph.catch_up(archive).indexed == 1
        assert graph.find_entity("Ada Lovelace") is not None


def test_another_extractor_starts_the_graph_over(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add(TEXTS[0].encode())
    with EntityGraph(tmp_path / "graph.db") as graph:
        graph.catch_up(archive)
    with EntityGraph(tmp_path / "graph.db", extractor=_OneName()) as graph:
        assert graph.stats().cards == 0
        graph.catch_up(archive)
        assert graph.find_entity("there") is not None
        assert graph.find_entity("Ada Lovelace") is None


class _OneName:
    fingerprint = "one name"

    def extract(self, text: str) -> list[Mention]:
        return [Mention(name=text[:5], type=EntityType.OTHER, start=0, end=5)]


def test_mcards_tables_are_there_to_read(graph: EntityGraph) -> None:
    (card,) = _add(graph, TEXTS[0])
    connection = apsw.Connection(str(graph.path))
    described = connection.execute(
        "SELECT name, description, source_hash FROM graph_entities ORDER BY name"
    ).fetchall()
    related = connection.execute("SELECT relationship, description FROM graph_relationships").get
    extracted = connection.execute("SELECT source_hash FROM graph_extractions").get
    connection.close()
    assert described == [
        ("Ada Lovelace", "named 1 times", card),
        ("Charles Babbage", "named 1 times", card),
    ]
    assert related == ("CO_OCCURS_WITH", "named together in 1 passages")
    assert extracted == card


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
    assert graph.compact()
    assert not graph.compact()
