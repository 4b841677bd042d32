"""Who sits in the seats that are held here: Salon's own strategies, and chat models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.core.errors import InvalidInput
from salon.council.seats import Seat

if TYPE_CHECKING:
    from salon.core.archive import Archive
    from salon.core.chat import ChatModel
    from salon.core.embedding import Embedder
    from salon.corpus.search import FoundPassage
    from salon.council.holders import SeatHolder
    from salon.settings import Settings

OFFLINE, OUTSIDE = "offline", "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Makes holders from addresses: `offline`, or a chat model; whoever is outside has none."""

    settings: "Settings"
    archive: "Archive"
    search: "Callable[[str, int], Sequence[FoundPassage]]"
    embedder: "Callable[[], Embedder]"

    @contextmanager
    def seated(self, addresses: Mapping[str, str]) -> "Iterator[dict[Seat, SeatHolder]]":
        """Hand out the holders of these seats; their models are closed afterwards."""
        from salon.council.offline import offline_seats

        offline = offline_seats(self.search, archive=self.archive, embedder=self.embedder)
        with ExitStack() as stack:
            found: dict[Seat, SeatHolder] = {}
            for name, address in addresses.items():
                seat = Seat(name)
                if address == OFFLINE:
                    found[seat] = offline[seat]
                elif address != OUTSIDE:
                    chat = self._open_model(seat, address)
                    stack.callback(chat.close)
                    found[seat] = self._model_seat(seat, chat)
            yield found

    def _model_seat(self, seat: Seat, chat: "ChatModel") -> "SeatHolder":
        from salon.council.model_seat import ModelSeat

        return ModelSeat(seat, chat, search=self.search, archive=self.archive)

    def _open_model(self, seat: Seat, address: str) -> "ChatModel":
        """Open the chat model of a seat: its own server and key, the limits of `chat`."""
        from salon.parts.chat_options import chat_options
        from salon.providers.chat import open_chat

        own = self.settings.council.seat(seat)
        options = chat_options(self.settings.chat, url=own.url, key=own.key)
        return open_chat(address, options)


def require_holder(address: str) -> None:
    """Refuse an address that can hold no seat."""
    from salon.providers.chat import KINDS

    kind, colon, name = address.partition(":")
    if address in {OFFLINE, OUTSIDE} or (colon and name and kind in KINDS):
        return
    raise InvalidInput(
        f"{address[:100]!r} can hold no seat",
        hint=f"take offline, outside, or a chat model as KIND:NAME with one of {', '.join(KINDS)}",
    )
