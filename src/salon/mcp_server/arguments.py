"""Checking the arguments of a call: strict, and helpful about what was meant.

Invariant: nothing that a client sent reaches a tool unless it has exactly the declared type, and a
refusal names the argument and, where there is one, the right name for it.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ModelSchema

from salon.core.errors import InvalidInput
from salon.mcp_server.tables import Arguments

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
_CLOSE = 0.5
_LONGEST_NAME = 60


def check_arguments(
    model: type[ArgumentsT], given: Mapping[str, Any] | None, owner: str
) -> ArgumentsT:
    """Return the arguments of `owner`, or raise `InvalidInput` about one thing that is wrong."""
    try:
        return model.model_validate(dict(given or {}))
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A name that is not known explains best why another one is missing.
        first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
        raise _refusal(model, first, owner) from None


def nearest(name: str, known: Mapping[str, object] | set[str] | list[str]) -> str | None:
    """Return the known name that somebody probably meant."""
    found = get_close_matches(name.casefold(), list(known), n=1, cutoff=_CLOSE)
    return found[0] if found else None


def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of arguments."""
    return _schema(model, "validation")


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of what a result looks like on the wire."""
    return _schema(model, "serialization")


class ErrorShape(BaseModel):
    """What went wrong, in Salon's one shape."""

    model_config = ConfigDict(extra="forbid")

    code: str
    message: str
    hint: str | None
    details: dict[str, Any]


def output_or_error_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a result that is either what it should be, or an error."""
    schema = output_schema(model)
    needed = schema.pop("required", [])
    error = _schema(ErrorShape, "serialization")
    schema["properties"] = {**schema["properties"], "error": error}
    schema["anyOf"] = [{"required": needed}, {"required": ["error"]}]
    return schema


class _WithoutTitles(GenerateJsonSchema):
    """Schemas without the titles that pydantic makes up; models pay for every word they read."""

    def field_title_should_be_set(self, _schema: Any) -> bool:
        return False

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        found.pop("title", None)
        return found


def _schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    schema = model.model_json_schema(schema_generator=_WithoutTitles, mode=mode)
    # The docstring of the class describes code, not the argument.
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def _refusal(model: type[Arguments], error: ErrorDetails, owner: str) -> InvalidInput:
    place = error["loc"]
    name = _path(place)
    known = _fields_at(model, place)
    match error["type"]:
        case "extra_forbidden":
            meant = nearest(str(place[-1]), known)
            guess = f"; did you mean `{meant}`?" if meant else ""
            message = f"`{name}` is not an argument of {owner}{guess}"
        case "missing":
            message = f"{owner} needs `{name}`"
        case "value_error":
            message = str(error.get("ctx", {}).get("error", error["msg"]))
        case _:
            what = f"`{name}`" if name else "the name of an argument"
            message = f"{what}: {error['msg'][:1].lower()}{error['msg'][1:]}"
    return InvalidInput(message, hint=_hint(known), argument=name or None)


def _hint(known: list[str]) -> str:
    names = ", ".join(f"`{one}`" for one in known)
    return f"the arguments are {names}" if known else "it takes no arguments"


def _path(place: tuple[int | str, ...]) -> str:
    text = ""
    for part in place:
        clipped = str(part)[:_LONGEST_NAME]
        text += f"[{part}]" if isinstance(part, int) else f".{clipped}" if text else clipped
    return text


def _fields_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Return the names that are allowed where an error lies, following nested models."""
    current: type[BaseModel] = model
    for part in place[:-1]:
        field = current.model_fields.get(str(part))
        inner = None if field is None else _model_in(field.annotation)
        current = inner or current
    return list(current.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        if found := _model_in(part):
            return found
    return None
