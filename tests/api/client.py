"""A client with manners: messages out, events in, each held against its published schema."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from websockets.sync.client import ClientConnection, connect

from tests.api.serving import Address

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"
PATIENCE_S = 60
Event = dict[str, Any]


@cache
def validator(kind: str) -> Any:
    """Return what checks messages of one type, from the file that is published."""
    return jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{kind}.json").read_text()))


def checked(text: str | bytes) -> Event:
    """Return an event that has the documented shape."""
    event: Event = json.loads(text)
    validator(event["type"]).validate(event)
    return event


class Talk:
    """One client at one session."""

    def __init__(self, connection: ClientConnection, session: str, user: str) -> None:
        self.connection = connection
        self.session = session
        self.user = user

    def send(self, content: str, **changes: str) -> None:
        """Send a message."""
        message = {
            "type": "user_message",
            "content": content,
            "user_id": self.user,
            "session_id": self.session,
        } | changes
        validator(message["type"]).validate(message)
        self.connection.send(json.dumps(message))

    def command(self, name: str) -> Event:
        """Send a command as a message of its own, and return the answer."""
        message = {
            "type": "command",
            "name": name,
            "user_id": self.user,
            "session_id": self.session,
        }
        validator("command").validate(message)
        self.connection.send(json.dumps(message))
        return self.receive()

    def receive(self) -> Event:
        """Return the next event."""
        return checked(self.connection.recv(timeout=PATIENCE_S))

    def until_reply(self) -> list[Event]:
        """Return the events up to the next reply or error."""
        events = [self.receive()]
        while events[-1]["type"] not in {"bot_response", "error"}:
            events.append(self.receive())
        return events

    def say(self, content: str) -> list[Event]:
        """Take a turn and return its events."""
        self.send(content)
        return self.until_reply()


@contextmanager
def talking(
    address: Address, session: str, *, user: str = "user_123", query: str = "", **options: Any
) -> Iterator[Talk]:
    """Connect to a session."""
    with connect(address.ws(session, query), max_size=None, **options) as connection:
        yield Talk(connection, session, user)
