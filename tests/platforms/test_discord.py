"""Avatars on Discord, through the real client against a Discord on this machine."""

import asyncio
import json
import threading
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

with warnings.catch_warnings():
    # discord.py imports audioop, which Python 3.11 announces to be going.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    pytest.importorskip("discord")

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from salon.app import Salon
from salon.conversation.discussion import Discussion
from salon.core.errors import InvalidSettings, ProviderFailed
from salon.experts.replies import Reply, SpeakDecision
from salon.platforms import discord_client
from salon.platforms.asking import Roster
from salon.platforms.discord_client import (
    SILENT_CHANNEL,
    AvatarClient,
    check_discord,
    serve_discord,
)
from salon.platforms.floor import Floor
from salon.platforms.options import DiscordOptions, Room
from tests.experts.valley import profile_of
from tests.platforms.fake_discord import (
    BOB,
    CHANNEL,
    GUILD,
    ME,
    OTHER_CHANNEL,
    PRIVATE,
    FakeDiscord,
    Values,
    mention,
    message,
    running_discord,
    said,
    user,
)
from tests.platforms.rooms import (
    ADA,
    GARDEN_ANSWER,
    GARDEN_QUESTION,
    OLE,
    UNKNOWN_QUESTION,
    WIDE,
    floor_of,
)

Play = Callable[[FakeDiscord], Awaitable[None]]


