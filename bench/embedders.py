"""Embedders: the embedded model against a bare onnxruntime loop, the others against it.

The loop is what one writes first: onnxruntime as it comes, texts sorted by length, 32 at a time,
the mean over the mask. Both sides start from text and end with unit vectors.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from bench.figures import Row, Sizes, alternate, timed
from salon.core.embedding import Vectors
from salon.providers.embedders import DEFAULT_ADDRESS, open_embedder
from salon.providers.embedders.minilm_files import find_minilm_files

LOAD_MS = 500.0
_LOOP = "bare onnxruntime loop"
_WORDS = (
    *("the", "of", "and", "to", "in", "is", "was", "for", "that", "by", "with", "as", "which"),
    *("people", "water", "village", "rules", "forest", "fishery", "common", "govern", "market"),
    *("state", "share", "resource", "between", "decide", "knowledge", "history", "different"),
    *("monitor", "conflict", "boundary", "institution", "collective", "arrangement", "pasture"),
)


def embed_load(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001 - all rows are made alike
    """Load the embedded model, checked, against loading the same files unchecked."""

    def salon() -> float:
        with timed() as watch:
            embedder = open_embedder(DEFAULT_ADDRESS)
        embedder.close()
        return watch.seconds * 1000

    def peer() -> float:
        with timed() as watch:
            BareLoop()
        return watch.seconds * 1000

    figures = alternate(salon, peer, sizes.repetitions)
    return Row(
        name="embed-load",
        what="load of the embedded model",
        unit="ms",
        salon=figures[0],
        peer=figures[1],
        peer_is="onnxruntime and tokenizers, unchecked",
        below=LOAD_MS,
        repetitions=sizes.repetitions,
    )


def embed_query(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001
    """Embed single questions."""
    questions = _texts(count=sizes.queries, characters=60)
    loop = BareLoop()
    with_salon = open_embedder(DEFAULT_ADDRESS)

    def salon() -> float:
        with timed() as watch:
            for question in questions:
                with_salon.embed_query(question)
        return len(questions) / watch.seconds

    def peer() -> float:
        with timed() as watch:
            for question in questions:
                loop.embed([question])
        return len(questions) / watch.seconds

    figures = alternate(salon, peer, sizes.repetitions)
    with_salon.close()
    return _row("embed-query", "single questions embedded", figures, _LOOP, sizes)


def embed_sentences(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001
    """Embed sentences."""
    texts = _texts(count=2 * sizes.embedded_passages, characters=100)
    figures = _against_the_loop(texts, sizes)
    return _row("embed-sentences", "sentences embedded", figures, _LOOP, sizes)


def embed_passages(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001
    """Embed passages of a thousand characters."""
    texts = _texts(count=sizes.embedded_passages, characters=1000)
    figures = _against_the_loop(texts, sizes)
    return _row("embed-passages", "passages embedded", figures, _LOOP, sizes)


def embed_passages_static(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001
    """Embed passages with averaged word vectors, against the embedded model."""
    return _against_the_default("static:wordllama", sizes)


def embed_passages_multilingual(folder: Path, sizes: Sizes) -> Row:  # noqa: ARG001
    """Embed passages in 16 languages, against the embedded model."""
    return _against_the_default("use:multilingual", sizes)


class BareLoop:
    """MiniLM with nothing around it."""

    def __init__(self) -> None:
        files = find_minilm_files()
        self._session = onnxruntime.InferenceSession(
            str(files.graph), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
        self._tokenizer.enable_truncation(256)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        vectors = np.empty((len(texts), 384), dtype=np.float32)
        by_length = np.argsort([len(text) for text in texts])
        for start in range(0, len(texts), 32):
            rows = by_length[start : start + 32]
            encoded = self._tokenizer.encode_batch([texts[row] for row in rows])
            ids = np.array([entry.ids for entry in encoded])
            mask = np.array([entry.attention_mask for entry in encoded])
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            sums = (self._session.run(None, feed)[0] * mask[:, :, None]).sum(axis=1)
            vectors[rows] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return vectors


def _against_the_loop(texts: Sequence[str], sizes: Sizes) -> tuple[float, float]:
    loop = BareLoop()
    with_salon = open_embedder(DEFAULT_ADDRESS)
    figures = alternate(
        lambda: _texts_a_second(with_salon.embed_passages, texts),
        lambda: _texts_a_second(loop.embed, texts),
        sizes.repetitions,
    )
    with_salon.close()
    return figures


def _against_the_default(address: str, sizes: Sizes) -> Row:
    texts = _texts(count=sizes.embedded_passages, characters=1000)
    other, default = open_embedder(address), open_embedder(DEFAULT_ADDRESS)
    figures = alternate(
        lambda: _texts_a_second(other.embed_passages, texts),
        lambda: _texts_a_second(default.embed_passages, texts),
        sizes.repetitions,
    )
    other.close()
    default.close()
    return Row(
        name=f"embed-passages-{address.partition(':')[0]}",
        what=f"passages embedded by {address}",
        unit="texts/s",
        salon=figures[0],
        peer=figures[1],
        peer_is=DEFAULT_ADDRESS,
        repetitions=sizes.repetitions,
    )


def _texts_a_second(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> float:
    with timed() as watch:
        embed(texts)
    return len(texts) / watch.seconds


def _row(name: str, what: str, figures: tuple[float, float], peer: str, sizes: Sizes) -> Row:
    return Row(
        name=name,
        what=what,
        unit="texts/s",
        salon=figures[0],
        peer=figures[1],
        peer_is=peer,
        least_ratio=0.85,
        repetitions=sizes.repetitions,
    )


def _texts(count: int, characters: int) -> list[str]:
    """Return texts of about this length, a fifth longer or shorter, the same every time."""
    random = Random(0)  # noqa: S311 - nothing secret

    def text() -> str:
        length = int(characters * random.uniform(0.8, 1.2))
        return " ".join(random.choices(_WORDS, k=length // 5))[:length]

    return [text() for _ in range(count)]
