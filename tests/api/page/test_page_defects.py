"""Defects that people met on the page: each of these went wrong once."""

import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.page.browser import PATIENCE, PATIENCE_MS, Visitor, becomes, expect
from tests.api.page.conftest import Visit
from tests.api.page.house import House
from tests.api.page.rooms import (
    DIGGING,
    FOOTBALL,
    IDA,
    MINA,
    begin,
    connected,
    say,
    say_over_http,
    type_and_send,
)
from tests.api.page.scenes import ASSISTANT, ASSISTANT_SESSION, LATE, TOPIC, Furnished, talk

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route, WebSocketRoute

SOCKETS = re.compile(r".*/ws/.*")
EXPERT_SESSION = "asked-ida"
TO_THE_END = "node => node.scrollHeight - node.scrollTop - node.clientHeight"


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


# The conversation


def test_a_conversation_opens_at_its_end_and_stays_there(visitor: Visitor, house: House) -> None:
    for number in range(22):
        say_over_http(house.url, "many-turns", f"This is remark {number}, and it is a long one.")
    page = visitor.go("#/room/many-turns")
    connected(page)
    scroll = page.locator(".thread-scroll")
    visitor.settle()
    assert scroll.evaluate("node => node.scrollHeight > 2 * node.clientHeight")
    becomes(page, lambda: scroll.evaluate(TO_THE_END) < 2, wanted=True)
    expect(page.locator(".message.avatar").last).to_be_in_viewport()
    page.reload()
    connected(page)
    visitor.settle()
    becomes(page, lambda: scroll.evaluate(TO_THE_END) < 2, wanted=True)
    first = page.locator(".message.person").first
    page.get_by_role("button", name="Show earlier turns").click()
    expect(page.locator(".message.person")).to_have_count(22)
    expect(first).to_contain_text("This is remark 0")
    assert scroll.evaluate(TO_THE_END) > 100  # what was looked at stays in sight


LISTEN = """() => {
    // What a screen reader would be told: changes in regions that are live at that moment.
    window.told = [];
    const isLive = (node) => {
        const region = node.closest?.('[aria-live], [role=status], [role=alert], [role=log]');
        return region && region.getAttribute('aria-live') !== 'off';
    };
    new MutationObserver((changes) => {
        for (const { target, addedNodes, type, oldValue } of changes) {
            const node = target.nodeType === 1 ? target : target.parentElement;
            if (!node || !isLive(node)) continue;
            if (type === 'characterData') told.push(target.data.slice(oldValue.length));
            for (const one of addedNodes) if (one.textContent.trim()) told.push(one.textContent);
        }
    }).observe(document, { childList: true, characterData: true, characterDataOldValue: true,
        subtree: true });
}"""


def told(page: "Page") -> list[str]:
    """Return what was said aloud so far."""
    found: list[str] = page.evaluate("window.told")
    return found


def test_what_was_said_earlier_is_not_read_out_again(visitor: Visitor, house: House) -> None:
    for number in range(3):
        say_over_http(house.url, "read-out", f"I painted fence number {number} today.")
    visitor.page.add_init_script(f"({LISTEN})()")
    page = visitor.go("#/room/read-out")
    connected(page)
    expect(page.locator(".message.avatar")).to_have_count(3)
    visitor.settle()
    assert not any("fence" in one for one in told(page))
    expect(page.locator(".thread")).to_have_attribute("aria-live", "polite")
    for address in ("#/reading/read-out", "#/gate/read-out"):
        page = visitor.go(address)
        page.locator(".said.bot").nth(2).wait_for()
        visitor.settle()
        assert not any("fence" in one for one in told(page)), address


def test_a_reply_that_is_written_bit_by_bit_is_said_once(visitor: Visitor) -> None:
    visitor.expect_complaint("404")  # the server knows nothing of what is made up here
    sent: list[WebSocketRoute] = []
    page = begin(visitor)

    def stand_in(socket: "WebSocketRoute") -> None:
        sent.append(socket)

    page.route_web_socket(SOCKETS, stand_in)
    page.add_init_script(f"({LISTEN})()")
    page.reload()
    connected(page)
    expect(page.locator(".thread")).to_have_attribute("aria-live", "polite")
    type_and_send(page, DIGGING)
    piece: dict[str, Any] = {"type": "reply_delta", "event_id": 0, "turn": 1, "bot_id": "ida-weir"}
    piece["ai_label"] = "AI avatar"
    page.locator(".message.avatar.waiting").wait_for()
    texts = ("Each household digs.", " It digs in March.", "\n\nNobody", " is spared.")
    for text in texts:
        sent[-1].send(json.dumps(piece | {"content": text}))
    writing = page.locator(".message.avatar.writing p")
    expect(writing).to_have_text(["Each household digs. It digs in March.", "Nobody is spared."])
    whole = {"type": "bot_response", "event_id": 199, "content": "".join(texts)}
    sent[-1].send(json.dumps(piece | whole))
    expect(page.locator(".writing")).to_have_count(0)
    visitor.settle()
    heard = "\n".join(told(page))
    wanted = ("Each household digs.", "It digs in March.", "Nobody", "is spared.")
    assert [heard.count(one) for one in wanted] == [1, 1, 1, 1]


