"""Agent 1, emotion: what a message feels like, and how a reply should meet it.

The reading comes from small trained heads on an embedder that Salon ships; with a chat model and
the setting `companion.model_readings` it comes from the model, and falls back to the heads where
the model's answer cannot be used, saying so. It is a guess about words, not about a person's state.
"""

from dataclasses import dataclass, field, replace

from salon.blackboard.slots import Resource, Slot
from salon.blackboard.steps import Step, View
from salon.conversation.discussion import Utterance
from salon.core.absent import Absent
from salon.core.chat import ChatModel
from salon.core.embedding import Embedder
from salon.steps.conformal import ALPHA
from salon.steps.emotion_model import ask_for_reading
from salon.steps.emotion_tables import EMOTIONS, meetings
from salon.steps.given import EMBEDDER, HISTORY, MESSAGE

TURNS_READ = 5
_MOST_FINE = 3
_BY_HEADS = "heads"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmotionReading:
    """What one message feels like."""

    emotion: str
    """One of `emotion_tables.EMOTIONS`."""
    confidence: float
    """The calibrated probability of the named emotion, 0 to 1."""
    intensity: float
    """The mean of arousal and of the probability that the message is not neutral, 0 to 1."""
    valence: float
    """From -1, unpleasant, to 1, pleasant."""
    arousal: float
    """From 0, calm, to 1, excited."""
    reply_strategy: str
    tone: str
    probabilities: dict[str, float]
    """Of each of the eight emotions; they sum to 1."""
    fine: dict[str, float] = field(default_factory=dict)
    """The strongest of the 28 fine emotions, each with its own probability."""
    prediction_set: tuple[str, ...] = EMOTIONS
    """The emotions that it may well be; all eight where no calibration stands behind fewer."""
    coverage_guarantee: float = 1.0
    """How often such sets hold the emotion, on comments like those that calibrated them."""
    calibrated: bool = False
    read_by: str = _BY_HEADS
    """`heads`, a chat model's address, or `heads` with why the model's answer was not used."""


EMOTION = Slot("current_emotion", EmotionReading)
EMOTION_EMBEDDER = Resource("emotion_embedder", Embedder)
"""MiniLM with `emotion_heads.ADAPTER`; where it is absent the plain embedder is read, less well."""
READINGS_CHAT = Resource("readings_chat", ChatModel)
"""The chat model that reads feelings; absent unless `companion.model_readings` is on."""


def read_emotion(view: View) -> EmotionReading | Absent:
    """Read the feeling of this turn's message."""
    message = view[MESSAGE]
    if isinstance(message, Absent) or not message.strip():
        return Absent("there is no message to read")
    by_heads = _read_by_heads(message, view[EMOTION_EMBEDDER], view[EMBEDDER])
    chat = view[READINGS_CHAT]
    if isinstance(chat, Absent):
        return by_heads
    history = view[HISTORY]
    earlier = () if isinstance(history, Absent) else history.utterances[-2 * TURNS_READ :]
    return read_by_model(chat, message, earlier, by_heads)


def emotion_of(message: str, embedder: Embedder) -> EmotionReading | Absent:
    """Return what the heads read in a message, or why they cannot."""
    from salon.steps.emotion_heads import shipped_heads  # noqa: PLC0415 - numpy and the weights

    heads = shipped_heads()
    if not heads.knows(embedder.model):
        return Absent(f"no emotion heads were trained for {embedder.model.address}")
    scores = heads.read(message, embedder.embed_query(message), embedder.model)
    eight = {name: round(share, 6) for name, share in scores.eight.items()}
    emotion = max(EMOTIONS, key=lambda one: eight[one])
    meeting = meetings()[emotion]
    return EmotionReading(
        emotion=emotion,
        confidence=eight[emotion],
        intensity=round((scores.arousal + 1 - scores.eight["neutral"]) / 2, 6),
        valence=round(scores.valence, 6),
        arousal=round(scores.arousal, 6),
        reply_strategy=meeting.strategy,
        tone=meeting.tone,
        probabilities=eight,
        fine={name: round(scores.fine[name], 6) for name in scores.named[:_MOST_FINE]},
        prediction_set=scores.likely,
        coverage_guarantee=1 - ALPHA,
        calibrated=True,
    )


def read_by_model(
    chat: ChatModel,
    message: str,
    earlier: tuple[Utterance, ...],
    by_heads: EmotionReading | Absent,
) -> EmotionReading | Absent:
    """Return the chat model's reading, or that of the heads with why the model's was not used."""
    found = ask_for_reading(chat, message, earlier)
    if isinstance(found, Absent):
        if isinstance(by_heads, Absent):
            return Absent(f"{found.reason}; {by_heads.reason}")
        return replace(by_heads, read_by=f"{_BY_HEADS}: {found.reason}")
    meeting = meetings()[found.emotion]
    confidence = round(found.confidence, 6)
    return EmotionReading(
        emotion=found.emotion,
        confidence=confidence,
        intensity=round(found.intensity, 6),
        valence=round(found.valence, 6),
        arousal=round(found.arousal, 6),
        reply_strategy=meeting.strategy,
        tone=meeting.tone,
        probabilities=_shared_out(found.emotion, confidence, by_heads),
        fine={} if isinstance(by_heads, Absent) else by_heads.fine,
        read_by=chat.address,
    )


def _read_by_heads(
    message: str, tuned: Embedder | Absent, plain: Embedder | Absent
) -> EmotionReading | Absent:
    embedder = plain if isinstance(tuned, Absent) else tuned
    return embedder if isinstance(embedder, Absent) else emotion_of(message, embedder)


def _shared_out(
    named: str, confidence: float, by_heads: EmotionReading | Absent
) -> dict[str, float]:
    """Give the named emotion its confidence, and the others the rest as the heads would."""
    others = {
        one: 1.0 if isinstance(by_heads, Absent) else by_heads.probabilities[one] + 1e-6
        for one in EMOTIONS
        if one != named
    }
    rest = (1 - confidence) / sum(others.values())
    return {one: confidence if one == named else round(others[one] * rest, 6) for one in EMOTIONS}


STEP = Step(
    name="emotion",
    about="what the message feels like, and how a reply should meet it",
    reads=(MESSAGE, HISTORY, EMBEDDER, EMOTION_EMBEDDER, READINGS_CHAT),
    writes=EMOTION,
    run=read_emotion,
)
