"""The way to Qdrant: a server by its address, or a folder in the local mode of the client.

The client is safe to share between threads with a server behind it, and is locked in local mode.
Invariant: no message from here holds an API key.
"""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from salon.core.errors import InvalidSettings, ProviderFailed, StorageFailed
from salon.providers.vectors.one_process import OneProcess

T = TypeVar("T")

TIMEOUT_S = 60


class QdrantLink:
    """A client and what its failures mean."""

    def __init__(
        self,
        client: QdrantClient,
        *,
        place: str,
        lock: AbstractContextManager[object],
        release: Callable[[], None],
        is_local: bool,
    ) -> None:
        self.place = place
        self.is_local = is_local
        self._client = client
        self._lock = lock
        self._release: Callable[[], None] | None = release

    def run(self, work: Callable[[QdrantClient], T]) -> T:
        """Return what `work` makes of the client."""
        if self._release is None:
            raise ProviderFailed(f"{self.place} is closed")
        try:
            with self._lock:
                return work(self._client)
        except UnexpectedResponse as error:
            denied = error.status_code in {401, 403}
            raise ProviderFailed(
                f"{self.place} answered {error.status_code}: {_said(error)}",
                hint="set QDRANT_API_KEY to a key that may write" if denied else None,
            ) from error
        except (ApiException, QdrantException) as error:
            raise ProviderFailed(
                f"no answer from {self.place}: {error}", hint="is the server running?"
            ) from error
        except sqlite3.Error as error:
            raise StorageFailed(f"{self.place} failed: {error}") from error
        except ValueError as error:
            if not _is_missing(error):
                raise
            raise ProviderFailed(f"{self.place}: {error}") from error

    def close(self) -> None:
        """Let go of the client."""
        release, self._release = self._release, None
        if release is not None:
            release()


def link_to_server(url: str, *, api_key: str | None = None) -> QdrantLink:
    """Return a link to the server at `http(s)://host:port`, which also may hold the key."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidSettings(
            "this is not an address of a Qdrant server", hint="qdrant:http://localhost:6333"
        )
    key = unquote(parts.password or "") or api_key
    # Given as a header because as a key it makes the client warn of any server without TLS, also
    # where the two share a machine.
    client = QdrantClient(
        url=parts._replace(netloc=_without_key(parts), query="", fragment="").geturl(),
        headers={"api-key": key} if key else None,
        timeout=TIMEOUT_S,
        check_compatibility=False,
    )
    return QdrantLink(
        client,
        place=f"Qdrant at {parts.scheme}://{_without_key(parts)}",
        lock=nullcontext(),
        release=client.close,
        is_local=False,
    )


def link_to_folder(folder: Path) -> QdrantLink:
    """Return a link to the collections in a folder of this machine."""
    client, lock = _FOLDERS.take(folder)
    return QdrantLink(
        client,
        place=f"Qdrant in {folder}",
        lock=lock,
        release=lambda: _FOLDERS.give_back(folder),
        is_local=True,
    )


def is_missing(error: ProviderFailed) -> bool:
    """Tell whether what failed is that the collection is not there."""
    cause = error.__cause__
    if isinstance(cause, UnexpectedResponse):
        return cause.status_code == 404
    return isinstance(cause, ValueError) and _is_missing(cause)


def _is_missing(error: ValueError) -> bool:
    return str(error).startswith("Collection ") and str(error).endswith(" not found")


def _open_folder(folder: Path) -> tuple[QdrantClient, threading.RLock]:
    # Threads take turns by the lock.
    client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    return client, threading.RLock()


_FOLDERS = OneProcess(open_engine=_open_folder, close=lambda engine: engine[0].close())


def _without_key(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _said(error: UnexpectedResponse) -> str:
    try:
        return str(error.structured()["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return error.reason_phrase or "nothing more"
