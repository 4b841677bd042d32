"""Mail that is not sent but written: drafts as `.eml` files that a mail program opens and sends."""

from collections.abc import Callable
from email.headerregistry import Address
from pathlib import Path

from salon.core.errors import InvalidInput
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt, Refused
from salon.gate.means import MailMessage
from salon.providers.mail.message import message_bytes
from salon.providers.writing_once import write_once


class EmlFolder:
    """A folder of drafts, one file each."""

    is_idempotent = True

    def __init__(self, folder: Path, *, sender: Address | None) -> None:
        self._folder = folder
        self._sender = sender

    def send(self, message: MailMessage, commit: Callable[[], None]) -> Ended:
        """Write the draft; one that is there already is the one meant."""
        try:
            content = message_bytes(message, self._sender, is_draft=True)
        except InvalidInput as error:
            return Refused(reason=error.message)
        path = self._path(message.message_id)
        commit()
        try:
            write_once(path, content)
        except OSError as error:
            return NotNow(reason=f"the file cannot be written: {error.strerror}")
        return Done(receipt=_receipt(path))

    def look(self, message_id: str) -> Looked:
        """Tell whether the file is there."""
        path = self._path(message_id)
        return Done(receipt=_receipt(path)) if path.exists() else NotDone()

    def _path(self, message_id: str) -> Path:
        return self._folder / f"{message_id}.eml"


def _receipt(path: Path) -> Receipt:
    text = f"the draft is in {path}; open it with your mail program to send it."
    return Receipt(text=text, reference=str(path))
