"""Rounds as cards: how a round and what it produced are written down and read back.

`council/rounds/ID` points at the round as it stands. What the checks found, with the citations
they resolved, is a card of its own, so that a round that is written after every act stays small.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.errors import RoundNotFound
from salon.core.hashing import CardHash
from salon.core.records import RecordKind
from salon.council.naming import round_handle, topic_handle
from salon.council.phases import ROUNDS, TOPICS
from salon.council.rounds import Critique, Failing, Round, Vote

_VERSION = 1
_REMEMBERED = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What the checks found in a text."""

    text: CardHash
    citations: tuple[Citation, ...] = ()
    failings: tuple[Failing, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """A vote as the consensus ledger keeps it: which text was graded, how, and why."""

    round: str
    topic_id: str
    vote: Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCritique:
    """A critique as the critique ledger keeps it."""

    round: str
    topic_id: str
    critique: Critique


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestRound:
    """Which round on a topic was opened last."""

    topic_id: str
    round: str


ROUND = RecordKind(
    kind="salon.round",
    version=_VERSION,
    called="a round of the council",
    check=TypeAdapter(Round).validate_python,
)
REPORT = RecordKind(
    kind="salon.check-report",
    version=_VERSION,
    called="a report of the council's checks",
    check=TypeAdapter(CheckReport).validate_python,
)
BALLOT = RecordKind(
    kind="salon.ballot",
    version=_VERSION,
    called="a ballot",
    check=TypeAdapter(Ballot).validate_python,
)
CRITIQUE = RecordKind(
    kind="salon.critique",
    version=_VERSION,
    called="a critique",
    check=TypeAdapter(LedgerCritique).validate_python,
)
LATEST = RecordKind(
    kind="salon.latest-round",
    version=_VERSION,
    called="the latest round on a topic",
    check=TypeAdapter(LatestRound).validate_python,
)


def round_to_json(round_: Round) -> bytes:
    """Return a round as a card, without what its reports say."""
    fields = asdict(round_)
    for one in (*fields["candidates"], *fields["returns"]):
        one.pop("citations", None)
        one.pop("failings")
    return ROUND.write(fields)


def report_to_json(report: CheckReport) -> bytes:
    """Return a report of the checks as a card."""
    return REPORT.write(asdict(report))


def ballot_to_json(round_: Round, vote: Vote) -> bytes:
    """Return a vote as the ledger's card; it cannot name itself."""
    return BALLOT.write(_entry(round_, "vote", vote, "ballot"))


def critique_to_json(round_: Round, critique: Critique) -> bytes:
    """Return a critique as the ledger's card; it cannot name itself."""
    return CRITIQUE.write(_entry(round_, "critique", critique, "entry"))


def _entry(round_: Round, name: str, value: Vote | Critique, own: str) -> dict[str, Any]:
    fields = {**asdict(value), own: None}
    return {"round": round_.id, "topic_id": round_.topic_id, name: fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A round with the card it was read from."""

    round: Round
    card: CardHash


class RoundCards:
    """The rounds of one archive, for reading."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._report = lru_cache(maxsize=_REMEMBERED)(self._read_report)

    def get(self, round_id: str) -> Kept:
        """Return a round as it stands, or raise `RoundNotFound`."""
        handle = self._archive.find_handle(round_handle(round_id))
        if handle is None:
            raise RoundNotFound(
                f"there is no round {round_id}", hint="`salon council list` names them"
            )
        return Kept(round=self.read(handle.current), card=handle.current)

    def read(self, card: CardHash) -> Round:
        """Return the round that a card holds, with what its reports say."""
        found = ROUND.read(self._archive.get(card).content, name=f"card {card}")
        candidates = []
        for one in found.candidates:
            report = self._report(one.report)
            candidates.append(replace(one, citations=report.citations, failings=report.failings))
        returns = [
            replace(one, failings=self._report(one.report).failings) for one in found.returns
        ]
        return replace(found, candidates=tuple(candidates), returns=tuple(returns))

    def all(self) -> list[Round]:
        """Return every round, newest first."""
        found = [self.read(one.current) for one in self._archive.handles(prefix=ROUNDS)]
        return sorted(found, key=lambda one: (one.opened_at, one.id), reverse=True)

    def find_latest(self, topic_id: str) -> tuple[str, CardHash] | None:
        """Return the round on a topic that was opened last, and the card that says so."""
        handle = self._archive.find_handle(topic_handle(topic_id))
        if handle is None:
            return None
        return LATEST.read(self._archive.get(handle.current).content).round, handle.current

    def latest_of_all_topics(self) -> Sequence[Round]:
        """Return the latest round of every topic."""
        contents = (
            self._archive.get(one.current).content for one in self._archive.handles(prefix=TOPICS)
        )
        return [self.get(LATEST.read(content).round).round for content in contents]

    def _read_report(self, card: CardHash | None) -> CheckReport:
        if card is None:
            return CheckReport(text=CardHash(""))
        return REPORT.read(self._archive.get(card).content, name=f"card {card}")
