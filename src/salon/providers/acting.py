"""With what actions are carried out: calendar, mail and time zone, from the settings or by default.

With nothing set, events and drafts are files in the home, so everything works offline and nothing
leaves the machine.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from salon.core.errors import InvalidInput
from salon.gate.availability import DEFAULT_ZONE, get_zone
from salon.gate.means import Means
from salon.providers.calendar import CalendarOptions, open_calendar
from salon.providers.mail import MailOptions, open_mail
from salon.providers.mail.smtp_server import Tls

MOST_ANSWERS = 15
"""How many answers of a server one attempt waits for, at most."""
_ZONES = "zoneinfo/"


class ActingSettings(Protocol):
    """What can be set about actions."""

    calendar: str | None
    calendar_user: str | None
    calendar_password: SecretStr | None
    mail: str | None
    mail_user: str | None
    mail_password: SecretStr | None
    mail_tls: Tls
    mail_when_unknown: Literal["ask", "resend"]
    sender: str | None
    time_zone: str | None
    timeout_s: float
    ca_file: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingPlan:
    """What actions are carried out with, and the zone in which times are read and shown."""

    zone: ZoneInfo
    means: Means
    longest: timedelta
    """How long one attempt takes at most."""


def make_plan(settings: ActingSettings, *, home: Path) -> ActingPlan:
    """Return what the settings say, or raise `UnknownProvider` or `InvalidSettings`."""
    folder = home / "actions"
    calendar, mail = f"ics:{folder / 'calendar'}", f"eml:{folder / 'mail'}"
    zone = choose_zone(settings.time_zone)
    ca_file = str(settings.ca_file) if settings.ca_file else None
    calendar_options = CalendarOptions(
        zone=zone,
        user=settings.calendar_user,
        password=_plain(settings.calendar_password),
        timeout_s=settings.timeout_s,
        ca_file=ca_file,
    )
    mail_options = MailOptions(
        sender=settings.sender,
        user=settings.mail_user,
        password=_plain(settings.mail_password),
        tls=settings.mail_tls,
        timeout_s=settings.timeout_s,
        ca_file=ca_file,
        resends=settings.mail_when_unknown == "resend",
    )
    return ActingPlan(
        zone=zone,
        longest=timedelta(seconds=MOST_ANSWERS * settings.timeout_s),
        means=Means(
            folder=folder,
            calendar=open_calendar(settings.calendar or calendar, calendar_options),
            mail=open_mail(settings.mail or mail, mail_options),
        ),
    )


def choose_zone(name: str | None) -> ZoneInfo:
    """Return the zone that was set, otherwise the system's, otherwise New York's."""
    if name is not None:
        return get_zone(name)
    return find_system_zone() or get_zone(DEFAULT_ZONE)


def find_system_zone(
    environment: Mapping[str, str] = os.environ, root: Path = Path("/etc")
) -> ZoneInfo | None:
    """Return the zone that the system is set to, `None` where it does not say its name."""
    candidates = [environment.get("TZ", "").lstrip(":")]
    link = root / "localtime"
    if link.is_symlink():
        candidates.append(str(link.readlink()).rpartition(_ZONES)[2])
    written = root / "timezone"
    if written.is_file():
        candidates.append(written.read_text("utf-8").strip())
    for name in candidates:
        if not name or name.startswith("/"):
            continue
        try:
            return get_zone(name)
        except InvalidInput:
            continue
    return None


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None
