"""The scripted model: says what a script says. For tests, demonstrations and documentation.

A script is a list of lines. A line with `when` is said each time the last message holds these
words; the others are said in turn, once each. A script that has ended fails like a server would,
so a test sees when it asks more often than it meant to.
"""

import re
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from salon.core.chat import ChatRequest
from salon.core.errors import FileMissing, InvalidSettings, ProviderFailed
from salon.providers.chat.backend import Tokens, Written
from salon.providers.chat.metered import MeteredChat
from salon.providers.chat.options import ChatOptions

_DEFAULTS = ChatOptions()
_MOST_BYTES = 10_000_000
_PIECE = re.compile(r"\s*\S+\s*$|\s*\S+")


class ScriptLine(BaseModel):
    """What is said whenever the last message holds `when`, in any case of letters."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    when: str = Field(min_length=1)
    say: str


Line: TypeAlias = str | ScriptLine | Exception | Callable[[ChatRequest], str]
_FILE: TypeAdapter[list[str | ScriptLine]] = TypeAdapter(list[str | ScriptLine])


class _Script:
    """The backend: the lines, how far they were said, and what was asked."""

    def __init__(self, address: str, lines: Sequence[Line]) -> None:
        self.address = address
        self.asked: list[ChatRequest] = []
        self._always = [line for line in lines if isinstance(line, ScriptLine)]
        self._in_turn = iter([line for line in lines if not isinstance(line, ScriptLine)])
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> Written:
        """Return what the script says now."""
        text = self._say(request)
        if not text.strip():
            raise ProviderFailed(f"{self.address} answered with nothing")
        read = sum(len(message.content.split()) for message in request.messages)
        tokens = Tokens(read=read, written=len(text.split()))
        return Written(text=text, model=self.address.partition(":")[2], tokens=tokens)

    def stream(self, request: ChatRequest) -> Generator[str, None, Written]:
        """Walk the same word by word."""
        written = self.complete(request)
        for found in _PIECE.finditer(written.text):
            yield found[0]
        return written

    def close(self) -> None:
        """Hold nothing."""

    def _say(self, request: ChatRequest) -> str:
        last = request.messages[-1].content.casefold()
        with self._lock:
            self.asked.append(request)
            for line in self._always:
                if line.when.casefold() in last:
                    return line.say
            said = next(self._in_turn, None)
        if said is None:
            raise ProviderFailed(
                f"{self.address} has nothing more to say", hint="give the script more lines"
            )
        if isinstance(said, Exception):
            raise said
        assert not isinstance(said, ScriptLine)
        return said if isinstance(said, str) else said(request)


class ScriptedChat(MeteredChat):
    """A chat model that follows a script, for example `ScriptedChat(["Yes.", "No."])`.

    In code a line may also be an exception, which is raised, or a function of the request. A token
    is a word.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        options: ChatOptions = _DEFAULTS,
        *,
        address: str = "scripted:code",
    ) -> None:
        self._script = _Script(address, lines)
        super().__init__(self._script, options)

    @property
    def asked(self) -> list[ChatRequest]:
        """Everything that was asked, the oldest first."""
        return self._script.asked


def open_scripted(name: str, options: ChatOptions) -> ScriptedChat:
    """Return the model that follows the JSON file `name`."""
    path = Path(name).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise FileMissing(f"the script {path} cannot be read: {error.strerror}") from error
    if len(content) > _MOST_BYTES:
        raise InvalidSettings(f"the script {path} has more than {_MOST_BYTES} bytes")
    try:
        lines = _FILE.validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidSettings(
            f"the script {path} is wrong at {place}: {first['msg']}",
            hint='a script is a JSON list of texts and of {"when": "…", "say": "…"}',
        ) from None
    return ScriptedChat(lines, options, address=f"scripted:{name}")
