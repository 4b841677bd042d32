"""Events: every kind has a name of its own and a body that canonical JSON can write."""

import dataclasses
import json
from collections.abc import Iterator

from salon.core import events
from salon.core.canonical import canonical_json
from salon.core.events import (
    GENESIS,
    CardsAdded,
    CardsDeleted,
    Event,
    ExportImported,
    HandlesAdopted,
    HandleSet,
    Note,
)
from salon.core.hashing import content_hash
from salon.core.ids import CountedIds, RandomIds

ONE, TWO = content_hash(b"one"), content_hash(b"two")


def kinds() -> Iterator[type[Event]]:
    """Walk the event classes."""
    for value in vars(events).values():
        if isinstance(value, type) and issubclass(value, Event) and value not in {Event, Note}:
            yield value


def test_every_kind_of_event_has_a_stable_name_of_its_own() -> None:
    names = [kind.kind for kind in kinds()]
    assert all(names)
    assert len(names) == len(set(names))


def test_events_are_frozen_values() -> None:
    assert all(dataclasses.fields(kind) for kind in kinds())
    assert HandleSet(handle="h", previous=None, current=ONE) == HandleSet(
        handle="h", previous=None, current=ONE
    )


def test_a_body_holds_every_field_and_the_kind() -> None:
    body = CardsDeleted(hash=ONE, also_deleted=(TWO,), forced=True, reason_sha256="r").body()
    assert body == {
        "kind": "cards_deleted",
        "hash": ONE,
        "also_deleted": [TWO],
        "handles_removed": [],
        "documents_removed": [],
        "forced": True,
        "reason_sha256": "r",
    }


def test_pairs_become_lists_so_that_a_body_reads_back_as_it_was() -> None:
    for event in (
        HandlesAdopted(handles=(("a", ONE), ("b", TWO))),
        ExportImported(export_sha256="e", handles=(("a", ONE),), documents=(("doc_1", "d"),)),
        CardsAdded(hashes=(ONE, TWO)),
    ):
        assert json.loads(canonical_json(event.body())) == event.body()


def test_a_chain_begins_with_a_hash_that_nothing_has() -> None:
    assert GENESIS == "0" * 64


def test_counted_ids_count_and_random_ids_differ() -> None:
    counted = CountedIds()
    assert [counted.new("doc"), counted.new("doc"), counted.new("turn")] == [
        "doc_1",
        "doc_2",
        "turn_3",
    ]
    made = {RandomIds().new("doc") for _ in range(100)}
    assert len(made) == 100
    assert all(len(one) == len("doc_") + 20 and one.startswith("doc_") for one in made)
