"""How retrieval under MCard's names is set up."""

from dataclasses import dataclass

from salon.mcard.errors import InvalidConfig, value_errors
from salon.providers.embedders import DEFAULT_ADDRESS
from salon.retrieval.chunking import ChunkSettings

MAX_TOP_K = 100


@dataclass(frozen=True, slots=True)
class RAGConfig:
    """How many results a search gives, how text is cut into passages, what makes the vectors.

    `llm_url` is where the models are that `query` and the graph are told to use, if any.
    """

    top_k: int = 5
    chunk_size: int = 1000
    chunk_overlap: int = 200
    embedder: str = DEFAULT_ADDRESS
    llm_url: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MAX_TOP_K:
            raise InvalidConfig(f"top_k is {self.top_k}", hint=f"take 1 up to {MAX_TOP_K}")
        with value_errors():
            self.chunks()

    def chunks(self) -> ChunkSettings:
        """Return the part that concerns passages."""
        return ChunkSettings(size=self.chunk_size, overlap=self.chunk_overlap)


DEFAULT_CONFIG = RAGConfig()