def test_who_is_awaited_is_said_in_words_that_fit(visitor: Visitor) -> None:
    for name, words in ((IDA, "is reading its documents."), (MINA, "is writing.")):
        page = begin(visitor, name)
        page.route_web_socket(SOCKETS, lambda _: None)  # nobody answers
        page.reload()
        connected(page)
        type_and_send(page, DIGGING)
        expect(page.get_by_role("status").get_by_text(f"{name} {words}")).to_have_count(1)
        page.unroute_all()


# Beside the reading and the gate


def test_who_turns_back_before_a_screen_has_come_is_not_taken_there(guest: Visitor) -> None:
    page = guest.go("#/library")
    page.locator(".screen[data-screen=library]").wait_for()
    held: list[Route] = []
    page.route("**/screens/council.js", lambda route: held.extend([route]))
    page.evaluate("location.hash = '#/council'")
    guest.until(lambda: len(held) == 1)
    page.evaluate("location.hash = '#/library'")
    with page.expect_response("**/screens/council.js"):
        held[0].continue_()
    page.wait_for_function("import('/page/screens/council.js').then(() => true)")
    guest.settle()
    expect(page.locator(".screen[data-screen=library]")).to_have_count(1)
    expect(page.locator(".screen")).to_have_count(1)


def test_what_is_no_answer_looks_like_none_beside_the_other_screens(
    guest: Visitor, furnished: Furnished
) -> None:
    talk(furnished.salon, EXPERT_SESSION, (DIGGING, FOOTBALL), "Anna", avatar="ida-weir")
    for screen in ("reading", "gate"):
        page = guest.go(f"#/{screen}/{EXPERT_SESSION}")
        page.locator(f".screen[data-screen={screen}]").wait_for()
        replies = page.locator(".said.bot")
        expect(replies).to_have_count(2)
        answer, unsaid = replies.nth(0), replies.nth(1)
        expect(unsaid.locator(".outcome-head")).to_contain_text("Outside this field")
        expect(unsaid.locator(".message-main")).to_have_css("border-top-style", "dashed")
        expect(answer.locator(".outcome-head")).to_have_count(0)
        expect(answer.locator(".message-head .strong")).to_have_text(IDA)
        expect(answer.locator("p > button.citation").first).to_have_text("1")
        assert "[1]" not in answer.inner_text()
        assert "ida-weir" not in page.locator(".talk").inner_text()
    page = guest.go(f"#/reading/{EXPERT_SESSION}")
    expect(page.locator(".notice")).to_contain_text(f"This one is with {IDA}")


def test_lists_of_sessions_name_avatars_and_not_their_ids(guest: Visitor) -> None:
    page = guest.go("#/gate")
    link = page.locator(f"a[href='#/gate/{ASSISTANT_SESSION}']")
    expect(link).to_contain_text("Maria with the Larchfield handbook")
    assert ASSISTANT not in link.inner_text()


# The gate


def test_an_approval_shows_all_that_its_digest_covers_and_all_that_is_done(
    guest: Visitor, furnished: Furnished
) -> None:
    session = "all-shown"
    talk(furnished.salon, session, LATE, "Maria", avatar=ASSISTANT)
    page = guest.go(f"#/gate/{session}")
    page.get_by_role("button", name="yes").click()
    page.locator(".flow .button", has_text="(").first.click()
    page.get_by_label("Name").fill("Tom Reed")
    page.get_by_role("button", name="Answer").click()
    page.get_by_role("button", name="Leave it out").click()
    page.get_by_role("heading", name="Approve exactly this?").wait_for()
    answer = httpx.get(f"{guest.url}/api/sessions/{session}/flow", timeout=PATIENCE).json()
    flow = page.locator(".flow")
    expect(flow.locator(".draft-words")).to_contain_text("Reminder: 15 minutes before")
    page.locator(".bound summary").click()
    proposal = answer["proposal"]
    expect(page.locator(".bound dd")).to_have_text(
        [
            proposal["action"],
            f"version {proposal['policy']}",
            proposal["session"],
            str(proposal["turn"]),
        ]
    )
    for value in proposal["arguments"].values():
        expect(page.locator(".arguments dd", has_text=value).first).to_be_visible()
    # What changed is said in a line; the panels themselves are not read out.
    expect(page.get_by_role("status").get_by_text("Approve exactly this?")).to_have_count(1)
    expect(page.locator(".gate-panels[aria-live]")).to_have_count(0)


