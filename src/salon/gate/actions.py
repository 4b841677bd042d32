"""Actions as data: a name, its fields, what triggers it, how it reads, who carries it out.

Calendar and email are built in; others come from installed packages through the entry-point group
`salon.actions`, each entry an `Action`. An action knows nothing of conversations: the flow asks
for its fields, and the outbox runs its executor. Arguments are plain strings in canonical form, so
that an approval can be bound to them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias
from zoneinfo import ZoneInfo

from salon.core.errors import InvalidInput, NotFound
from salon.gate.ends import Ended, Looked
from salon.gate.means import Means
from salon.gate.tables import Triggers

if TYPE_CHECKING:
    from salon.gate.orders import Order

Arguments: TypeAlias = Mapping[str, str]
Suggestions: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an answer is understood against: the time, and the zone of the person."""

    now: datetime
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an answer cannot be taken, said to the person."""

    text: str


Check: TypeAlias = Callable[[str, Reading], "str | Problem"]
"""Turns an answer into the canonical value of a field, or says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One argument of an action: how it is asked for, checked and shown."""

    name: str
    label: str
    question: str
    check: Check
    is_required: bool = True
    """An optional field is asked for too; `skip` leaves it out."""
    aliases: tuple[str, ...] = ()
    """Further names that people use for it when they change a draft."""
    guess: str = "Is it {}? Say yes, or give another answer."
    """How it is asked for where the conversation suggests one value; `{}` stands for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known when an action is offered: what was said, and the reply that offers it."""

    said: tuple[str, ...]
    reply: str
    names: tuple[str, ...] = ()
    """Who was named in the conversation."""


class Executor(Protocol):
    """Carries an action out.

    `is_idempotent` says that a second try under the same key can never do it twice, since the
    server knows the key. `commits_late` says that `execute` itself calls `commit` right before the
    step that may take effect; otherwise the outbox does so before `execute`. What was interrupted
    before `commit` is tried again; after it `look` decides; where that is unclear, what is
    idempotent is tried again and for the rest a person decides.
    """

    @property
    def is_idempotent(self) -> bool:
        """Tell whether a second try is harmless."""

    @property
    def commits_late(self) -> bool:
        """Tell whether `execute` calls `commit` itself."""

    def execute(self, order: "Order", commit: Callable[[], None], /) -> Ended:
        """Do it, under the order's key so that a second try is known as such."""

    def look(self, order: "Order", /) -> Looked:
        """Tell whether it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that can be done for a person, once they approved these very arguments."""

    name: str
    title: str
    """What it is called behind "I can": `schedule a call`; its triggers know these words."""
    offer: str
    """The sentence with which it is offered; a question."""
    fields: tuple[Field, ...]
    triggers: Triggers | None = None
    """Which words trigger it; `None` where the gate's own tables have it, as the built-in ones."""
    describe: Callable[[Arguments, Reading], str]
    """Writes the draft that the person approves: everything that will happen, in words."""
    executor: Callable[[Means], Executor]
    begin: Callable[[Situation], Arguments] = lambda _: {}
    """Returns what can be known of the arguments before asking."""
    suggest: Callable[[Situation], Suggestions] = lambda _: {}
    """Returns what a field may be; it is asked for all the same, with that as a suggestion."""
    time_field: str | None = None
    """The field that is a time and is chosen from what the calendar has free."""
    text_field: str | None = None
    """The field whose `[placeholders]` are asked for one by one."""
    priority: int = 100
    """Lower goes first where a reply triggers several."""

    def find_field(self, name: str) -> Field | None:
        """Return the field that a person means by a name."""
        wanted = name.strip().casefold().replace("_", " ")
        for field in self.fields:
            known = (field.name.replace("_", " "), field.label, *field.aliases)
            if wanted in {one.casefold() for one in known}:
                return field
        return None


class Actions:
    """The actions of one Salon by name, in order of priority."""

    def __init__(self, actions: Sequence[Action]) -> None:
        ordered = sorted(actions, key=lambda one: (one.priority, one.name))
        names = [one.name for one in ordered]
        if len(set(names)) < len(names):
            raise InvalidInput(
                f"two actions have the same name: {', '.join(names)}",
                hint="uninstall one of the packages that bring them",
            )
        self.all = tuple(ordered)

    def get(self, name: str) -> Action:
        """Return an action, or raise `NotFound`."""
        for action in self.all:
            if action.name == name:
                return action
        raise NotFound(
            f"there is no action {name!r}",
            hint=f"there are {', '.join(one.name for one in self.all)}",
        )

    def only(self, names: Sequence[str]) -> "Actions":
        """Return those of these names; all of them where no name is given."""
        return Actions([self.get(name) for name in names]) if names else self
