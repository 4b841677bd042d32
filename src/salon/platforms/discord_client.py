"""Avatars on a Discord server: slash commands, mentions, and what their speaking policy allows.

A command is deferred at once and answered by an edit; a mention is answered by a reply. Nothing
that is sent can mention anybody. What several processes hear is answered by one of them.
"""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from typing import Any

import discord
from aiohttp import ClientError
from discord import app_commands

from salon.archive.deliveries import Delivery
from salon.conversation.discussion import Utterance
from salon.core.errors import InvalidSettings, ProviderFailed, SalonError
from salon.platforms.asking import Known, session_of
from salon.platforms.discord_text import embeds, read, utterance_of
from salon.platforms.floor import Floor, Heard
from salon.platforms.once import Once
from salon.platforms.options import DiscordOptions
from salon.platforms.rendering import Shown, show_help

log = logging.getLogger(__name__)
SILENT_CHANNEL = "I cannot read this channel, so I answer the question alone."
NOBODY = discord.AllowedMentions.none()
_MOST_COMMANDS = 99
"""Discord takes 100; the general one comes on top, and the others are asked with it."""
_MOST_CHOICES = 25
_LONGEST_COMMAND = 32
_FAILURES = (discord.DiscordException, ClientError, OSError, TimeoutError)
_BEGINNINGS = 6
_MOST_LOOKED_AT = 500
"""Messages after a question among which an answer to it is looked for."""
_SPOKEN = frozenset({discord.MessageType.default, discord.MessageType.reply})

Question = app_commands.Range[str, 1, 2000]
CommandOf = app_commands.Command[Any, ..., None]
Channel = discord.abc.Messageable


