"""A worker whose plain-text reader does what the text says: the worst parsers imaginable.

Only a test that names this module gets it; the real worker has no such reader.
"""

import faulthandler
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from salon.corpus.layout import LayoutBuilder, ReadText
from salon.corpus.readers import SourceHints, plain, worker


def _allocate() -> None:
    held = []
    while True:
        held.append(bytearray(64 << 20))


def _loop() -> None:
    while True:
        pass


def _sleep() -> None:
    time.sleep(600)


def _crash() -> None:
    faulthandler._sigsegv()  # type: ignore[attr-defined]


def _print() -> None:
    os.write(1, b"noise" * 1000)
    os.write(2, b"noise" * 1000)


def _write_file() -> None:
    with Path("/tmp/salon-hostile-reader").open("w") as file:
        file.write("more than nothing")


def _connect() -> None:
    socket.create_connection(("127.0.0.1", 9))


def _show_secrets() -> None:
    raise RuntimeError(f"environment: {sorted(os.environ)}")


def _fork() -> None:
    os.fork()


def _garbage() -> None:
    for fd in range(3, 16):
        try:
            os.write(fd, b"\xff" * 100)
        except OSError:
            continue
    os._exit(0)


ACTS: dict[str, Callable[[], None]] = {
    name: act
    for name, act in globals().items()
    if name.startswith("_") and callable(act) and name != "_"
}
_REMEMBERED: list[str] = []


def read(content: bytes, hints: SourceHints) -> ReadText:
    act = content.decode().strip()
    if act == "remember":
        _REMEMBERED.append("x")
        return _text(f"files seen by this process: {len(_REMEMBERED)}")
    if act == "flood":
        return _text("x" * 30_000_000)
    ACTS["_" + act]()
    return _text(f"survived {act}")


def _text(text: str) -> ReadText:
    builder = LayoutBuilder()
    builder.add(text, section="paragraph 1")
    return builder.build(media_type="text/plain")


if __name__ == "__main__":
    plain.read = read
    sys.argv[0] = "hostile"
    worker.main()
