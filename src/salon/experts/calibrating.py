"""Calibration of one avatar: the threshold that keeps the risk on questions about its own corpus.

Questions come from a file that somebody labelled, or are made from the corpus itself: the content
words of a sentence, some of them left out, are asked once as they are (the right answer is that
sentence) and once with its document hidden (no answer is right). Made questions are easier than
people's; the calibration says which kind it rests on. Half of the questions choose the threshold,
the other half show what it is worth.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from salon.core.archive import Archive
from salon.core.documents import Document, DocumentId
from salon.core.errors import InvalidInput
from salon.core.records import RecordKind
from salon.corpus.search import FoundPassage
from salon.experts.abstention import UNPROMISED, Abstention
from salon.experts.evidence import Selector, gather_evidence
from salon.experts.profile import Profile
from salon.experts.questions import content_words
from salon.grounding.risk import Judged, Point, find_threshold
from salon.retrieval.chunking import sentences

KIND = "salon.calibration"
VERSION = 1
MADE_KIND = "made"
MADE = 300
"""Sentences that questions are made of."""
_SHARE = 0.6
"""Content words of a sentence that its question keeps."""
_FEWEST_WORDS = 8

Search = Callable[[str, int], Sequence[FoundPassage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question with a text that the right quote holds or shares; none if nothing answers."""

    question: str
    answer: str | None
    hidden: DocumentId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A threshold for one avatar, what chose it, and what it was worth on other questions."""

    alpha: float
    threshold: float
    questions: str
    """`labelled` or `made`."""
    chosen_on: int
    checked_on: int
    answered: int
    unsupported: int

    @property
    def risk(self) -> float:
        """Return the share of unsupported answers on the questions that were held out."""
        return self.unsupported / self.answered if self.answered else 0.0


class _Labelled(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1)
    answer: str | None = None


def read_probes(content: bytes) -> list[Probe]:
    """Read JSON lines with `question` and `answer`, a text that a right quote holds, or null."""
    probes = []
    for number, line in enumerate(content.decode("utf-8-sig", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = _Labelled.model_validate_json(line)
        except ValidationError as error:
            raise InvalidInput(
                f"line {number} is not a labelled question: {error.errors()[0]['msg']}",
                hint='write {"question": "…", "answer": "words of the text" or null}',
            ) from error
        probes.append(Probe(question=found.question, answer=found.answer))
    return probes


def make_probes(
    documents: Sequence[Document], read: Callable[[Document], str], *, seed: int = 0
) -> list[Probe]:
    """Make questions of the corpus's own sentences."""
    chance = random.Random(seed)  # noqa: S311 - the same questions for the same corpus
    pool = [
        (document, text[start:end])
        for document in documents
        for text in (read(document),)
        for start, end in sentences(text)
        if end - start < 400 and len(content_words(text[start:end])) >= _FEWEST_WORDS
    ]
    chosen = chance.sample(pool, min(MADE, len(pool)))
    probes = []
    for document, sentence in chosen:
        words = content_words(sentence)
        kept = sorted(chance.sample(range(len(words)), max(4, round(_SHARE * len(words)))))
        question = f"What about {' '.join(words[place] for place in kept)}?"
        probes.append(Probe(question=question, answer=sentence))
        probes.append(Probe(question=question, answer=None, hidden=document.id))
    chance.shuffle(probes)
    return probes


def calibrate(
    probes: Sequence[Probe],
    *,
    kind: str,
    alpha: float,
    search: Search,
    selector: Selector,
    abstention: Abstention,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[Calibration | None, Point | None]:
    """Ask every question, choose a threshold on one half and check it on the other."""
    judged = []
    for number, probe in enumerate(probes, start=1):
        found = [one for one in search(probe.question, 30) if one.document_id != probe.hidden]
        evidence = gather_evidence(probe.question, found[:12], selector)
        quote = evidence.quotes[0].text if evidence.quotes else ""
        is_right = probe.answer is not None and _is_answer(quote, probe.answer)
        score = abstention.probability(evidence.signs) if quote else 0.0
        judged.append(Judged(score=score, is_right=is_right))
        on_progress(number, len(probes))
    half = len(judged) // 2
    # Made questions repeat the words of their sentence: they may raise the bar, not lower it.
    floor = UNPROMISED if kind == MADE_KIND else 0.0
    point = find_threshold([one for one in judged[:half] if one.score >= floor], alpha=alpha)
    if point is None:
        return None, None
    given = [one for one in judged[half:] if one.score >= point.threshold]
    made = Calibration(
        alpha=alpha,
        threshold=point.threshold,
        questions=kind,
        chosen_on=half,
        checked_on=len(judged) - half,
        answered=len(given),
        unsupported=sum(not one.is_right for one in given),
    )
    return made, point


def _is_answer(quote: str, answer: str) -> bool:
    mine, theirs = " ".join(quote.split()).casefold(), " ".join(answer.split()).casefold()
    return bool(mine) and (theirs in mine or mine in theirs)


# In the archive


def calibration_handle(avatar: str) -> str:
    """Return the handle behind which an avatar's calibration is."""
    return f"avatars/{avatar}/calibration"


def save_calibration(archive: Archive, profile: Profile, made: Calibration) -> None:
    """Make a calibration count."""
    archive.put(calibration_handle(profile.id), _CARD.write(asdict(made)))


_CARD = RecordKind(
    kind=KIND, version=VERSION, called="a calibration", check=lambda found: Calibration(**found)
)


def find_calibration(archive: Archive, profile: Profile) -> Calibration | None:
    """Return an avatar's own calibration, or `None`."""
    handle = archive.find_handle(calibration_handle(profile.id))
    if handle is None:
        return None
    name = f"the card of {profile.id}"
    return _CARD.read(archive.get(handle.current).content, name=name)


def abstention_of(archive: Archive, profile: Profile, shipped: Abstention) -> Abstention:
    """Return the shipped model with an avatar's own threshold, if it has one for its alpha."""
    made = find_calibration(archive, profile)
    if made is None or made.alpha > profile.salon.grounding.alpha:
        return shipped
    return Abstention(
        weights=shipped.weights,
        thresholds={made.alpha: made.threshold},
        fitted_on=f"{made.questions} questions of {profile.id}",
    )
