"""The answer reader: MiniLM that was taught to read a question and a passage together.

An embedder looks at a question and a passage apart and compares; this model sees both at once, so
it can tell a passage that answers from one that is merely about the same. It costs tens of
milliseconds a passage, so only the best few are read. `tools/train_readers.py` makes the weights:
an adapter to MiniLM and four small heads. Invariant: the same question and passage give the same
numbers, whatever is read beside them.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from salon.core.closing import Closable
from salon.core.embedding import PassageReading
from salon.core.errors import IntegrityFailed
from salon.core.text import require_text
from salon.providers.embedders.adapter import load_adapter
from salon.providers.embedders.minilm import open_session
from salon.providers.embedders.minilm_files import DIMENSIONS, MiniLmFiles, find_minilm_files
from salon.providers.embedders.tokens import LONGEST

Floats = npt.NDArray[np.float32]
_WEIGHTS = Path(__file__).with_name("weights")
ADAPTER = _WEIGHTS / "answers.npz"
HEADS = _WEIGHTS / "answers_heads.npz"
_SHAPES = {"sentence": 2, "passage": 2, "support": 1}
"""The heads that are used, and how many outputs each has: for questions, and for claims."""
_LONGEST_QUESTION = 64
_FIRST, _BETWEEN = 101, 102
"""What stands before a pair of texts, and after each of the two."""
_THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """A question and as many sentences as are read at once; where each sentence stands."""

    ids: npt.NDArray[np.int64]
    second: int
    spans: tuple[tuple[int, int], ...]


class AnswerReader(Closable):
    """Reads questions together with passages. May be used by many threads at once."""

    def __init__(self, files: MiniLmFiles, *, adapter: Path = ADAPTER, heads: Path = HEADS) -> None:
        files.check_what_is_parsed()
        changes = load_adapter(adapter)
        with ThreadPoolExecutor(1) as checking:
            verdict = checking.submit(files.check_weights)
            try:
                self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
                self._session = open_session(files, changes)
            finally:
                verdict.result()
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._heads = _load_heads(heads)
        self._fingerprint = changes.sha256
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="salon-read")

    @property
    def fingerprint(self) -> str:
        """Return the digest of the adapter that makes MiniLM a reader."""
        return self._fingerprint

    def read(
        self, asked: str, passages: Sequence[Sequence[str]], *, is_claim: bool
    ) -> list[PassageReading]:
        """Return what each passage, given as its sentences in order, says about what is asked."""
        question = self._tokens(asked)[:_LONGEST_QUESTION]
        windows = [list(self._windows(question, one)) for one in passages]
        kind = int(is_claim)
        read = self._threads.map(
            lambda one: self._look(one, kind), (window for some in windows for window in some)
        )
        return [_joined([next(read) for _ in some]) for some in windows]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)

    def _tokens(self, text: str) -> list[int]:
        require_text(text, "a text to read")
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _windows(self, question: list[int], passage: Sequence[str]) -> Iterator[_Window]:
        """Put sentences together while they fit; a longer one is cut."""
        second = len(question) + 2
        room = LONGEST - second - 1
        taken: list[list[int]] = []
        for sentence in passage:
            tokens = self._tokens(sentence)[:room]
            if taken and sum(map(len, taken)) + len(tokens) > room:
                yield _window(question, taken)
                taken = []
            taken.append(tokens)
        if taken:
            yield _window(question, taken)

    def _look(self, window: _Window, kind: int) -> PassageReading:
        ids = window.ids[None]
        types = np.zeros_like(ids)
        types[:, window.second :] = 1
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        states: Floats = self._session.run(None, feed)[0][0]
        sentences = tuple(
            self._head("sentence", states[begin:end].mean(axis=0))[kind] if end > begin else -99.0
            for begin, end in window.spans
        )
        return PassageReading(
            sentences=sentences,
            passage=self._head("passage", states[0])[kind],
            support=self._head("support", states[0])[0],
        )

    def _head(self, name: str, state: Floats) -> list[float]:
        weight, bias = self._heads[name]
        # Not `@`: numpy would start threads for it.
        found: list[float] = (np.einsum("i,ij->j", state, weight) + bias).tolist()
        return found


def open_answer_reader() -> AnswerReader:
    """Return the reader that comes with Salon."""
    return AnswerReader(find_minilm_files())


def _window(question: list[int], sentences: Sequence[list[int]]) -> _Window:
    ids = [_FIRST, *question, _BETWEEN]
    second = len(ids)
    spans = []
    for one in sentences:
        spans.append((len(ids), len(ids) + len(one)))
        ids += one
    return _Window(
        ids=np.array([*ids, _BETWEEN], dtype=np.int64), second=second, spans=tuple(spans)
    )


def _joined(windows: Sequence[PassageReading]) -> PassageReading:
    """Put the windows of one passage together: the best of them speaks for it."""
    if not windows:
        return PassageReading(sentences=(), passage=-99.0, support=-99.0)
    return PassageReading(
        sentences=tuple(score for one in windows for score in one.sentences),
        passage=max(one.passage for one in windows),
        support=max(one.support for one in windows),
    )


def _load_heads(path: Path) -> dict[str, tuple[Floats, Floats]]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            found = {
                name: (
                    arrays[f"{name}.weight"].astype(np.float32),
                    arrays[f"{name}.bias"].astype(np.float32),
                )
                for name in _SHAPES
            }
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise _unfit(path, str(error)) from error
    for name, (weight, bias) in found.items():
        if weight.shape != (DIMENSIONS, _SHAPES[name]) or bias.shape != (_SHAPES[name],):
            raise _unfit(path, f"{name!r} has another shape")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise _unfit(path, f"{name!r} holds something other than numbers")
    return found


def _unfit(path: Path, why: str) -> IntegrityFailed:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else "missing"
    return IntegrityFailed(
        f"the weights {path.name} ({digest}) cannot be used: {why}", hint="install Salon again"
    )
