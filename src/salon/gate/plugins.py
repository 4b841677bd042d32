"""Which actions there are: the built-in ones, and those that installed packages bring."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from salon.core.errors import InvalidInput
from salon.gate.actions import Action, Actions
from salon.gate.builtin_actions import CALENDAR, EMAIL

GROUP = "salon.actions"
"""The entry-point group of actions from other packages; each entry names an `Action`."""


def load_actions(entries: Sequence[EntryPoint] | None = None) -> Actions:
    """Return the built-in actions and those that installed packages bring."""
    brought = []
    for entry in entry_points(group=GROUP) if entries is None else entries:
        action = entry.load()
        if not isinstance(action, Action):
            raise InvalidInput(
                f"the entry point {entry.name!r} of {GROUP} is no action",
                hint="let it name an instance of salon.gate.actions.Action",
            )
        brought.append(action)
    return Actions([EMAIL, CALENDAR, *brought])
