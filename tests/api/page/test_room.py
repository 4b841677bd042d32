"""The room: talking with one avatar or several, what they say, what they leave unsaid."""

import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.page.browser import PATIENCE, PHONE, Visitor, becomes, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.house import House
from tests.api.page.rooms import (
    DIGGING,
    FOOTBALL,
    IDA,
    KEEP_NOTICES,
    MINA,
    MIRELA,
    OIL,
    REPLIES,
    TOMAS,
    begin,
    connected,
    gather,
    noticed,
    people,
    say,
    say_over_http,
    session_of,
    type_and_send,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocketRoute

SOCKETS = re.compile(r"/ws/")


# Talking


def test_a_reply_comes_with_its_citations_and_says_that_it_is_an_ai(visitor: Visitor) -> None:
    page = begin(visitor)
    reply = say(page, DIGGING)
    assert "two days of digging" in reply.inner_text()
    assert reply.locator(".badge.ai").is_visible()
    assert "is not Ida Weir" in (reply.locator(".badge.ai").get_attribute("title") or "")
    chip = reply.locator("p > button.citation")
    assert chip.inner_text() == "1"
    assert chip.get_attribute("aria-label") == "Source 1: On keeping a canal"
    assert "On keeping a canal" in reply.locator(".rests-on").inner_text()
    assert reply.get_attribute("data-outcome") == "answered"


def test_people_have_the_name_they_chose(visitor: Visitor) -> None:
    page = visitor.go("#/room")
    page.get_by_label("Your name here").fill("Nora")
    page.get_by_role("button", name=f"Talk with {IDA}").click()
    connected(page)
    say(page, DIGGING)
    assert people(page)[0].startswith("Nora")
    page.get_by_role("button", name="You speak as Nora").click()
    page.get_by_label("You speak as").fill("Nora Lind")
    page.get_by_role("button", name="Keep", exact=True).click()
    connected(page)
    say(page, "What did you do in the drought?")
    assert people(page)[1].startswith("Nora Lind")


def test_a_conversation_survives_a_reload_with_its_citations(visitor: Visitor) -> None:
    page = begin(visitor)
    say(page, DIGGING)
    say(page, FOOTBALL)
    before = people(page)
    page.reload()
    connected(page)
    page.locator(f"{REPLIES} p > button.citation").wait_for()
    page.locator(".message.no-answer").wait_for()
    assert people(page) == before
    assert page.locator(REPLIES).count() == 2
    assert page.locator("button.citation.long").count() == 1
    assert page.locator(f"{REPLIES} time").count() == 2


def test_two_people_in_one_conversation_read_each_other(visit: Visit, house: House) -> None:
    first, second = visit(), visit()
    first.page.add_init_script("localStorage.setItem('salon.name', 'Nora')")
    second.page.add_init_script("localStorage.setItem('salon.name', 'Emil')")
    page = begin(first)
    say(page, DIGGING)
    other = second.go(f"#/room/{session_of(page)}")
    connected(other)
    say(other, "What happened in the drought of 1904?")
    page.locator(REPLIES).nth(1).wait_for()
    assert [one.split()[0] for one in people(page)] == ["Nora", "Emil"]
    assert [one.split()[0] for one in people(other)] == ["Nora", "Emil"]
    assert "drought of 1904" in people(page)[1]


def test_text_is_text_whatever_it_holds(visitor: Visitor) -> None:
    page = begin(visitor)
    hostile = "<img src=x onerror=\"document.title='owned'\"> <b>canal</b> digging?"
    say(page, hostile)
    assert hostile in page.locator(".message.person .message-text").inner_text()
    assert page.locator("main img, main b").count() == 0
    becomes(page, page.title, "Ida Weir · Room · Salon")


def test_a_companion_warns_of_fraud_where_it_cannot_be_overlooked(visitor: Visitor) -> None:
    page = begin(visitor, MINA)
    for text in (
        "My darling, I am an engineer on an oil rig and my bank account is frozen.",
        "Please buy gift cards worth 500 dollars and send me the codes today, I will pay back.",
        "Send the money by Western Union now, it is urgent, do not tell anybody.",
    ):
        say(page, text)
    warning = page.locator(".scam")
    warning.first.wait_for()
    assert "This looks like fraud" in warning.first.inner_text()
    assert warning.first.get_attribute("role") == "alert"
    count = warning.count()
    page.reload()
    connected(page)
    expect(warning).to_have_count(count)
    # It stands before the reply of its turn, not at the end.
    after = "node => node.nextElementSibling.classList.contains('avatar')"
    assert all(one.evaluate(after) for one in warning.all())


# Gathering


def test_in_a_gathering_those_with_an_answer_speak_and_silence_has_a_reason(
    visitor: Visitor,
) -> None:
    page = gather(visitor, IDA, TOMAS, MIRELA)
    type_and_send(page, OIL)
    page.locator(".silence").wait_for()
    assert page.locator(REPLIES).count() == 1
    assert "four in a winter night" in page.locator(REPLIES).inner_text()
    assert TOMAS in page.locator(f"{REPLIES} .message-head").inner_text()
    silent = [" ".join(one.split()) for one in page.locator(".silence li").all_inner_texts()]
    assert len(silent) == 2
    assert all("because its corpus has no answer to this" in one for one in silent)
    # The silence is kept once the turn has its number, a moment after it is shown.
    kept = f"sessionStorage.getItem('salon.silent.{session_of(page)}')"
    visitor.until(lambda: page.evaluate(kept) is not None)
    page.reload()
    connected(page)
    page.locator(".silence li").nth(1).wait_for()
    assert page.locator(REPLIES).count() == 1
    assert len(people(page)) == 1


def test_a_question_that_nobody_answers_stays_with_everybody_s_silence(visitor: Visitor) -> None:
    visitor.expect_complaint("404")  # a session exists with its first turn
    page = gather(visitor, IDA, TOMAS)
    type_and_send(page, FOOTBALL)
    page.locator(".silence li").nth(1).wait_for()
    assert page.locator(REPLIES).count() == 0
    page.reload()
    connected(page)
    page.locator(".silence li").nth(1).wait_for()
    assert len(people(page)) == 1


def test_gathering_needs_two(visitor: Visitor) -> None:
    page = visitor.go("#/room")
    page.get_by_role("checkbox", name=f"Gather {IDA}").check()
    expect(page.get_by_role("button", name="Gather 1")).to_be_disabled()
    expect(page.get_by_role("region", name="Gathering")).to_contain_text("Choose one more")
    page.get_by_role("checkbox", name=f"Gather {TOMAS}").check()
    expect(page.get_by_role("button", name="Gather 2")).to_be_enabled()


# What was not said

UNSAID = {
    "out_of_scope": (FOOTBALL, "Outside this field"),
    "after_my_time": ("What do you say about the internet?", "After the documents end"),
    "needs_clarification": ("Is it?", "Asks back"),
}


@pytest.mark.parametrize("outcome", UNSAID)
def test_what_was_not_said_looks_different_and_says_what_can_be_asked(
    visitor: Visitor, outcome: str
) -> None:
    question, title = UNSAID[outcome]
    page = begin(visitor)
    unsaid = say(page, question)
    answer = say(page, DIGGING)
    assert unsaid.get_attribute("data-outcome") == outcome
    assert unsaid.locator(".outcome-head").inner_text().startswith(title)
    assert answer.locator(".outcome-head").count() == 0
    style = "node => getComputedStyle(node.querySelector('.message-main')).borderTopStyle"
    assert (unsaid.evaluate(style), answer.evaluate(style)) == ("dashed", "none")
    topic = unsaid.get_by_role("button", name="shared water")
    topic.click()
    expect(page.get_by_label("Your message")).to_have_value("What do you say about shared water?")
    assert unsaid.locator(".badge.ai").is_visible()


ELSEWHERE = {
    "corpus_miss": "Not in the documents",
    "silent": "Stayed silent",
    "gate_closed": "Not done",
    "no_reply": "No reply",
}


@pytest.mark.parametrize("outcome", ELSEWHERE)
def test_every_outcome_has_words_of_its_own(visitor: Visitor, outcome: str) -> None:
    visitor.expect_complaint("404")  # the server knows nothing of what is made up here
    page = begin(visitor)
    page.route_web_socket(SOCKETS, lambda socket: answering(socket, outcome=outcome))
    page.reload()
    connected(page)
    reply = say(page, "Anything.")
    assert reply.locator(".outcome-head").inner_text().startswith(ELSEWHERE[outcome])
    assert "can speak about" in reply.locator(".outcome-foot").inner_text()


def answering(socket: "WebSocketRoute", **more: Any) -> None:
    """Stand in for the server: answer each message with one reply."""

    def answer(text: str | bytes) -> None:
        assert json.loads(text)["type"] == "user_message"
        event = {
            "type": "bot_response",
            "event_id": 199,
            "turn": 1,
            "content": "I have nothing on that.",
            "bot_id": "ida-weir",
            "ai_label": "AI avatar of Ida Weir: it answers from documents and is not Ida Weir.",
        }
        socket.send(json.dumps(event | more))

    socket.on_message(answer)


# The connection


class Wire:
    """The page's way to the real server, which can be cut."""

    def __init__(self, page: "Page") -> None:
        self.addresses: list[str] = []
        self.sockets: list[WebSocketRoute] = []
        self.is_open = True
        page.route_web_socket(SOCKETS, self._connect)

    def _connect(self, socket: "WebSocketRoute") -> None:
        self.addresses.append(socket.url)
        if not self.is_open:
            socket.close(code=1012)
            return
        socket.connect_to_server()
        self.sockets.append(socket)

    def cut(self) -> None:
        self.is_open = False
        self.sockets[-1].close(code=1012)


def test_a_lost_connection_is_shown_and_what_was_missed_comes_once(
    visitor: Visitor, house: House
) -> None:
    wire = Wire(visitor.page)
    visitor.page.add_init_script(f"({KEEP_NOTICES})()")
    page = begin(visitor)
    say(page, DIGGING)
    wire.cut()
    page.get_by_text("Connection lost. Trying again").wait_for()
    type_and_send(page, "This must not get lost.")
    visitor.until(lambda: any("Your words stay in the box" in one for one in noticed(page)))
    expect(page.get_by_label("Your message")).to_have_value("This must not get lost.")
    say_over_http(house.url, session_of(page), "What about the drought?", avatar="ida-weir")
    wire.is_open = True
    connected(page)
    page.locator(REPLIES).nth(1).wait_for()
    assert [one.split()[0] for one in people(page)] == ["Guest", "Anna"]
    say(page, "Who drew lots for the first night?")
    assert page.locator(REPLIES).count() == 3
    assert "last_event_id=199" in wire.addresses[-1]


def test_a_message_that_was_cut_off_on_its_way_can_be_sent_again(visitor: Visitor) -> None:
    page = visitor.page
    page.clock.install()
    page.add_init_script("localStorage.setItem('salon.name', 'Nora')")
    wire = Wire(page)
    begin(visitor)
    wire.sockets[-1].on_message(lambda _: None)  # it leaves the page and never arrives
    type_and_send(page, DIGGING)
    page.locator(".message.avatar.waiting").wait_for()
    wire.cut()
    page.get_by_text("Connection lost. Trying again").wait_for()
    wire.is_open = True
    page.clock.fast_forward(20_000)
    connected(page)
    page.clock.fast_forward(20_000)
    failed = page.locator(".message.failed")
    failed.wait_for()
    assert "cut while this was on its way" in failed.inner_text()
    failed.get_by_role("button", name="Send again").click()
    page.locator(f"{REPLIES} button.citation").first.wait_for()


def test_a_reply_that_is_still_being_written_is_shown_as_it_comes(visitor: Visitor) -> None:
    visitor.expect_complaint("404")  # the server knows nothing of what is made up here
    sent: list[WebSocketRoute] = []
    page = begin(visitor)

    def stand_in(socket: "WebSocketRoute") -> None:
        sent.append(socket)

    page.route_web_socket(SOCKETS, stand_in)
    page.reload()
    connected(page)
    type_and_send(page, DIGGING)
    piece = {"type": "reply_delta", "event_id": 0, "turn": 1, "bot_id": "ida-weir"}
    piece["ai_label"] = "AI avatar"
    page.locator(".message.avatar.waiting").wait_for()
    sent[-1].send(json.dumps(piece | {"content": "Each household "}))
    writing = page.locator(".message.avatar.writing")
    writing.wait_for()
    assert writing.locator(".badge.ai").is_visible()
    sent[-1].send(json.dumps(piece | {"content": "digs."}))
    page.get_by_text("Each household digs.").wait_for()
    whole = {"type": "bot_response", "event_id": 199, "content": "Each household digs in March."}
    sent[-1].send(json.dumps(piece | whole))
    page.locator(REPLIES).get_by_text("Each household digs in March.").wait_for()
    assert page.locator(".message.avatar").count() == 1
    assert page.locator(".writing").count() == 0


def test_an_error_of_the_server_is_told_in_words_with_its_hint(visitor: Visitor) -> None:
    page = begin(visitor)
    page.get_by_label("Your message").evaluate("box => box.removeAttribute('maxlength')")
    type_and_send(page, "x" * 32_100)
    alert = page.locator(".message.failed").get_by_role("alert")
    alert.wait_for()
    assert "32,0" in alert.inner_text() or "long" in alert.inner_text()
    assert alert.get_by_role("button", name="Send again").is_visible()


def test_deleting_a_conversation_asks_first_and_then_it_is_gone(
    visitor: Visitor, house: House
) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.method))
    page = begin(visitor)
    say(page, DIGGING)
    session = session_of(page)
    page.get_by_role("button", name="Delete this conversation").click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    visitor.settle()
    assert "DELETE" not in asked
    assert status_of(house, session) == 200
    page.get_by_role("button", name="Delete this conversation").click()
    page.get_by_role("button", name="Delete it").click()
    page.get_by_role("button", name=f"Talk with {IDA}").wait_for()
    assert asked.count("DELETE") == 1
    assert status_of(house, session) == 404
    assert page.get_by_text("Earlier conversations").count() == 0


