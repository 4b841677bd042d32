"""An event that is delivered twice is answered once: again, elsewhere, and after a restart."""

import asyncio
import json
import os
import signal
import sys
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("slack_bolt")
pytest.importorskip("aiohttp")
with warnings.catch_warnings():
    # discord.py imports audioop, which Python 3.11 announces to be going.
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    pytest.importorskip("discord")

import yarl
from aiohttp import web
from discord.gateway import DiscordWebSocket
from discord.http import Route

from salon.app import Salon
from salon.archive.deliveries import Deliveries
from salon.archive.sqlite_archive import SqliteArchive
from salon.conversation.discussion import Utterance
from salon.core.errors import Conflict, ProviderFailed, StorageFull
from salon.core.hashing import content_hash
from salon.platforms import slack_app
from salon.platforms.discord_client import serve_discord
from salon.platforms.harmonica import Harmonica
from salon.platforms.harmonica_client import HarmonicaClient
from salon.platforms.options import DiscordOptions, HarmonicaOptions, SlackOptions
from salon.platforms.slack_app import build_slack_app
from salon.platforms.slack_serving import http_app
from salon.settings import Settings
from tests.platforms.fake_discord import APPLICATION, FakeDiscord, running_discord, said
from tests.platforms.fake_discord import mention as discord_mention
from tests.platforms.fake_harmonica import KEY, FakeHarmonica, running_harmonica
from tests.platforms.fake_slack import (
    BOT_ID,
    SECRET,
    Caller,
    FakeSlack,
    all_text,
    mention,
    message,
    running_slack,
)
from tests.platforms.rooms import ADA, GARDEN_ANSWER, GARDEN_QUESTION, WIDE, floor_of, open_rooms

ASKED = mention(f"Berg: {GARDEN_QUESTION}")
IN_THREAD = mention(f"Berg: {GARDEN_QUESTION}", thread_ts="2.0", ts="4.0")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with open_rooms(home):
        pass
    return home


@contextmanager
def opened(home: Path) -> Iterator[Salon]:
    """Open what another process, or this one after a restart, would have."""
    with Salon(Settings.model_validate({"home": home, "actor": "test"})) as salon:
        yield salon
        salon.deliveries.close()


@asynccontextmanager
async def reached(salon: Salon, slack: FakeSlack) -> AsyncIterator[Caller]:
    """Put an app before a Slack; what it has begun to say is said afterwards."""
    options = SlackOptions(bot_token="xoxb-1", signing_secret=SECRET, base_url=f"{slack.url}api/")
    app = build_slack_app(floor_of(salon), options)
    yield Caller(http_app(app, options), slack)
    await app.once.settle(2.0)


def ended_while(home: Path, state: str, platform: str, event: str) -> str:
    """Leave a delivery as a process that ended would; return its digest."""
    with SqliteArchive(home / "salon.db") as archive, Deliveries(archive) as deliveries:
        delivery = deliveries.take(platform, event)
        if state == "sending":
            deliveries.sending(delivery)
    return delivery.event


async def is_over(salon: Salon, platform: str, event: str) -> None:
    """Wait until nothing is left to do about an event."""
    name = content_hash(f"{platform}/{event}".encode())
    query = "SELECT 1 FROM salon_delivery WHERE event = ? AND state = 'answered'"
    async with asyncio.timeout(30):
        while salon.archive.read_sqlite().execute(query, (name,)).get is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # another process may be the one that says so


# Slack


async def answered_next(slack: FakeSlack, caller: Caller) -> None:
    """Make sure that nothing was said so far, and that something else is answered."""
    assert slack.is_quiet()
    await caller.event(mention("Ole: where do otters sleep?"))
    assert "Ole Holm (AI)" in all_text((await slack.told())[1])
    assert slack.is_quiet()


