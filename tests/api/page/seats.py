"""Five seats with a script: each drafts from other documents, and what they vote is known before.

So a round takes the whole way: five drafts, twenty critiques, a vote with two finalists, a fusion,
its ratification and the chapter. Every sentence is one of the valley's documents, cited exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from salon.app import Salon
from salon.core.citations import Citation
from salon.council.drafts import Section, Sentence, write_draft
from salon.council.driving import drive
from salon.council.holders import Brief, Graded, Shown
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.seats import CHARGES, Seat

SEATS = tuple(Seat)
SENTENCES_OF_A_DRAFT = 3
GRADES: dict[Seat, tuple[int, int, int]] = {
    Seat.CHAIR: (9, 8, 9),
    Seat.MINER: (9, 9, 8),
    Seat.AUDITOR: (8, 7, 7),
    Seat.PROFESSOR: (7, 6, 8),
    Seat.VIZIER: (6, 7, 6),
}
"""What the draft of each seat gets from the others; the first two go to a runoff."""
MOODS: dict[Seat, int] = {
    Seat.CHAIR: 0,
    Seat.MINER: 0,
    Seat.AUDITOR: -1,
    Seat.PROFESSOR: 1,
    Seat.VIZIER: 0,
}
"""How much higher or lower a seat grades than the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedSeat:
    """One of the five."""

    seat: Seat
    sentences: tuple[Sentence, ...]
    authors: dict[str, Seat]
    """Whose draft begins with which sentence; a seat is not told, but this script knows."""

    def draft(self, brief: Brief) -> str:
        """Write the seat's own sentences."""
        return self._written(brief.topic, self.sentences[:SENTENCES_OF_A_DRAFT])

    def review(self, brief: Brief, candidate: Shown) -> str:
        """Ask for a sentence that the seat would have put in."""
        wanted = self.sentences[-1]
        proof = wanted.citations[0]
        return (
            f"Read for {CHARGES[self.seat].virtue}.\n\n"
            f'- add what it leaves out: "{proof.quote}" '
            f"card:{proof.hash}#{proof.start}-{proof.end}\n"
            "- say in the first line what the reader will know at the end\n"
        )

    def refine(self, brief: Brief) -> str:
        """Add one sentence more."""
        return self._written(brief.topic, self.sentences)

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        """Grade as the script has it."""
        author = next(
            (seat for text, seat in self.authors.items() if text in candidate.markdown), Seat.CHAIR
        )
        accuracy, depth, pedagogy = (
            min(10, max(1, one + MOODS[self.seat])) for one in GRADES[author]
        )
        is_fusion = brief.phase is Phase.RATIFICATION
        return Graded(
            scores=Scorecard(accuracy=accuracy, depth=depth, pedagogy=pedagogy),
            rationale="Every sentence has its source, and the order helps a reader who is new.",
            verdict=Verdict.UP if is_fusion else None,
        )

    def fuse(self, brief: Brief) -> str:
        """Join the first sentences of both."""
        first, second = SEATS[:2]
        mine = [text for text, seat in self.authors.items() if seat in {first, second}]
        found = [one for one in ALL_SENTENCES[brief.round_id] if one.text in mine]
        return self._written(brief.topic, (*found, *self.sentences[1:]))

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        """Propose the old one."""
        return old_soul

    def _written(self, topic: str, sentences: Sequence[Sentence]) -> str:
        half = (len(sentences) + 1) // 2
        parts = {"What was agreed": sentences[:half], "How it is kept": sentences[half:]}
        return write_draft(
            topic,
            [
                Section(heading=heading, paragraphs=(tuple(said),))
                for heading, said in parts.items()
                if said
            ],
        )


ALL_SENTENCES: dict[str, list[Sentence]] = {}
"""By round: every sentence that a seat may write."""


def sentences_of(salon: Salon, titles: Sequence[str]) -> list[list[Sentence]]:
    """Return the sentences of documents, each with the citation that proves it."""
    documents = {one.provenance.title: one for one in salon.archive.documents()}
    found = []
    for title in titles:
        document = documents[title]
        text = salon.archive.get(document.text).content.decode()
        cited = []
        for part in text.split(". "):
            sentence = part.strip().rstrip(".") + "."
            start = text.index(sentence)
            cited.append(
                Sentence(
                    text=sentence,
                    citations=(
                        Citation(
                            hash=document.text,
                            start=len(text[:start].encode()),
                            end=len(text[: start + len(sentence)].encode()),
                            quote=sentence,
                            source=title,
                        ),
                    ),
                )
            )
        found.append(cited)
    return found


def scripted_seats(salon: Salon, round_id: str, titles: Sequence[str]) -> dict[Seat, ScriptedSeat]:
    """Return the five, each with sentences of two documents."""
    parts = sentences_of(salon, titles)
    ALL_SENTENCES[round_id] = [one for part in parts for one in part]
    chosen: dict[Seat, tuple[Sentence, ...]] = {
        seat: (*parts[place][:3], parts[(place + 1) % len(parts)][1])
        for place, seat in enumerate(SEATS)
    }
    authors = {own[0].text: seat for seat, own in chosen.items()}
    return {
        seat: ScriptedSeat(seat=seat, sentences=own, authors=authors)
        for seat, own in chosen.items()
    }


def hold_scripted_round(salon: Salon, topic: str, titles: Sequence[str]) -> Round:
    """Hold a whole round with the script."""
    opened = salon.open_round(topic)
    return drive(
        salon.council_desk, opened.id, scripted_seats(salon, opened.id, titles), patience=1.0
    )
