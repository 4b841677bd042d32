"""The WebSocket as clients meet it, over a real socket."""

import json
import threading
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from salon.api.limits import Limits
from salon.steps.wire_shapes import LONGEST_CONTENT
from tests.api.client import Event, Talk, talking
from tests.api.homes import companion_home
from tests.api.serving import Address, served

SIX = {
    "bot_response",
    "emotion_update",
    "feature_update",
    "relationship_prediction",
    "milestone_report",
    "scam_warning",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    with (
        companion_home(tmp_path_factory.mktemp("home")) as salon,
        served(salon, limits=Limits(rate=1000.0, burst=10_000)) as where,
    ):
        yield where


def closed_with(talk: Talk) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        talk.receive()
    assert closed.value.rcvd is not None
    return int(closed.value.rcvd.code)


def kinds(events: list[Event]) -> list[str]:
    return [one["type"] for one in events]


@pytest.mark.requirement(
    "companion/websocket-in/user-message",
    "companion/websocket-out/bot-response",
    "companion/websocket-out/emotion-update",
)
def test_a_message_brings_the_reading_and_then_one_reply(address: Address) -> None:
    with talking(address, "first") as talk:
        events = talk.say("I walked along the river today and felt light.")
    assert kinds(events) == ["emotion_update", "bot_response"]
    assert set(events[0]["data"]) == {"emotion", "confidence", "intensity", "valence", "arousal"}
    reply = events[-1]
    assert reply["turn"] == 1
    assert reply["content"]
    assert reply["bot_id"]
    assert "AI" in reply["ai_label"]


def test_the_ids_of_the_protocol_s_own_example_are_taken(address: Address) -> None:
    with talking(address, "session_456", user="user_123") as talk:
        assert talk.say("Hello, how are you?")[-1]["turn"] == 1


@pytest.mark.requirement("companion/websocket-out/names")
def test_a_conversation_uses_no_other_names_than_the_documented_ones(address: Address) -> None:
    with talking(address, "names") as talk:
        seen = {kind for n in range(5) for kind in kinds(talk.say(f"This is remark {n}."))}
        talk.connection.send("no message")
        seen |= {talk.receive()["type"]}
    assert seen <= SIX | {"error", "flow_update", "reply_delta"}
    assert {"bot_response", "emotion_update", "feature_update", "error"} <= seen


MALFORMED = {
    "no JSON": "hello",
    "cut JSON": '{"type": "user_message"',
    "a list": "[1, 2]",
    "a number": "3",
    "null": "null",
    "no type": '{"content": "x", "user_id": "u", "session_id": "bad"}',
    "unknown type": '{"type": "shout", "content": "x"}',
    "a server's type": '{"type": "bot_response", "content": "x"}',
    "missing field": '{"type": "user_message", "content": "x", "session_id": "bad"}',
    "extra field": (
        '{"type": "user_message", "content": "x", "user_id": "user_123", "session_id": "bad", '
        '"role": "system"}'
    ),
    "wrong kind": '{"type": "user_message", "content": 3, "user_id": "u", "session_id": "bad"}',
    "empty": '{"type": "user_message", "content": "", "user_id": "u", "session_id": "bad"}',
    "deep": "[" * 5_000,
    "half a character": (
        '{"type": "user_message", "content": "\\ud800", "user_id": "u", "session_id": "bad"}'
    ),
    "another session": (
        '{"type": "user_message", "content": "x", "user_id": "user_123", "session_id": "other"}'
    ),
}


@pytest.mark.requirement("companion/websocket-in/invalid-message")
def test_what_is_no_message_gets_one_error_and_the_connection_goes_on(address: Address) -> None:
    with talking(address, "bad") as talk:
        for name, frame in MALFORMED.items():
            talk.connection.send(frame)
            event = talk.receive()
            assert event["type"] == "error", name
            assert event["error"]["code"] in {"invalid_input", "content_too_large"}, name
            assert event["error"]["hint"], name
        talk.connection.send(b"\x00\x01")
        assert talk.receive()["error"]["message"] == "this is a binary frame"
        assert talk.say("Now a real message.")[-1]["turn"] == 1


def test_a_connection_speaks_for_one_user(address: Address) -> None:
    with talking(address, "two-users", user="anna") as talk:
        talk.say("I am Anna.")
        talk.send("I am Bert.", user_id="bert")
        assert talk.receive()["error"]["code"] == "conflict"
        assert talk.say("Anna again.")[-1]["turn"] == 2


def test_hundreds_of_malformed_frames_end_one_connection_and_hurt_no_other(
    address: Address,
) -> None:
    with talking(address, "patient") as other:
        with talking(address, "flood") as talk:
            for n in range(300):
                try:
                    talk.connection.send(f"{{{n}")
                except ConnectionClosed:
                    break
            assert [talk.receive()["type"] for _ in range(Limits().malformed)] == ["error"] * 100
            assert closed_with(talk) == 4400
        assert other.say("I am still here.")[-1]["type"] == "bot_response"


def test_a_message_that_is_too_long_is_refused_and_a_huge_frame_ends_the_connection(
    address: Address,
) -> None:
    with talking(address, "long") as talk:
        message = {"type": "user_message", "user_id": "user_123", "session_id": "long"}
        talk.connection.send(json.dumps(message | {"content": "x" * (LONGEST_CONTENT + 1)}))
        assert talk.receive()["error"]["code"] == "content_too_large"
        talk.connection.send(json.dumps(message | {"content": "x" * 1_000_000}))
        assert closed_with(talk) == 1009


def test_a_command_is_answered_and_is_no_turn(address: Address) -> None:
    with talking(address, "commands") as talk:
        first = talk.say("Hello there.")[-1]
        (slash,) = talk.say("/help")
        named = talk.command("help")
        assert slash == named
        assert named["type"] == "bot_response"
        assert named["command"] == "/help"
        assert named["turn"] == 1
        assert named["event_id"] == first["event_id"]
        assert "/predict-future" in named["content"]
        assert talk.say("Hello once more.")[-1]["turn"] == 2


def test_an_unknown_command_says_which_there_are(address: Address) -> None:
    with talking(address, "unknown-command") as talk:
        event = talk.command("/dance")
        assert event["type"] == "error"
        assert "/help" in event["error"]["hint"]


# Reconnecting


def test_reconnecting_replays_what_was_missed_once_and_byte_for_byte(address: Address) -> None:
    with talking(address, "again") as talk:
        seen = [event for n in range(4) for event in talk.say(f"This is remark number {n}.")]
    known = seen[3]["event_id"]
    with talking(address, "again", query=f"?last_event_id={known}") as talk:
        missed = [talk.receive() for _ in seen[4:]]
        assert missed == seen[4:]
        following = talk.say("And one more.")
        assert following[0]["event_id"] > seen[-1]["event_id"]
        assert following[-1]["turn"] == 5


def test_nothing_is_replayed_to_who_has_all_or_did_not_ask(address: Address) -> None:
    with talking(address, "fresh") as talk:
        last = talk.say("One.")[-1]["event_id"]
    for query in ("", f"?last_event_id={last}"):
        with talking(address, "fresh", query=query) as talk:
            assert talk.command("/help")["type"] == "bot_response"


def test_a_client_that_comes_back_amid_turns_gets_every_event_once_in_order(
    address: Address,
) -> None:
    turns = 6
    late: list[Event] = []
    with talking(address, "amid") as talk:
        first = talk.say("Let us begin.")

        def listen() -> None:
            with talking(address, "amid", query="?last_event_id=0") as listener:
                while not late or late[-1].get("turn") != turns:
                    late.append(listener.receive())

        thread = threading.Thread(target=listen)
        thread.start()
        rest = [event for n in range(turns - 1) for event in talk.say(f"Remark {n}.")]
        thread.join(60)
    assert late == [*first, *rest]


def test_ids_grow_within_a_session(address: Address) -> None:
    with talking(address, "ids") as talk:
        ids = [one["event_id"] for n in range(3) for one in talk.say(f"Remark {n}.")]
    assert ids == sorted(set(ids))


def test_an_address_that_makes_no_sense_is_refused_before_the_handshake(address: Address) -> None:
    with pytest.raises(InvalidStatus) as refused, talking(address, "Not%20a%20session"):
        pass
    assert refused.value.response.status_code == 422
    assert json.loads(refused.value.response.body)["error"]["code"] == "invalid_input"
    for number in ("-1", "x", "%C2%B2", "9" * 5_000):
        query = f"?last_event_id={number}"
        with pytest.raises(InvalidStatus) as refused, talking(address, "sense", query=query):
            pass
        assert refused.value.response.status_code == 422
        assert json.loads(refused.value.response.body)["error"]["code"] == "invalid_input"


# Several at once


def test_two_clients_of_one_session_hear_the_same(address: Address) -> None:
    with talking(address, "shared") as one, talking(address, "shared") as two:
        said = one.say("Can you both hear this?")
        assert two.until_reply() == said


def test_two_sessions_at_once_do_not_leak_into_each_other(address: Address) -> None:
    heard: dict[str, list[Event]] = {"left": [], "right": []}

    def talk_of(session: str, word: str) -> None:
        with talking(address, session, user=f"user-{session}") as talk:
            for n in range(8):
                heard[session] += talk.say(f"My {word} number {n} is on the table.")

    threads = [
        threading.Thread(target=talk_of, args=pair)
        for pair in (("left", "teapot"), ("right", "violin"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for session, foreign in (("left", "violin"), ("right", "teapot")):
        replies = [one for one in heard[session] if one["type"] == "bot_response"]
        assert [one["turn"] for one in replies] == list(range(1, 9))
        assert foreign not in json.dumps(heard[session])
        shown = httpx.get(f"{address.http}/api/sessions/{session}", timeout=10).json()
        assert shown["turn_count"] == 8
        assert foreign not in json.dumps(shown)


def test_deleting_a_session_sends_its_listeners_away(address: Address) -> None:
    with talking(address, "doomed") as talk:
        talk.say("I will be forgotten.")
        gone = httpx.delete(f"{address.http}/api/sessions/doomed", timeout=10)
        assert gone.json() == {"session_id": "doomed", "deleted": True}
        assert closed_with(talk) == 4404
    # What the client knew of the old conversation does not hide the new one.
    with talking(address, "doomed", query="?last_event_id=4999") as talk:
        assert talk.say("A new beginning.")[-1]["turn"] == 1