def test_slack_is_answered_once_across_a_restart(home: Path) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            with opened(home) as salon:
                async with reached(salon, slack) as caller:
                    await caller.event(ASKED, id_="Ev-restart")
                    assert GARDEN_ANSWER in all_text((await slack.told())[1])
                    await caller.command("/ask-berg", GARDEN_QUESTION, trigger_id="restart")
                    await slack.told()
                    await answered_next(slack, caller)
            with opened(home) as salon:
                async with reached(salon, slack) as caller:
                    again = await caller.event(ASKED, id_="Ev-restart")
                    command = await caller.command("/ask-berg", "again?", trigger_id="restart")
                    assert (again.status_code, command.status_code) == (200, 200)
                    await answered_next(slack, caller)
            assert slack.is_quiet()
            assert len(slack.posted) == 3

    asyncio.run(main())


def test_of_two_processes_on_slack_one_answers_and_the_other_waits_and_sees(home: Path) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            with opened(home) as salon, opened(home) as other:
                async with reached(salon, slack) as first, reached(other, slack) as second:
                    slack.stuck["users.info"] = False
                    await first.event(ASKED, id_="Ev-two")
                    await slack.is_stuck.wait()
                    # Slack comes again later, in case the first one ends before it answers.
                    assert (await second.event(ASKED, id_="Ev-two")).status_code == 503
                    assert slack.is_quiet()
                    await first.event(ASKED, id_="Ev-two-2")
                    await slack.told()
                    await is_over(salon, "slack", "Ev-two-2")
                    await answered_next(slack, first)
                    assert (await second.event(ASKED, id_="Ev-two-2")).status_code == 200
                    await answered_next(slack, second)
            assert len(slack.posted) == 3

    asyncio.run(main())


@pytest.mark.parametrize("event", [ASKED, IN_THREAD], ids=["channel", "thread"])
@pytest.mark.parametrize("was_posted", [True, False], ids=["posted", "not-posted"])
def test_slack_is_asked_where_a_process_ended_while_sending(
    home: Path, event: dict[str, Any], was_posted: bool
) -> None:
    id_ = f"Ev-doubt-{was_posted}-{event['ts']}"
    digest = ended_while(home, "sending", "slack", id_)

    async def main() -> None:
        async with running_slack() as slack:
            slack.threads["2.0"] = [message("We talk of the garden.", ts="2.0", user="U2")]
            mark = {"event_type": "salon_reply", "event_payload": {"event": digest}}
            post = {"ts": "5.0", "bot_id": BOT_ID, "thread_ts": event.get("thread_ts")}
            slack.posted = [
                post | {"metadata": {"event_type": "salon_reply", "event_payload": {"event": "x"}}},
                post | {"metadata": mark, "bot_id": "BOTHER"},
                *([post | {"metadata": mark}] if was_posted else []),
            ]
            with opened(home) as salon:
                async with reached(salon, slack) as caller:
                    assert (await caller.event(event, id_=id_)).status_code == 200
                    await is_over(salon, "slack", id_)
                    if not was_posted:
                        values = (await slack.told())[1]
                        assert GARDEN_ANSWER in all_text(values)
                        assert values["metadata"] == mark
                    await answered_next(slack, caller)

    asyncio.run(main())


def test_where_slack_does_not_tell_nothing_is_said_twice(home: Path) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            with opened(home) as salon:
                async with reached(salon, slack) as caller:
                    for number, found in enumerate(
                        ({"ok": False, "error": "not_in_channel"},
                         {"ok": True, "messages": [], "has_more": True},
                         {"ok": True, "messages": [{"ts": "5.0", "bot_id": BOT_ID, "text": "?"}]})
                    ):  # fmt: skip
                        ended_while(home, "sending", "slack", f"Ev-untold-{number}")
                        slack.instead["conversations.history"] = [web.json_response(found)]
                        await caller.event(ASKED, id_=f"Ev-untold-{number}")
                        await is_over(salon, "slack", f"Ev-untold-{number}")
                        await answered_next(slack, caller)
                    ended_while(home, "sending", "slack", "command-untold")
                    await caller.command("/ask-berg", GARDEN_QUESTION, trigger_id="command-untold")
                    await is_over(salon, "slack", "command-untold")
                    await answered_next(slack, caller)

    asyncio.run(main())


