"""Rounds made by hand, for what only reads them."""

from collections.abc import Mapping, Sequence

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.citations import Citation
from salon.core.hashing import CardHash, content_hash
from salon.council.keeping import round_to_json
from salon.council.naming import round_handle
from salon.council.rounds import (
    Absence,
    Candidate,
    Failing,
    Phase,
    Published,
    Round,
    Scorecard,
    Verdict,
    Vote,
)
from salon.council.seats import Seat

TEXT = content_hash(b"text")


def card(*scores: int) -> Scorecard:
    accuracy, depth, pedagogy = scores if len(scores) == 3 else scores * 3
    return Scorecard(accuracy=accuracy, depth=depth, pedagogy=pedagogy)


def candidate(
    id_: str,
    *authors: Seat,
    attempt: int = 0,
    is_fusion: bool = False,
    cites: Sequence[str] = (),
    failings: tuple[Failing, ...] = (),
) -> Candidate:
    return Candidate(
        id=id_,
        authors=authors,
        text=TEXT,
        attempt=attempt,
        is_fusion=is_fusion,
        failings=failings,
        citations=tuple(
            Citation(hash=CardHash(name), start=0, end=1, quote="q", source="s") for name in cites
        ),
    )


def vote(
    seat: Seat,
    candidate_id: str,
    scores: Scorecard | int,
    *,
    attempt: int = 0,
    position: int = 1,
    verdict: Verdict | None = None,
) -> Vote:
    return Vote(
        id=f"vote-{seat}-{candidate_id}-{attempt}",
        seat=seat,
        candidate=candidate_id,
        scores=card(scores) if isinstance(scores, int) else scores,
        rationale=TEXT,
        attempt=attempt,
        position=position,
        verdict=verdict,
    )


def made_round(
    candidates: Sequence[Candidate] = (),
    votes: Sequence[Vote] = (),
    *,
    id_: str = "round_1",
    phase: Phase = Phase.VOTE,
    attempt: int = 0,
    on_probation: tuple[Seat, ...] = (),
    published: str | None = None,
    absences: Sequence[Absence] = (),
    souls: Mapping[str, CardHash] | None = None,
    at: str = "2026-11-15T00:00:00.000000Z",
) -> Round:
    return Round(
        id=id_,
        topic_id="topic",
        topic="A topic",
        phase=Phase.PUBLISHED if published else phase,
        opened_at=at,
        touched_at=at,
        attempt=attempt,
        on_probation=on_probation,
        souls=dict(souls or {}),
        candidates=tuple(candidates),
        votes=tuple(votes),
        absences=tuple(absences),
        published=None
        if published is None
        else Published(
            candidate=published, text=TEXT, record=TEXT, handle="completed/topic", document="d"
        ),
    )


def draft_id(seat: Seat) -> str:
    return f"draft-{seat}"


def five_drafts(grades: Mapping[Seat, Mapping[Seat, int]], **rest: object) -> Round:
    """Return a round in which every seat drafted; `grades[voter][author]` is one score for all."""
    drafts = [candidate(draft_id(seat), seat) for seat in Seat]
    votes = [
        vote(voter, draft_id(author), score)
        for voter, given in grades.items()
        for author, score in given.items()
    ]
    return made_round(drafts, votes, **rest)  # type: ignore[arg-type]


def finished_round(
    number: int, *, weak: Seat = Seat.VIZIER, souls: Mapping[str, CardHash] | None = None
) -> Round:
    """Return a published round in which one seat's draft was graded low by everybody."""
    grades = {
        voter: {author: 3 if author is weak else 9 for author in Seat if author is not voter}
        for voter in Seat
    }
    return five_drafts(
        grades,
        id_=f"round_{number:05d}",
        published=draft_id(Seat.CHAIR if weak is not Seat.CHAIR else Seat.MINER),
        souls=souls,
        at=f"2026-11-15T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000000Z",
    )


def keep(archive: SqliteArchive, round_: Round) -> None:
    """Lay a round down as the desk does."""
    archive.put(round_handle(round_.id), round_to_json(round_))
