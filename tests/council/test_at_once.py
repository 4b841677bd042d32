"""Everybody at once: five seats and the system, each on a connection of its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import NotAllowed
from salon.council.chapter_checks import verify_chapter
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from tests.council.desks import FAIR, GOOD, SIGNER, TOPIC_ID, Council

PHASES = 4


def _play(path: Path, seat: Seat, round_id: str, together: Barrier) -> None:
    """Do what is due from one seat, and move the round on at the same time as everybody else."""
    with SqliteArchive(path) as archive:
        council = Council(archive)
        desk = council.desk
        for _ in range(PHASES):
            brief = desk.brief(seat, round_id)
            for due in brief.due:
                if due in {"draft", "refinement"}:
                    text = council.draft(seat, salt=int(due == "refinement"))
                    desk.submit_candidate(seat, text, topic_id=TOPIC_ID, round_id=round_id)
                elif brief.phase is Phase.CRITIQUE:
                    desk.peer_review(seat, due, f"{seat} says so")
                else:
                    best = desk.get(round_id).find_own(Seat.CHAIR)
                    assert best is not None
                    desk.cast_vote(seat, due, GOOD if due == best.id else FAIR, "as it reads")
            together.wait(60)
            desk.advance(round_id)
            together.wait(60)


def _open(path: Path) -> Round | None:
    with SqliteArchive(path) as archive:
        council = Council(archive)
        try:
            return council.open("contested")
        except NotAllowed:
            return None


def test_five_seats_on_five_connections_play_one_round(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive:
        round_ = Council(archive).open()
        together = Barrier(5)
        with ThreadPoolExecutor(5) as pool:
            for done in [pool.submit(_play, path, seat, round_.id, together) for seat in Seat]:
                done.result()
        after = Council(archive).desk.get(round_.id)
        assert after.phase is Phase.PUBLISHED
        assert (len(after.votes), len(after.critiques), len(after.candidates)) == (20, 20, 5)
        verification = Verification(Citations(archive), lambda: load_judge(None))
        report = verify_chapter(
            archive, round_.id, key=SIGNER.key, verification=lambda: verification
        )
        assert report.faults == ()
        assert report.moves == 1 + 5 + 20 + 5 + 20 + 4, "each act once, whoever was overtaken"


def test_of_several_who_open_a_topic_at_once_one_does(tmp_path: Path) -> None:
    path = tmp_path / "salon.db"
    with SqliteArchive(path) as archive:
        Council(archive)
    with ThreadPoolExecutor(4) as pool:
        opened = [one for one in pool.map(_open, [path] * 4) if one is not None]
    assert len(opened) == 1
