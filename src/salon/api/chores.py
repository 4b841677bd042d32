"""What a server does beside answering: chores that come round again, such as the outbox.

A chore that fails is logged and comes round again; it never takes the server down.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.to_thread

from salon.core.errors import SalonError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """Work that is done every so many seconds, in a thread of its own."""

    name: str
    work: Callable[[], object]
    seconds: float = 5.0


async def come_round(chore: Chore) -> None:
    """Do a chore again and again, until cancelled."""
    while True:
        try:
            await anyio.to_thread.run_sync(chore.work)
        except SalonError as error:
            log.warning("%s failed: %s", chore.name, error)
        except Exception:  # a defect of one chore ends neither the others nor the server
            log.exception("defect in %s", chore.name)
        await anyio.sleep(chore.seconds)
