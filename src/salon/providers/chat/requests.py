"""What may be asked: a system text first, then what was said, and a person's message last.

The system text is always a message of its own. Whatever people and documents say stays in theirs,
and where a server turns messages into one text with marks between them, marks inside a message
are broken up: nobody becomes the system by writing `<|im_start|>system`.
"""

import re
from typing import TYPE_CHECKING

from salon.core.chat import ChatRequest, Speaker
from salon.core.errors import InvalidInput
from salon.core.text import require_text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

# The marks of the common chat templates: ChatML and Llama 3, DeepSeek, Llama 2 and Mistral, Gemma.
_MARK = re.compile(
    r"<(?=\|[^|<>\n]{1,60}\|>)"
    r"|<(?=｜[^｜<>\n]{1,60}｜>)"  # noqa: RUF001 - DeepSeek's marks have wide bars
    r"|<(?=/?(?:s|bos|eos|unk|pad|think)>)"
    r"|<(?=<?/?SYS>)"
    r"|<(?=(?:start|end)_of_(?:turn|image)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)


def check_request(request: ChatRequest) -> None:
    """Raise `InvalidInput` unless a model can be asked this."""
    said = [message.speaker for message in request.messages]
    spoken = [speaker for speaker in said if speaker is not Speaker.SYSTEM]
    if not spoken or said[-1] is not Speaker.USER:
        raise InvalidInput("a request to a model ends with a user's message")
    if said[len(said) - len(spoken) :] != spoken:
        raise InvalidInput("a request to a model has its system text first, and nowhere else")
    for message in request.messages:
        if not require_text(message.content, "a message to a model").strip():
            raise InvalidInput(f"a message of the {message.speaker} to a model is empty")
    if request.max_tokens < 1:
        raise InvalidInput("a model has to be allowed at least one token")


def without_marks(text: str) -> str:
    """Return a text in which no mark of a chat template is left whole."""
    return _MARK.sub(lambda found: f"{found[0]} ", text)


def to_messages(request: ChatRequest, *, break_marks: bool) -> "list[ModelMessage]":
    """Return the same request in the words of pydantic-ai."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelRequestPart,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    clean = without_marks if break_marks else str
    system = [clean(m.content) for m in request.messages if m.speaker is Speaker.SYSTEM]
    waiting: list[ModelRequestPart] = []
    if system:  # one message: some templates take no second one
        waiting.append(SystemPromptPart("\n\n".join(system)))
    messages: list[ModelMessage] = []
    for message in request.messages:
        if message.speaker is Speaker.USER:
            waiting.append(UserPromptPart(clean(message.content)))
        elif message.speaker is Speaker.ASSISTANT:
            if waiting:
                messages.append(ModelRequest(parts=waiting))
                waiting = []
            messages.append(ModelResponse(parts=[TextPart(clean(message.content))]))
    return [*messages, ModelRequest(parts=waiting)]
