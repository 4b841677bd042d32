"""How an attempt to do something outside ended, and what a look at the server found.

These are values, not errors: a server that is down or a mailbox that is full is an ordinary end.
Whoever carries an action out must tell them apart truly, since what follows differs: `NotNow` is
tried again, `Refused` never, and after `Unclear` nothing is done until somebody knows more.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The proof of what was done: what it was, and the name under which the server knows it."""

    text: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It has happened."""

    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNow:
    """It has certainly not happened; another try may succeed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It has certainly not happened, and another try would be refused as well."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """It may have happened; nobody here can tell."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDone:
    """The server was asked and does not have it."""


Ended: TypeAlias = Done | NotNow | Refused | Unclear
Looked: TypeAlias = Done | NotDone | Unclear
