"""The companion's capabilities beside the turn: commands, export and import, events made again.

Each is one function; edges validate, call it and shape the answer. A command is no turn: it writes
nothing and does not count.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from salon.conversation.turns import as_session_id, walk_turns
from salon.core.errors import InvalidInput, NotFound, SalonError
from salon.parts.sessions import SessionsPart

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.conversation.memory.store import MemoryStore
    from salon.conversation.user_export import UserExport, UserImport
    from salon.core.chat import ChatModel
    from salon.core.clock import Clock
    from salon.settings import Settings
    from salon.steps.wire_shapes import WireEvent

SLASH = "/"
_LABEL = "AI"
_SALON = "salon"
"""Who answers a command in a session that nobody has spoken in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAnswer:
    """What a command says; `filename` where the text is a file."""

    command: str
    text: str
    turn: int
    bot_id: str
    ai_label: str
    filename: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: its name, what it is for, and the function that answers it."""

    name: str
    about: str
    run: "Callable[[CompanionPart, str, str], tuple[str, str | None]]"
    """From the session and the user to a text and the name of a file, where it is one."""


def is_command(content: str) -> bool:
    """Tell whether a message is a command: its first character is a slash."""
    return content.lstrip().startswith(SLASH)


def _state_of(work: Callable[[], object]) -> str:
    """Return `ok`, or what is wrong with something that turns stand on."""
    try:
        work()
    except SalonError as error:
        return error.message
    return "ok"


class CompanionPart(SessionsPart):
    """What the application can do around the turns of a conversation."""

    if TYPE_CHECKING:
        # The application and its other parts have these.
        clock: Clock
        memory_of: Callable[[str], MemoryStore]

        settings: Settings

        @property
        def chat(self) -> ChatModel | None:
            """The chat model of the settings, if there is one."""

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

    # Commands

    def run_command(self, name: str, *, session: str, user: str) -> CommandAnswer:
        """Answer a command, named with or without its slash; nothing is recorded."""
        wanted = SLASH + name.strip().removeprefix(SLASH).lower()
        command = COMMANDS.get(wanted)
        if command is None:
            raise InvalidInput(
                f"there is no command {wanted[:64]}", hint=f"there are {', '.join(COMMANDS)}"
            )
        text, filename = command.run(self, as_session_id(session), user)
        last = next(walk_turns(self.archive, as_session_id(session)), None)
        return CommandAnswer(
            command=wanted,
            text=text,
            turn=last.number if last else 0,
            bot_id=last.replier if last else _SALON,
            ai_label=str(last.reply.get("ai_label", _LABEL)) if last else _LABEL,
            filename=filename,
        )

    def analyze_relationship(self, session: str) -> str:
        """Return a detailed report on the relationship of a session so far."""
        from salon.steps.reporting import relationship_report

        return relationship_report(self.session_turns(session))

    def predict_future(self, session: str) -> str:
        """Return where a relationship may stand in turn 50, and how unsure that is."""
        from salon.steps.reporting import outlook_text

        return outlook_text(self.session_turns(session))

    # Events

    def events_after(self, session: str, event_id: int) -> "tuple[WireEvent, ...]":
        """Return the events of a session that come after one, made again from the records."""
        from salon.steps.wire import reply_id, turn_events

        missed: list[tuple[WireEvent, ...]] = []
        for turn in walk_turns(self.archive, as_session_id(session)):
            if reply_id(turn.number) <= event_id:
                break
            missed.append(turn_events(turn))
        events = (event for turn in reversed(missed) for event in turn)
        return tuple(event for event in events if event.event_id > event_id)

    def latest_event_id(self, session: str) -> int:
        """Return the id of the latest event of a session, 0 where there is none."""
        from salon.steps.wire import reply_id

        last = next(walk_turns(self.archive, as_session_id(session)), None)
        return reply_id(last.number if last else 0)

    def readiness(self) -> dict[str, str]:
        """Return what turns stand on, each with `ok` or what is wrong with it."""
        found = {"archive": _state_of(self.archive.checkpoint)}
        if self.settings.chat.model is not None:
            found["model"] = _state_of(lambda: self.chat)
        return found

    # Export and import

    def export_user(self, user: str) -> "UserExport":
        """Return everything about a user in one file: turns, memories, features."""
        from salon.conversation.user_export import export_user, sessions_of
        from salon.core.clock import instant

        sessions = tuple(sessions_of(self.archive, user))
        if not sessions:
            raise NotFound(f"there is nothing about user {user}", hint="they have said nothing")
        return export_user(
            self.archive,
            self.memory_of(user),
            sessions,
            features=self._latest_features(sessions, user),
            at=instant(self.clock.now()),
        )

    def import_user(self, content: bytes) -> "UserImport":
        """Take in a file that `export_user` made; one that is foreign or changed is refused."""
        from salon.conversation.user_export import import_user, read_export

        export = read_export(content)
        return import_user(self.archive, self.memory_of(export.user), export)

    def _latest_features(self, sessions: tuple[str, ...], user: str) -> dict[str, Any]:
        from salon.steps.feature_values import FEATURES
        from salon.steps.reporting import readings
        from salon.steps.wire import plain

        latest: tuple[str, object] = ("", {})
        for session in sessions:
            turns = [one for one in self.session_turns(session) if one.user == user]
            for number, features in readings(turns, FEATURES):
                at = next(one.at for one in turns if one.number == number)
                latest = max(latest, (at, features), key=lambda one: one[0])
        found = plain(latest[1])
        assert isinstance(found, dict)
        return found


def _help(_: CompanionPart, __: str, ___: str) -> tuple[str, None]:
    return "\n".join(f"{one.name}: {one.about}" for one in COMMANDS.values()), None


def _export(app: CompanionPart, _: str, user: str) -> tuple[str, str]:
    made = app.export_user(user)
    return made.content.decode(), made.filename


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            name="/analyze-relationship",
            about="a detailed report on the relationship so far",
            run=lambda app, session, _: (app.analyze_relationship(session), None),
        ),
        Command(
            name="/predict-future",
            about="where the relationship may stand in turn 50, and how unsure that is",
            run=lambda app, session, _: (app.predict_future(session), None),
        ),
        Command(
            name="/export-data",
            about="everything about you in one file, which can be imported again",
            run=_export,
        ),
        Command(name="/help", about="this list", run=_help),
    )
}
"""By name, in the order in which help lists them."""
