"""Ids of topics, rounds and candidates: how they are made, read back and refused.

Every handle that a round writes is built here from ids that passed these patterns. None of them
can hold a slash, a dot segment or a space, so no id leads out of its own folder.
"""

import re
import unicodedata

from salon.core.errors import InvalidInput, NotAllowed
from salon.core.handles import as_handle_name
from salon.core.hashing import content_hash
from salon.core.ids import IdMaker
from salon.council.phases import BALLOTS, COMPLETED, CRITIQUES, RETURNS, ROUNDS, STAGING, TOPICS

LONGEST_TOPIC_ID = 64
RESERVED = (COMPLETED, STAGING, "council/", "souls/")
"""Where only the council's own transactions write handles."""
_DIGITS = 8
"""So much of its digest an id carries where it could not hold all of a topic."""
_BETWEEN = re.compile("[\\s,.;:!?'\"()/\u2010-\u2015\u2018-\u201f\u2026-]+")
"""What stands between words; leaving it out changes no topic into another."""
_TOPIC = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?", re.ASCII)
_ROUND = re.compile(r"round_[0-9a-z]{1,40}", re.ASCII)
_CANDIDATE = re.compile(
    r"(?P<stem>(?P<round>round_[0-9a-z]{1,40})\.(?:draft|fusion)_[0-9a-z]{1,40})"
    r"(?:-[1-9][0-9]{0,2})?",
    re.ASCII,
)


def as_topic_id(text: str) -> str:
    """Return `text` as the id of a topic or raise `InvalidInput`."""
    if not _TOPIC.fullmatch(text):
        raise InvalidInput(
            f"{text[:80]!r} cannot be the id of a topic",
            hint=f"use a-z, 0-9 and single words joined by -, at most {LONGEST_TOPIC_ID}",
        )
    return text


def topic_id_of(topic: str) -> str:
    """Make the id of a topic from its words.

    Where some of it cannot be in an id (other letters, accents, signs, what is too long), digits of
    its digest tell it from others that look alike.
    """
    key = topic_key(topic)
    digest = content_hash(key.encode())
    plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))
    if not words:
        return f"topic-{digest[:12]}"
    if words == key.replace(" ", "-") and len(words) <= LONGEST_TOPIC_ID:
        return words
    return f"{words[: LONGEST_TOPIC_ID - _DIGITS - 1].strip('-')}-{digest[:_DIGITS]}"


def topic_key(topic: str) -> str:
    """Return what two spellings of one topic have in common."""
    return " ".join(_BETWEEN.sub(" ", unicodedata.normalize("NFKC", topic).casefold()).split())


def require_free(handle: str) -> str:
    """Return the name of a handle that is not the council's own, or raise `NotAllowed`."""
    name = as_handle_name(handle)
    mine = next((one for one in RESERVED if f"{name}/".startswith(one)), None)
    if mine is not None:
        raise NotAllowed(
            f"{name} is the council's: handles below {mine} are moved by its rounds alone",
            hint="pick another name; `salon council run` publishes a chapter",
        )
    return name


def new_round_id(ids: IdMaker) -> str:
    """Make the id of a round."""
    return ids.new("round")


def new_candidate_id(ids: IdMaker, round_id: str, *, is_fusion: bool = False) -> str:
    """Make the id of a candidate; it names its round and says nothing of its author."""
    return ids.new(f"{round_id}.{'fusion' if is_fusion else 'draft'}")


def as_round_id(text: str) -> str:
    """Return `text` as the id of a round or raise `InvalidInput`."""
    if not _ROUND.fullmatch(text):
        raise InvalidInput(f"{text[:80]!r} cannot be the id of a round")
    return text


def round_of(candidate_id: str) -> str:
    """Return the round that a candidate's id names or raise `InvalidInput`."""
    return _parsed(candidate_id)["round"]


def stem_of(candidate_id: str) -> str:
    """Return what the ids of a draft have in common through all attempts of a round."""
    return _parsed(candidate_id)["stem"]


def id_in_attempt(candidate_id: str, attempt: int) -> str:
    """Return the id that a draft has in a later attempt, so that a stale one is noticed."""
    return f"{stem_of(candidate_id)}-{attempt}"


def _parsed(candidate_id: str) -> re.Match[str]:
    found = _CANDIDATE.fullmatch(candidate_id)
    if found is None:
        raise InvalidInput(
            f"{candidate_id[:80]!r} cannot be the id of a candidate",
            hint="use the ids that the brief of the round shows",
        )
    return found


def round_handle(round_id: str) -> str:
    """Return where a round is kept."""
    return ROUNDS + as_round_id(round_id)


def topic_handle(topic_id: str) -> str:
    """Return what leads to the latest round on a topic."""
    return TOPICS + as_topic_id(topic_id)


def staging_handle(candidate_id: str) -> str:
    """Return where the text of a candidate is staged."""
    return f"{STAGING}{round_of(candidate_id)}/{candidate_id}"


def critique_handle(round_id: str, critique_id: str) -> str:
    """Return where the critique ledger keeps an entry."""
    return f"{CRITIQUES}{as_round_id(round_id)}/{critique_id}"


def ballot_handle(round_id: str, vote_id: str) -> str:
    """Return where the consensus ledger keeps a ballot."""
    return f"{BALLOTS}{as_round_id(round_id)}/{vote_id}"


def return_handle(round_id: str, return_id: str) -> str:
    """Return where a text that was sent back is kept."""
    return f"{RETURNS}{as_round_id(round_id)}/{return_id}"


def chapter_handle(topic_id: str) -> str:
    """Return where the published chapter on a topic is."""
    return COMPLETED + as_topic_id(topic_id)


def record_handle(topic_id: str) -> str:
    """Return where the signed record of the published chapter is."""
    return f"{chapter_handle(topic_id)}/record"
