"""What the steps of a conversation are given: inputs that are recorded, and things to work with."""

from salon.blackboard.slots import Given, Resource
from salon.conversation.discussion import Discussion
from salon.core.chat import ChatModel
from salon.core.embedding import Embedder

MESSAGE = Given("message", str)
"""What the person says in this turn."""
HISTORY = Given("history", Discussion)
"""What was said before this turn, oldest first; the message is not in it."""
USER = Given("user", str)
"""Who speaks: memories and features belong to this id alone."""
NOW = Given("now", str)
"""The instant of this turn, as `core.clock.instant` spells it."""
SEED = Given("seed", int)
"""Where this turn's randomness starts: `random.Random(view[SEED])`; from session, turn and NOW."""

EMBEDDER = Resource("embedder", Embedder)
"""`embedded:minilm`, on which everything here was trained; always there."""
CHAT = Resource("chat", ChatModel)
"""The chat model of the settings; absent where none is set."""
