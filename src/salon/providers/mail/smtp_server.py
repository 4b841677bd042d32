"""Mail over SMTP. Needs the extra `actions`.

SMTP cannot be asked afterwards whether it took a mail. So the commit comes as late as it can: the
whole mail is on its way except for the final dot, which alone makes the server accept it. Until
then a broken connection means that nothing was sent. Between the dot and the server's answer
nobody can know; that end is reported as unclear, and every try carries the same Message-ID.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.headerregistry import Address
from typing import TYPE_CHECKING, Literal

from salon.core.errors import InvalidInput, InvalidSettings, UnknownProvider
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt, Refused, Unclear
from salon.gate.means import MailMessage
from salon.providers.mail.message import message_bytes, message_id

if TYPE_CHECKING:
    from aiosmtplib import SMTP

Tls = Literal["auto", "starttls", "tls", "none"]
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_TLS_PORT = 465
_START_INPUT, _COMPLETED, _PERMANENT = 354, 250, 500
_LONGEST_REASON = 200
_TURNS_TO_CLOSE = 3
_LEADING_DOT = re.compile(rb"^\.", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpOptions:
    """Where mail is handed over, and as whom.

    `tls`: `auto` encrypts from the start on port 465, demands STARTTLS elsewhere, and does neither
    on this machine. `resends` lets a mail of unclear end be sent again under the same Message-ID.
    """

    host: str
    port: int
    sender: Address
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Tls = "auto"
    timeout_s: float = 30.0
    ca_file: str | None = None
    resends: bool = False

    @property
    def is_local(self) -> bool:
        """Tell whether the server is this machine."""
        return self.host in _LOCAL

    @property
    def encryption(self) -> Literal["starttls", "tls", "none"]:
        """What `tls` comes down to."""
        if self.tls != "auto":
            return self.tls
        if self.port == _TLS_PORT:
            return "tls"
        return "none" if self.is_local else "starttls"


class SmtpServer:
    """A mail server that takes mail for others."""

    def __init__(self, options: SmtpOptions) -> None:
        if options.password and options.encryption == "none" and not options.is_local:
            raise InvalidSettings(
                "a password would travel in the clear", hint="set actions.mail_tls to starttls"
            )
        self._options = options

    @property
    def is_idempotent(self) -> bool:
        """Tell whether a mail of unclear end is sent again; receivers then see one Message-ID."""
        return self._options.resends

    def send(self, message: MailMessage, commit: Callable[[], None]) -> Ended:
        """Send a mail."""
        try:
            content = message_bytes(message, self._options.sender)
        except InvalidInput as error:
            return Refused(reason=error.message)
        try:
            return asyncio.run(self._send(message, content, commit))
        except ImportError as error:
            raise UnknownProvider(
                "SMTP needs an extra", hint="pip install 'salon[actions]'"
            ) from error

    def look(self, _message_id: str) -> Looked:
        """Say that nobody can tell, unless sending again is what was chosen."""
        if self._options.resends:
            return NotDone()
        return Unclear(reason="a mail server cannot be asked what it has taken")

    async def _send(
        self, message: MailMessage, content: bytes, commit: Callable[[], None]
    ) -> Ended:
        import aiosmtplib

        client = self._client()
        has_committed = False
        try:
            await client.connect()
            await client.mail(self._options.sender.addr_spec)
            await client.rcpt(message.to_address)
            started = await client.execute_command(b"DATA")
            if started.code != _START_INPUT:
                return _refused(started.code, started.message)
            _write(client, content)
            commit()
            has_committed = True
            ended = await client.execute_command(b".")
        except aiosmtplib.SMTPResponseException as error:
            if has_committed:
                return Unclear(reason=f"the mail server broke off with {error.code}")
            return _refused(error.code, error.message)
        except (aiosmtplib.SMTPException, OSError) as error:
            return _broken(error, has_committed=has_committed)
        finally:
            await _hang_up(client)
        if ended.code != _COMPLETED:
            return _refused(ended.code, ended.message)
        name = message_id(message, self._options.sender)
        return Done(receipt=Receipt(text=f"sent to {message.to_address}.", reference=name))

    def _client(self) -> "SMTP":
        from aiosmtplib import SMTP

        options = self._options
        return SMTP(
            hostname=options.host,
            port=options.port,
            username=options.user,
            password=options.password,
            timeout=options.timeout_s,
            use_tls=options.encryption == "tls",
            start_tls=options.encryption == "starttls",
            cert_bundle=options.ca_file,
        )


async def _hang_up(client: "SMTP") -> None:
    """Close the connection and its socket before the loop ends.

    A polite end of TLS waits for the other side, and a closed transport lets go of its socket only
    in a later turn of the loop. Whatever mattered has been answered by now, or never will be.
    """
    if isinstance(client.transport, asyncio.WriteTransport):
        client.transport.abort()
    client.close()
    for _ in range(_TURNS_TO_CLOSE):
        await asyncio.sleep(0)


def _write(client: "SMTP", content: bytes) -> None:
    """Write everything but the final dot; lines that begin with one get another."""
    assert client.protocol is not None  # it has just answered
    client.protocol.write(_LEADING_DOT.sub(b"..", content))


def _refused(code: int, said: str) -> Ended:
    reason = f"the mail server said {code} {' '.join(said.split())}"[:_LONGEST_REASON]
    return Refused(reason=reason) if code >= _PERMANENT else NotNow(reason=reason)


def _broken(error: Exception, *, has_committed: bool) -> Ended:
    kind = type(error).__name__
    if has_committed:
        return Unclear(reason=f"the mail was handed over, but no answer came ({kind})")
    return NotNow(reason=f"the mail server cannot be reached ({kind})")
