"""The answer reader: MiniLM that was taught to read a question and a passage together.

An embedder looks at a question and a passage apart and compares; this model sees both at once, so
it can tell a passage that answers from one that is merely about the same. It costs tens of
milliseconds a passage, so only the best few are read. `tools/train_readers.py` makes the weights:
an adapter to MiniLM and small heads. Invariant: the same question and passage give the same
numbers, whatever is read beside them.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from salon.core.closing import Closable
from salon.core.embedding import PassageReading
from salon.providers.embedders.minilm_files import MiniLmFiles, find_minilm_files
from salon.providers.embedders.pair_model import BETWEEN, FIRST, WEIGHTS, PairModel
from salon.providers.embedders.tokens import LONGEST

ADAPTER = WEIGHTS / "answers.npz"
HEADS = WEIGHTS / "answers_heads.npz"
_SHAPES = {"sentence": 2, "passage": 2, "support": 1}
"""The heads that are used, and how many outputs each has: for questions, and for claims."""
_LONGEST_QUESTION = 64
_NOTHING = -99.0
"""The odds of a sentence or passage without a token."""
_THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """A question and as many sentences as are read at once; where each sentence stands."""

    ids: list[int]
    second: int
    spans: tuple[tuple[int, int], ...]


class AnswerReader(Closable):
    """Reads questions together with passages. May be used by many threads at once."""

    def __init__(self, files: MiniLmFiles, *, adapter: Path = ADAPTER, heads: Path = HEADS) -> None:
        self._model = PairModel(files, adapter=adapter, heads=heads, shapes=_SHAPES)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="salon-read")

    @property
    def fingerprint(self) -> str:
        """Return the digest of the adapter that makes MiniLM a reader."""
        return self._model.fingerprint

    def read(
        self, asked: str, passages: Sequence[Sequence[str]], *, is_claim: bool
    ) -> list[PassageReading]:
        """Return what each passage, given as its sentences in order, says about what is asked."""
        question = self._model.tokens(asked)[:_LONGEST_QUESTION]
        windows = [list(self._windows(question, one)) for one in passages]
        kind = int(is_claim)
        read = self._threads.map(
            lambda one: self._look(one, kind), (window for some in windows for window in some)
        )
        return [_joined([next(read) for _ in some]) for some in windows]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)

    def _windows(self, question: list[int], passage: Sequence[str]) -> Iterator[_Window]:
        """Put sentences together while they fit; a longer one is cut."""
        room = LONGEST - len(question) - 3
        taken: list[list[int]] = []
        for sentence in passage:
            tokens = self._model.tokens(sentence)[:room]
            if taken and sum(map(len, taken)) + len(tokens) > room:
                yield _window(question, taken)
                taken = []
            taken.append(tokens)
        if taken:
            yield _window(question, taken)

    def _look(self, window: _Window, kind: int) -> PassageReading:
        model = self._model
        states = model.states(window.ids, second=window.second)
        sentences = tuple(
            model.head("sentence", states[begin:end].mean(axis=0))[kind]
            if end > begin
            else _NOTHING
            for begin, end in window.spans
        )
        return PassageReading(
            sentences=sentences,
            passage=model.head("passage", states[0])[kind],
            support=model.head("support", states[0])[0],
        )


def open_answer_reader() -> AnswerReader:
    """Return the reader that comes with Salon."""
    return AnswerReader(find_minilm_files())


def _window(question: list[int], sentences: Sequence[list[int]]) -> _Window:
    ids = [FIRST, *question, BETWEEN]
    second = len(ids)
    spans = []
    for one in sentences:
        spans.append((len(ids), len(ids) + len(one)))
        ids += one
    return _Window(ids=[*ids, BETWEEN], second=second, spans=tuple(spans))


def _joined(windows: Sequence[PassageReading]) -> PassageReading:
    """Put the windows of one passage together: the best of them speaks for it."""
    if not windows:
        return PassageReading(sentences=(), passage=_NOTHING, support=_NOTHING)
    return PassageReading(
        sentences=tuple(score for one in windows for score in one.sentences),
        passage=max(one.passage for one in windows),
        support=max(one.support for one in windows),
    )
