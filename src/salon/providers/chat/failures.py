"""What can go wrong with a model server, in Salon's words and without anybody's key.

The libraries' exceptions carry requests, headers and answers with them. Here each becomes a plain
value that holds one short line, and the error that is raised from it has no cause.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.core.errors import ProviderFailed
from salon.providers.chat.bounded_http import AnswerRefusedError

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

_LONGEST = 300
_PIECE = 8
_HINTS = {
    400: "the server does not accept the request; see what it says",
    401: "check the key",
    402: "the account has nothing left; see the provider's billing page",
    403: "check the key and what it is allowed to do",
    404: "check the name of the model, and the URL",
    413: "the request is too long for this model",
    429: "the server has had enough for now; try later",
}
_TRY_AGAIN = frozenset({408, 409, 429})
_CONFUSED = "the server does not do what its interface promises; try another"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no answer. Where it `may_pass`, asking again can help."""

    what: str
    hint: str
    status: int | None = None
    may_pass: bool = False
    retry_after_s: float | None = None
    has_begun: bool = False

    def as_error(self, address: str) -> ProviderFailed:
        """Return the error to raise."""
        details = {} if self.status is None else {"status": self.status}
        return ProviderFailed(f"{address} {self.what}", hint=self.hint, **details)


EMPTY = Failure(
    what="answered with nothing",
    hint="allow more tokens, or try another model",
)
CLOSED = Failure(what="is closed", hint="open the model again")


class Explainer:
    """Turns exceptions of the libraries into failures that never hold the key."""

    def __init__(self, *, secret: str | None, timeout_s: float, hint: str) -> None:
        self._secret = secret
        self._timeout_s = timeout_s
        self._hint = hint

    def explain(self, error: Exception) -> Failure:
        """Return what an exception means."""
        from pydantic_ai import exceptions as known

        if refused := _refused(error):
            return Failure(what=f"answered with {refused}", hint=_CONFUSED)
        if isinstance(error, known.ModelHTTPError):
            is_out_of_money = isinstance(error, known.ModelQuotaExceededError)
            return self._with_status(error, is_out_of_money=is_out_of_money)
        if isinstance(error, known.ModelRequestTimeout) or _is_slow(error):
            return Failure(
                what=f"did not answer within {self._timeout_s:g} s",
                hint="raise the timeout, or use a smaller model",
            )
        if isinstance(error, known.ModelConnectionError):
            return Failure(
                what=f"cannot be reached: {self._line(_root(error))}",
                hint=self._hint,
                may_pass=True,
                retry_after_s=error.retry_after,
            )
        if isinstance(error, known.ContentFilterError):
            return Failure(what="declined to answer", hint="ask in other words")
        if isinstance(error, (known.AgentRunError, known.UserError)):
            return Failure(
                what=f"answered with something unexpected: {self._line(error.message)}",
                hint=_CONFUSED,
            )
        return Failure(
            what=f"answered with something unexpected ({type(error).__name__})", hint=_CONFUSED
        )

    def _with_status(self, error: "ModelHTTPError", *, is_out_of_money: bool) -> Failure:
        status = error.status_code
        said = self._line(_said(error.body))
        return Failure(
            what=f"answered with status {status}{said and f': {said}'}",
            hint=_HINTS[402 if is_out_of_money else status]
            if is_out_of_money or status in _HINTS
            else "see the log of the server",
            status=status,
            may_pass=not is_out_of_money and (status in _TRY_AGAIN or status >= 500),
            retry_after_s=error.retry_after,
        )

    def _line(self, said: object) -> str:
        """Return what somebody said as one short printable line without the key."""
        text = without_secret(" ".join(str(said).split()), self._secret)
        printable = "".join(character if character.isprintable() else "?" for character in text)
        return printable if len(printable) <= _LONGEST else f"{printable[:_LONGEST]}…"


def without_secret(text: str, secret: str | None) -> str:
    """Return a text in which every part of the secret that could be told from chance is masked."""
    if not secret:
        return text
    text = text.replace(secret, "[key]")
    if len(secret) <= _PIECE:
        return text
    pieces = {secret[at : at + _PIECE] for at in range(len(secret) - _PIECE + 1)}
    kept: list[str] = []
    at = masked_to = 0
    while at < len(text):
        if text[at : at + _PIECE] in pieces:
            if at >= masked_to:
                kept.append("[key]")
            masked_to = at + _PIECE
        if at >= masked_to:
            kept.append(text[at])
        at += 1
    return "".join(kept)


def _said(body: object) -> object:
    """Return the part of an error's body that is meant for people."""
    for key in ("error", "message", "detail"):
        if isinstance(body, dict) and key in body:
            body = body[key]
    return "" if body is None else body


def _chain(error: BaseException | None) -> "list[BaseException]":
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _refused(error: Exception) -> str:
    return next((str(part) for part in _chain(error) if isinstance(part, AnswerRefusedError)), "")


def _is_slow(error: Exception) -> bool:
    """Tell a server that takes too long from one that cannot be connected to."""
    from pydantic_ai.exceptions import ModelTimeoutError

    return isinstance(error, ModelTimeoutError) and error.phase not in {"connect", "pool"}


def _root(error: "ModelAPIError") -> str:
    """Return the innermost reason: the libraries' own is only "Connection error."."""
    reasons = [str(part) for part in _chain(error) if str(part)]
    return reasons[-1] if reasons else type(error).__name__
