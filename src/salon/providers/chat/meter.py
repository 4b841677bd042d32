"""The meter of one session: what was used, and whether there is room for more.

A request is let in only while something is left of every limit, and may then write no more than
that: the output of requests that are still running counts as used up. So a session never writes
more than allowed, if its server keeps to `max_tokens`; what it reads can pass a limit by the last
request. Where a server does not tell its tokens, a limit counts the most they can have been, one
for each byte, and the cost is unknown.
"""

import threading
from dataclasses import dataclass

from salon.core.chat import ChatUsage
from salon.core.errors import InvalidSettings, LimitReached
from salon.providers.chat.backend import Tokens
from salon.providers.chat.options import ChatLimits, ChatPrices

_MILLION = 1_000_000
_HINT = "raise the limit, or start a new session"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    name: str
    unit: str
    allowed: float
    used: float
    reserved: float = 0.0

    @property
    def left(self) -> float:
        return self.allowed - self.used - self.reserved


class Meter:
    """Counts for one session. May be used by many threads at once."""

    def __init__(self, limits: ChatLimits, prices: ChatPrices | None) -> None:
        if limits.usd is not None and prices is None:
            raise InvalidSettings(
                "a limit in dollars needs to know what tokens cost",
                hint="set usd_per_million_input and usd_per_million_output, or leave the limit out",
            )
        self._limits = limits
        self._prices = prices
        self._lock = threading.Lock()
        self._told = ChatUsage()
        self._untold = Tokens(read=0, written=0)
        self._reserved = 0

    @property
    def usage(self) -> ChatUsage:
        """Return what was used so far, as far as it was told."""
        with self._lock:
            told, is_known = self._told, self._untold == Tokens(read=0, written=0)
        cost = self._cost(told.input_tokens, told.output_tokens) if is_known else None
        return ChatUsage(
            requests=told.requests,
            input_tokens=told.input_tokens,
            output_tokens=told.output_tokens,
            cost_usd=cost,
        )

    def let_in(self, max_tokens: int) -> int:
        """Count a request and return how much it may write, or raise `LimitReached`."""
        with self._lock:
            allowed = max_tokens
            for limit in self._set_limits():
                room = self._tokens_in(limit)
                if room < 1:
                    raise _reached(limit)
                allowed = int(min(allowed, room))
            self._reserved += allowed
            self._told = _add(self._told, requests=1)
            return allowed

    def settle(self, allowed: int, *, tokens: Tokens | None, most: Tokens) -> ChatUsage:
        """Note what a request has used: what its model told, otherwise the most it can be."""
        with self._lock:
            self._reserved -= allowed
            if tokens is None:
                self._untold = Tokens(
                    read=self._untold.read + most.read, written=self._untold.written + most.written
                )
                return ChatUsage(requests=1)
            self._told = _add(self._told, read=tokens.read, written=tokens.written)
        return ChatUsage(
            requests=1,
            input_tokens=tokens.read,
            output_tokens=tokens.written,
            cost_usd=self._cost(tokens.read, tokens.written),
        )

    def _set_limits(self) -> list[_Limit]:
        """Return the limits that were set, with what is used of each."""
        read = self._told.input_tokens + self._untold.read
        written = self._told.output_tokens + self._untold.written
        price = self._prices.usd_per_million_output / _MILLION if self._prices else 0.0
        limits = self._limits
        rows = (
            ("requests", "requests", limits.requests, self._told.requests, 0.0),
            ("input_tokens", "tokens read", limits.input_tokens, read, 0.0),
            ("output_tokens", "tokens written", limits.output_tokens, written, self._reserved),
            ("tokens", "tokens", limits.tokens, read + written, self._reserved),
            ("usd", "US dollars", limits.usd, self._cost(read, written), self._reserved * price),
        )
        return [
            _Limit(name=name, unit=unit, allowed=allowed, used=used or 0.0, reserved=reserved)
            for name, unit, allowed, used, reserved in rows
            if allowed is not None
        ]

    def _tokens_in(self, limit: _Limit) -> float:
        """Return how many tokens may still be written under a limit."""
        if limit.left <= 0:
            return 0.0
        if limit.name in {"requests", "input_tokens"}:
            return float("inf")
        if limit.name != "usd":
            return limit.left
        price = self._prices.usd_per_million_output if self._prices else 0.0
        return limit.left * _MILLION / price if price else float("inf")

    def _cost(self, read: int, written: int) -> float | None:
        if self._prices is None:
            return None
        spent = read * self._prices.usd_per_million_input
        spent += written * self._prices.usd_per_million_output
        return spent / _MILLION


def _reached(limit: _Limit) -> LimitReached:
    return LimitReached(
        f"this session has used {limit.used:g} of {limit.allowed:g} {limit.unit}",
        hint=_HINT,
        limit=limit.name,
        used=limit.used,
        allowed=limit.allowed,
    )


def _add(usage: ChatUsage, *, requests: int = 0, read: int = 0, written: int = 0) -> ChatUsage:
    return ChatUsage(
        requests=usage.requests + requests,
        input_tokens=usage.input_tokens + read,
        output_tokens=usage.output_tokens + written,
    )
