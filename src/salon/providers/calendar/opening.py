"""From an address in the settings to a calendar: `ics:FOLDER` or `caldav:URL`."""

from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

from salon.core.errors import UnknownProvider
from salon.gate.means import Calendar


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarOptions:
    """What a calendar needs besides its address."""

    zone: ZoneInfo
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0
    ca_file: str | None = None


def open_calendar(address: str, options: CalendarOptions) -> Calendar:
    """Return the calendar that an address names, or raise `UnknownProvider`."""
    kind, _, place = address.partition(":")
    if kind == "ics" and place:
        from salon.providers.calendar.ics_files import IcsFolder

        return IcsFolder(Path(place).expanduser(), zone=options.zone)
    if kind == "caldav" and place:
        from salon.providers.calendar.caldav_server import CaldavCalendar, CaldavOptions

        return CaldavCalendar(
            CaldavOptions(
                url=place,
                user=options.user,
                password=options.password,
                timeout_s=options.timeout_s,
                ca_file=options.ca_file,
            ),
            zone=options.zone,
        )
    raise UnknownProvider(
        f"there is no calendar {kind!r}", hint="give `ics:FOLDER` or `caldav:URL`"
    )
