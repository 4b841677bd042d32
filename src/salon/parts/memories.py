"""Memories: what is kept about a user can be listed, searched, forgotten and taken along.

Each capability is one function; edges validate, call it and shape the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from salon.core.errors import HandleMoved, InvalidInput, NotFound

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.conversation.memory.archived import ArchivedStore, MemoryLibrary
    from salon.conversation.memory.kinds import Memory, MemoryId
    from salon.conversation.memory.store import Recalled
    from salon.core.embedding import Embedder

MOST_FOUND = 50
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, by id; the words are gone."""

    user: str
    ids: "tuple[MemoryId, ...]"


class MemoriesPart:
    """What the application can do with memories, outside a turn."""

    if TYPE_CHECKING:
        # The application and its other parts have these.
        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        @property
        def _memory_library(self) -> MemoryLibrary:
            """Every user's memories."""

        @property
        def _shared_embedder(self) -> Embedder:
            """The embedder on which memories are searched."""

    def remembered_users(self) -> tuple[str, ...]:
        """Return the users of whom anything is kept now, by name."""
        library = self._memory_library
        return tuple(sorted(one for one in library.users() if library.open(one).memories()))

    def memories(self, user: str, *, closed: bool = False) -> "tuple[Memory, ...]":
        """Return what is kept about a user, in the order it was said; closed facts if wanted."""
        kept = self._memory_library.open(user).memories()
        in_time = sorted(kept, key=lambda one: (one.valid_from, one.id))
        return tuple(one for one in in_time if closed or one.is_open)

    def search_memories(self, user: str, query: str, *, limit: int = 5) -> "list[Recalled]":
        """Return what a user said that bears on a query, best first."""
        if not 1 <= limit <= MOST_FOUND:
            raise InvalidInput(
                f"a limit of {limit} is not possible", hint=f"take 1 to {MOST_FOUND}"
            )
        store = self._memory_library.open(user)
        return store.search(query, self._shared_embedder, limit=limit)

    def forget_memories(
        self, user: str, *, ids: Sequence[str] = (), topic: str = "", everything: bool = False
    ) -> Forgotten:
        """Forget memories by id, by what they are about, or all of a user's.

        Cards, vectors and earlier forms go; tombstones stay, without a word of them.
        """
        if bool(ids) + bool(topic.strip()) + everything != 1:
            raise InvalidInput(
                "say what to forget", hint="give ids, or a topic, or everything: one of the three"
            )
        choose = _chooser(ids, topic, self._shared_embedder)
        for attempt in range(_ATTEMPTS):
            store = self._memory_library.open(user)
            gone = store.forget(choose(store))
            try:
                self.archive.write(lambda tx, store=store: store.commit(tx))  # type: ignore[misc]
            except HandleMoved:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            store.settle()
            break
        return Forgotten(user=user, ids=gone)

    def export_memories(self, user: str) -> dict[str, Any]:
        """Return everything kept about a user as plain data, closed facts too."""
        return {
            "user": user,
            "memories": [asdict(one) for one in self.memories(user, closed=True)],
        }


def _chooser(
    ids: Sequence[str], topic: str, embedder: "Embedder"
) -> "Callable[[ArchivedStore], tuple[MemoryId, ...]]":
    from salon.conversation.memory.forgetting import ForgetRequest, matching
    from salon.conversation.memory.kinds import MemoryId

    wanted = tuple(MemoryId(one) for one in ids)

    def choose(store: "ArchivedStore") -> "tuple[MemoryId, ...]":
        if not wanted:
            return matching(ForgetRequest(topic=topic.strip()), store, embedder)
        for one in wanted:
            if store.find(one) is None:
                raise NotFound(
                    f"nothing is remembered as {one}", hint="`salon memory list` shows the ids"
                )
        return wanted

    return choose
