"""Slack's spelling in both directions: blocks out of what is shown, words out of what was typed.

Invariant: no text from a corpus, a model or a person becomes a mention, a link or a command of
Slack's; `&`, `<` and `>` are escaped and nothing is parsed by name.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from salon.platforms.rendering import (
    Kind,
    Shown,
    plain_text,
    shorten,
    split_text,
    spoken_name,
)

Block = dict[str, Any]
LONGEST_SECTION = 2_800
"""Slack takes 3,000 characters; escapes come on top of what is counted here."""
MOST_BLOCKS = 45
"""Slack takes 50 in one message."""
LONGEST_FALLBACK = 3_500
_LONGEST_QUOTE = 900
_LONGEST_QUESTION = 300
_LONGEST_HEADER = 140
_ICONS: Mapping[Kind, str] = {
    Kind.ANSWER: ":speech_balloon:",
    Kind.OUTCOME: ":information_source:",
    Kind.REFUSAL: ":warning:",
}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def escape(text: str) -> str:
    """Return text that Slack shows as it is."""
    return "".join(_ENTITIES.get(one, one) for one in text)


def unescape(text: str) -> str:
    """Return what a person typed, from what Slack sends."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def read(text: str, name_of: Callable[[str], str]) -> str:
    """Return a message in words: people by name, channels and links as they were shown."""

    def spell(found: re.Match[str]) -> str:
        sign, what, label = found[1], found[2], found[3]
        if sign == "@":
            return f"@{name_of(what)}"
        if sign == "#":
            return f"#{label or what}"
        if sign == "!":
            return label or f"@{what.partition('^')[0]}"
        return label or what

    return unescape(_SPECIAL.sub(spell, text))


def mentioned(text: str) -> list[str]:
    """Return the ids of the people whom a message mentions."""
    return [found[2] for found in _SPECIAL.finditer(text) if found[1] == "@"]


def without_mention(text: str, user: str) -> str:
    """Return a message without the places where it mentions somebody."""
    return re.sub(rf"<@{re.escape(user)}(?:\|[^<>]*)?>", " ", text).strip()


def fallback(shown: Shown) -> str:
    """Return the text of notifications and of clients without blocks; it begins with the name."""
    whole = f"{spoken_name(shown.speaker)}: {plain_text(shown)}"
    return escape(shorten(whole, LONGEST_FALLBACK))


def messages(shown: Shown, *, asked: str | None = None) -> list[list[Block]]:
    """Return the blocks of what is shown, as one message or, where it is long, several.

    `asked` is the question, for those who did not see it: a command is visible to nobody else.
    """
    blocks = [_header(shown)]
    if asked:
        blocks.append(_small(f"Asked: {shorten(asked, _LONGEST_QUESTION)}"))
    if shown.heading:
        blocks.append(_section(f"*{escape(shown.heading)}*"))
    blocks += [_section(escape(piece)) for piece in split_text(shown.text, LONGEST_SECTION // 2)]
    blocks += [_section(f"_{escape(piece)}_") for piece in shown.notes]
    if shown.sources:
        blocks.append({"type": "divider"})
    for one in shown.sources:
        quote = "\n".join(
            f">{escape(line)}" for line in shorten(one.quote, _LONGEST_QUOTE).split("\n")
        )
        blocks.append(_section(f"*[{one.number}] {escape(shorten(one.title, 200))}*\n{quote}"))
        blocks.append(_small(one.place))
    # Every message has to say by itself that it is an AI's.
    pieces = [blocks[at : at + MOST_BLOCKS] for at in range(0, len(blocks), MOST_BLOCKS)]
    return [[*piece, _small(shown.label)] for piece in pieces]


def _header(shown: Shown) -> Block:
    icon = _ICONS[shown.kind]
    name = escape(shorten(spoken_name(shown.speaker), _LONGEST_HEADER))
    return _section(f"{icon} *{name}*")


def _section(text: str) -> Block:
    return {"type": "section", "text": _mrkdwn(text)}


def _small(text: str) -> Block:
    return {"type": "context", "elements": [_mrkdwn(escape(text))]}


def _mrkdwn(text: str) -> Block:
    # Verbatim: Slack makes no links and no mentions of bare names.
    return {"type": "mrkdwn", "text": text, "verbatim": True}
