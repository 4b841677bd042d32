"""Reading a transcript, and the gate's verdict on each reply in it.

A transcript is a JSON list of `{"role": …, "content": …}` (with `flow` where a message belonged to
one), or lines `Name: text`, where lines without a name go on with the message before.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from salon.core.errors import InvalidInput
from salon.gate.deciding import decide
from salon.gate.policy import Policy
from salon.gate.verdicts import Said, Side, Verdict

_ASSISTANTS = frozenset({"assistant", "era", "bot", "ai", "agent", "salon"})
_LINE = re.compile(r"^\s*(?P<name>[^\W\d][^:\n\"“]{0,38}?)\s*:\s+(?P<text>\S.*)$")
_LONGEST = 2_000_000
_HINT = 'a JSON list of {"role": …, "content": …}, or lines like "Name: text"'


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    content: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    flow: Annotated[str, StringConstraints(min_length=1, max_length=40)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTurn:
    """A reply of a transcript, and what the gate says about it."""

    index: int
    name: str
    reply: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Who said what, and which of the names is the assistant's."""

    names: tuple[str, ...]
    said: tuple[Said, ...]


def read_transcript(text: str, *, assistant: str | None = None) -> Transcript:
    """Read a transcript, or raise `InvalidInput`."""
    if len(text) > _LONGEST:
        raise InvalidInput("the transcript is too long", hint=f"keep it below {_LONGEST:,}")
    entries = _read_json(text) if text.lstrip().startswith("[") else _read_lines(text)
    if not entries:
        raise InvalidInput("the transcript is empty", hint=_HINT)
    name = _assistant(entries, assistant)
    return Transcript(
        names=tuple(one.role for one in entries),
        said=tuple(
            Said(
                side=Side.ASSISTANT if one.role.casefold() == name else Side.PERSON,
                text=one.content,
                flow=one.flow,
            )
            for one in entries
        ),
    )


def explain(transcript: Transcript, policy: Policy) -> Iterator[ExplainedTurn]:
    """Walk the replies of a transcript, each with the verdict on what was said until then."""
    for index, (name, said) in enumerate(zip(transcript.names, transcript.said, strict=True)):
        if said.side is Side.ASSISTANT:
            verdict = decide(transcript.said[:index], said.text, said.flow, policy)
            yield ExplainedTurn(index=index, name=name, reply=said.text, verdict=verdict)


def _read_json(text: str) -> list[_Entry]:
    try:
        return TypeAdapter(list[_Entry]).validate_python(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"the transcript at {place}: {first['msg']}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the transcript is not JSON: {error}", hint=_HINT) from error


def _read_lines(text: str) -> list[_Entry]:
    entries: list[_Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.match(line)
        if found is not None:
            entries.append(_Entry(role=found["name"], content=found["text"].strip()))
        elif line.strip():
            if not entries:
                raise InvalidInput(f"line {number} of the transcript names nobody", hint=_HINT)
            last = entries[-1]
            entries[-1] = _Entry(role=last.role, content=f"{last.content}\n{line.strip()}")
    return entries


def _assistant(entries: Sequence[_Entry], wanted: str | None) -> str:
    """Return the assistant's name: the one asked for, a usual one, or the second who speaks."""
    names = list(dict.fromkeys(one.role.casefold() for one in entries))
    if wanted is not None:
        if wanted.casefold() not in names:
            raise InvalidInput(
                f"nobody in the transcript is called {wanted!r}",
                hint=f"it has {', '.join(dict.fromkeys(one.role for one in entries))}",
            )
        return wanted.casefold()
    usual = [name for name in names if name in _ASSISTANTS]
    if usual:
        return usual[0]
    if len(names) != 2:
        raise InvalidInput(
            "it is not clear who the assistant is", hint="say so with --assistant NAME"
        )
    return names[1]
