"""The offline seats: five strategies over the archive, no model.

    from salon.council.offline import offline_seats
    from salon.council.model_seat import ModelSeat
    from salon.council.driving import drive

    def search(query: str, limit: int) -> Sequence[FoundPassage]:      # salon.corpus.search
        return salon.search(query, limit=limit).passages

    seats = offline_seats(search, archive=salon.archive, embedder=lambda: salon.embedder)
    # dict[Seat, SeatHolder]; they share one cache, so make them once and keep them for a round
    model = ModelSeat(Seat.MINER, chat, search=search, archive=salon.archive)     # chat: core.chat
    over = drive(desk, round_.id, {**seats, Seat.MINER: model}, patience=600.0)

`embedder` may be `None`, or fail when it is asked: then words stand for meaning.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from salon.core.archive import Archive
from salon.core.embedding import Embedder
from salon.council.holders import SeatHolder
from salon.council.seats import Seat

if TYPE_CHECKING:
    from salon.corpus.search import FoundPassage


def offline_seats(
    search: "Callable[[str, int], Sequence[FoundPassage]]",
    *,
    archive: Archive,
    embedder: Callable[[], Embedder] | None,
) -> dict[Seat, SeatHolder]:
    """Return the five offline seats over one archive; they share what they look up."""
    from salon.council.offline.seat import make_seats  # noqa: PLC0415 - numpy is heavy

    return {**make_seats(search, archive, embedder)}