# The council


def test_a_round_keeps_what_it_shows_and_comes_back_by_itself(
    guest: Visitor, furnished: Furnished
) -> None:
    guest.expect_complaint("Failed to load resource")
    path = f"**/api/rounds/{furnished.published.id}"
    asked: list[str] = []
    is_down = False

    def answer(route: "Route") -> None:
        asked.append(route.request.url)
        if is_down:
            route.abort()
            return
        found = route.fetch(timeout=PATIENCE_MS)
        whole = found.json() | {"is_over": False}  # it goes on, as far as the page knows
        route.fulfill(response=found, json=whole)

    guest.page.route(path, answer)
    guest.page.route(f"{path}/events", lambda route: route.abort())
    page = guest.page
    page.clock.install()
    guest.go(f"#/council/{furnished.published.id}")
    page.locator(".chapter").wait_for()
    is_down = True
    lost = page.get_by_role("status").get_by_text("Connection lost.")
    page.clock.fast_forward(20_000)
    lost.wait_for()
    expect(page.get_by_role("heading", name=TOPIC, level=1)).to_be_visible()
    expect(page.locator(".chapter")).to_be_visible()
    expect(page.locator(".seat-card")).to_have_count(5)
    # Whoever presses the button is told that it was tried, and it goes on by itself.
    before = len(asked)
    page.get_by_role("button", name="Try again now").click()
    guest.until(lambda: len(asked) > before)
    page.get_by_text(re.compile(r"has not answered \d+ times")).wait_for()
    expect(page.get_by_role("button", name="Try again now")).to_be_enabled()
    page.unroute(path)
    page.unroute(f"{path}/events")
    page.clock.fast_forward(20_000)
    expect(lost).to_have_count(0)
    expect(page.locator(".chapter")).to_be_visible()


# The proof


def test_a_proof_that_cannot_be_fetched_says_that_it_was_not_checked(visitor: Visitor) -> None:
    visitor.expect_complaint("410")
    page = begin(visitor)
    chip = say(page, DIGGING).locator("button.citation").first
    gone = {"error": {"code": "card_deleted", "message": "the card was deleted", "hint": None}}
    page.route("**/content", lambda route: route.fulfill(status=410, json=gone))
    chip.click()
    dialog = page.locator("dialog.proof[data-done]")
    expect(dialog.locator(".proof-check")).to_have_text(re.compile("Could not be checked"))
    expect(dialog).to_contain_text("The card was deleted.")
    expect(dialog).not_to_contain_text("Checking")


@pytest.mark.parametrize("size", [(390, 780), (320, 640)], ids=["390", "320"])
def test_the_proof_on_a_phone_shows_the_marked_passage(visit: Visit, size: tuple[int, int]) -> None:
    visitor = visit(viewport={"width": size[0], "height": size[1]})
    page = begin(visitor)
    say(page, DIGGING).locator("button.citation").first.click()
    dialog = page.locator("dialog.proof[data-done]")
    expect(dialog.locator("mark")).to_be_in_viewport(ratio=0.9)
    height = dialog.locator(".proof-text").evaluate("node => node.clientHeight")
    assert height >= 0.4 * size[1] - 2
    assert visitor.overflow() == 0


# The ledger


def test_the_ledger_links_cards_and_nothing_else(guest: Visitor) -> None:
    page = guest.go("#/ledger?kind=turn_taken")
    page.locator(".entry summary").first.click()
    facts = page.locator(".entry dl").first
    expect(facts.get_by_role("link")).to_have_count(1)
    digest = facts.locator("dt", has_text="message sha256").locator("+ dd")
    expect(digest.locator("code")).to_have_count(1)
    facts.get_by_role("link").click()
    page.get_by_role("heading", name="Card", exact=True).wait_for()


def test_the_ledger_counts_one_thing_as_one(guest: Visitor) -> None:
    page = guest.go("#/ledger?kind=cards_added")
    gists = page.locator(".entry summary .grow")
    gists.first.wait_for()
    shown = gists.all_inner_texts()
    assert any(one.startswith("1 hash") for one in shown)
    assert not any(re.search(r"\b1 (hashes|spans)\b", one) for one in shown)


# Every script


def test_what_is_written_from_right_to_left_stands_so(visitor: Visitor) -> None:
    page = begin(visitor)
    text = "שלום, מי חופר את התעלה?"
    box = page.get_by_label("Your message")
    expect(box).to_have_attribute("dir", "auto")
    say(page, text)
    said = page.locator(".message.person .message-text p")
    expect(said).to_have_css("direction", "rtl")
    expect(page.locator(".message.avatar .message-text p").first).to_have_css("direction", "ltr")
