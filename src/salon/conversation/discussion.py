"""What has been said so far, by whom: the context in which a question is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from salon.core.errors import InvalidInput
from salon.core.text import require_text

MOST_UTTERANCES = 1_000
LONGEST_UTTERANCE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One thing said by one participant; `role` is the name, as the source protocol has it."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussion:
    """The utterances of a conversation in order, and what is known about it."""

    utterances: tuple[Utterance, ...] = ()
    topic: str | None = None

    @property
    def participants(self) -> tuple[str, ...]:
        """Return who has spoken, in order of first words."""
        return tuple(dict.fromkeys(one.role for one in self.utterances))

    def said_by(self, name: str) -> tuple[Utterance, ...]:
        """Return what one participant said."""
        return tuple(one for one in self.utterances if one.role.casefold() == name.casefold())


NOTHING_SAID = Discussion()


def make_discussion(said: Iterable[Utterance], *, topic: str | None = None) -> Discussion:
    """Return a discussion, or raise `InvalidInput` where it is too long or not text."""
    utterances: Sequence[Utterance] = tuple(said)
    if len(utterances) > MOST_UTTERANCES:
        raise InvalidInput(
            f"{len(utterances):,} utterances are more than {MOST_UTTERANCES:,}",
            hint="give the latest part of the conversation",
        )
    for one in utterances:
        require_text(one.role, "a participant's name")
        require_text(one.content, "an utterance")
        if len(one.content) > LONGEST_UTTERANCE:
            raise InvalidInput(
                f"an utterance of {len(one.content):,} characters is too long",
                hint=f"keep each below {LONGEST_UTTERANCE:,}",
            )
    return Discussion(utterances=tuple(utterances), topic=topic)
