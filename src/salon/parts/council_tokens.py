"""Tokens of outside seats: made here, shown once, and kept only as digests.

The file holds SHA-256 digests and no token. A token is 256 random bits, so a plain digest cannot
be turned back. Whoever holds a seat's token sits in that seat and in no other.
"""

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from salon.core.clock import Clock, instant
from salon.core.errors import InvalidSettings
from salon.council.seats import Seat

PREFIX = "salon-seat-"
_RANDOM_BYTES = 32
LONGEST_TOKEN = 200
"""Longer ones are refused unread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatToken:
    """A token that was just made; nobody can look it up again."""

    seat: Seat
    token: str
    issued_at: str
    replaced: bool
    """Whether the seat had a token before, which no longer counts."""


class SeatTokens:
    """The tokens of one home, at most one for each seat."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    def issue(self, seat: Seat) -> SeatToken:
        """Make a token for a seat; an earlier one of that seat no longer counts."""
        known = self._read()
        token = f"{PREFIX}{seat}-{secrets.token_urlsafe(_RANDOM_BYTES)}"
        made = SeatToken(
            seat=seat,
            token=token,
            issued_at=instant(self._clock.now()),
            replaced=str(seat) in known,
        )
        self._write(known | {str(seat): {"sha256": _digest(token), "issued_at": made.issued_at}})
        return made

    def revoke(self, seat: Seat) -> bool:
        """Let a seat's token no longer count; tell whether there was one."""
        known = self._read()
        had = known.pop(str(seat), None) is not None
        if had:
            self._write(known)
        return had

    def issued(self) -> dict[Seat, str]:
        """Return when each seat that has a token got it."""
        return {Seat(name): entry["issued_at"] for name, entry in self._read().items()}

    def find_seat(self, token: str) -> Seat | None:
        """Return the seat that a token stands for; every digest is compared, in constant time."""
        if not token or len(token) > LONGEST_TOKEN:
            return None
        given = _digest(token)
        found: Seat | None = None
        for name, entry in self._read().items():
            if hmac.compare_digest(entry["sha256"], given):
                found = Seat(name)
        return found

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            values = json.loads(self._path.read_text("ascii"))
            return {
                str(Seat(name)): {
                    "sha256": str(entry["sha256"]),
                    "issued_at": str(entry["issued_at"]),
                }
                for name, entry in values.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidSettings(
                f"{self._path} does not hold the digests of seat tokens",
                hint="remove it and issue new tokens with `salon council token --seat II`",
            ) from error

    def _write(self, values: dict[str, dict[str, str]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(values, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
