"""Discord's spelling: embeds out of what is shown, words out of what was typed.

Invariant: no text from a corpus, a model or a person becomes a mention, markup or a link that hides
where it leads.
"""

import re
from collections.abc import Mapping

import discord

from salon.conversation.discussion import Utterance
from salon.platforms.asking import Roster
from salon.platforms.rendering import Kind, Shown, Source, shorten, split_text, spoken_name

LONGEST_PIECE = 1_700
"""Discord takes 4,096 characters in a description; escapes may double what is counted here."""
LONGEST_MESSAGE = 5_500
"""Discord takes 6,000 characters in all embeds of a message."""
MOST_FIELDS = 20
_LONGEST_TITLE = 110
_LONGEST_QUOTE = 420
_LONGEST_LABEL = 900
_COLOURS: Mapping[Kind, int] = {
    Kind.ANSWER: 0x2F6F4F,
    Kind.OUTCOME: 0x8A6D1B,
    Kind.REFUSAL: 0x8B2E2E,
}
_MARKUP = re.compile(r"([\\*_~`|\[\]<>]|^[#-])", re.MULTILINE)
_BACKSLASHED = re.compile(r"\\([^a-zA-Z0-9\s])")
_ZERO_WIDTH = "\u200b"


def escape(text: str) -> str:
    """Return text that Discord shows as it is."""
    # In one pass: escaping what is escaped already would set it free again.
    return discord.utils.escape_mentions(_MARKUP.sub(r"\\\1", text))


def unescape(text: str) -> str:
    """Return what was meant to be shown."""
    return _BACKSLASHED.sub(r"\1", text).replace(_ZERO_WIDTH, "")


def embeds(shown: Shown, *, asked: str | None = None) -> list[discord.Embed]:
    """Return what is shown, each embed for a message of its own; most replies need one.

    `asked` is the question, for those who did not see it.
    """
    pieces = split_text(shown.text, LONGEST_PIECE) + [_note(one) for one in shown.notes]
    made = [_embed(shown, asked)]
    for piece in pieces:
        text = escape(piece)
        before = made[-1].description or ""
        if len(before) + len(text) > LONGEST_PIECE * 2:
            made.append(_embed(shown, None))
            before = ""
        made[-1].description = f"{before}\n\n{text}" if before else text
    for one in shown.sources:
        _add_source(made, shown, one)
    return made


def read(message: discord.Message, me: discord.abc.User | None) -> str:
    """Return a message in words: people, roles and channels by name, the bot left out."""
    text = message.content
    if me is not None:
        text = re.sub(rf"<@!?{me.id}>", " ", text)
    for user in message.mentions:
        for spelling in (f"<@{user.id}>", f"<@!{user.id}>"):
            text = text.replace(spelling, f"@{user.display_name}")
    for role in message.role_mentions:
        text = text.replace(f"<@&{role.id}>", f"@{role.name}")
    for channel in message.channel_mentions:
        text = text.replace(f"<#{channel.id}>", f"#{channel.name}")
    return text.strip()


def utterance_of(
    message: discord.Message, me: discord.abc.User | None, roster: Roster
) -> Utterance | None:
    """Return who said what in an earlier message; other bots do not count."""
    if me is not None and message.author.id == me.id:
        return _own(message, roster)
    text = read(message, me)
    if message.author.bot or message.is_system() or not text:
        return None
    return Utterance(role=message.author.display_name, content=text)


def _own(message: discord.Message, roster: Roster) -> Utterance | None:
    for embed in message.embeds:
        for one in roster.avatars:
            if embed.author.name == spoken_name(one.name) and embed.description:
                return Utterance(role=one.name, content=unescape(embed.description))
    return None


def _embed(shown: Shown, asked: str | None) -> discord.Embed:
    embed = discord.Embed(colour=_COLOURS[shown.kind], title=shown.heading)
    embed.set_author(name=shorten(spoken_name(shown.speaker), _LONGEST_TITLE))
    embed.set_footer(text=shorten(shown.label, _LONGEST_LABEL))
    if asked:
        embed.add_field(name="Asked", value=escape(shorten(asked, _LONGEST_QUOTE)), inline=False)
    return embed


def _add_source(made: list[discord.Embed], shown: Shown, source: Source) -> None:
    title = f"[{source.number}] {shorten(source.title, _LONGEST_TITLE)}"
    quote = escape(shorten(source.quote, _LONGEST_QUOTE)).replace("\n", "\n> ")
    value = f"> {quote}\n{escape(source.place)}"
    is_full = len(made[-1].fields) >= MOST_FIELDS
    if is_full or len(made[-1]) + len(title) + len(value) > LONGEST_MESSAGE:
        made.append(_embed(shown, None))
    made[-1].add_field(name=title, value=value, inline=False)


def _note(text: str) -> str:
    return shorten(text, LONGEST_PIECE)