def status_of(house: House, session: str) -> int:
    """Return what the server answers when it is asked for a session."""
    return httpx.get(f"{house.url}/api/sessions/{session}", timeout=PATIENCE).status_code


def test_a_conversation_that_somebody_deleted_says_so(visitor: Visitor, house: House) -> None:
    page = begin(visitor)
    say(page, DIGGING)
    address = f"{house.url}/api/sessions/{session_of(page)}"
    httpx.delete(address, timeout=PATIENCE).raise_for_status()
    page.get_by_text("This conversation was deleted").wait_for()


def test_earlier_turns_are_there_on_request(visitor: Visitor, house: House) -> None:
    for number in range(22):
        say_over_http(house.url, "long-talk", f"This is remark {number}.")
    page = visitor.go("#/room/long-talk?with=mina")
    connected(page)
    page.locator(".message.person").nth(19).wait_for()
    assert len(people(page)) == 20
    page.get_by_role("button", name="Show earlier turns").click()
    page.locator(".message.person").nth(21).wait_for()
    assert [one.split()[-1] for one in people(page)] == [f"{number}." for number in range(22)]
    assert page.get_by_role("button", name="Show earlier turns").count() == 0


# Commands


def test_a_slash_lists_the_commands_and_the_keyboard_chooses(visitor: Visitor) -> None:
    page = begin(visitor)
    box = page.get_by_label("Your message")
    box.press("/")
    options = page.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(options.locator(":scope > :first-child")).to_have_text(
        ["/ask", "/sources", "/analyze-relationship", "/predict-future", "/export-data", "/help"]
    )
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    box.press("ArrowDown")
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute(
        "aria-activedescendant", options.nth(2).get_attribute("id") or "none"
    )
    box.press("Escape")
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("listbox")).to_be_hidden()
    box.fill("/he")
    expect(options).to_have_count(1)
    box.press("Tab")
    expect(box).to_have_value("/help")