@pytest.fixture(autouse=True)
def _no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing of the real Discord within reach; `pointed_at` sets where the fake is."""
    monkeypatch.setattr(Route, "BASE", "http://127.0.0.1:9")
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL("ws://127.0.0.1:9/"))


def point_at(fake: FakeDiscord) -> None:
    Route.BASE = fake.url.replace("ws://", "http://").removesuffix("gateway/") + "api"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(fake.url)


def run(floor: Floor, play: Play, options: DiscordOptions | None = None) -> None:
    async def main() -> None:
        async with running_discord() as fake:
            point_at(fake)
            stop = asyncio.Event()
            chosen = options or DiscordOptions(token="abc")
            serving = asyncio.create_task(serve_discord(floor, chosen, stop=stop))
            await fake.ready()
            try:
                await play(fake)
            finally:
                stop.set()
                await serving

    asyncio.run(main())


def all_text(values: Values) -> str:
    found = []
    for one in values["embeds"]:
        found += [one["author"]["name"], one.get("title", ""), one.get("description", "")]
        found += [f"{field['name']} {field['value']}" for field in one.get("fields", ())]
        found.append(one["footer"]["text"])
    return "\n".join(found)


class Noting:
    """The real app, and what it was given."""

    def __init__(self, salon: Salon) -> None:
        self._salon = salon
        self.profile = salon.profile
        self.deliveries = salon.deliveries
        self.should_speak: Callable[..., SpeakDecision] = salon.should_speak
        self.discussions: list[Discussion] = []

    def respond(self, avatar: str, question: str, **given: Any) -> Reply:
        self.discussions.append(given["discussion"])
        return self._salon.respond(avatar, question, **given)


@pytest.mark.requirement("cap/chat-platforms/discord")
def test_a_command_is_deferred_and_then_answered_with_citations(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        assert {one["name"] for one in fake.commands} == {"ask", "ask-berg", "ask-holm"}
        await fake.interaction("ask-berg", question=GARDEN_QUESTION)
        what, values = await fake.told()
        assert (what, values["type"]) == ("deferred", 5)
        what, values = await fake.told()
        assert what == "answer"
        assert values["allowed_mentions"] == {"parse": []}
        text = all_text(values)
        assert GARDEN_ANSWER in text
        assert "Ada Berg (AI)" in text
        assert "Rules of the Garden" in text
        assert "bytes 0 to" in text
        assert "AI" in values["embeds"][0]["footer"]["text"]

    run(floor_of(salon), play)


@pytest.mark.requirement("cap/chat-platforms/discord")
def test_a_mention_is_answered_where_it_was(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        asked = mention(f"Ada Berg, {GARDEN_QUESTION}")
        await fake.send("MESSAGE_CREATE", asked)
        what, values = await fake.told()
        assert what == "message"
        assert values["message_reference"]["message_id"] == int(asked["id"])
        assert values["allowed_mentions"] == {"parse": [], "replied_user": False}
        assert GARDEN_ANSWER in all_text(values)

    run(floor_of(salon), play)


@pytest.mark.requirement("cap/chat-platforms/discord")
def test_an_unaddressed_message_is_left_to_the_speaking_policy(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        otters = "How much fish does an otter eat?"
        await fake.send("MESSAGE_CREATE", message(otters, channel_id=OTHER_CHANNEL))
        await fake.send("MESSAGE_CREATE", message("Shall we have lunch at noon?"))
        await fake.send("MESSAGE_CREATE", message(GARDEN_QUESTION))
        _, values = await fake.told()
        assert "Ada Berg (AI)" in all_text(values)
        assert fake.is_quiet()

    room = Room(per_minute=6_000, burst=1_000, channels={OTHER_CHANNEL: OLE})
    run(floor_of(salon, room), play)


@pytest.mark.requirement("cap/chat-platforms/discord")
def test_what_was_said_in_the_channel_travels_along(salon: Salon) -> None:
    service = Noting(salon)

    async def play(fake: FakeDiscord) -> None:
        embed = {"author": {"name": "Ada Berg (AI)"}, "description": "I wrote \\*of\\* it."}
        fake.history = [
            message(
                f"<@1> asked in <#{OTHER_CHANNEL}>",
                id="1",
                author=BOB,
                mentions=[user("1", "alice")],
            ),
            message("beep", id="2", author=user("7", "robot", bot=True)),
            message("", id="3", author=ME, embeds=[embed]),
            message("no avatar's", id="4", author=ME),
            message("joined", id="5", type=7),
        ]
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        await fake.told()
        await fake.interaction("ask", avatar="Berg", question=GARDEN_QUESTION)
        await fake.told()
        await fake.told()

    run(Floor(service, floor_of(salon).roster, WIDE), play)
    expected = [
        ("bob", "@alice asked in #river"),
        ("Ada Berg", "I wrote *of* it."),
        ("alice", GARDEN_QUESTION),
    ]
    heard = [[(one.role, one.content) for one in all_.utterances] for all_ in service.discussions]
    assert heard == [expected, expected]


def test_a_direct_message_needs_no_mention_and_nobody_is_asked_whom(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        asked = message("what now?", channel_id=PRIVATE)
        del asked["guild_id"], asked["member"]
        await fake.send("MESSAGE_CREATE", asked)
        _, values = await fake.told()
        assert "Whom do you ask?" in all_text(values)
        await fake.interaction("ask", avatar="mozart", question="why?")
        await fake.told()
        _, values = await fake.told()
        assert "Whom do you ask?" in all_text(values)

    run(floor_of(salon), play)


def test_commands_that_would_be_cut_to_the_same_name_are_one(salon: Salon) -> None:
    names = [f"{'a-very-long-name-of-somebody-' * 2}{number}" for number in range(2)]
    roster = Roster([salon.profile(OLE), *(profile_of(one, f"{one} x") for one in names)])

    async def play(fake: FakeDiscord) -> None:
        commands = {one["name"] for one in fake.commands}
        assert commands == {"ask", "ask-holm", "ask-a-very-long-name-of-somebody"}

    run(Floor(salon, roster, WIDE), play)


def test_the_general_command_says_who_is_there(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        await fake.interaction("ask", kind=4, avatar="hol")
        _, values = await fake.told()
        assert values["data"]["choices"] == [{"name": "Ole Holm", "value": OLE}]

    run(floor_of(salon), play)


def test_a_room_may_have_no_history(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        assert GARDEN_ANSWER in all_text((await fake.told())[1])
        assert ("GET", f"/channels/{CHANNEL}/messages") not in fake.calls

    run(floor_of(salon, Room(history=0)), play)


def test_a_long_answer_to_a_command_goes_on_in_further_messages(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("salon.platforms.discord_text.LONGEST_MESSAGE", 10)

    async def play(fake: FakeDiscord) -> None:
        await fake.interaction("ask-berg", question=GARDEN_QUESTION)
        await fake.told()
        _, first = await fake.told()
        _, second = await fake.told()
        assert "Rules of the Garden" in all_text(second)
        assert "AI" in second["embeds"][0]["footer"]["text"]
        assert first["embeds"][0]["author"] == second["embeds"][0]["author"]

    run(floor_of(salon), play)


def test_bots_and_notices_are_not_answered(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        robot = user("7", "robot", bot=True)
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}", author=robot))
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}", author=ME))
        await fake.send("MESSAGE_CREATE", mention("Ada, hello", webhook_id="5"))
        await fake.send("MESSAGE_CREATE", mention("Ada, hello", type=7))
        await fake.send("NO_SUCH_EVENT", {"x": 1})
        await fake.send("MESSAGE_CREATE", mention("Ole, where do otters sleep?"))
        _, values = await fake.told()
        assert "Ole Holm (AI)" in all_text(values)
        assert fake.is_quiet()

    run(floor_of(salon), play)


def test_an_event_that_breaks_the_client_does_not_end_the_service(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        await fake.send("MESSAGE_CREATE", {"id": None, "channel_id": None})
        await fake.ready()
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        assert GARDEN_ANSWER in all_text((await fake.told())[1])

    run(floor_of(salon), play)


def test_a_client_that_breaks_again_and_again_is_given_up(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(*_: object) -> None:
        raise KeyError("nonsense")

    monkeypatch.setattr("salon.platforms.discord_client.AvatarClient.start", break_down)
    with pytest.raises(KeyError, match="nonsense"):
        asyncio.run(
            serve_discord(floor_of(salon), DiscordOptions(token="abc"), stop=asyncio.Event())
        )


def test_what_is_under_way_is_answered_before_the_end(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = AvatarClient.settle
    has_begun, may_end = threading.Event(), threading.Event()

    async def settle_and_say_so(client: AvatarClient) -> None:
        may_end.set()
        await settle(client)

    class Slow(Noting):
        def respond(self, avatar: str, question: str, **given: Any) -> Reply:
            has_begun.set()
            assert may_end.wait(30)
            return super().respond(avatar, question, **given)

    monkeypatch.setattr(AvatarClient, "settle", settle_and_say_so)
    fakes: list[FakeDiscord] = []

    async def play(fake: FakeDiscord) -> None:
        fakes.append(fake)
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        assert await asyncio.to_thread(has_begun.wait, 30)

    run(Floor(Slow(salon), floor_of(salon).roster, WIDE), play)
    assert not fakes[0].is_quiet()


def test_nothing_that_was_typed_becomes_a_mention_a_link_or_markup(salon: Salon) -> None:
    hostile = "@everyone <@12345678901234567> [free](https://evil.test) **members of the garden?**"

    async def play(fake: FakeDiscord) -> None:
        await fake.interaction("ask-berg", question=hostile)
        await fake.told()
        _, values = await fake.told()
        whole = json.dumps(values, ensure_ascii=False)
        assert "@everyone" not in whole
        assert "<@1" not in whole.replace("\\\\<", "")
        assert "\\\\[free" in whole
        assert values["allowed_mentions"] == {"parse": []}

    run(floor_of(salon), play)


def test_an_outcome_looks_unlike_an_answer(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        _, answer = await fake.told()
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {UNKNOWN_QUESTION}"))
        _, outcome = await fake.told()
        assert answer["embeds"][0]["color"] != outcome["embeds"][0]["color"]
        assert "title" not in answer["embeds"][0]
        assert outcome["embeds"][0]["title"]
        assert "AI" in outcome["embeds"][0]["footer"]["text"]

    run(floor_of(salon), play)


@pytest.mark.requirement("cap/security/rate-limit")
def test_who_asks_too_fast_is_told_when_to_come_back(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        await fake.told()
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        assert "ask again in 60 s" in all_text((await fake.told())[1])
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}", author=BOB))
        assert GARDEN_ANSWER in all_text((await fake.told())[1])

    run(floor_of(salon, Room(per_minute=1, burst=1), now=lambda: 0.0), play)


def test_a_channel_that_cannot_be_read_or_written_stops_nobody(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals: asyncio.Queue[str] = asyncio.Queue()

    def note(text: str, *_: object) -> None:
        if "did not take" in text:
            refusals.put_nowait(text)

    monkeypatch.setattr(discord_client.log, "warning", note)

    async def play(fake: FakeDiscord) -> None:
        refused = {"code": 50001, "message": "Missing Access"}
        place = f"/channels/{CHANNEL}/messages"
        fake.instead[f"GET {place}"] = [said(refused, 403) for _ in range(3)]
        fake.instead[f"POST {place}"] = [said(refused, 403)]
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        await refusals.get()
        fake.instead["/@original"] = [said(refused, 403)]
        await fake.interaction("ask-berg", question=GARDEN_QUESTION)
        await fake.told()
        await refusals.get()
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        assert SILENT_CHANNEL in all_text((await fake.told())[1])

    run(floor_of(salon), play)
    assert refusals.empty()


def test_a_full_discord_is_asked_again(salon: Salon) -> None:
    async def play(fake: FakeDiscord) -> None:
        full = {"message": "You are being rate limited.", "retry_after": 0.0, "global": False}
        via = {"Via": "1.1 test", "Retry-After": "0"}
        await fake.send("MESSAGE_CREATE", message("Ada, hello", channel_id=OTHER_CHANNEL))
        fake.instead[f"/channels/{CHANNEL}/messages"] = [said(full, 429, **via)]
        await fake.send("MESSAGE_CREATE", mention(f"Ada, {GARDEN_QUESTION}"))
        _, values = await fake.told()
        assert GARDEN_ANSWER in all_text(values)

    run(floor_of(salon, avatars=(ADA,)), play, DiscordOptions(token="abc", guild=int(GUILD)))


def test_what_discord_refuses_is_one_clear_error(salon: Salon) -> None:
    async def main() -> None:
        async with running_discord() as fake:
            point_at(fake)
            options = DiscordOptions(token="abc")
            assert (await check_discord(options))["application_id"] == "800"
            fake.instead["/users/@me"] = [
                said({"message": "401", "code": 0}, 401) for _ in range(2)
            ]
            with pytest.raises(InvalidSettings, match="does not know this token"):
                await check_discord(options)
            with pytest.raises(InvalidSettings, match="does not know this token"):
                await serve_discord(floor_of(salon), options, stop=asyncio.Event())
            fake.close_with = 4014
            with pytest.raises(InvalidSettings, match="may not read messages"):
                await serve_discord(floor_of(salon), options, stop=asyncio.Event())
            fake.instead["/users/@me"] = [said({"message": "no", "code": 0}, 400)]
            with pytest.raises(ProviderFailed, match="Discord failed"):
                await check_discord(options)

    asyncio.run(main())