def test_what_slack_delivers_while_the_disk_is_full_is_wanted_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with running_slack() as slack:
            with opened(home) as salon:
                async with reached(salon, slack) as caller:

                    def fail(*_: object) -> None:
                        raise StorageFull("no room left")

                    with monkeypatch.context() as patch:
                        patch.setattr(Deliveries, "take", fail)
                        assert (await caller.event(ASKED, id_="Ev-full")).status_code == 503
                    assert (await caller.event(ASKED, id_="Ev-full")).status_code == 200
                    assert GARDEN_ANSWER in all_text((await slack.told())[1])

    asyncio.run(main())


def test_a_connection_that_breaks_after_slack_has_heard_is_no_reason_to_repeat_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        was_given_up = asyncio.Event()
        monkeypatch.setattr(slack_app.log, "warning", lambda *_: was_given_up.set())
        async with running_slack() as slack:
            slack.broken["chat.postMessage"] = 1
            slack.broken["users.info"] = 1
            with opened(home) as salon:
                async with reached(salon, slack) as caller:
                    await caller.event(ASKED)
                    assert GARDEN_ANSWER in all_text((await slack.told())[1])
                    # Reading is repeated, saying is not.
                    await asyncio.wait_for(was_given_up.wait(), 30)
                    await caller.event(mention("Ole: where do otters sleep?"))
                    assert "Ole Holm (AI)" in all_text((await slack.told())[1])
            assert len(slack.posted) == 2
            assert len(slack.asked("users.info")) == 2

    asyncio.run(main())


PROGRAM = "from salon.cli.main import main; main()"


@asynccontextmanager
async def salon_slack(home: Path, slack: FakeSlack) -> AsyncIterator[Any]:
    """Run `salon slack` as a process of its own, and kill it in the end."""
    group = {
        "bot_token": "xoxb-1", "app_token": "xapp-1", "base_url": f"{slack.url}api/",
        "default_avatar": ADA,
    }  # fmt: skip
    lines = [f"{key} = {json.dumps(value)}" for key, value in group.items()]
    (home / "salon.toml").write_text("\n".join(["[slack]", *lines]), "utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        "slack",
        env={**os.environ, "SALON_HOME": str(home)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield await slack.socket()
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        (home / "salon.toml").unlink()


@pytest.mark.parametrize(
    ("at", "is_done", "posts"),
    [
        ("conversations.history", True, 1),
        ("chat.postMessage", False, 1),
        ("chat.postMessage", True, 1),
    ],
    ids=["before-sending", "sent-and-lost", "sent-and-heard"],
)
def test_a_killed_process_is_followed_by_one_that_answers_what_was_not(
    home: Path, at: str, is_done: bool, posts: int
) -> None:
    event = {
        "type": "event_callback", "event_id": f"Ev-kill-{at}-{is_done}", "team_id": "T1",
        "event": ASKED,
    }  # fmt: skip
    envelope = json.dumps({"type": "events_api", "envelope_id": "e1", "payload": event})
    after = json.dumps(
        {
            "type": "events_api", "envelope_id": "e2",
            "payload": event | {
                "event_id": f"Ev-after-{at}-{is_done}",
                "event": mention("Ole: where do otters sleep?", ts="9.0"),
            },
        }
    )  # fmt: skip

    async def main() -> None:
        async with running_slack() as slack:
            slack.stuck[at] = is_done
            async with salon_slack(home, slack) as socket:
                await socket.send_str(envelope)
                await asyncio.wait_for(slack.is_stuck.wait(), 60)
            assert slack.is_quiet()
            async with salon_slack(home, slack) as socket:
                await socket.send_str(envelope)
                if not (at == "chat.postMessage" and is_done):
                    assert GARDEN_ANSWER in all_text((await slack.told())[1])
                with opened(home) as salon:
                    await is_over(salon, "slack", str(event["event_id"]))
                await socket.send_str(after)
                assert "Ole Holm (AI)" in all_text((await slack.told())[1])
            assert slack.is_quiet()
            assert len(slack.posted) == posts + 1

    asyncio.run(main())


# Discord


@pytest.fixture
def _no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Route, "BASE", "http://127.0.0.1:9")
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL("ws://127.0.0.1:9/"))


