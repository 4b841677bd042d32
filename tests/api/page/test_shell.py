"""The shell of the page: what is sent, how one gets around, what happens where nothing answers."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from salon.api.access import Door
from tests.api.page.browser import PATIENCE, PHONE, Visitor, becomes, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.house import PATIENT, House
from tests.api.page.rooms import DIGGING, IDA, REPLIES, connected, say
from tests.api.serving import served

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

MOST_BYTES = 100_000
SECRET = "let-me-in"
NAMES = ["Room", "Reading", "Gate", "Council", "Library", "Ledger"]


def lobby(page: "Page") -> None:
    """Wait until one can choose."""
    page.get_by_role("button", name=f"Talk with {IDA}").wait_for()


def metrics(cdp: "CDPSession") -> dict[str, float]:
    """Return what the page holds once everything that can go has gone."""
    for _ in range(3):
        cdp.send("HeapProfiler.collectGarbage")
    found = cdp.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in found}


# What is sent


def counting(visitor: Visitor) -> list[float]:
    """Return a list that grows with the bytes of every answer as it went over the wire.

    It is whole once the visitor has settled.
    """
    cdp = visitor.context.new_cdp_session(visitor.page)
    cdp.send("Network.enable")
    sizes: list[float] = []
    cdp.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    return sizes


def test_the_first_useful_paint_needs_less_than_100_kilobytes(visitor: Visitor) -> None:
    sizes = counting(visitor)
    lobby(visitor.go())
    visitor.settle()
    visitor.until(lambda: len(sizes) > 10)
    assert sum(sizes) < MOST_BYTES


def test_the_whole_room_with_a_proof_stays_below_it_too(visitor: Visitor) -> None:
    sizes = counting(visitor)
    asked: list[str] = []
    page = visitor.page
    page.on("request", lambda request: asked.append(request.url))
    lobby(visitor.go())
    page.get_by_role("button", name=f"Talk with {IDA}").click()
    connected(page)
    say(page, DIGGING).locator("button.citation").first.click()
    page.locator("dialog.proof[data-done]").wait_for()
    visitor.settle()
    assert any("parts/proof.js" in one for one in asked)
    assert not any("screens/council" in one for one in asked)
    assert sum(sizes) < MOST_BYTES


def test_nothing_is_asked_of_anybody_else(visitor: Visitor, house: House) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    lobby(visitor.go())
    visitor.settle()
    assert {urlsplit(one).netloc for one in asked} == {urlsplit(house.url).netloc}


def test_the_policy_forbids_everything_inline_and_foreign(house: House) -> None:
    answer = httpx.get(f"{house.url}/", timeout=PATIENCE)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", answer.text)


def test_no_file_of_the_page_makes_markup_out_of_text(house: House) -> None:
    from salon.api.page_files import FOLDER

    words = re.compile(
        r"\.(innerHTML|outerHTML|insertAdjacentHTML|srcdoc)\b|document\.write|\beval\("
    )
    found = [str(one) for one in FOLDER.rglob("*.js") if words.search(one.read_text("utf-8"))]
    assert found == []


# Getting around


def test_the_navigation_names_six_screens_and_says_where_one_is(visitor: Visitor) -> None:
    page = visitor.go()
    lobby(page)
    links = page.get_by_role("navigation", name="Screens").get_by_role("link")
    assert links.all_inner_texts() == NAMES
    assert links.nth(0).get_attribute("aria-current") == "page"
    assert page.title() == "Room · Salon"


def test_an_address_that_does_not_exist_leads_to_the_room(visitor: Visitor) -> None:
    page = visitor.go("#/nowhere/at/all?x=%")
    lobby(page)
    assert page.evaluate("location.hash") == "#/room"


def test_the_keyboard_alone_is_enough_to_begin(visitor: Visitor) -> None:
    page = visitor.go()
    lobby(page)
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_placeholder("Guest", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    begin = page.get_by_role("button", name=f"Talk with {IDA}", exact=True)
    expect(begin).to_be_focused()
    expect(begin).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    connected(page)


def test_the_colours_follow_the_system_until_somebody_chooses(visit: Visit) -> None:
    visitor = visit(color_scheme="dark")
    page = visitor.go()
    lobby(page)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").wait_for()
    light = page.evaluate(ground)
    assert dark != light
    page.reload()
    lobby(page)
    becomes(page, lambda: page.evaluate(ground), light)
    page.get_by_role("button", name="Colours: light").click()
    becomes(page, lambda: page.evaluate(ground), dark)


def test_nothing_moves_for_those_who_asked_for_stillness(visit: Visit) -> None:
    visitor = visit(reduced_motion="reduce")
    page = visitor.go()
    lobby(page)
    script = """() => [...document.querySelectorAll('*')].filter(one => {
        const style = getComputedStyle(one);
        return style.animationName !== 'none' || style.transitionDuration !== '0s';
    }).length"""
    assert page.evaluate(script) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_lobby_is_accessible_and_fits_a_narrow_phone(visit: Visit, scheme: str) -> None:
    visitor = visit(color_scheme=scheme, viewport={"width": 320, "height": 640})
    page = visitor.go()
    lobby(page)
    assert (grave_issues(visitor), visitor.overflow()) == ([], 0)


def test_touch_targets_on_a_phone_are_large_enough(visit: Visit) -> None:
    page = visit(viewport=PHONE, has_touch=True).go()
    lobby(page)
    sizes = [one.bounding_box() for one in page.locator("nav a, main .button").all()]
    assert sizes
    assert all(one is not None and min(one["width"], one["height"]) >= 24 for one in sizes)


# What goes wrong


def test_a_server_that_does_not_answer_is_told_in_words(visitor: Visitor) -> None:
    visitor.expect_complaint("Failed to load resource")
    visitor.page.route("**/api/avatars", lambda route: route.abort())
    page = visitor.go()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "The server does not answer." in alert.inner_text()
    assert "salon serve" in alert.inner_text()
    assert grave_issues(visitor) == []
    visitor.page.unroute("**/api/avatars")
    alert.get_by_role("button", name="Try again").click()
    lobby(page)


def test_a_screen_that_cannot_be_loaded_is_told_in_words(visitor: Visitor) -> None:
    visitor.expect_complaint("Failed to load resource")
    visitor.page.route("**/page/screens/room.js", lambda route: route.abort())
    alert = visitor.go().get_by_role("alert")
    alert.wait_for()
    assert "could not be loaded" in alert.inner_text()


def test_an_error_of_the_server_shows_its_message_and_hint(visitor: Visitor) -> None:
    visitor.expect_complaint("Failed to load resource")
    page = visitor.go("#/room/Not%20a%20session")
    alert = page.get_by_role("alert").first
    alert.wait_for()
    assert len(alert.locator("p").all_inner_texts()) >= 2


def test_a_hostile_link_stays_text(visitor: Visitor) -> None:
    page = visitor.go()
    lobby(page)
    script = """async (url) => {
        const { externalLink } = await import('/page/lib/dom.js');
        return externalLink(url, 'original').tagName;
    }"""
    assert page.evaluate(script, "https://example.org/a") == "A"
    for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "//x", "x"):
        assert page.evaluate(script, url) == "SPAN", url


# The token


@pytest.fixture(scope="module")
def guarded(house: House) -> Iterator[str]:
    with served(house.salon, limits=PATIENT, door=Door(token=SECRET)) as address:
        yield address.http


def test_a_server_that_asks_for_a_token_gets_it_from_the_person(visit: Visit, guarded: str) -> None:
    visitor = visit(guarded)
    visitor.expect_complaint("401")
    page = visitor.go()
    page.get_by_role("heading", name="This server asks for a token").wait_for()
    assert grave_issues(visitor) == []
    page.get_by_role("textbox", name="Token").fill("wrong")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("That token is not the right one.").wait_for()
    page.get_by_role("textbox", name="Token").fill(SECRET)
    page.get_by_role("button", name="Go on").click()
    lobby(page)
    kept = "[sessionStorage.getItem('salon.token'), JSON.stringify({...localStorage})]"
    tab, lasting = page.evaluate(kept)
    assert tab == SECRET
    assert SECRET not in lasting
    assert SECRET not in page.url
    page.get_by_role("button", name=f"Talk with {IDA}").click()
    connected(page)
    say(page, DIGGING)


def test_without_a_token_one_is_told_what_is_missing(visit: Visit, guarded: str) -> None:
    visitor = visit(guarded)
    visitor.expect_complaint("401")
    page = visitor.go()
    page.get_by_role("button", name="Not now").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "token" in alert.inner_text()


def test_a_token_that_no_socket_can_carry_is_told_in_words(visit: Visit, house: House) -> None:
    odd = "a/b=c token"
    with served(house.salon, limits=PATIENT, door=Door(token=odd)) as address:
        visitor = visit(address.http)
        visitor.expect_complaint("401")
        page = visitor.go()
        page.get_by_role("textbox", name="Token").fill(odd)
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("button", name=f"Talk with {IDA}").click()
        page.get_by_text("a browser cannot send this token").wait_for()


# An hour

STAND_IN = """() => {
    // Answers at once in place of the server, so that an hour fits into seconds.
    window.answered = 0;
    window.WebSocket = class extends EventTarget {
        static OPEN = 1;
        readyState = 1;
        constructor() { super(); setTimeout(() => this.onopen?.(), 0); }
        send(text) {
            const said = JSON.parse(text);
            const turn = ++window.answered;
            const data = JSON.stringify({
                type: 'bot_response', event_id: turn * 100 + 99, turn, bot_id: 'ida-weir',
                content: `${said.content} [1]`, ai_label: 'AI', outcome: 'answered',
                citations: [{ hash: 'a'.repeat(64), start: 0, end: 1, quote: 'q', source: 's' }],
            });
            setTimeout(() => this.onmessage?.({ data }), 0);
        }
        close() { this.readyState = 3; }
    };
    const real = window.fetch;
    window.fetch = (url, options) => /api[/]sessions[/].+limit=/.test(String(url))
        ? Promise.resolve(new Response('{"turns": [], "turn_count": 0}'))
        : real(url, options);
}"""
TALK = """async (turns) => {
    const composer = document.querySelector('salon-composer');
    for (let n = 0; n < turns; n++) {
        composer.dispatchEvent(new CustomEvent('say', { detail: { text: `Remark ${n}.` } }));
        while (document.querySelector('.waiting')) await new Promise((go) => setTimeout(go));
    }
}"""
WANDER = """async (times) => {
    const until = async (selector) => {
        while (!document.querySelector(selector)) await new Promise((go) => setTimeout(go, 5));
    };
    const room = location.hash;
    for (let n = 0; n < times; n++) {
        location.hash = '#/room';
        await until('salon-lobby .avatar-card');
        location.hash = room;
        await until('salon-talk[data-state=open]');
    }
}"""


def test_a_page_that_is_left_open_does_not_grow(visitor: Visitor) -> None:
    page = visitor.page
    page.add_init_script(f"({STAND_IN})()")
    cdp: Any = visitor.context.new_cdp_session(page)
    cdp.send("Performance.enable")
    lobby(visitor.go())
    page.get_by_role("button", name=f"Talk with {IDA}").click()
    connected(page)

    def spend_time() -> dict[str, float]:
        page.evaluate(WANDER, 4)
        page.evaluate(TALK, 90)
        visitor.settle()
        return metrics(cdp)

    spend_time()
    first = spend_time()
    shown = page.locator(REPLIES).count()
    spend_time()
    assert shown == page.locator(REPLIES).count() <= 100
    most = {"Nodes": 200, "JSEventListeners": 50, "JSHeapUsedSize": 1_000_000}

    def grown() -> dict[str, float]:
        """What holds more than it may; what is still on its way out goes in a while."""
        last = metrics(cdp)
        return {
            name: last[name] - first[name]
            for name, more in most.items()
            if last[name] >= first[name] + more
        }

    nothing: dict[str, float] = {}
    becomes(page, grown, nothing)