@pytest.mark.requirement("companion/external/commands-on-page")
def test_the_three_commands_work_from_the_message_box_and_help_lists_them(
    visitor: Visitor,
) -> None:
    page = begin(visitor, MINA)
    for number in range(5):
        say(page, f"I walked to the harbour with my sister, day {number}, and felt light.")
    type_and_send(page, "/help")
    listed = page.get_by_role("article", name="Commands").inner_text()
    three = ("/analyze-relationship", "/predict-future", "/export-data")
    assert all(name in listed for name in three)
    type_and_send(page, "/analyze-relationship")
    report = page.get_by_role("article", name="/analyze-relationship")
    assert len(report.inner_text()) > 100
    type_and_send(page, "/predict-future")
    assert "50" in page.get_by_role("article", name="/predict-future").inner_text()
    type_and_send(page, "/export-data")
    answer = page.get_by_role("article", name="/export-data")
    with page.expect_download() as downloading:
        answer.get_by_role("button", name="Save").click()
    saved = downloading.value
    assert saved.suggested_filename.endswith(".json")
    assert b"harbour" in saved.path().read_bytes()
    assert page.locator(REPLIES).count() == 5  # a command is no turn


def test_sources_lists_the_documents_of_the_avatars_here(visitor: Visitor) -> None:
    page = begin(visitor)
    type_and_send(page, "/sources")
    shown = page.get_by_role("article", name="Sources")
    shown.get_by_text("On keeping a canal").wait_for()
    assert "disputed" in shown.inner_text()


