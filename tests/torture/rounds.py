"""`kill -9` at any write of a council's round: another process goes on, and the end is the same.

A real process plays a whole round, from the opening over a runoff to the publication. Every write
to the archive has a number; the process is killed right before or right after one of them, another
one takes over, and the chapter, the votes and the log must be those of a round that nobody killed.
`python -m tests.torture.rounds` kills at every number there is.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from salon.archive.sqlite_archive import SqliteArchive
from salon.council.chapter_checks import verify_chapter
from salon.council.rounds import Phase, Round
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from tests.council.desks import FAIR, GOOD, SIGNER, TOPIC_ID, Council, as_written, moves
from tests.torture.actions import VARIABLE, Steps

VOTES = 20 + 3
CRITIQUES = 20


@dataclass(slots=True)
class Report:
    """What came of it."""

    kills: int = 0
    faults: list[str] = field(default_factory=list)


# In the process that dies


def work(folder: Path) -> None:
    """Take the one round of an archive as far as it goes, from wherever it stands."""
    steps = Steps(folder / "steps")
    steps.around(SqliteArchive, "write", "write")
    with SqliteArchive(folder / "salon.db") as archive:
        council = Council(archive)
        known = council.desk.rounds()
        round_ = known[0] if known else council.open()
        while not round_.is_over:
            for seat in Seat:
                _do_what_is_due(council, round_, seat)
            round_ = council.desk.advance(round_.id)


def _do_what_is_due(council: Council, round_: Round, seat: Seat) -> None:
    desk, brief = council.desk, council.desk.brief(seat, round_.id)
    for due in brief.due:
        if due in {"draft", "refinement"}:
            text = council.draft(seat, salt=int(due == "refinement"))
            desk.submit_candidate(seat, text, topic_id=brief.topic_id, round_id=round_.id)
        elif due == "fusion":
            text = council.draft(Seat.CHAIR, salt=5)
            desk.submit_fusion(seat, brief.collaborators, text, round_id=round_.id)
        elif brief.phase is Phase.CRITIQUE:
            desk.peer_review(seat, due, f"{seat} would add a source")
        else:
            candidate = desk.get(round_.id).find_candidate(due)
            assert candidate is not None
            is_good = candidate.is_fusion or candidate.authors[0] in {Seat.CHAIR, Seat.MINER}
            desk.cast_vote(seat, due, GOOD if is_good else FAIR, "as it reads")


# In the process that watches


class Watch:
    """Plays rounds and kills them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        self.report = Report()

    def steps(self) -> list[str]:
        """Return the steps of a round that nobody kills, and check how it ended."""
        place = self._place()
        self._expect(self._run(place, None), 0, "undisturbed")
        self._check(place, "undisturbed")
        return (place / "steps").read_text().splitlines()

    def kill(self, number: int, name: str) -> None:
        """Kill a round at one step, let another process take over, and look at what is there."""
        place, label = self._place(), f"{number} ({name})"
        self._expect(self._run(place, number), -signal.SIGKILL, label)
        self.report.kills += 1
        self._expect(self._run(place, None), 0, f"{label}, taken over")
        self._check(place, label)

    def _place(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return folder

    def _expect(self, code: int, wanted: int, label: str) -> None:
        if code != wanted:
            self.report.faults.append(f"{label}: ended with {code} instead of {wanted}")

    def _run(self, place: Path, crash_at: int | None) -> int:
        process = os.fork()
        if process == 0:  # the process that dies; it shares nothing that is open
            code = 1
            try:
                os.environ[VARIABLE] = str(crash_at or 0)
                work(place)
                code = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(code)
        _, status = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(status)

    def _check(self, place: Path, label: str) -> None:
        with SqliteArchive(place / "salon.db") as archive:
            council = Council(archive)
            rounds = council.desk.rounds()
            if len(rounds) != 1:
                self.report.faults.append(f"{label}: there are {len(rounds)} rounds")
                return
            self.report.faults += [
                f"{label}: {fault}" for fault in _faults(archive, council, rounds[0])
            ]


def _faults(archive: SqliteArchive, council: Council, round_: Round) -> list[str]:
    if round_.published is None:
        return [f"the round ended in {round_.phase}"]
    verification = Verification(Citations(archive), lambda: load_judge(None))
    report = verify_chapter(archive, round_.id, key=SIGNER.key, verification=lambda: verification)
    faults = list(report.faults)
    faults += [str(one) for one in archive.verify().problems]
    if as_written(council.desk.text(round_.published.text)) != council.draft(Seat.CHAIR, salt=5):
        faults.append("another text was published")
    counts = (len(round_.votes), len(round_.critiques), len(round_.candidates))
    if counts != (VOTES, CRITIQUES, 6):
        faults.append(f"votes, critiques and candidates are {counts}")
    log = moves(archive, round_.id)
    if len(log) != 1 + 5 + 20 + 5 + VOTES + 1 + 6:
        faults.append(f"the log has {len(log)} entries of the round")
    documents = [one for one in archive.documents() if one.source == round_.published.text]
    history = archive.history(f"completed/{TOPIC_ID}")
    if (len(documents), len(history)) != (1, 1):
        faults.append(f"published {len(history)} times, as {len(documents)} documents")
    return faults


def every_step(steps: list[str]) -> list[int]:
    """Return the numbers of all steps."""
    return list(range(1, len(steps) + 1))


def decisive_steps(steps: list[str]) -> list[int]:
    """Return the steps around the publication, and one in the middle of a vote."""
    return [len(steps) - 1, len(steps), len(steps) - 20]


def torture(*, folder: Path, choose: Callable[[list[str]], list[int]] = every_step) -> Report:
    """Kill a round at the steps that `choose` picks, and report what was left."""
    watch = Watch(folder)
    steps = watch.steps()
    for number in choose(steps):
        watch.kill(number, steps[number - 1])
    return watch.report


def main() -> None:
    """Run it from the command line."""
    with TemporaryDirectory(prefix="salon-rounds-") as folder:
        report = torture(folder=Path(folder))
    print(f"killed {report.kills} rounds; {len(report.faults)} faults")
    for fault in report.faults[:20]:
        print(f"  {fault}")
    raise SystemExit(bool(report.faults))


if __name__ == "__main__":
    main()
