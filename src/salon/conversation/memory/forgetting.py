"""Requests to forget: what a person asks, and which memories they mean."""

import re
from dataclasses import dataclass

from salon.conversation.memory.kinds import Memory, MemoryId, overlap
from salon.conversation.memory.search import stems_of
from salon.conversation.memory.store import MemoryStore
from salon.core.embedding import Embedder

COVERED = 0.6
"""The share of a request's telling words that a memory must have to be meant."""
ALIKE = 0.6
"""The cosine from which a memory says the same in other words."""

_POLITE = (
    r"(?:(?:please|pls|kindly|ok(?:ay)?|and|so|hey|actually|now|well|you can|can you|could you|"
    r"would you|will you|i want you to|i'd like you to|i would like you to|you should|you must|"
    r"i asked you to)[,\s]+)*"
)
_VERB = r"(?:forget|erase|delete|remove|wipe|unremember|stop remembering|don't remember)"
_ALL = re.compile(
    rf"^\s*{_POLITE}{_VERB}\s+(?:absolutely\s+|about\s+)?(?:everything|all|all of it|me"
    r"|(?:all\s+|every\s+)?(?:my|your|the)\s+(?:data|memor(?:y|ies)))\b"
    r"(?!\s+(?:the|to|that happened to|is|was)\b)"
    r"(?:\s+(?:that\s+)?(?:you\b|i\b|(?:about|of)\s+me\b)[^.!?]*)?[\s.!?]*$",
    re.IGNORECASE,
)
_SOME = re.compile(
    rf"^\s*{_POLITE}{_VERB}\s+(?:the\s+(?:part|thing|bit|fact)\s+)?(?:about\s+|that\s+|what\s+i\s+"
    r"(?:said|told\s+you|wrote)\s+(?:about\s+)?|everything\s+about\s+|all\s+about\s+|what\s+you"
    r"\s+know\s+about\s+|(?=i\b|my\b|me\b))(?P<topic>[^.!?\n]+)",
    re.IGNORECASE,
)
_NOBODY = frozenset({"it", "that", "this", "them", "about it", "what i said", "me", "i"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """What is to be forgotten: a topic in the user's words, or everything."""

    topic: str = ""

    @property
    def is_everything(self) -> bool:
        """Whether all of the user's memories are meant."""
        return not self.topic


def find_request(text: str) -> ForgetRequest | None:
    """Return what a message asks to forget; "I forget" and "don't forget" ask nothing."""
    plain = text.replace("\u2019", "'")
    if _ALL.match(plain):
        return ForgetRequest()
    found = _SOME.match(plain)
    if found is None:
        return None
    topic = found["topic"].strip(" ,'\"")
    return None if topic.casefold() in _NOBODY else ForgetRequest(topic=topic)


def asks_to_forget(text: str) -> bool:
    """Tell whether a message asks to forget something."""
    return find_request(text) is not None


def matching(
    request: ForgetRequest, store: MemoryStore, embedder: Embedder
) -> tuple[MemoryId, ...]:
    """Return the memories that a request means: by its words, or by the same in other words.

    Whatever else holds the same words goes along: the moment that a fact was said in, an episode
    that quotes it.
    """
    memories = store.memories()
    if request.is_everything:
        return tuple(one.id for one in memories)
    wanted = set(stems_of(request.topic))
    meant = {one.id for one in memories if _is_covered(wanted, one)}
    meant.update(store.alike(request.topic, embedder, at_least=ALIKE))
    sources = [source for one in memories if one.id in meant for source in one.sources]
    return tuple(one.id for one in memories if one.id in meant or overlap(one.sources, sources))


def _is_covered(wanted: set[str], memory: Memory) -> bool:
    there = set(stems_of(memory.content))
    return bool(wanted) and len(wanted & there) >= COVERED * len(wanted)
