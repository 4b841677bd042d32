"""Chat models: what writes fluent text, each made from an address `kind:name`."""

from salon.providers.chat.options import ChatLimits, ChatOptions, ChatPrices, as_prices
from salon.providers.chat.registry import KINDS, ChatKind, open_chat
from salon.providers.chat.scripted import ScriptedChat, ScriptLine

__all__ = [
    "KINDS",
    "ChatKind",
    "ChatLimits",
    "ChatOptions",
    "ChatPrices",
    "ScriptLine",
    "ScriptedChat",
    "as_prices",
    "open_chat",
]
