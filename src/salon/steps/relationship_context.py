"""The first two steps of reading a relationship: the conversation in 15 lines, and its sentiment.

Compression chooses lines and changes no word but cuts long ones, so nothing can be said there that
nobody said.
"""

import re
from collections.abc import Sequence

from salon.conversation.discussion import Discussion, Utterance
from salon.core.digest_cache import remembered
from salon.steps.bayes import DIGITS
from salon.steps.emotion import EmotionReading
from salon.steps.relationship_cues import read_cues
from salon.steps.trust import COLD, WARM, is_disclosing

MOST_TURNS = 50
MOST_LINES = 15
_LONGEST_LINE = 160
_WINDOW = 5
_POSITIVE, _NEGATIVE = 0.3, -0.3
_LEAST_CONFIDENCE = 0.5
_LONG_ENOUGH = 20
_ABOUT_ONESELF = re.compile(r"\bi(?:'m| am|'ve| have| love| like| hate| want| need)\b")


def last_turns(history: Discussion, message: str, user: str) -> list[Utterance]:
    """Return what was said in the last 50 turns, this message included."""
    said = [*history.utterances, Utterance(role=user, content=message)]
    seen = 0
    for index in range(len(said) - 1, -1, -1):
        seen += is_own(said[index], user)
        if seen == MOST_TURNS:
            return said[index:]
    return said


def is_own(one: Utterance, user: str) -> bool:
    """Tell whether the person said this, and not the companion."""
    return one.role.casefold() in {user.casefold(), "user"}


def compress(said: Sequence[Utterance], user: str) -> str:
    """Return at most 15 lines of what was said: what tells most, in its order."""
    scored = [(_telling(one, user), index) for index, one in enumerate(said)]
    chosen = sorted(index for _, index in sorted(scored, key=_best_first)[:MOST_LINES])
    return "\n".join(_line(said[index], user) for index in chosen)


def _best_first(one: tuple[float, int]) -> tuple[float, int]:
    return -one[0], -one[1]


def _telling(one: Utterance, user: str) -> float:
    """Return how much an utterance tells about the relationship."""
    text = one.content.replace("\u2019", "'").lower()
    return _told_by_person(text) if is_own(one, user) else 0.5 * _length_score(text)


def _length_score(text: str) -> float:
    return min(len(re.findall(r"\w{4,}", text)), _LONG_ENOUGH) / _LONG_ENOUGH


@remembered()
def _told_by_person(text: str) -> float:
    score = _length_score(text)
    score += 2.0 * is_disclosing(text) + 2.0 * bool(read_cues([text]).first_words)
    score += 1.5 * bool(WARM.search(text) or COLD.search(text))
    return score + 1.0 + 0.5 * bool(_ABOUT_ONESELF.search(text))


def _line(one: Utterance, user: str) -> str:
    text = " ".join(one.content.split())
    if len(text) > _LONGEST_LINE:
        text = text[: _LONGEST_LINE - 1].rsplit(" ", 1)[0] + "…"
    return f"{'person' if is_own(one, user) else 'companion'}: {text}"


def sentiment_of(readings: Sequence[EmotionReading]) -> tuple[str, float]:
    """Return the sentiment of the last five readings, and how sure it is; 0 without any."""
    recent = readings[-_WINDOW:]
    if not recent:
        return "neutral", 0.0
    mean = sum(one.valence for one in recent) / len(recent)
    sure = round(min(abs(mean) + _LEAST_CONFIDENCE, 1.0), DIGITS)
    if mean > _POSITIVE:
        return "positive", sure
    return ("negative", sure) if mean < _NEGATIVE else ("neutral", sure)
