"""The two actions that come with Salon: book a call, send a mail."""

from collections.abc import Callable
from datetime import timedelta

from salon.core.clock import instant, parse_instant
from salon.gate import fields
from salon.gate.actions import (
    Action,
    Arguments,
    Executor,
    Field,
    Problem,
    Reading,
    Situation,
    Suggestions,
)
from salon.gate.ends import Ended, Looked
from salon.gate.means import Calendar, CalendarEvent, Mail, MailMessage, Means
from salon.gate.orders import Order
from salon.gate.time_answers import read_time, spell_time
from salon.gate.topics import find_letter, topic_of

REMINDER_MINUTES = 15
MINUTES = "30"
UID_CHARACTERS = 40


def event_uid(order: Order) -> str:
    """Return the name of an order's event at the server: the same at every try."""
    return f"salon-{order.key[:UID_CHARACTERS]}"


class CalendarExecutor:
    """Writes the event of an order; the server takes an event of one uid only once."""

    is_idempotent = True
    commits_late = False

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar

    def execute(self, order: Order, _commit: Callable[[], None]) -> Ended:
        """Write the event."""
        start = parse_instant(order.arguments["start"])
        return self._calendar.add(
            CalendarEvent(
                uid=event_uid(order),
                title=order.arguments["title"],
                start=start,
                end=start + timedelta(minutes=int(order.arguments["minutes"])),
                description=_about(order.arguments),
                reminder_minutes=REMINDER_MINUTES,
                stamped_at=parse_instant(order.approved_at),
            )
        )

    def look(self, order: Order) -> Looked:
        """Ask for the event by its uid."""
        return self._calendar.look(event_uid(order))


class MailExecutor:
    """Sends the mail of an order. SMTP cannot be asked, so it commits as late as it can."""

    commits_late = True

    def __init__(self, mail: Mail) -> None:
        self._mail = mail

    @property
    def is_idempotent(self) -> bool:
        """Tell whether the mail may be sent again when nobody knows whether it was."""
        return self._mail.is_idempotent

    def execute(self, order: Order, commit: Callable[[], None]) -> Ended:
        """Send the mail."""
        return self._mail.send(
            MailMessage(
                message_id=event_uid(order),
                to_name=order.arguments["employee_name"],
                to_address=order.arguments["employee_email"],
                subject=order.arguments["subject"],
                body=order.arguments["body"],
                dated=parse_instant(order.approved_at),
            ),
            commit,
        )

    def look(self, order: Order) -> Looked:
        """Ask whether the mail was handed over, where that can be asked."""
        return self._mail.look(event_uid(order))


def check_start(text: str, reading: Reading) -> str | Problem:
    """Take an instant, or a time as people write it."""
    try:
        moment = parse_instant(text) if "T" in text and text.endswith("Z") else None
    except ValueError:
        moment = None
    found = moment or read_time(text, reading, offered=(), minutes=int(MINUTES))
    if found is None or isinstance(found, Problem):
        return found or Problem("I did not understand that time; an example is 2026-11-20 15:00.")
    return instant(found)


def _about(arguments: Arguments) -> str:
    phone = arguments.get("employee_phone")
    return f"Call with {arguments['employee_name']}" + (f", {phone}" if phone else "")


def _describe_call(arguments: Arguments, reading: Reading) -> str:
    when = spell_time(parse_instant(arguments["start"]), reading)
    lines = [
        f"Title: {arguments['title']}",
        f"With: {arguments['employee_name']}",
        f"Time: {when}, {arguments['minutes']} minutes",
        f"Reminder: {REMINDER_MINUTES} minutes before",
    ]
    if phone := arguments.get("employee_phone"):
        lines.insert(2, f"Phone: {phone}")
    return "\n".join(lines)


def _describe_mail(arguments: Arguments, _: Reading) -> str:
    return "\n".join(
        (
            f"To: {arguments['employee_name']} <{arguments['employee_email']}>",
            f"Subject: {arguments['subject']}",
            "",
            arguments["body"],
        )
    )


def _begin_call(situation: Situation) -> Arguments:
    return {"title": f"Call: {topic_of(situation.said).title}", "minutes": MINUTES}


def _begin_mail(situation: Situation) -> Arguments:
    topic = topic_of(situation.said)
    return {"subject": topic.title, "body": topic.body} | find_letter(situation.reply)


def _suggest_name(situation: Situation) -> Suggestions:
    return {_NAME.name: situation.names}


def _calendar_executor(means: Means) -> Executor:
    return CalendarExecutor(means.calendar)


def _mail_executor(means: Means) -> Executor:
    return MailExecutor(means.mail)


_NAME = Field(
    name="employee_name",
    label="Name",
    question="Who is it for? Please give the name.",
    check=fields.check_name,
    aliases=("employee", "person", "who", "with", "recipient", "employee name", "first name"),
    guess="Is it for {}? Say yes, or give the name.",
)

CALENDAR = Action(
    name="calendar",
    title="schedule a call",
    offer="Would you like me to schedule that call?",
    time_field="start",
    fields=(
        Field(
            name="start",
            label="Time",
            question="When shall the call be?",
            check=check_start,
            aliases=("date", "day", "when", "slot"),
        ),
        _NAME,
        Field(
            name="employee_phone",
            label="Phone",
            question="Under which phone number? Say skip to leave it out.",
            check=fields.check_phone,
            is_required=False,
            aliases=("number", "phone number", "cell"),
        ),
        Field(
            name="title",
            label="Title",
            question="What shall the event be called?",
            check=fields.check_line,
            aliases=("topic", "subject"),
        ),
        Field(
            name="minutes",
            label="Length",
            question="How many minutes?",
            check=fields.check_minutes,
            aliases=("duration",),
        ),
    ),
    describe=_describe_call,
    executor=_calendar_executor,
    begin=_begin_call,
    suggest=_suggest_name,
    priority=20,
)

EMAIL = Action(
    name="email",
    title="draft an email",
    offer="Would you like me to draft an email?",
    text_field="body",
    fields=(
        _NAME,
        Field(
            name="employee_email",
            label="Email",
            question="To which email address?",
            check=fields.check_email,
            aliases=("address", "email address", "to", "mail"),
        ),
        Field(
            name="subject",
            label="Subject",
            question="What shall the subject be?",
            check=fields.check_line,
            aliases=("title", "subject line"),
        ),
        Field(
            name="body",
            label="Text",
            question="What shall the mail say?",
            check=fields.check_body,
            aliases=("message", "content", "body text"),
        ),
    ),
    describe=_describe_mail,
    executor=_mail_executor,
    begin=_begin_mail,
    suggest=_suggest_name,
    priority=10,
)
"""Email goes before the calendar where a reply speaks of both."""
