"""The reference of the WebSocket, made from the code: one page, and a JSON Schema for each message.

python -m tools.wire_page            # writes docs/reference/websocket.md and …/schemas/*.json
python -m tools.wire_page --check    # fails where one is stale
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from salon.api.errors import CLOSE_CODES, STATUSES
from salon.api.limits import Limits
from salon.steps.wire import IDS_PER_TURN, READINGS
from salon.steps.wire_shapes import (
    CLIENT_MESSAGES,
    LONGEST_CONTENT,
    SERVER_EVENTS,
    schema_of,
    type_of,
)

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTICE = "<!-- Made from the code by `make docs`. Do not edit. -->\n\n"

WHEN = {
    "bot_response": "every turn, as its last event; also the answer to a command",
    "emotion_update": "every turn",
    "feature_update": "every third turn",
    "relationship_prediction": "every fifth turn",
    "milestone_report": "turns 10 and 30",
    "scam_warning": "a turn in which fraud is read at level medium or high",
    "error": "whenever something that was sent could not be done",
    "flow_update": "an assistant offers an action, or it goes one step on",
    "reply_delta": "a reply is still being written; only from servers whose chat model streams",
}
_PROTOCOL_CODES = (
    (1000, "The client or the server is done."),
    (1008, "The address has a query that makes no sense."),
    (1009, "A frame is larger than the server takes."),
    (1011, "The client did not answer the server's ping."),
    (1012, "The server stops; connect again with `last_event_id`."),
)


def websocket_page() -> str:
    """Return the page."""
    return "\n".join(
        [
            "# The WebSocket\n",
            (
                "`/ws/{session_id}` holds one conversation. Every message is one JSON object in a "
                "text frame with a `type`. Names and fields are those of the source protocol; "
                "`event_id`, `ai_label` and the optional fields of `bot_response` are Salon's. "
                "[The guide](../guides/serving.md) shows a client.\n"
            ),
            *_address(),
            "## From the client\n",
            *_messages(CLIENT_MESSAGES),
            "## From the server\n",
            "| type | when |",
            "|---|---|",
            *(f"| `{type_of(one)}` | {WHEN[type_of(one)]} |" for one in SERVER_EVENTS),
            "",
            *_ids(),
            *_messages(SERVER_EVENTS),
            *_limits(),
        ]
    )


def _address() -> Iterator[str]:
    yield "## The address\n"
    yield "| query | meaning |"
    yield "|---|---|"
    yield "| `last_event_id` | Send what came after this event first, once; `0` is everything. |"
    yield "| `avatar` | Who replies; by default whoever replied before, else the companion. |"
    yield ""
    yield (
        "Where the server has a token, the handshake carries `Authorization: Bearer TOKEN`. A "
        "browser cannot set that header and offers the subprotocols `salon` and `bearer.TOKEN` "
        "instead. A handshake that is refused gets an HTTP status and an error in the one shape.\n"
    )


def _ids() -> Iterator[str]:
    names = ", ".join(f"`{row.slot.name}`" for row in READINGS)
    yield (
        f"Within a turn the readings come first (from the slots {names}, in this order) and "
        "`bot_response` last. A reading that is absent sends no event. Every event has an "
        "`event_id`, an integer. Ids grow within a session and leave gaps: a turn has room for "
        f"{IDS_PER_TURN}. They follow from the turn's record, so a server that was "
        "started anew sends the same events with the same ids. `error`, `reply_delta` "
        "and the answers to commands are sent once; they repeat the id of the "
        "latest event before them.\n"
    )


def _messages(shapes: tuple[type[BaseModel], ...]) -> Iterator[str]:
    for shape in shapes:
        name = type_of(shape)
        yield f"### `{name}`\n"
        yield f"{_sentence(shape)} [Schema](schemas/{name}.json).\n"
        yield "| field | type | meaning |"
        yield "|---|---|---|"
        yield from _rows(schema_of(shape))
        yield ""


def _rows(schema: dict[str, Any]) -> Iterator[str]:
    definitions = schema.get("$defs", {})
    required = schema["required"]
    for name, field in schema["properties"].items():
        if name == "event_id":
            continue  # every event has one; it is told about above
        kind = _kind(field, definitions)
        meaning = field.get("description", "")
        optional = "" if name in required else " Optional."
        yield f"| `{name}` | {kind} | {meaning}{optional} |"
        for inner in _inner(field, definitions):
            for one, value in inner["properties"].items():
                about = value.get("description", "")
                yield f"| `{name}.{one}` | {_kind(value, definitions)} | {about} |"


def _inner(field: dict[str, Any], definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for one in (field, *field.get("oneOf", ())):
        found = definitions.get(one.get("$ref", "").rsplit("/", 1)[-1])
        if found and found.get("type") == "object":
            yield found


def _kind(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return '`{"absent": why}`' if name == "AbsentValue" else "object"
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        kinds = dict.fromkeys(_kind(one, definitions) for one in options)
        return " or ".join(kind for kind in kinds if kind != "null")
    if field.get("type") == "array":
        return f"list of {_kind(field['items'], definitions)}s"
    if isinstance(field.get("additionalProperties"), dict):
        return f"object of {_kind(field['additionalProperties'], definitions)}"
    low, high = field.get("minimum"), field.get("maximum")
    bounds = f" {low} to {high}" if high is not None else ""
    return f"{field.get('type', 'anything')}{bounds}"


def _limits() -> Iterator[str]:
    limits = Limits()
    yield "## Limits and closing\n"
    yield (
        f"A message holds at most {LONGEST_CONTENT:,} characters and a frame "
        f"{limits.frame_bytes:,} bytes. A session takes {limits.rate:g} messages a second in the "
        f"long run (`serve.rate`) and {limits.burst} at once; what is more gets an `error` with "
        "code `limit_reached` and `retry_after_s`. While a turn is taken "
        f"{limits.incoming} messages may wait. A frame that is no message gets one `error`; after "
        f"{limits.malformed} of them the connection is closed. {limits.outgoing} events may wait "
        "for a client that does not read. A session has at most "
        f"{limits.connections_per_session} connections.\n"
    )
    yield "| close code | meaning |"
    yield "|---|---|"
    for code, meaning in _PROTOCOL_CODES:
        yield f"| {code} | {meaning} |"
    for one in CLOSE_CODES:
        yield f"| {one.code} | {one.about} |"
    yield ""
    yield "## Errors over HTTP\n"
    yield (
        'Every error is `{"error": {"code", "message", "hint", "details"}}`, on HTTP as in an '
        "`error` event. The status follows from the family:\n"
    )
    yield "| family | status |"
    yield "|---|---|"
    for family, status in STATUSES:
        yield f"| `{family.code}` | {status} |"
    yield ""


def _sentence(shape: type[BaseModel]) -> str:
    return (inspect.getdoc(shape) or "").split("\n\n")[0].replace("\n", " ")


def schema_files() -> dict[str, str]:
    """Return the schemas by the name of their file."""
    return {
        f"{type_of(shape)}.json": json.dumps(schema_of(shape), ensure_ascii=False, indent=2) + "\n"
        for shape in (*CLIENT_MESSAGES, *SERVER_EVENTS)
    }


def pages() -> dict[Path, str]:
    """Return every file of this reference as it should be."""
    schemas = {REFERENCE / "schemas" / name: text for name, text in schema_files().items()}
    return {REFERENCE / "websocket.md": NOTICE + websocket_page()} | schemas


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail instead of writing")
    check = parser.parse_args(arguments).check
    made = pages()
    stale = [
        path.name
        for path, text in made.items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if check and stale:
        print(f"stale: {', '.join(stale)}; run `make docs`")
        return 1
    for path, text in () if check else made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print(f"docs: {len(made)} pages of the WebSocket {'agree' if check else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
