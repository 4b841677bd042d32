"""`python -m bench.council --data FOLDER [--keep FOLDER]`: whole rounds on 10,000 documents.

The archive is made of SciFact's abstracts and 2WikiMultihopQA's passages, as many as are asked for.
Five offline seats play a round on each topic: two that the archive covers, one that it hardly
mentions, one that it knows nothing of. The times are of the rounds alone; building the index is
timed apart, and is done once with `--keep`. Every sentence of a chapter is looked up again.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex

from bench.figures import Row, timed
from bench.program import make_parser, report, say
from salon.app import Salon
from salon.archive.audit.signing import load_or_make_signer
from salon.cli.eval_home import home_for
from salon.core.archive import ArchiveTransaction
from salon.core.clock import SystemClock
from salon.core.documents import Provenance
from salon.core.ids import RandomIds
from salon.corpus.filters import Where
from salon.council.cited import read_with_citations
from salon.council.desk import CouncilDesk
from salon.council.drafts import LINKING
from salon.council.driving import RoundEvent, Step, drive
from salon.council.offline import offline_seats
from salon.council.rounds import Round
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.evaluation.beir import BeirDocument, read_corpus
from salon.grounding.citing import Citations
from salon.grounding.verifying import Verification
from salon.settings import load_settings

DOCUMENTS = 10_000
CORPORA = ("scifact/corpus.jsonl.gz", "twowiki/corpus.jsonl.gz")
TOPICS = (
    "insulin resistance and obesity",
    "kings of Denmark",
    "medieval bishops",
    "tax law in Brazil",
)
LIMIT_S = 180.0
SOURCES = Where(derived=False)
_PER_WRITE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One round: how it ended, how long each phase took, and what its chapter rests on."""

    topic: str
    outcome: str
    seconds: float
    phases: dict[str, float]
    absent: dict[str, str]
    attempts: int
    sentences: int = 0
    proven: int = 0
    """Sentences that a card of the archive says word for word, where the note says it does."""
    sources: int = 0
    score: float | None = None
    reason: str = ""


@dataclass(slots=True)
class _Watch:
    """How long a round stayed in each phase, over all attempts."""

    begun: float
    phase: str = ""
    since: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def see(self, event: RoundEvent) -> None:
        """Note a phase that opens or a seat that is given up."""
        if event.step in {Step.PHASE, Step.PUBLISHED, Step.NO_QUORUM}:
            now = time.perf_counter()
            if self.phase:
                spent = self.phases.get(self.phase, 0.0) + now - self.since
                self.phases[self.phase] = spent
            self.phase, self.since = event.phase.value, now
        if event.step is Step.ABSENT and event.seat is not None:
            self.absent[event.seat.value] = event.detail


def main() -> None:
    """Build what is missing, play the rounds, and print what came of them."""
    given = _parse_arguments()
    with home_for(given.keep) as home, Salon(load_settings(home=home, environment={})) as salon:
        with timed() as building:
            build(salon, read_documents(given.data, given.documents))
        coverage = salon.index_coverage()
        say(f"{coverage.passages:,} passages with words and vectors after {building.seconds:.0f} s")
        played = [play(salon, topic) for topic in given.topic or TOPICS]
    if given.json:
        sys.stdout.write(json.dumps([asdict(one) for one in played], indent=2) + "\n")
        return
    for one in played:
        say(_told(one))
    report([_row(one) for one in played], as_json=False)


def _parse_arguments() -> argparse.Namespace:
    parser = make_parser("council", __doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the collections")
    parser.add_argument("--keep", type=Path, help="keep the archive here, and use it again")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, metavar="N")
    parser.add_argument("--topic", action="append", help="instead of the four that are built in")
    return parser.parse_args()


def read_documents(data: Path, most: int) -> list[BeirDocument]:
    """Return the first documents of the collections, each text once."""
    found: dict[str, BeirDocument] = {}
    for corpus in CORPORA:
        for document in read_corpus(data / corpus):
            found.setdefault(document.content, document)
    return [one for text, one in found.items() if text][:most]


