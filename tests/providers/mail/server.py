"""A real SMTP server (`aiosmtpd`) that keeps every mail it takes as a file.

`python -m tests.providers.mail.server FOLDER` runs it in a process of its own and prints its port.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from aiosmtpd.controller import UnthreadedController
from aiosmtpd.smtp import Envelope


class Keeper:
    """Writes each mail to a file, then says 250."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:  # noqa: N802 - its name
        content = envelope.content
        assert isinstance(content, bytes)
        (self._folder / f"{time.time_ns()}.eml").write_bytes(content)
        return "250 kept"


def taken(folder: Path) -> list[Message]:
    """Return the mails that a server has taken, in their order."""
    return [message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*.eml"))]


@contextmanager
def mail_server(folder: Path) -> Iterator[int]:
    """Run the server in a process of its own and return its port."""
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.providers.mail.server", str(folder)]
    with Popen(command, stdout=PIPE, cwd=root, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def main() -> None:
    import asyncio

    async def serve() -> None:
        controller = UnthreadedController(
            Keeper(Path(sys.argv[1])), hostname="127.0.0.1", port=0, loop=asyncio.get_running_loop()
        )
        server = await controller._create_server()
        assert isinstance(server, asyncio.Server)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