def test_ask_puts_one_question_to_one_avatar(visitor: Visitor) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    page = gather(visitor, IDA, TOMAS)
    box = page.get_by_label("Your message")
    box.fill("/ask to")
    box.press("Enter")
    expect(box).to_have_value("/ask tomas-brand ")
    reply = say(page, "/ask Tomas Brand How much oil does the lamp burn in a winter night?")
    assert "four in a winter night" in reply.inner_text()
    type_and_send(page, "/ask nobody anything")
    expect(page.get_by_role("article", name="/ask")).to_contain_text("Whom? There are ida-weir")
    visitor.settle()
    assert page.locator(".silence").count() == 0
    assert not any(one.endswith("/api/gather") for one in asked)


def test_an_unknown_command_is_told_in_words(visitor: Visitor) -> None:
    page = begin(visitor)
    type_and_send(page, "/dance")
    page.get_by_text("There is no command /dance.").wait_for()


# Labels and sources

SHOWN_AVATARS = ".avatar-card, .talk-face, .message.avatar, .silence li, [data-sources] h2, .seat"


@pytest.mark.requirement("cap/verification/ai-label-visible")
def test_the_ai_label_stands_beside_every_avatar_and_all_its_words(visit: Visit) -> None:
    for size in ({"width": 1280, "height": 860}, PHONE):
        visitor = visit(viewport=size)
        page = visitor.go("#/room")
        page.locator(".avatar-card").first.wait_for()
        assert unlabelled(page) == []
        page = gather(visitor, IDA, TOMAS, MIRELA)
        assert unlabelled(page) == []
        type_and_send(page, OIL)
        page.locator(".silence").wait_for()
        say(page, f"/ask ida-weir {FOOTBALL}")
        assert unlabelled(page) == []
        page = begin(visitor, MINA)
        say(page, "I am a little tired today.")
        type_and_send(page, "/predict-future")
        answer = page.get_by_role("article", name="/predict-future")
        answer.locator(".badge.ai").wait_for()
        assert unlabelled(page) == []