def build(salon: Salon, documents: Sequence[BeirDocument]) -> None:
    """Store and index what the archive does not have yet."""
    there = sum(not one.provenance.derived for one in salon.archive.documents())
    missing = documents if there < len(documents) else ()
    for begin in range(0, len(missing), _PER_WRITE):
        salon.archive.write(partial(_store, documents=missing[begin : begin + _PER_WRITE]))
    salon.index(lambda done, total: say(f"{done:,} of {total:,} vectors"))


def _store(tx: ArchiveTransaction, documents: Sequence[BeirDocument]) -> None:
    cards = tx.add_many([one.content.encode() for one in documents])
    for document, (card, is_new) in zip(documents, cards, strict=True):
        if is_new:
            tx.add_document(Provenance(title=document.title or document.id), source=card)


def play(salon: Salon, topic: str) -> Played:
    """Play one round with five offline seats that have looked nothing up yet."""
    signer = load_or_make_signer(salon.settings.key_path)
    verification = Verification(Citations(salon.archive), lambda: salon.judge)
    desk = CouncilDesk(
        salon.archive,
        clock=SystemClock(),
        ids=RandomIds(),
        rules=CouncilRules(),
        verification=lambda: verification,
        signer=lambda: signer,
    )
    seats = offline_seats(
        lambda query, limit: salon.search(query, limit=limit, where=SOURCES).passages,
        archive=salon.archive,
        embedder=lambda: salon.embedder,
    )
    # A kept archive may hold an earlier round on the topic that never ended.
    opened = desk.open(
        topic, topic_id=f"bench-{token_hex(8)}", holders=dict.fromkeys(Seat, "offline")
    )
    watch = _Watch(time.perf_counter())
    over = drive(desk, opened.id, seats, patience=0.0, on_event=watch.see)
    seconds = time.perf_counter() - watch.begun
    return _played(salon, over, watch, seconds)


def _played(salon: Salon, over: Round, watch: _Watch, seconds: float) -> Played:
    played = Played(
        topic=over.topic,
        outcome=over.phase.value,
        seconds=seconds,
        phases=watch.phases,
        absent=watch.absent,
        attempts=over.attempt + 1,
        reason="; ".join(over.reasons[-1:]),
    )
    if over.published is None:
        return played
    markdown = salon.archive.get(over.published.text).content.decode()
    sections, _ = read_with_citations(markdown, salon.archive)
    claims = [
        sentence
        for section in sections
        for paragraph in section.paragraphs
        for sentence in paragraph
        if sentence.text not in LINKING
    ]
    proven = sum(
        any(" ".join(cited.quote.split()) == one.text for cited in one.citations) for one in claims
    )
    votes = [one for one in over.votes if one.candidate == over.published.candidate]
    return Played(
        **(
            asdict(played)
            | {
                "sentences": len(claims),
                "proven": proven,
                "sources": len({cited.hash for one in claims for cited in one.citations}),
                "score": sum(one.scores.mean for one in votes) / len(votes),
            }
        )
    )


def _told(one: Played) -> str:
    phases = ", ".join(f"{name} {spent:.2f} s" for name, spent in one.phases.items())
    rests = (
        f"; {one.proven} of {one.sentences} sentences are quotes that hold, from {one.sources} "
        f"sources, mean {one.score:.2f}"
        if one.sentences
        else f"; {one.reason}"
    )
    gone = f"; absent: {one.absent}" if one.absent else ""
    return f"{one.topic}: {one.outcome} after {one.attempts} attempts ({phases}){rests}{gone}"


def _row(one: Played) -> Row:
    return Row(
        name=f"council {one.topic}",
        what=f"a round on {one.topic!r}: {one.outcome}",
        unit="s",
        salon=one.seconds,
        peer_is="",
        below=LIMIT_S,
        repetitions=1,
    )


if __name__ == "__main__":
    main()
