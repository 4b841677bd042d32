"""Settings of what is read and how it is found again."""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_serializer

from salon.settings.group import Group


class ReaderSettings(Group):
    """Limits for the processes that parse files."""

    memory_mb: int = Field(1024, ge=128, description="Memory one parser may take, in MB.")
    cpu_s: int = Field(60, ge=1, description="Processor time one file may take, in seconds.")
    wall_s: int = Field(90, ge=1, description="Time one file may take, in seconds.")
    input_mb: int = Field(200, ge=1, le=950, description="Largest file that is read, in MB.")
    output_mb: int = Field(100, ge=1, le=950, description="Most text one file may give, in MB.")


class FetchSettings(Group):
    """Limits for reading pages from the network."""

    body_mb: int = Field(50, ge=1, le=950, description="Largest page that is fetched, in MB.")
    timeout_s: int = Field(30, ge=1, description="Time one fetch may take, in seconds.")


class IndexSettings(Group):
    """How text is found again; when something here changes, indexes are built anew."""

    engine: Literal["fast", "single-file"] = Field(
        "fast",
        description="`fast`: engines of their own in a folder beside the archive. `single-file`: "
        "SQLite's FTS5 and sqlite-vec in the archive's own file, slower (extra `single-file`).",
    )
    embedder: str = Field(
        "embedded:salon",
        description="What turns text into vectors, as `kind:name`; see docs/guides/embedders.md.",
    )
    embedder_url: str | None = Field(
        None, description="Address of the server, for `ollama:` and `openai:` embedders."
    )
    embedder_key: SecretStr | None = Field(
        None, description="Key for the embedder's server; better in the environment than in a file."
    )
    vectors: str = Field(
        "embedded",
        description="Where vectors are searched: `embedded`, `qdrant:URL`, `qdrant-edge:` or "
        "`postgresql://…`; see docs/guides/vector-stores.md.",
        repr=False,  # it may hold a password
    )
    fusion: Literal["calibrated", "rrf"] = Field(
        "calibrated",
        description="How words and vectors are joined: by calibrated scores, or by weighted "
        "reciprocal ranks.",
    )
    entities: str = Field(
        "rules",
        description="What finds names for the entity graph: `rules`, `spacy:PACKAGE` (extra "
        "`entities`) or `openai:MODEL` for a chat model.",
    )
    entities_url: str | None = Field(
        None, description="Address of the server of the chat model that finds names."
    )
    entities_key: SecretStr | None = Field(
        None, description="Key for that server; better in the environment than in a file."
    )
    chunk_size: int = Field(1000, ge=100, le=10_000, description="Characters in a passage.")
    chunk_overlap: int = Field(
        200, ge=0, le=5_000, description="Characters that neighbouring passages share."
    )

    @field_serializer("vectors")
    def _without_password(self, address: str) -> str:
        masked = re.sub(r"(?<=://)([^:/@]*):.*@", r"\1:***@", address)
        return re.sub(r"(?i)([?&]password=)[^&#]*", r"\1***", masked)
