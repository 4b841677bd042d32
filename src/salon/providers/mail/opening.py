"""From an address in the settings to a way of mailing: `eml:FOLDER` or `smtp:HOST:PORT`."""

from dataclasses import dataclass, field
from pathlib import Path

from salon.core.errors import InvalidSettings, UnknownProvider
from salon.gate.means import Mail
from salon.providers.mail.message import as_sender
from salon.providers.mail.smtp_server import SmtpOptions, SmtpServer, Tls

_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class MailOptions:
    """What mailing needs besides its address."""

    sender: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: Tls = "auto"
    timeout_s: float = 30.0
    ca_file: str | None = None
    resends: bool = False


def open_mail(address: str, options: MailOptions) -> Mail:
    """Return the way of mailing that an address names, or raise `UnknownProvider`."""
    kind, _, place = address.partition(":")
    sender = as_sender(options.sender) if options.sender else None
    if kind == "eml" and place:
        from salon.providers.mail.eml_files import EmlFolder

        return EmlFolder(Path(place).expanduser(), sender=sender)
    if kind != "smtp" or not place:
        raise UnknownProvider(
            f"there is no way of mailing {kind!r}", hint="give `eml:FOLDER` or `smtp:HOST:PORT`"
        )
    host, _, port = place.rpartition(":")
    if "@" in place:
        raise InvalidSettings(
            "the address of the mail server must hold no password",
            hint="put user and password into settings of their own",
        )
    if not host or not port.isdigit() or not 0 < int(port) <= _HIGHEST_PORT:
        raise InvalidSettings(
            f"{place!r} is not HOST:PORT", hint="an example is smtp:mx.example.com:587"
        )
    if sender is None:
        raise InvalidSettings("mail needs a sender", hint="set actions.sender to your address")
    return SmtpServer(
        SmtpOptions(
            host=host.strip("[]"),
            port=int(port),
            sender=sender,
            user=options.user,
            password=options.password,
            tls=options.tls,
            timeout_s=options.timeout_s,
            ca_file=options.ca_file,
            resends=options.resends,
        )
    )
