"""Mail: where it is handed over, each way made from an address `kind:place`."""

from salon.providers.mail.opening import MailOptions, open_mail

__all__ = ["MailOptions", "open_mail"]
