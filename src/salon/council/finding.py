"""Which round is meant, where a seat names a topic, a candidate, or nothing at all."""

from salon.core.errors import InvalidInput, NotAllowed, RoundNotFound
from salon.council.keeping import RoundCards
from salon.council.naming import as_topic_id, round_of
from salon.council.roles import finalist_authors
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat


def round_on(cards: RoundCards, topic_id: str, round_id: str | None) -> Round:
    """Return a round on a topic: this one, or the latest."""
    topic = as_topic_id(topic_id)
    if round_id is None:
        latest = cards.find_latest(topic)
        if latest is None:
            raise RoundNotFound(f"there is no round on {topic}")
        round_id = latest[0]
    round_ = cards.get(round_id).round
    if round_.topic_id != topic:
        raise InvalidInput(f"round {round_id} is on {round_.topic_id}, not on {topic}")
    return round_


def round_with(cards: RoundCards, candidate_id: str) -> Round:
    """Return the round that a candidate belongs to, or raise `InvalidInput`."""
    try:
        round_ = cards.get(round_of(candidate_id)).round
    except RoundNotFound as error:
        raise InvalidInput(f"there is no candidate {candidate_id}") from error
    if all(one.id != candidate_id for one in round_.candidates):
        raise InvalidInput(f"there is no candidate {candidate_id}")
    return round_


def runoff_with(cards: RoundCards, seat: Seat, round_id: str | None) -> Round:
    """Return this round, or the one runoff that a seat is in."""
    if round_id is not None:
        return cards.get(round_id).round
    found = [
        one
        for one in cards.latest_of_all_topics()
        if one.phase is Phase.RUNOFF and seat in finalist_authors(one)
    ]
    if len(found) > 1:
        raise InvalidInput(
            f"seat {seat} is in {len(found)} runoffs", hint="say which round is meant"
        )
    if not found:
        raise NotAllowed(f"seat {seat} is in no runoff")
    return found[0]
