"""Trust: how far somebody opens up and how warmly, followed from message to message.

Trust moves, so the belief in it loosens a little before each message (a Kalman filter in one
dimension): old messages fade and its confidence has a ceiling. There is no labelled data behind the
markers; the score says how a conversation reads, not what anybody feels.
"""

import re

from salon.steps.bayes import DIGITS, PRIOR, loosen, update_belief
from salon.steps.emotion import EmotionReading
from salon.steps.feature_values import Belief

_NOISE = 0.1
_CONFIDENCE = 0.1
_TREND = {"improving": 0.05, "declining": -0.05, "stable": 0.0}

DISCLOSING = re.compile(
    r"\b(?:i feel|i felt|i'm scared|i am scared|i'm afraid|i am afraid|i've never told|"
    r"i have never told|i never told|to be honest|honestly|i miss|i cried|i'm ashamed|i regret|"
    r"my childhood|my (?:mother|father|mum|mom|dad|parents|ex|divorce|depression|therapist)|"
    r"i was diagnosed|i've been struggling|i struggle|i lost my|i dream of|secretly|i worry|"
    r"i'm lonely|i am lonely|my heart|i'm in love|i hope that)\b"
)
WARM = re.compile(
    r"\b(?:thank you|thanks|i appreciate|you're (?:so )?(?:kind|sweet|great|lovely|nice|funny)|"
    r"you are (?:so )?(?:kind|sweet|great|lovely|nice|funny)|i (?:really )?(?:like|love|enjoy) "
    r"(?:talking|chatting|being) (?:to|with) you|i trust you|that's sweet|that means a lot|"
    r"i love you|you're (?:so )?beautiful|i like you|you understand me|you get me|"
    r"i missed you|miss you|glad (?:you|we)|looking forward to)\b|"
    r"❤|🥰|😊"
)
COLD = re.compile(
    r"\b(?:leave me alone|stop asking|none of your business|i don't trust you|you're lying|"
    r"you lied|you are lying|creepy|shut up|you don't listen|you never listen|whatever|"
    r"this is boring|you're boring|go away|i don't believe you|i don't want to talk|"
    r"mind your own)\b"
)


def is_disclosing(text: str) -> bool:
    """Tell whether somebody says something about their inner life or those close to them."""
    return DISCLOSING.search(_plain(text)) is not None


def trust_reading(text: str, emotion: EmotionReading | None, trend: str) -> float:
    """Return how trusting one message reads, 0 to 1, where 0.5 is neither way."""
    plain = _plain(text)
    score = 0.5
    score += 0.3 if WARM.search(plain) else 0.0
    score += 0.2 if DISCLOSING.search(plain) else 0.0
    score -= 0.45 if COLD.search(plain) else 0.0
    score += 0.0 if emotion is None else 0.15 * emotion.valence
    return round(min(1.0, max(0.0, score + _TREND[trend])), DIGITS)


def update_trust(trust: Belief | None, reading: float) -> Belief:
    """Return trust after one more message."""
    return update_belief(loosen(trust or PRIOR, _NOISE), reading, _CONFIDENCE)


def velocity_of(history: tuple[float, ...]) -> float | None:
    """Return by how much trust changed with the last message, `None` before the second."""
    return round(history[-1] - history[-2], DIGITS) if len(history) > 1 else None


def _plain(text: str) -> str:
    return text.replace("\u2019", "'").lower()