def unlabelled(page: "Page") -> list[str]:
    """Return the places that show an avatar, or its words, without a visible label."""
    # In one look, so that nothing is drawn anew between two of them.
    shown, found = page.locator(SHOWN_AVATARS).evaluate_all(
        """all => {
            const isVisible = (one) => {
                const { width, height } = one.getBoundingClientRect();
                return width > 0 && height > 0 && one.checkVisibility({ visibilityProperty: true });
            };
            const isLabelled = (one) => {
                const label = one.querySelector(".badge.ai");
                return label && isVisible(label) && label.innerText.startsWith("AI");
            };
            const shown = all.filter(isVisible);
            const bare = shown.filter((one) => !isLabelled(one));
            return [shown.length, bare.map((one) => one.innerText)];
        }"""
    )
    assert shown
    return list(map(str, found))


@pytest.mark.requirement("cap/verification/source-list-http")
def test_the_documents_of_an_avatar_stand_in_the_room_with_links_and_status(
    visitor: Visitor, house: House
) -> None:
    page = begin(visitor)
    rows = page.locator("aside .document")
    rows.nth(2).wait_for()
    served = httpx.get(f"{house.url}/api/avatars/ida-weir/documents", timeout=PATIENCE).json()
    assert [row.locator(".document-title").inner_text() for row in rows.all()] == [
        one["title"] for one in served["documents"]
    ]
    status = [" ".join(row.locator(".badge").inner_text().split()) for row in rows.all()]
    assert status == ["verified", "not yet verified", "disputed"]
    links = rows.nth(0).get_by_role("link")
    assert [one.get_attribute("href") for one in links.all()] == [
        "https://example.org/canal",
        "https://example.org/archive/canal",
    ]
    assert "no link recorded" in rows.nth(2).inner_text()


# Everybody can use it


@pytest.mark.parametrize(("scheme", "size"), [("light", "phone"), ("dark", "wide")])
def test_the_room_is_accessible_and_fits(visit: Visit, scheme: str, size: str) -> None:
    visitor = visit(color_scheme=scheme, **({"viewport": PHONE} if size == "phone" else {}))
    page = visitor.go("#/room")
    page.get_by_role("checkbox", name=f"Gather {IDA}").check()
    page.get_by_role("region", name="Gathering").wait_for()
    assert (grave_issues(visitor), visitor.overflow()) == ([], 0)
    page = gather(visitor, IDA, TOMAS)
    assert (grave_issues(visitor), visitor.overflow()) == ([], 0)
    type_and_send(page, OIL)
    page.locator(".silence").wait_for()
    say(page, f"/ask ida-weir {FOOTBALL}")
    type_and_send(page, "/help")
    page.get_by_label("Your message").press("/")
    page.get_by_role("listbox").wait_for()
    assert (grave_issues(visitor), visitor.overflow()) == ([], 0)
