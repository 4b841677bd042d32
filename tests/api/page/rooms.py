"""What people do in the room, for tests: begin, say something, wait for the reply, read it."""

from typing import TYPE_CHECKING, Any

import httpx

from tests.api.page.browser import PATIENCE, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

IDA, TOMAS, MIRELA, MINA = "Ida Weir", "Tomas Brand", "Mirela Sand", "Mina"
DIGGING = "What does each household give for digging?"
OIL = "How much oil does the lamp burn in a winter night?"
FOOTBALL = "Who won the football match?"
REPLIES = ".message.avatar:not(.waiting):not(.writing)"
KEEP_NOTICES = """() => {
    // A notice leaves by itself, on a slow machine perhaps before anybody has looked for it.
    window.noticed = [];
    addEventListener('DOMContentLoaded', () => new MutationObserver((changes) => {
        for (const one of changes) for (const node of one.addedNodes) noticed.push(node.innerText);
    }).observe(document.getElementById('notices'), { childList: true }));
}"""


def begin(visitor: Visitor, name: str = IDA) -> "Page":
    """Choose an avatar in the lobby and wait until the room is connected."""
    page = visitor.go("#/room")
    page.get_by_role("button", name=f"Talk with {name}").click()
    connected(page)
    return page


def gather(visitor: Visitor, *names: str) -> "Page":
    """Gather several avatars."""
    page = visitor.go("#/room")
    for name in names:
        page.get_by_role("checkbox", name=f"Gather {name}").check()
    page.get_by_role("button", name=f"Gather {len(names)}").click()
    connected(page)
    return page


def connected(page: "Page") -> None:
    """Wait until the room says that it is connected."""
    page.get_by_role("status").get_by_text("Connected", exact=True).wait_for()


def type_and_send(page: "Page", text: str) -> None:
    """Put a text into the message box and press Enter."""
    box = page.get_by_label("Your message")
    box.fill(text)
    box.press("Enter")


def say(page: "Page", text: str) -> "Locator":
    """Say something, and return the reply once it is whole."""
    before = page.locator(REPLIES).count()
    type_and_send(page, text)
    reply = page.locator(REPLIES).nth(before)
    reply.wait_for()
    return reply


def come_back(visitor: Visitor, session: str, avatar: str) -> "Page":
    """Open a conversation of before, and wait until the server has repeated its last reply.

    What is repeated is drawn anew; a click in that very moment would meet what is just going.
    """
    heard: list[str] = []
    visitor.page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))),
    )
    page = visitor.go(f"#/room/{session}?with={avatar}")
    connected(page)
    visitor.until(lambda: any('"bot_response"' in one for one in heard))
    visitor.settle()
    return page


def people(page: "Page") -> list[str]:
    """Return what people said, with their names, but without the time of day.

    The time is the one of this machine at first and of the record later; a minute may lie between.
    """
    found: list[str] = page.locator(".message.person").evaluate_all(
        """all => all.map((one) => [".message-head .strong", ".message-text"]
            .map((part) => one.querySelector(part).innerText).join(" "))"""
    )
    return [" ".join(one.split()) for one in found]


def noticed(page: "Page") -> list[str]:
    """Return the notices that came, also those that have gone again."""
    found: list[str] = page.evaluate("window.noticed")
    return found


def session_of(page: "Page") -> str:
    """Return the session in the address."""
    return str(page.evaluate("location.hash.split('/')[2].split('?')[0]"))


def say_over_http(url: str, session: str, text: str, **more: str) -> Any:
    """Take a turn of a session from elsewhere."""
    message = {"content": text, "user_id": "Anna"} | more
    answer = httpx.post(f"{url}/api/sessions/{session}/messages", json=message, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    return answer.json()
