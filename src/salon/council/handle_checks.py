"""Where the handles of a chapter lead, and who moved them: the log against the archive.

Only the system may move `completed/TOPIC` and its record, ever. They lead to the chapter that is
checked, or to one that a later round on the topic published.
"""

from collections.abc import Iterator, Sequence

from salon.core.archive import Archive
from salon.core.events import AuditEntry
from salon.core.hashing import CardHash
from salon.council.keeping import RoundCards
from salon.council.naming import chapter_handle, record_handle
from salon.council.phases import SYSTEM
from salon.council.rounds import Published, Round

_MOVES = frozenset({"handle_set", "handle_removed", "handle_renamed"})


def is_move_of(entry: AuditEntry, handles: frozenset[str]) -> bool:
    """Tell whether an entry of the log made, moved, renamed, removed or adopted a handle."""
    body = entry.body
    if body.get("kind") == "handles_adopted":
        adopted = body.get("handles")
        pairs = adopted if isinstance(adopted, list) else []
        return any(isinstance(one, list) and one[:1] and one[0] in handles for one in pairs)
    named = {body.get("handle"), body.get("renamed_to")}
    return body.get("kind") in _MOVES and bool(named & handles)


def handle_faults(
    archive: Archive, round_: Round, published: Published, log: Sequence[AuditEntry]
) -> Iterator[str]:
    """Say what is wrong with the handles of a chapter; `log` has at least every move of them."""
    topic = round_.topic_id
    led = ((chapter_handle(topic), published.text), (record_handle(topic), published.record))
    for handle, card in led:
        moves = [one for one in log if is_move_of(one, frozenset({handle}))]
        strangers = sorted({one.by or "nobody" for one in moves} - {SYSTEM})
        if not any(_is_set(one, handle, card) for one in moves):
            yield f"{handle} never led to {card[:16]}\u2026"
        if strangers:
            yield f"{handle} was moved by {', '.join(strangers)}"
    yield from _astray(archive, round_, published)


def _astray(archive: Archive, round_: Round, published: Published) -> Iterator[str]:
    """Say which handle leads elsewhere now, unless both lead to one later chapter."""
    handles = (chapter_handle(round_.topic_id), record_handle(round_.topic_id))
    found = [archive.find_handle(one) for one in handles]
    now = tuple(None if one is None else one.current for one in found)
    own = (published.text, published.record)
    if now == own or now in _later(archive, round_, published):
        return
    for handle, card, expected in zip(handles, now, own, strict=True):
        if card is None:
            yield f"{handle} is gone"
        elif card != expected:
            yield f"{handle} leads to {card[:16]}\u2026, which no later round published"


def _later(
    archive: Archive, round_: Round, published: Published
) -> set[tuple[CardHash | None, ...]]:
    """Return text and record of each chapter that was published on the topic after this one."""
    return {
        (one.published.text, one.published.record)
        for one in RoundCards(archive).all()
        if one.topic_id == round_.topic_id
        and one.published is not None
        and one.published.at >= published.at
    }


def _is_set(entry: AuditEntry, handle: str, card: CardHash) -> bool:
    return (entry.body.get("handle"), entry.body.get("current")) == (handle, card)