@asynccontextmanager
async def on_discord(fake: FakeDiscord, *salons: Salon) -> AsyncIterator[None]:
    """Connect each Salon, as processes of their own would be."""
    Route.BASE = fake.url.replace("ws://", "http://").removesuffix("gateway/") + "api"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(fake.url)
    stop = asyncio.Event()
    tasks = []
    for salon in salons:
        options = DiscordOptions(token="abc")
        tasks.append(asyncio.create_task(serve_discord(floor_of(salon), options, stop=stop)))
        await fake.ready()
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)


async def otters_next(fake: FakeDiscord) -> None:
    """Make sure that nothing was said so far, and that something else is answered."""
    assert fake.is_quiet()
    await fake.send("MESSAGE_CREATE", discord_mention("Ole, where do otters sleep?"))
    _, values = await fake.told()
    assert "Ole Holm (AI)" in json.dumps(values)
    assert fake.is_quiet()


@pytest.mark.usefixtures("_no_way_out")
def test_of_two_processes_on_discord_one_answers_also_after_a_restart(home: Path) -> None:
    asked = discord_mention(f"Ada, {GARDEN_QUESTION}")

    async def main() -> None:
        async with running_discord() as fake:
            with opened(home) as salon, opened(home) as other:
                async with on_discord(fake, salon, other):
                    await fake.send("MESSAGE_CREATE", asked)
                    assert GARDEN_ANSWER in json.dumps((await fake.told())[1])
                    await otters_next(fake)
                    await fake.interaction("ask-berg", question=GARDEN_QUESTION)
                    assert (await fake.told())[0] == "deferred"
                    assert GARDEN_ANSWER in json.dumps((await fake.told())[1])
                    await otters_next(fake)
            with opened(home) as salon:
                async with on_discord(fake, salon):
                    await fake.send("MESSAGE_CREATE", asked)
                    await otters_next(fake)
            assert len(fake.posted) == 4

    asyncio.run(main())


@pytest.mark.usefixtures("_no_way_out")
@pytest.mark.parametrize("was_posted", [True, False], ids=["posted", "not-posted"])
def test_discord_is_asked_where_a_process_ended_while_sending(home: Path, was_posted: bool) -> None:
    asked = discord_mention(f"Ada, {GARDEN_QUESTION}")
    ended_while(home, "sending", "discord", f"{APPLICATION}/message/{asked['id']}")

    async def main() -> None:
        async with running_discord() as fake:
            if was_posted:
                fake.say_in_reply_to(asked)
            with opened(home) as salon:
                async with on_discord(fake, salon):
                    await fake.send("MESSAGE_CREATE", asked)
                    await is_over(salon, "discord", f"{APPLICATION}/message/{asked['id']}")
                    if not was_posted:
                        assert GARDEN_ANSWER in json.dumps((await fake.told())[1])
                    await otters_next(fake)

    asyncio.run(main())


@pytest.mark.usefixtures("_no_way_out")
def test_where_discord_does_not_tell_nothing_is_said_twice(home: Path) -> None:
    asked = discord_mention(f"Ada, {GARDEN_QUESTION}")
    ended_while(home, "sending", "discord", f"{APPLICATION}/message/{asked['id']}")

    async def main() -> None:
        async with running_discord() as fake:
            refused = {"code": 50001, "message": "Missing Access"}
            fake.instead[f"GET /channels/{asked['channel_id']}/messages"] = [said(refused, 403)]
            with opened(home) as salon:
                async with on_discord(fake, salon):
                    await fake.send("MESSAGE_CREATE", asked)
                    await is_over(salon, "discord", f"{APPLICATION}/message/{asked['id']}")
                    await otters_next(fake)

    asyncio.run(main())


