"""A real CalDAV server (Radicale) in a process of its own, with one empty calendar."""

import base64
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, Popen

USER, PASSWORD = "meg", "a-secret"


@contextmanager
def calendar_server(folder: Path) -> Iterator[str]:
    """Run the server and return the address of its calendar."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
    port = free_port()
    options = {
        "server-hosts": f"127.0.0.1:{port}",
        "auth-type": "htpasswd",
        "auth-htpasswd-filename": str(folder / "users"),
        "auth-htpasswd-encryption": "plain",
        "storage-filesystem-folder": str(folder / "collections"),
        "auth-delay": "0",
        "logging-level": "critical",
    }
    command = [sys.executable, "-m", "radicale", "--config", ""]
    command += [f"--{name}={value}" for name, value in options.items()]
    with Popen(command, stdout=DEVNULL, stderr=DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}/{USER}/work/"
            _make_calendar(url, process)
            yield url
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def events(folder: Path) -> list[str]:
    """Return what the server keeps: one text for each event."""
    place = folder / "collections" / "collection-root" / USER / "work"
    return [path.read_text("utf-8") for path in sorted(place.glob("*.ics"))]


def _make_calendar(url: str, process: "Popen[bytes]") -> None:
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    request = urllib.request.Request(
        url, method="MKCALENDAR", headers={"Authorization": f"Basic {login}"}
    )
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError("the calendar server did not start")
        try:
            urllib.request.urlopen(request, timeout=10).close()
            return
        except urllib.error.HTTPError:
            raise
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)  # until it listens
    raise RuntimeError("the calendar server does not listen")
