"""Labelled dialogues for the gate: SMCalFlow turns and schema-guided dialogues, as moments.

SMCalFlow: JSON lines `{dialogue_id, turns: [{user, agent, label}]}`; each turn is a moment before
the agent speaks. Schema-guided: JSON lines with `turns` of USER and SYSTEM; a system turn with a
`service_call` is CALL, one that requests or confirms is ASK, others are left out. The schema of
the services lies beside the file as `schema_NAME.json.gz`.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salon.core.errors import InvalidInput
from salon.gate.features import Fields, Moment
from salon.gate.verdicts import Said, Side

MOVE_LABELS = ("ACT", "ANSWER", "ASK", "REFUSE")
CALL_LABELS = ("ASK", "CALL")
_ASKING_ACTS = frozenset({"REQUEST", "CONFIRM"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMoment:
    """A moment, what the assistant did next, what it said, and the group that it belongs to."""

    moment: Moment
    label: str
    reply: str
    group: str
    service: str = ""


def read_calflow(path: Path) -> list[LabelledMoment]:
    """Read SMCalFlow turns, compressed or not, or raise `InvalidInput`."""
    found: list[LabelledMoment] = []
    for dialogue in _lines(path):
        try:
            found += _calflow(dialogue)
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable(path, error) from error
    return found


def read_schema_guided(path: Path) -> list[LabelledMoment]:
    """Read schema-guided dialogues with the schema beside them, or raise `InvalidInput`."""
    intents = _read_schema(path)
    found: list[LabelledMoment] = []
    for dialogue in _lines(path):
        try:
            found += _schema_guided(dialogue, intents)
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            raise _unreadable(path, error) from error
    return found


def _calflow(dialogue: dict[str, Any]) -> Iterator[LabelledMoment]:
    history: list[Said] = []
    for turn in dialogue["turns"]:
        history.append(Said(Side.PERSON, str(turn["user"])))
        label = str(turn["label"])
        if label not in MOVE_LABELS:
            raise ValueError(f"the label {label!r} is unknown")
        yield LabelledMoment(
            moment=Moment(history=tuple(history)),
            label=label,
            reply=str(turn["agent"]),
            group=str(dialogue["dialogue_id"]),
        )
        history.append(Said(Side.ASSISTANT, str(turn["agent"])))


def _schema_guided(
    dialogue: dict[str, Any], intents: dict[tuple[str, str], dict[str, Any]]
) -> Iterator[LabelledMoment]:
    history: list[Said] = []
    user: dict[str, Any] = {}
    for turn in dialogue["turns"]:
        text = str(turn["utterance"])
        if turn["speaker"] == "USER":
            user = turn
            history.append(Said(Side.PERSON, text))
            continue
        acts = {str(act).split(":")[0] for act in turn["acts"]}
        is_call = "service_call" in turn
        if is_call or acts & _ASKING_ACTS:
            service = next(iter(user["active_intent"]), dialogue["services"][0])
            yield LabelledMoment(
                moment=Moment(history=tuple(history), fields=_fields(user, service, intents)),
                label="CALL" if is_call else "ASK",
                reply=text,
                group=str(dialogue["dialogue_id"]),
                service=str(service),
            )
        history.append(Said(Side.ASSISTANT, text))


def _fields(
    user: dict[str, Any], service: str, intents: dict[tuple[str, str], dict[str, Any]]
) -> Fields | None:
    intent = intents.get((service, user["active_intent"].get(service, "")))
    if intent is None:
        return None
    given = user["slots"].get(service, {})
    required = intent["required_slots"]
    return Fields(
        required=len(required),
        given=sum(slot in given for slot in required),
        commits=bool(intent["is_transactional"]),
    )


def _read_schema(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    name = path.name.split(".")[0]
    beside = [path.with_name(f"schema_{name}.json{ending}") for ending in (".gz", "")]
    found = next((one for one in beside if one.exists()), None)
    if found is None:
        raise InvalidInput(
            f"the schema of {path.name} is not beside it", hint=f"put {beside[0].name} there"
        )
    try:
        services = json.loads(_bytes(found))
        return {
            (service["service_name"], intent["name"]): intent
            for service in services
            for intent in service["intents"]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(found, error) from error


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        for number, line in enumerate(_bytes(path).decode().splitlines(), 1):
            if line.strip():
                yield _as_object(json.loads(line), number)
    except (ValueError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _as_object(found: object, number: int) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"line {number} is no JSON object")  # noqa: TRY004
    return found


def _bytes(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"{path} does not hold labelled dialogues: {error}",
        hint="see docs/guides/gate.md for the two layouts",
    )


def groups_of(moments: Sequence[LabelledMoment], *, by_service: bool) -> list[str]:
    """Return what must not be split between training and testing: dialogues, or services."""
    return [one.service if by_service else one.group for one in moments]
