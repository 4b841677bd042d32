"""A WebSocket client without manners: bytes on a socket, nothing answered that is not asked for."""

import base64
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.api.serving import Address

TEXT, BINARY, CLOSE, PING = 0x1, 0x2, 0x8, 0x9


@contextmanager
def raw_client(
    address: Address, session: str, headers: dict[str, str] | None = None
) -> Iterator[socket.socket]:
    """Connect and shake hands, and hand out the bare socket."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(30)
        client.connect(("127.0.0.1", address.port))
        fields = {
            "Host": f"127.0.0.1:{address.port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": base64.b64encode(b"sixteen bytes ok").decode(),
            "Sec-WebSocket-Version": "13",
        } | (headers or {})
        lines = [f"GET /ws/{session} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items()), "", ""]
        client.sendall("\r\n".join(lines).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        assert b" 101 " in head.splitlines()[0], head
        yield client


def frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """Return one masked frame; the mask is zero, so the payload stands as it is."""
    size = len(payload)
    if size < 126:
        length = struct.pack("!B", 0x80 | size)
    elif size < 65_536:
        length = struct.pack("!BH", 0x80 | 126, size)
    else:
        length = struct.pack("!BQ", 0x80 | 127, size)
    return bytes([0x80 | opcode]) + length + b"\0\0\0\0" + payload


def message_frame(session: str, content: str, user: str = "user_123") -> bytes:
    """Return the frame of a message that is one."""
    said = {"type": "user_message", "content": content, "user_id": user, "session_id": session}
    return frame(json.dumps(said).encode())


def frames(client: socket.socket) -> Iterator[tuple[int, bytes]]:
    """Read frames until the server ends the connection."""
    with client.makefile("rb") as stream:
        while head := stream.read(2):
            size = head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", stream.read(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", stream.read(8))
            yield head[0] & 0x0F, stream.read(size)


def close_code(payload: bytes) -> int:
    """Return the code of a close frame."""
    return int(struct.unpack("!H", payload[:2])[0])


def until_closed(client: socket.socket) -> list[tuple[int, bytes]]:
    """Return what the server sent, its close frame last."""
    got = []
    for one in frames(client):
        got.append(one)
        if one[0] == CLOSE:
            break
    return got
