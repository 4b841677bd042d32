"""The bases of all shapes that edges publish: what comes in, and what goes out.

MCP and HTTP share the shapes of an avatar's capabilities, so that a field is called the same and
means the same wherever it appears.
"""

from pydantic import BaseModel, ConfigDict


class Arguments(BaseModel):
    """The base of all arguments: nothing unknown, nothing converted, nothing changed later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Result(BaseModel):
    """The base of all typed results; its fields are the published output schema."""

    model_config = ConfigDict(extra="forbid", frozen=True)
