"""What can be said about an embedder beside its address."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOptions:
    """How an embedder is reached and how much of the machine it may take.

    `base_url`, `api_key` and `timeout_s` are for those behind a server. The key is sent to that
    server and appears nowhere else. `threads` (all processors where absent) and `background` are
    for the embedded models: a background embedder computes passages at the lowest priority, so
    that filling an index does not slow down those who search it. `dimensions` asks for shorter
    vectors where the model can make them.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    threads: int | None = None
    dimensions: int | None = None
    background: bool = False