@pytest.mark.usefixtures("_no_way_out")
def test_discord_itself_takes_an_answer_only_once(home: Path) -> None:
    """The same delivery has the same nonce, and another one has another."""

    async def main() -> None:
        async with running_discord() as fake:
            with opened(home) as salon:
                async with on_discord(fake, salon):
                    await otters_next(fake)
                    await otters_next(fake)
            assert len(fake.nonces) == 2
            assert all(len(one) <= 25 for one in fake.nonces)

    asyncio.run(main())


# Harmonica


@contextmanager
def on_harmonica(salon: Salon, fake: FakeHarmonica) -> Iterator[Harmonica]:
    options = HarmonicaOptions(api_key=KEY, base_url=fake.url)
    with HarmonicaClient(options, sleep=lambda _: None) as client:
        yield Harmonica(salon, client, options, room=WIDE, now=lambda: 0.0)


def test_the_same_words_are_answered_once_in_harmonica(home: Path) -> None:
    with running_harmonica() as fake:
        with opened(home) as salon, on_harmonica(salon, fake) as rooms:
            made = rooms.create_session("Water", avatars=[ADA])
            fake.say(made.id, "p1", "alice", GARDEN_QUESTION)
            rooms.consult_avatar(made, ADA, participant="p1")
            with pytest.raises(Conflict, match="Ada Berg has answered this"):
                rooms.consult_avatar(made, ADA, participant="p1")
        with opened(home) as salon, on_harmonica(salon, fake) as rooms:
            with pytest.raises(Conflict, match="Ada Berg has answered this"):
                rooms.consult_avatar(made, ADA, participant="p1")
            assert len(fake.texts(made.id, "p1")) == 2
            fake.say(made.id, "p1", "alice", GARDEN_QUESTION)
            rooms.consult_avatar(made, ADA, participant="p1")
            assert len(fake.texts(made.id, "p1")) == 4


def test_while_one_process_consults_another_is_told(home: Path) -> None:
    with running_harmonica() as fake, opened(home) as salon, opened(home) as other:
        with on_harmonica(salon, fake) as rooms, on_harmonica(other, fake) as others:
            made = rooms.create_session("Water", avatars=[ADA])
            context = [Utterance(role="carol", content=GARDEN_QUESTION)]
            respond = salon.respond

            def slowly(*given: Any, **more: Any) -> Any:
                with pytest.raises(Conflict, match="is being consulted"):
                    others.consult_avatar(made, ADA, participant="p1", context=context)
                return respond(*given, **more)

            salon.respond = slowly
            rooms.consult_avatar(made, ADA, participant="p1", context=context)
        assert len(fake.texts(made.id, "p1")) == 1


@pytest.mark.parametrize("is_given", [True, False], ids=["given", "asked-for"])
def test_harmonica_is_asked_where_it_is_unknown_whether_it_heard(
    home: Path, is_given: bool
) -> None:
    context = [Utterance(role="alice", content=GARDEN_QUESTION)] if is_given else None
    with running_harmonica() as fake, opened(home) as salon, on_harmonica(salon, fake) as rooms:
        made = rooms.create_session("Water", avatars=[ADA])
        fake.say(made.id, "p1", "alice", GARDEN_QUESTION)
        before = len(fake.texts(made.id, "p1"))
        fake.is_cut_off = True
        with pytest.raises(ProviderFailed):
            rooms.consult_avatar(made, ADA, participant="p1", context=context)
        fake.is_cut_off = False
        with pytest.raises(Conflict, match="Ada Berg has answered this"):
            rooms.consult_avatar(made, ADA, participant="p1", context=context)
        assert len(fake.texts(made.id, "p1")) == before + 1


def test_what_harmonica_refused_may_be_tried_again(home: Path) -> None:
    context = [Utterance(role="alice", content=GARDEN_QUESTION)]
    with running_harmonica() as fake, opened(home) as salon, on_harmonica(salon, fake) as rooms:
        made = rooms.create_session("Water", avatars=[ADA])
        fake.instead = [(500, {}, b"{}")]
        with pytest.raises(ProviderFailed):
            rooms.consult_avatar(made, ADA, participant="p1", context=context)
        done = rooms.consult_avatar(made, ADA, participant="p1", context=context)
        assert fake.texts(made.id, "p1") == [done.message]
