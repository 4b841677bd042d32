"""Text that speaks to the machine instead of to people: orders, fake system text, fake calls.

Corpus text, participants and models are all hostile until shown otherwise. Nothing in Salon obeys
a text, so this is not what keeps it safe; it keeps such lines from being quoted as if a thinker had
written them, and from reaching a model that might obey.
"""

import re

_SOURCES: dict[str, tuple[str, ...]] = {
    "overriding": (
        (
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(?:instructions?|rules?|"
            r"prompts?|guidelines|directions|above|constraints)\b"
        ),
    ),
    "reassigning": (
        r"\b(?:you are now|from now on,? you|act as if you|pretend (?:to be|that you))\b",
        r"\b(?:new (?:system )?(?:instructions?|prompt)|developer mode|jailbreak)\b",
    ),
    "system text": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)[^>]{0,20}>",
        r"\[/?INST\]|<</?SYS>>|\bsystem prompt\b",
        r"^\s*(?:#+\s*)?(?:system|assistant|developer)\s*(?:prompt|message)?\s*:",
    ),
    "tool call": (
        r"</?(?:tool_call|function_call|invoke|tool_result)\b|\btools/call\b",
        r"\"(?:tool|function)_?(?:call|name)\"|\"method\"\s*:\s*\"",
    ),
    "to the model": (
        r"\b(?:as an ai|large language model|attention,? (?:ai|assistant|model))\b",
        r"\bai (?:model|assistant|agent)s?\b[^.!?\n]{0,40}\b(?:must|should|shall|are to|reading)\b",
    ),
    "secrecy": (
        r"\bdo not (?:tell|inform|mention|reveal)[^.!?\n]{0,30}\b(?:user|human|participants?)\b",
        (
            r"\b(?:reveal|print|repeat|output)\b[^.!?\n]{0,30}"
            r"\b(?:system prompt|your instructions|api key)"
        ),
    ),
    "fake citation": (
        r"[\[{(]\s*\"?(?:citation|hash|card)\"?\s*[:=]\s*\"?[0-9a-f]{8,}|\bcard://[0-9a-f]{8,}",
    ),
}

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("|".join(sources), re.IGNORECASE | re.MULTILINE))
    for kind, sources in _SOURCES.items()
)


def kinds_of_instruction(text: str) -> tuple[str, ...]:
    """Return in which ways a text speaks to the machine; none for ordinary prose."""
    return tuple(kind for kind, pattern in PATTERNS if pattern.search(text))


def is_instruction(text: str) -> bool:
    """Tell whether a text speaks to the machine."""
    return any(pattern.search(text) for _, pattern in PATTERNS)
