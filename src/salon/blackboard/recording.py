"""Model answers, recorded with the turn, and said again when it is replayed.

An answer is found by the digest of what was asked. A replay that asks something else gets an
error, never another answer; a failure of the model is recorded and fails again.
"""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from salon.core import errors
from salon.core.canonical import canonical_json
from salon.core.chat import ChatAnswer, ChatModel, ChatRequest, ChatUsage
from salon.core.errors import IntegrityFailed, InvalidDocument, SalonError
from salon.core.hashing import content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model answered to one request, or how it failed: the code and words of the error."""

    answer: ChatAnswer | None = None
    failure: tuple[str, str] | None = None


ModelRecord = dict[str, tuple[Said, ...]]
"""By the digest of the request; the same request may have been asked several times."""
_RECORD: TypeAdapter[ModelRecord] = TypeAdapter(ModelRecord)


def request_digest(request: ChatRequest) -> str:
    """Return what names a request: the digest of all it holds."""
    return content_hash(canonical_json(asdict(request)))


class RecordingChat:
    """A chat model whose answers are kept, until the turn is over."""

    def __init__(self, chat: ChatModel) -> None:
        self.address = chat.address
        self._chat = chat
        self._said: dict[str, list[Said]] = {}
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the model's answer, and keep it."""
        try:
            answer = self._chat.complete(request)
        except SalonError as error:
            self._keep(request, Said(failure=(error.code, error.message)))
            raise
        self._keep(request, Said(answer=answer))
        return answer

    def stream(self, request: ChatRequest) -> Iterator[str]:
        """Walk the model's answer, and keep it when it is whole."""
        pieces: list[str] = []
        try:
            for piece in self._chat.stream(request):
                pieces.append(piece)
                yield piece
        except SalonError as error:
            self._keep(request, Said(failure=(error.code, error.message)))
            raise
        whole = ChatAnswer(text="".join(pieces), model=self.address, usage=ChatUsage())
        self._keep(request, Said(answer=whole))

    @property
    def usage(self) -> ChatUsage:
        """Return what all calls through the model have used so far."""
        return self._chat.usage

    def close(self) -> None:
        """Leave the model open: it belongs to whoever made it."""

    def record(self) -> ModelRecord:
        """Return what was said so far."""
        with self._lock:
            return {digest: tuple(said) for digest, said in sorted(self._said.items())}

    def _keep(self, request: ChatRequest, said: Said) -> None:
        with self._lock:
            self._said.setdefault(request_digest(request), []).append(said)


class ReplayedChat:
    """A chat model that says again what a record holds, and nothing else."""

    def __init__(self, address: str, record: ModelRecord) -> None:
        self.address = address
        self._left = {digest: list(said) for digest, said in record.items()}
        self._lock = threading.Lock()
        self._usage = ChatUsage()

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Return the recorded answer, or fail as it was recorded, or raise `IntegrityFailed`."""
        digest = request_digest(request)
        with self._lock:
            left = self._left.get(digest)
            said = left.pop(0) if left else None
        if said is None:
            raise IntegrityFailed(
                f"the record holds no answer to request {digest[:16]}…",
                hint="the steps ask something else than they did in this turn",
            )
        if said.failure is not None:
            raise _failure(*said.failure)
        assert said.answer is not None
        self._usage = replace(self._usage, requests=self._usage.requests + 1)
        return said.answer

    def stream(self, request: ChatRequest) -> Iterator[str]:
        """Walk the recorded answer in one piece."""
        yield self.complete(request).text

    @property
    def usage(self) -> ChatUsage:
        """Return how often the record was asked."""
        return self._usage

    def close(self) -> None:
        """Hold nothing."""


def as_model_record(record: ModelRecord) -> dict[str, Any]:
    """Return a record as plain data."""
    found: dict[str, Any] = _RECORD.dump_python(record, mode="json")
    return found


def read_model_record(found: Mapping[str, object]) -> ModelRecord:
    """Read a record from plain data, or raise `InvalidDocument`."""
    try:
        return _RECORD.validate_python(found)
    except ValidationError as error:
        raise InvalidDocument(f"the model's answers cannot be read: {error}") from error


def _failure(code: str, message: str) -> SalonError:
    kinds = {
        kind.code: kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, SalonError)
    }
    return kinds.get(code, SalonError)(message)