class AvatarClient(discord.Client):
    """The bot of one application."""

    def __init__(self, floor: Floor, *, guild: int | None = None) -> None:
        intents = discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, message_content=True
        )
        super().__init__(intents=intents, allowed_mentions=NOBODY, max_messages=None)
        self._floor = floor
        self._once = Once(floor.deliveries, "discord")
        self._is_ending = False
        self._guild = None if guild is None else discord.Object(guild)
        self.tree = app_commands.CommandTree(self)
        for name, avatar in _commands(floor.roster.avatars).items():
            self.tree.add_command(self._command_of(name, avatar), guild=self._guild)
        self.tree.add_command(self._general_command(), guild=self._guild)

    async def settle(self) -> None:
        """Begin nothing more, and wait a moment for the answers that are under way."""
        self._is_ending = True
        await self._once.settle()

    async def setup_hook(self) -> None:
        """Tell Discord which commands there are."""
        await self.tree.sync(guild=self._guild)

    async def on_message(self, message: discord.Message) -> None:
        """Answer a mention or a direct message; otherwise an avatar may speak by its policy."""
        if message.author.bot or message.webhook_id or message.type not in _SPOKEN:
            return
        delivery = await self._take(f"{self.application_id}/message/{message.id}")
        if delivery is None:
            return
        async with self._once.working(delivery):
            if await self._once.is_open(delivery, lambda: self._has_reply(message)):
                shown = await self._said_to(message)
                if shown is not None:
                    await self._reply(message, shown, delivery)

    async def ask(
        self, interaction: discord.Interaction, avatar: Known | None, question: str
    ) -> None:
        """Defer a command at once, then answer it."""
        delivery = await self._take(f"{self.application_id}/interaction/{interaction.id}")
        if delivery is None:
            return
        async with self._once.working(delivery):
            # A command is delivered again only by a defect, and its answer cannot be looked for.
            if not await self._once.is_open(delivery, _nobody_knows):
                return
            await interaction.response.defer(thinking=True)
            if avatar is None:
                shown = show_help(self._floor.roster.whom(), "Salon")
            else:
                channel = interaction.channel
                place = channel if isinstance(channel, Channel) else None
                heard = await self._heard(
                    question, place, interaction.user, interaction.guild, None
                )
                shown = await self._floor.answer(avatar, heard)
            await self._once.sending(delivery)
            await _edit(interaction, shown, asked=question)

    async def _take(self, event: str) -> Delivery | None:
        """Take a delivery; `None` where another process has it or it cannot be taken."""
        if self._is_ending:
            return None
        try:
            delivery = await self._once.take(event)
        except SalonError as error:
            log.warning("an event cannot be taken now: %s", error)
            return None
        return delivery if delivery.is_mine else None

    async def _has_reply(self, message: discord.Message) -> bool | None:
        """Tell whether a message was replied to; `None` where Discord does not say."""
        count = 0
        try:
            async for one in message.channel.history(after=message, limit=_MOST_LOOKED_AT):
                count += 1
                meant = one.reference and one.reference.message_id
                if one.author == self.user and meant == message.id:
                    return True
        except _FAILURES as error:
            log.warning("the channel cannot be read: %s", error)
            return None
        return None if count == _MOST_LOOKED_AT else False

    async def _said_to(self, message: discord.Message) -> Shown | None:
        """Return what is said to a message; `None` where nobody speaks unasked."""
        text = read(message, self.user)
        if message.guild is None or any(one == self.user for one in message.mentions):
            return await self._answer(text, message)
        heard = await self._heard(text, message.channel, message.author, message.guild, message)
        avatars = self._floor.roster.of_channel(str(message.channel.id))
        return await self._floor.volunteer(avatars, heard)

    async def _answer(self, text: str, message: discord.Message) -> Shown:
        meant = self._floor.roster.meant(text, str(message.channel.id))
        if meant is None:
            return show_help(self._floor.roster.whom(), "Salon")
        heard = await self._heard(
            meant.question, message.channel, message.author, message.guild, message
        )
        return await self._floor.answer(meant.avatar, heard)

    async def _reply(self, message: discord.Message, shown: Shown, delivery: Delivery) -> None:
        await self._once.sending(delivery)
        try:
            for number, embed in enumerate(embeds(shown)):
                await message.reply(
                    embed=embed,
                    mention_author=False,
                    allowed_mentions=NOBODY,
                    nonce=_nonce(delivery, number),
                )
        except _FAILURES as error:
            log.warning("Discord did not take what was said: %s", error)

    async def _heard(
        self,
        text: str,
        channel: Channel | None,
        author: discord.abc.User,
        guild: discord.Guild | None,
        until: discord.Message | None,
    ) -> Heard:
        before, note = await self._before(channel, until)
        place = str(getattr(channel, "id", ""))
        return Heard(
            text=text,
            speaker=author.display_name,
            person=str(author.id),
            session=session_of("discord", str(guild.id if guild else ""), place),
            before=before,
            note=note,
        )

    async def _before(
        self, channel: Channel | None, until: discord.Message | None
    ) -> tuple[tuple[Utterance, ...], str | None]:
        """Return what was said in a channel, oldest first, and what could not be done."""
        most = self._floor.room.history
        if not most:
            return (), None
        if channel is None:
            return (), SILENT_CHANNEL
        try:
            found = [one async for one in channel.history(limit=most, before=until)]
        except _FAILURES as error:
            log.warning("the channel cannot be read: %s", error)
            return (), SILENT_CHANNEL
        said = [utterance_of(one, self.user, self._floor.roster) for one in reversed(found)]
        return tuple(one for one in said if one), None

    def _command_of(self, name: str, avatar: Known) -> CommandOf:
        async def ask(interaction: discord.Interaction, question: Question) -> None:
            await self.ask(interaction, avatar, question)

        return app_commands.Command(
            name=name,
            description=f"Ask {avatar.name} (AI)"[:100],
            callback=ask,
        )

    def _general_command(self) -> CommandOf:
        roster = self._floor.roster

        async def ask(interaction: discord.Interaction, avatar: str, question: Question) -> None:
            await self.ask(interaction, roster.find(avatar), question)

        async def names(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
            found = [one for one in roster.avatars if typed.casefold() in one.name.casefold()]
            return [
                app_commands.Choice(name=one.name[:100], value=one.id[:100])
                for one in found[:_MOST_CHOICES]
            ]

        command: CommandOf = app_commands.Command(
            name="ask", description="Ask any avatar (AI)", callback=ask
        )
        command.autocomplete("avatar")(names)
        return command


async def serve_discord(floor: Floor, options: DiscordOptions, *, stop: asyncio.Event) -> None:
    """Hold the connection to Discord until told to stop; the client connects again by itself.

    An event that the library cannot read ends its client; it is begun anew, a few times.
    """
    for left in reversed(range(_BEGINNINGS)):
        try:
            await _hold(floor, options, stop)
            return
        except SalonError:
            raise
        except Exception:
            # The library raises whatever an unreadable event led to; the last one is not swallowed.
            log.exception("the connection to Discord broke down")
            if not left:
                raise


async def _hold(floor: Floor, options: DiscordOptions, stop: asyncio.Event) -> None:
    async with AvatarClient(floor, guild=options.guild) as client:
        working = asyncio.create_task(client.start(options.token))
        told = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({working, told}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
        except _FAILURES as error:
            raise as_salon_error(error) from error
        finally:
            told.cancel()
            await client.settle()
            await client.close()
            await asyncio.gather(working, told, return_exceptions=True)


async def check_discord(options: DiscordOptions) -> dict[str, str]:
    """Return who the bot is, or raise what is wrong."""
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await client.login(options.token)
        except _FAILURES as error:
            raise as_salon_error(error) from error
        assert client.user is not None
        return {"user": str(client.user), "application_id": str(client.application_id)}


def as_salon_error(error: Exception) -> SalonError:
    """Return what Discord refuses as an error of Salon's tree."""
    if isinstance(error, discord.LoginFailure):
        return InvalidSettings("Discord does not know this token", hint="set discord.token anew")
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return InvalidSettings(
            "the bot may not read messages",
            hint="switch on the Message Content Intent in the Discord developer portal",
        )
    return ProviderFailed(f"Discord failed: {error}", hint="check the network and try again")


def _commands(avatars: Sequence[Known]) -> dict[str, Known]:
    """Return the avatars that have a command of their own; the first of a name gets it."""
    found: dict[str, Known] = {}
    for one in avatars[:_MOST_COMMANDS]:
        found.setdefault(f"ask-{one.command}"[:_LONGEST_COMMAND], one)
    return found


def _nonce(delivery: Delivery, number: int) -> int:
    """Return what makes Discord take one message of an answer only once, for some minutes."""
    digest = hashlib.sha256(f"{delivery.event}/{number}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 1


async def _nobody_knows() -> None:
    return None


async def _edit(interaction: discord.Interaction, shown: Shown, *, asked: str) -> None:
    first, *more = embeds(shown, asked=asked)
    try:
        await interaction.edit_original_response(embed=first, allowed_mentions=NOBODY)
        for embed in more:
            await interaction.followup.send(embed=embed, allowed_mentions=NOBODY)
    except _FAILURES as error:
        log.warning("Discord did not take what was said: %s", error)
