"""A calendar on a CalDAV server. Needs the extra `actions`.

An event is put under an address made from its uid with `If-None-Match: *`, so the server itself
refuses a second one; before anything is tried again the server is asked for the uid. The password
goes to the address in the settings and nowhere else, and never into a message.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from salon.core.errors import InvalidSettings, ProviderFailed, UnknownProvider
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt, Refused, Unclear
from salon.gate.means import Busy, CalendarEvent
from salon.providers.calendar.busy import busy_in
from salon.providers.calendar.event_text import event_text
from salon.providers.calendar.receipts import receipt_of

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_CREATED = frozenset({200, 201, 204})
_THERE = 412
"""The server's answer to `If-None-Match: *` where the event is there."""
_NOT_NOW = frozenset({423, 425, 429, 503, 507})
_UNCLEAR = frozenset({408, 500, 502, 504})
"""Answers of a server or a gateway that may have done it all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaldavOptions:
    """Where the calendar is, and who asks. `url` is the address of the calendar itself."""

    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0
    ca_file: str | None = None
    """Certificates that are trusted instead of the usual ones."""


class CaldavCalendar:
    """One calendar of a CalDAV server."""

    def __init__(self, options: CaldavOptions, *, zone: ZoneInfo) -> None:
        parts = urlsplit(options.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise InvalidSettings(
                "the address of the calendar must begin with http and hold no password",
                hint="put user and password into settings of their own",
            )
        if parts.scheme == "http" and options.password and parts.hostname not in _LOCAL:
            raise InvalidSettings(
                "a password would travel in the clear", hint="use an https address"
            )
        self._options = options
        self._zone = zone
        self._base = options.url.rstrip("/") + "/"

    def busy(self, start: datetime, end: datetime) -> Sequence[Busy]:
        """Ask the server what is taken."""
        with self._client() as client, _failures():
            calendar = client.calendar(url=self._base)
            found = calendar.search(start=start, end=end, event=True, expand=False)
            texts = [str(one.data) for one in found]
        return busy_in(texts, start, end, self._zone)

    def add(self, event: CalendarEvent) -> Ended:
        """Put the event, unless one with its uid is there."""
        done = Done(receipt=receipt_of(event, self._zone, reference=self._address(event.uid)))
        try:
            with self._client() as client, _failures():
                status = self._put(client, event)
        except ProviderFailed as error:
            return _ended(error)
        if status in _CREATED or status == _THERE:
            return done
        if status in _NOT_NOW:
            return NotNow(reason=f"the calendar server answered {status}")
        if status in _UNCLEAR:
            return Unclear(reason=f"the calendar server answered {status}")
        # Some servers refuse a second event of one uid in words of their own.
        if isinstance(self.look(event.uid), Done):
            return done
        return Refused(reason=f"the calendar server refused it with {status}")

    def look(self, uid: str) -> Looked:
        """Ask the server for an event by its uid."""
        from caldav.lib.error import NotFoundError

        try:
            with self._client() as client, _failures():
                try:
                    client.calendar(url=self._base).get_event_by_uid(uid)
                except NotFoundError:
                    return NotDone()
        except ProviderFailed as error:
            return Unclear(reason=error.message)
        receipt = Receipt(text="the event is in the calendar.", reference=self._address(uid))
        return Done(receipt=receipt)

    def _put(self, client: Any, event: CalendarEvent) -> int:
        headers = {"If-None-Match": "*", "Content-Type": "text/calendar; charset=utf-8"}
        text = event_text(event).decode()
        return int(client.put(self._address(event.uid), text, headers).status)

    def _address(self, uid: str) -> str:
        return f"{self._base}{uid}.ics"

    @contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            from caldav.davclient import DAVClient
        except ImportError as error:
            raise UnknownProvider(
                "CalDAV needs an extra", hint="pip install 'salon[actions]'"
            ) from error
        options = self._options
        arguments: dict[str, Any] = {
            "url": self._base,
            "username": options.user,
            "password": options.password,
            "auth_type": "basic" if options.password else None,
            "timeout": options.timeout_s,
            "ssl_verify_cert": options.ca_file or True,
            "enable_rfc6764": False,
            "rate_limit_handle": False,
        }
        with DAVClient(**arguments) as client:
            yield client


@contextmanager
def _failures() -> Iterator[None]:
    """Turn whatever goes wrong on the way into one error that names no address and no password."""
    from caldav.lib.error import AuthorizationError, DAVError, NotFoundError, RateLimitError
    from niquests.exceptions import RequestException, Timeout

    try:
        yield
    except NotFoundError as error:
        raise ProviderFailed(
            "there is no such calendar on the server", hint="check the address of the calendar"
        ) from error
    except AuthorizationError as error:
        raise ProviderFailed(
            "the calendar server wants another user or password",
            hint="check the settings",
            end="refused",
        ) from error
    except RateLimitError as error:
        raise ProviderFailed("the calendar server is too busy", end="not_now") from error
    except Timeout as error:
        raise ProviderFailed("the calendar server did not answer in time") from error
    except (DAVError, RequestException, OSError) as error:
        kind = type(error).__name__
        end = "not_now" if _never_connected(error) else "unclear"
        raise ProviderFailed(f"the calendar server cannot be used ({kind})", end=end) from error


_NEVER_CONNECTED = frozenset({"NewConnectionError", "NameResolutionError", "ConnectTimeoutError"})


def _never_connected(error: BaseException) -> bool:
    """Tell whether nothing was sent at all; the HTTP library wraps this several times over."""
    inner = [*error.args, getattr(error, "reason", None), error.__cause__, error.__context__]
    return type(error).__name__ in _NEVER_CONNECTED or any(
        _never_connected(one) for one in inner if isinstance(one, BaseException)
    )


def _ended(error: ProviderFailed) -> Ended:
    end = error.details.get("end")
    if end == "refused":
        return Refused(reason=error.message)
    return NotNow(reason=error.message) if end == "not_now" else Unclear(reason=error.message)
