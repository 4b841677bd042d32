"""Addresses of providers: from `kind:name` to the entry of a table, or to an error that helps.

Which kinds there are, and what opens each, is the business of the tables; nothing is imported or
opened here.
"""

import difflib
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Protocol, TypeVar

from salon.core.errors import UnknownProvider


class AddressKind(Protocol):
    """What a table says of one kind."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names there are, or examples where any name is taken."""
        ...

    @property
    def takes_any_name(self) -> bool:
        """Tell whether any name is taken."""
        ...

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the modules that have to be importable."""
        ...

    @property
    def install(self) -> str | None:
        """Return the command that makes them so."""
        ...


Kind = TypeVar("Kind", bound=AddressKind)


def find_in_table(address: str, kinds: Mapping[str, Kind], *, what: str) -> tuple[Kind, str]:
    """Return the kind and the name of an address, or raise `UnknownProvider` with the nearest one.

    `what` is what the table is of, as messages say it: "chat model".
    """
    first, _, name = address.partition(":")
    kind = kinds.get(first)
    if kind is None or not name.strip() or not (kind.takes_any_name or name in kind.names):
        raise _unknown(address, kinds, what)
    require_modules(kind.modules, f"{address} needs", install=kind.install)
    return kind, name


def require_modules(modules: Iterable[str], needs: str, *, install: str | None) -> None:
    """Raise `UnknownProvider` with the command that helps unless all modules can be imported."""
    missing = next((module for module in modules if find_spec(module) is None), None)
    if missing is not None:
        raise UnknownProvider(
            f"{needs} the package {missing!r}, which is not installed", hint=install
        )


def _unknown(address: str, kinds: Mapping[str, Kind], what: str) -> UnknownProvider:
    first, _, name = address.partition(":")
    possible = {first: kinds[first]} if first in kinds else kinds
    known = [f"{kind}:{one}" for kind, entry in possible.items() for one in entry.names]
    near = difflib.get_close_matches(address, known, n=1, cutoff=0.5) if name else []
    return UnknownProvider(
        f"there is no {what} {address!r}",
        hint=f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known)}",
    )
