"""Five hostile seats: acts that may be anything, carried out now, later, twice or half.

What must hold whatever they do is in `faults`, counted here by other means than the council's own.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.errors import NotAllowed
from salon.core.events import AuditEntry
from salon.council.chapter_checks import verify_chapter
from salon.council.desk import CouncilDesk
from salon.council.holders import Brief
from salon.council.keeping import RoundCards
from salon.council.phases import MOVES, Event
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.rules import CouncilRules, TextLimits
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification
from tests.council.conftest import IN_MEMORY
from tests.council.desks import SIGNER, Council

EXAMPLES = int(os.environ.get("COUNCIL_EXAMPLES", "8"))
STEPS = int(os.environ.get("COUNCIL_STEPS", "25"))
TOPICS = ("first-garden", "second-garden")
BAD_TEXTS = (
    "",
    "just words",
    "# T\n\n## S\n\nAll wells are wet.\n",
    f'# T\n\n## S\n\nThe well is deep.[^1]\n\n[^1]: "The well is deep" card:{"0" * 64}\n',
    "# T\n\n## S\n\n<script>alert(1)</script>\n",
)
STRANGERS = ("", "VI", "system", "i")
RULES = CouncilRules(retries=1, limits=TextLimits(returns=3))


class Died(BaseException):
    """The process is gone; nothing catches this but the one that drives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing that somebody tries; numbers are taken modulo whatever there is to choose from."""

    skill: str
    seat: str
    target: int = 0
    text: int = 0
    scores: tuple[int, int, int] = (9, 9, 9)
    verdict: Verdict | None = None
    collaborators: tuple[str, ...] = ()
    topic: int = 0
    names_round: bool = True


SEATS = st.sampled_from((*(seat.value for seat in Seat),) * 4 + STRANGERS)
GRADES = st.tuples(*(st.integers(0, 11),) * 3) | st.sampled_from(
    ((9, 9, 9), (10, 10, 10), (8, 8, 8), (7, 7, 7), (10, 10, 4))
)
ACTS = st.builds(
    Act,
    skill=st.sampled_from(
        ("submit", "submit", "review", "vote", "vote", "vote", "fuse", "absent", "advance")
    ),
    seat=SEATS,
    target=st.integers(0, 200),
    text=st.integers(0, 30),
    scores=GRADES,
    verdict=st.sampled_from((None, None, Verdict.UP, Verdict.DOWN)),
    collaborators=st.lists(SEATS, max_size=3).map(tuple),
    topic=st.integers(0, 1),
    names_round=st.booleans(),
)


@dataclass(slots=True)
class Crash:
    """What happens at the next write of the archive, once."""

    archive: SqliteArchive
    before: Callable[[], object] | None = None
    dies: str = ""

    def __post_init__(self) -> None:
        write = self.archive.write

        def disturbed(
            work: Callable[[ArchiveTransaction], object], *, by: str | None = None
        ) -> object:
            before, dies = self.before, self.dies
            self.before, self.dies = None, ""
            if before is not None:
                before()
            if dies == "before":
                raise Died
            done = write(work, by=by)
            if dies == "after":
                raise Died
            return done

        self.archive.write = disturbed  # type: ignore[assignment,method-assign]


@dataclass(slots=True)
class Arena:
    """Two rounds on one archive, and everything that was ever seen in them."""

    folder: TemporaryDirectory[str] = field(init=False)
    archive: SqliteArchive = field(init=False)
    council: Council = field(init=False)
    crash: Crash = field(init=False)
    rounds: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=lambda: ["round_1.draft_1", "../completed/x", ""])
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """By round and candidate: the text when votes on it were opened."""
    verification: Verification = field(init=False)

    def __post_init__(self) -> None:
        place = IN_MEMORY if IN_MEMORY.is_dir() else None
        self.folder = TemporaryDirectory(prefix="salon-hostile-", dir=place)
        self.reopen()
        self.rounds = [self.council.open(topic).id for topic in TOPICS]

    @property
    def desk(self) -> CouncilDesk:
        return self.council.desk

    def reopen(self) -> None:
        """Start again as another process would, from the file alone."""
        self.archive = SqliteArchive(Path(self.folder.name) / "salon.db")
        self.council = Council(self.archive, rules=RULES)
        self.crash = Crash(self.archive)
        self.verification = Verification(Citations(self.archive), lambda: load_judge(None))

    def close(self) -> None:
        self.archive.close()
        self.folder.cleanup()

    # Acting

    def carry_out(self, act: Act, desk: CouncilDesk | None = None) -> None:
        """Try an act; a refusal is raised."""
        chosen = desk or self.desk
        round_id = self.rounds[act.topic]
        seat: Seat = act.seat  # type: ignore[assignment]
        name = self._name(act)
        named = round_id if act.names_round else None
        scores = Scorecard(accuracy=act.scores[0], depth=act.scores[1], pedagogy=act.scores[2])
        topic = TOPICS[act.topic]
        tries: dict[str, Callable[[], object]] = {
            "submit": lambda: chosen.submit_candidate(
                seat, self.text(act), topic_id=topic, round_id=named
            ),
            "review": lambda: chosen.peer_review(seat, name, "whatever"),
            "vote": lambda: chosen.cast_vote(seat, name, scores, "whatever", verdict=act.verdict),
            "fuse": lambda: chosen.submit_fusion(
                seat, act.collaborators, self.text(act), round_id=named
            ),
            "absent": lambda: chosen.mark_absent(round_id, seat, "gone"),
            "advance": lambda: chosen.advance(round_id),
        }
        tries[act.skill]()

    def _name(self, act: Act) -> str:
        """Return the id of a candidate that stands, or any id that was ever seen or made up."""
        now = self.desk.get(self.rounds[act.topic])
        standing = [one.id for one in now.candidates if one.attempt == now.attempt]
        chosen = standing if standing and act.target % 4 else self.ids
        return chosen[act.target // 4 % len(chosen)]

    def text(self, act: Act) -> str:
        """Return a good text of any seat, or a bad one."""
        if act.text < len(BAD_TEXTS):
            return BAD_TEXTS[act.text]
        return self.council.draft(list(Seat)[act.text % 5], salt=act.text)

    def do_what_is_due(
        self, topic: int, scores: tuple[int, int, int], seats: int, *, tied: bool = False
    ) -> None:
        """Have some seats do all that is due honestly, and the system go on."""
        round_id = self.rounds[topic]
        grade = Scorecard(accuracy=scores[0], depth=scores[1], pedagogy=scores[2])
        middling = Scorecard(accuracy=7, depth=7, pedagogy=7)
        for number, seat in enumerate(Seat):
            brief = self.desk.brief(seat, round_id)
            if not seats >> number & 1:
                self.desk.mark_absent(round_id, seat, "silent")
                continue
            for place, due in enumerate(brief.due):
                if due in {"draft", "refinement", "fusion"}:
                    self._write(brief, due)
                elif brief.phase is Phase.CRITIQUE:
                    self.desk.peer_review(seat, due, f"{seat} on {place}")
                else:
                    best = sorted(one.id for one in self.desk.get(round_id).standing)
                    is_best = due in best[: 2 if tied else 1] or due not in best
                    self.desk.cast_vote(seat, due, grade if is_best else middling, "honest")
        self.desk.advance(round_id)

    def _write(self, brief: Brief, due: str) -> None:
        """Have a seat write what is due; one that flooded the desk before is given up on."""
        seat, round_id = brief.seat, brief.round_id
        try:
            if due != "fusion":
                salt = 10 * brief.attempt + (due == "refinement")
                text = self.council.draft(seat, salt=salt)
                self.desk.submit_candidate(seat, text, topic_id=brief.topic_id, round_id=round_id)
            elif self.desk.brief(seat, round_id).due:
                text = self.council.draft(seat, salt=7)
                self.desk.submit_fusion(seat, brief.collaborators, text, round_id=round_id)
        except NotAllowed:
            self.desk.mark_absent(round_id, seat, "sent back too often")

    # What must hold

    def faults(self) -> Iterator[str]:
        """Walk what is wrong."""
        published = {}
        log = [one for one in self.archive.audit_entries() if one.body["kind"] == "council_moved"]
        for round_id in self.rounds:
            round_ = RoundCards(self.archive).get(round_id).round
            self._remember(round_)
            yield from self._vote_faults(round_)
            yield from _log_faults(round_, log)
            if round_.published is not None:
                published[f"completed/{round_.topic_id}"] = round_.published.text
                published[f"completed/{round_.topic_id}/record"] = round_.published.record
                yield from _consensus_faults(round_)
            if (round_.phase is Phase.PUBLISHED) is not (round_.published is not None):
                yield f"{round_.id} is {round_.phase} and published {round_.published}"
        found = {one.name: one.current for one in self.archive.handles(prefix="completed/")}
        if found != published:
            yield f"completed holds {found}, but the rounds published {published}"

    def last_faults(self) -> Iterator[str]:
        """Walk what is wrong at the end, when there is time to look at everything."""
        for problem in self.archive.verify().problems:
            yield str(problem)
        for round_id in self.rounds:
            if RoundCards(self.archive).get(round_id).round.published is not None:
                report = verify_chapter(
                    self.archive,
                    round_id,
                    key=SIGNER.key,
                    verification=lambda: self.verification,
                    rules=RULES,
                )
                yield from report.faults
        for entry in self.archive.audit_entries():
            handle = str(entry.body.get("handle", ""))
            if handle.startswith("completed/") and entry.by != "system":
                yield f"{entry.by} moved {handle}"
            is_foreign = handle and not handle.startswith(_SEATS_WRITE)
            if entry.by.startswith("seat ") and is_foreign:
                yield f"{entry.by} moved {handle}"

    def _remember(self, round_: Round) -> None:
        self.ids.extend(one.id for one in round_.candidates if one.id not in self.ids)

    def _vote_faults(self, round_: Round) -> Iterator[str]:
        cast = Counter((one.seat, one.candidate, one.attempt) for one in round_.votes)
        yield from (f"{key} voted {times} times" for key, times in cast.items() if times > 1)
        candidates = {(one.id, one.attempt): one for one in round_.candidates}
        for vote in round_.votes:
            candidate = candidates.get((vote.candidate, vote.attempt))
            if candidate is None:
                yield f"{vote.id} is about nothing"
            elif vote.seat in candidate.authors:
                yield f"{vote.seat} voted on its own {candidate.id}"
            elif vote.text != candidate.text:
                yield f"the text of {candidate.id} changed after {vote.id}"
            else:
                first = self.texts.setdefault((round_.id, candidate.id), candidate.text)
                if first != candidate.text:
                    yield f"the text of {candidate.id} changed"
            if vote.ballot is None or not self.archive.has(vote.ballot):
                yield f"{vote.id} has no ballot"


_SEATS_WRITE = (
    "staging/round_",
    "council/rounds/round_",
    "council/critiques/round_",
    "council/ballots/round_",
    "council/returns/round_",
)


def _consensus_faults(round_: Round) -> Iterator[str]:
    """Count by hand what must be true of a chapter."""
    assert round_.published is not None
    chosen = next(
        one
        for one in round_.candidates
        if one.id == round_.published.candidate and one.attempt == round_.attempt
    )
    votes = [
        one for one in round_.votes if one.candidate == chosen.id and one.attempt == round_.attempt
    ]
    grades = [(one.scores.accuracy, one.scores.depth, one.scores.pedagogy) for one in votes]
    if len({one.seat for one in votes} - set(chosen.authors)) < 3:
        yield "published with fewer than three peers"
    if sum(sum(one) for one in grades) < 8 * 3 * len(grades):
        yield f"published with {grades}"
    if min(min(one) for one in grades) < 5:
        yield f"published although somebody gave less than 5: {grades}"
    ups = sum(one.verdict is Verdict.UP for one in votes)
    if chosen.is_fusion and ups * 2 <= len(votes):
        yield "published without a majority of Up"
    if {one.text for one in votes} != {round_.published.text}:
        yield "published another text than was voted on"


def _log_faults(round_: Round, log: list[AuditEntry]) -> Iterator[str]:
    phase = Phase.SPRINT
    acts: Counter[str] = Counter()
    for entry in log:
        if entry.body["round"] != round_.id:
            continue
        body = entry.body
        after = Phase(str(body["phase"]))
        acts[str(body["act"])] += body["rule"] != "sent_back"
        if body["act"] in {"move", "publish"}:
            if entry.by != "system" or MOVES[phase, Event(str(body["rule"]))] is not after:
                yield f"entry {entry.seq} moved {phase} to {after} by {entry.by}"
        elif after is not phase:
            yield f"{body['act']} by {entry.by} moved {phase} to {after}"
        phase = after
    if phase is not round_.phase:
        yield f"the log ends in {phase}, the round stands in {round_.phase}"
    if acts["skill_cast_vote"] != len(round_.votes):
        yield f"{acts['skill_cast_vote']} votes in the log, {len(round_.votes)} in the round"
    if acts["skill_peer_review"] != len(round_.critiques):
        yield "the critique ledger and the log differ"
