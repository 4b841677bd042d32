"""Calendars: where events are read and written, each made from an address `kind:place`."""

from salon.providers.calendar.opening import CalendarOptions, open_calendar

__all__ = ["CalendarOptions", "open_calendar"]
