"""What can be said about a chat model beside its address."""

from dataclasses import dataclass, field

from salon.core.errors import InvalidSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """The most that one session may use; `None` is no limit.

    `tokens` counts what is read and what is written together.
    """

    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPrices:
    """What a million tokens cost, in US dollars."""

    usd_per_million_input: float
    usd_per_million_output: float


def as_prices(read: float | None, written: float | None) -> ChatPrices | None:
    """Return the prices of a million tokens, `None` where there are none; one alone is refused."""
    if read is None and written is None:
        return None
    if read is None or written is None:
        raise InvalidSettings(
            "there is a price for only one of reading and writing",
            hint="set both usd_per_million_input and usd_per_million_output",
        )
    return ChatPrices(usd_per_million_input=read, usd_per_million_output=written)


NO_LIMITS = ChatLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a chat model is reached, how long it may take, and how much it may use.

    The key is sent to the server at `url`, or to the provider's own, and appears nowhere else.
    `timeout_s` is for one attempt; a server that is busy or gone is asked `retries` times more.
    `max_tokens` cuts what a request asks for. Without `prices` the cost is unknown.
    """

    url: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 120.0
    retries: int = 3
    max_tokens: int = 4000
    limits: ChatLimits = NO_LIMITS
    prices: ChatPrices | None = None
