"""Clients that are slow, half gone, storming or many: nobody else notices."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import pytest
from websockets.exceptions import InvalidStatus

from salon.api import sockets
from salon.api.errors import TOO_SLOW
from salon.api.limits import Limits
from salon.api.live import Listener, Live
from salon.core.errors import LimitReached
from salon.steps.wire_shapes import BotResponse
from tests.api.client import talking
from tests.api.failing import failing
from tests.api.homes import companion_home
from tests.api.raw import (
    CLOSE,
    PING,
    close_code,
    frame,
    frames,
    message_frame,
    raw_client,
    until_closed,
)
from tests.api.serving import served


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with companion_home(tmp_path_factory.mktemp("home")) as one:
        yield one


def is_ended(client: socket.socket, flood: bytes) -> bool:
    """Send until the server takes no more, and tell whether it has hung up."""
    try:
        while True:
            client.sendall(flood)
    except TimeoutError:
        return False
    except OSError:
        return True


def test_a_client_that_does_not_read_is_dropped_and_others_go_on(
    salon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "LINGER_S", 0.1)
    limits = Limits(malformed=10**9, outgoing=50, send_s=0.2, frame_bytes=2**20)
    with served(salon, limits=limits, send_buffer=4096) as address:
        # Each frame is answered with an error of some hundred bytes that nobody takes.
        flood = frame(b"{") * 2_000
        with raw_client(address, "slow") as client, talking(address, "other") as other:
            client.settimeout(0.2)
            said = 0
            # The server stops reading first, then it ends the connection.
            while not is_ended(client, flood):
                said += 1
                assert other.say("Does this still work?")[-1]["turn"] == said
            assert said > 0


def test_a_listener_that_is_offered_too_much_is_told_why_it_ends() -> None:
    async def main() -> None:
        listener = Listener(outgoing=2)
        event = BotResponse(event_id=199, content="x", bot_id="b", turn=1, ai_label="AI")
        for _ in range(3):
            listener.offer(event)
        assert listener.close_code is TOO_SLOW
        assert listener.scope.cancel_called
        listener.close()
        listener.offer(event)  # it has left: nothing happens

    anyio.run(main)


def test_a_half_open_socket_is_noticed_by_its_silence(salon: Any) -> None:
    with (
        served(salon, ws_ping_interval=0.1, ws_ping_timeout=0.2) as address,
        raw_client(address, "half-open") as client,
        talking(address, "lively") as other,
    ):
        client.sendall(message_frame("half-open", "Hello?"))
        seen = []
        for opcode, payload in frames(client):
            seen.append(opcode)
            if opcode == CLOSE:
                assert close_code(payload) == 1011
        assert PING in seen
        assert other.say("I answer pings.")[-1]["type"] == "bot_response"


def test_a_client_that_vanishes_in_a_turn_leaves_the_turn_whole(salon: Any) -> None:
    with served(salon) as address:
        with talking(address, "vanishing") as listener:
            with raw_client(address, "vanishing") as client:
                client.sendall(message_frame("vanishing", "I am off."))
            reply = listener.until_reply()[-1]
        assert reply["turn"] == 1
        with talking(address, "vanishing", query="?last_event_id=0") as talk:
            assert talk.until_reply()[-1] == reply


def test_a_storm_of_reconnects_hurts_nobody(salon: Any) -> None:
    with served(salon, limits=Limits(connections_per_session=4)) as address:
        statuses: list[int] = []

        def storm() -> None:
            for _ in range(25):
                try:
                    with talking(address, "storm", query="?last_event_id=0"):
                        pass
                except InvalidStatus as error:
                    statuses.append(error.response.status_code)

        threads = [threading.Thread(target=storm) for _ in range(6)]
        for thread in threads:
            thread.start()
        with talking(address, "calm") as talk:
            turns = [talk.say(f"Remark {n}.")[-1]["turn"] for n in range(5)]
        for thread in threads:
            thread.join(60)
        assert turns == [1, 2, 3, 4, 5]
        assert set(statuses) <= {429}
        with talking(address, "storm") as talk:
            assert talk.say("The storm is over.")[-1]["type"] == "bot_response"


def test_there_is_a_limit_to_the_connections_of_a_session_and_of_a_server() -> None:
    async def main() -> None:
        live = Live(Limits(connections=3, connections_per_session=2))
        with live.listening("a"), live.listening("a"):
            with pytest.raises(LimitReached, match="this session"), live.listening("a"):
                pass
            with live.listening("b"), pytest.raises(LimitReached, match="this server"):
                live.listening("c").__enter__()
        with live.listening("a") as listener:
            assert listener.close_code is None

    anyio.run(main)


def test_messages_that_come_too_fast_are_refused_and_the_session_goes_on(salon: Any) -> None:
    with served(salon, limits=Limits(rate=0.001, burst=2)) as address:
        with talking(address, "hasty") as talk:
            assert [talk.say(f"Remark {n}.")[-1]["type"] for n in range(3)] == [
                "bot_response",
                "bot_response",
                "error",
            ]
            refused = talk.say("And another.")[-1]["error"]
            assert refused["code"] == "limit_reached"
            assert refused["details"]["retry_after_s"] > 0
        with talking(address, "unhurried") as talk:
            assert talk.say("I take my time.")[-1]["turn"] == 1


def test_a_defect_ends_one_turn_and_not_the_connection() -> None:
    app = failing(ZeroDivisionError("what was said"))
    with served(app) as address, talking(address, "unlucky") as talk:
        for _ in range(2):
            (error,) = talk.say("Hello?")
            assert error["error"]["code"] == "internal"
            assert "what was said" not in str(error)


def test_messages_that_pile_up_behind_a_turn_are_refused_beyond_a_few(salon: Any) -> None:
    many = 40
    with served(salon, limits=Limits(incoming=2)) as address:
        with raw_client(address, "pile") as client:
            client.sendall(b"".join(message_frame("pile", f"Remark {n}.") for n in range(many)))
            answered = 0
            kinds = []
            for _, payload in frames(client):
                if b'"error"' in payload or b'"bot_response"' in payload:
                    kinds.append(b"limit_reached" in payload)
                    answered += 1
                if answered == many:
                    break
        assert any(kinds)
        assert not all(kinds)


def test_a_server_that_stops_tells_its_clients(salon: Any) -> None:
    with ExitStack() as open_clients:
        with served(salon) as address:
            client = open_clients.enter_context(raw_client(address, "stopped"))
        opcode, payload = until_closed(client)[-1]
    assert (opcode, close_code(payload)) == (CLOSE, 1012)


def test_ten_thousand_malformed_frames_get_an_error_each_and_hurt_nobody(salon: Any) -> None:
    many = 10_000
    limits = Limits(malformed=10**9, outgoing=10**9, frame_bytes=2**20)
    kinds = (b"{", b"[]", b"null", b'{"type": "shout"}', b"\xff\xfe", b"[" * 500)
    with served(salon, limits=limits) as address, talking(address, "polite") as other:
        with raw_client(address, "garbage") as client:
            texts = [one for one in kinds if one != b"\xff\xfe"]
            flood = b"".join(frame(texts[n % len(texts)]) for n in range(many))
            sending = threading.Thread(target=client.sendall, args=(flood,))
            sending.start()
            for answered, (_, payload) in enumerate(frames(client), 1):
                assert b'"error"' in payload
                if answered % 2_500 == 0:
                    assert other.say("Does this still work?")[-1]["type"] == "bot_response"
                if answered == many:
                    break
            sending.join(30)
        with raw_client(address, "garbage") as client:
            client.sendall(frame(b"\xff\xfe"))  # no text at all: the protocol itself says no
            opcode, payload = until_closed(client)[-1]
            assert (opcode, close_code(payload)) == (CLOSE, 1007)
        assert other.say("And this?")[-1]["type"] == "bot_response"


HALF = {
    "nothing": b"",
    "half a line": b"GET /heal",
    "half a head": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "half a body": (
        b"POST /api/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    ),
    "half after a whole one": (
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /health HTTP/1.1\r\nHo"
    ),
}


def test_requests_that_never_end_are_cut_off_and_others_go_on(
    salon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "STUCK_S", 0.3)
    with served(salon, timeout_keep_alive=30) as address, ExitStack() as open_clients:
        clients = []
        for half in [*HALF.values()] * 20:
            client = open_clients.enter_context(socket.socket())
            client.settimeout(30)
            client.connect(("127.0.0.1", address.port))
            client.sendall(half)
            clients.append(client)
        with talking(address, "undisturbed") as talk:
            assert talk.say("Does this still work?")[-1]["turn"] == 1
        for client in clients:
            assert _until_hung_up(client)


def _until_hung_up(client: socket.socket) -> bool:
    try:
        while client.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


def test_a_client_that_hangs_up_amid_a_stream_leaves_the_turn_whole(salon: Any) -> None:
    with served(salon) as address, talking(address, "hung-up", user="u") as listener:
        body = b'{"content": "I am off.", "user_id": "u"}'
        head = (
            f"POST /api/sessions/hung-up/messages HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n"
            "Accept: text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        with socket.socket() as client:
            client.connect(("127.0.0.1", address.port))
            client.sendall(head.encode() + body)
        assert listener.until_reply()[-1]["turn"] == 1
