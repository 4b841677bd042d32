"""Keeps keys out of the logs of the HTTP library, which at debug level repeats what servers send.

Requests are logged without their headers there, but a server can send a key back in its own.
"""

import logging
import threading
from collections import Counter

from salon.providers.chat.failures import without_secret

_LOGGER = logging.getLogger("httpcore2.http11")


class _Masking(logging.Filter):
    """Masks the keys of all models that are open."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._secrets: Counter[str] = Counter()

    def add(self, secret: str) -> None:
        with self._lock:
            self._secrets[secret] += 1
            if self not in _LOGGER.filters:
                _LOGGER.addFilter(self)

    def remove(self, secret: str) -> None:
        with self._lock:
            self._secrets -= Counter([secret])
            if not self._secrets:
                _LOGGER.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        masked = message
        for secret in list(self._secrets):
            masked = without_secret(masked, secret)
        if masked != message:
            record.msg, record.args = masked, ()
        return True


_masking = _Masking()
mask = _masking.add
unmask = _masking.remove
