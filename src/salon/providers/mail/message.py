"""A mail as bytes: the same mail gives the same bytes at every try.

Headers are made from checked values; a line break or a control character in one is refused here
once more, so nobody can add a header of their own.
"""

from datetime import UTC
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr

from salon.core.errors import InvalidInput, InvalidSettings
from salon.gate.fields import find_control, is_address
from salon.gate.means import MailMessage

LOCAL_DOMAIN = "localhost"


def as_sender(text: str) -> Address:
    """Return a sender as `jo@example.com` or `Jo Lee <jo@example.com>`, or refuse it."""
    name, address = parseaddr(text)
    if find_control(text) or not is_address(address):
        raise InvalidSettings(
            f"{text!r} is not an address that mail can come from",
            hint="give jo@example.com or Jo Lee <jo@example.com>",
        )
    return Address(display_name=name, addr_spec=address)


def message_id(mail: MailMessage, sender: Address | None) -> str:
    """Return the Message-ID of a mail: the same at every try."""
    return f"<{mail.message_id}@{sender.domain if sender else LOCAL_DOMAIN}>"


def message_bytes(mail: MailMessage, sender: Address | None, *, is_draft: bool = False) -> bytes:
    """Return a mail as it is sent, or raise `InvalidInput`."""
    if not is_address(mail.to_address):
        raise InvalidInput(f"{mail.to_address!r} is not an email address")
    for value in (mail.to_name, mail.subject, mail.message_id):
        if find_control(value):
            raise InvalidInput("a header may not hold a line break or a control character")
    message = EmailMessage(policy=SMTP)
    if sender is not None:
        message["From"] = sender
    message["To"] = Address(display_name=mail.to_name, addr_spec=mail.to_address)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.dated.astimezone(UTC))
    message["Message-ID"] = message_id(mail, sender)
    if is_draft:
        message["X-Unsent"] = "1"  # mail programs then open it as a draft
    message.set_content(mail.body, charset="utf-8", cte="quoted-printable")
    return message.as_bytes()
