"""Candidates for matching: profiles as JSON files with a schema, each checked when it is read.

A profile has the Big Five, the interests and a way of talking, without which nothing can be
compared; everything else may be left out. A profile that lacks something is refused with its name.
"""

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from salon.core.errors import InvalidProfile
from salon.steps.feature_list import BIG_FIVE, FEATURE_LIST, INTERESTS

Share = Annotated[float, Field(ge=0, le=1)]
_REQUIRED = frozenset({*BIG_FIVE, *INTERESTS, "communication_style", "relationship_goals"})
_ABOUT_THE_TALK = frozenset(
    {"trust_score", "trust_velocity", "trust_history", "relationship_status", "relationship_type",
     "sentiment_label", "can_advance", "mbti_confidence"}
)  # fmt: skip
"""Features of a conversation, which a candidate has not had."""


def _field(name: str) -> tuple[object, object]:
    feature = next(one for one in FEATURE_LIST if one.name == name)
    kind: object = Share
    if name == "age":
        kind = Annotated[int, Field(ge=18, le=120)]
    elif not feature.cuts:
        kind = Literal[feature.labels]
    return (kind, ...) if name in _REQUIRED else (kind | None, None)  # type: ignore[operator]


CandidateFeatures: type[BaseModel] = create_model(  # type: ignore[call-overload]
    "CandidateFeatures",
    __config__=ConfigDict(extra="forbid", frozen=True, strict=True),
    __doc__="The features of a candidate, under the names of the 42.",
    **{one.name: _field(one.name) for one in FEATURE_LIST if one.name not in _ABOUT_THE_TALK},
)


class CandidateProfile(BaseModel):
    """One candidate: an invented person, said to be one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bot_id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)
    name: str = Field(min_length=1, max_length=80)
    description: str = Field(min_length=1, max_length=600)
    is_invented: Literal[True]
    features: CandidateFeatures  # type: ignore[valid-type]

    def values(self) -> dict[str, float | str]:
        """Return the features that the profile has, by name."""
        found: dict[str, float | str] = {}
        given: dict[str, float | str | None] = self.model_dump()["features"]
        for name, value in given.items():
            if value is not None:
                found[name] = value if isinstance(value, str) else float(value)
        return found


def read_candidate(text: str, source: str) -> CandidateProfile:
    """Read one profile, or raise `InvalidProfile` that names it and what is wrong."""
    try:
        return CandidateProfile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidProfile(
            f"the candidate {source} cannot be matched: {place}: {first['msg']}",
            hint="see salon.steps.match_profiles.candidate_schema() for what a profile needs",
            path=place,
        ) from error


def read_candidates(folder: Traversable) -> tuple[CandidateProfile, ...]:
    """Read all profiles of a folder, by name; two with one id are refused."""
    found = tuple(read_candidate(one.read_text("utf-8"), one.name) for one in _files(folder))
    twice = sorted({one.bot_id for one in found if sum(o.bot_id == one.bot_id for o in found) > 1})
    if twice:
        raise InvalidProfile(f"more than one candidate has the id {twice[0]!r}")
    return found


def _files(folder: Traversable) -> Iterator[Traversable]:
    files = (one for one in folder.iterdir() if one.name.endswith(".json"))
    return iter(sorted(files, key=lambda one: one.name))


@cache
def shipped_candidates() -> tuple[CandidateProfile, ...]:
    """Return the invented candidates that come with Salon."""
    return read_candidates(resources.files("salon.steps").joinpath("candidates"))


def candidate_schema() -> dict[str, object]:
    """Return the JSON Schema of a candidate's file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **CandidateProfile.model_json_schema(),
    }


def schema_text() -> str:
    """Return the schema as it is published."""
    return json.dumps(candidate_schema(), indent=2, ensure_ascii=False) + "\n"
