"""Which entries of the audit log somebody wants to see."""

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time

from salon.core.clock import Instant, instant, parse_instant
from salon.core.errors import InvalidInput
from salon.core.events import Event
from salon.core.text import require_text


def event_kinds(family: type[Event] = Event) -> tuple[str, ...]:
    """Return every kind of entry that there can be, by name."""
    below = (kind for one in family.__subclasses__() for kind in event_kinds(one))
    return tuple(sorted({*below, *({family.kind} if family.kind else ())}))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """What an entry must be to be shown; what is not given does not matter.

    One of `kinds`; written on behalf of `by`; about this session, round, handle, document and
    avatar, by the field of that name in its body; not before `since` and not after `until`.
    """

    kinds: tuple[str, ...] = ()
    by: str | None = None
    session: str | None = None
    round: str | None = None
    handle: str | None = None
    document: str | None = None
    avatar: str | None = None
    since: Instant | None = None
    until: Instant | None = None

    def __post_init__(self) -> None:
        """Refuse what nothing would ever match: a kind that there is not, half a character."""
        for name in ("by", "session", "round", "handle", "document", "avatar"):
            require_text(getattr(self, name) or "", f"the {name} to look for")
        unknown = sorted(set(self.kinds) - set(event_kinds()))
        if unknown:
            raise InvalidInput(
                f"there is no kind of entry called {unknown[0]!r}",
                hint=f"there are {', '.join(event_kinds())}",
            )

    @property
    def is_open(self) -> bool:
        """Whether every entry matches."""
        return all(not getattr(self, field.name) for field in fields(self))


EVERY_ENTRY = EntryFilter()


def as_since(text: str) -> Instant:
    """Read the moment from which on entries are wanted; a day means its beginning, in UTC."""
    return instant(_moment(text, time.min))


def as_until(text: str) -> Instant:
    """Read the last moment of which entries are wanted; a day means its end, in UTC."""
    return instant(_moment(text, time.max))


def _moment(text: str, of_day: time) -> datetime:
    try:
        try:
            return datetime.combine(date.fromisoformat(text), of_day, UTC)
        except ValueError:
            return parse_instant(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is no day and no moment",
            hint="write 2026-11-15 or 2026-11-15T08:30:00Z; without a zone it is UTC",
        ) from error
