"""Getting around the page: where the focus is, what the window is called, what a dead link says."""

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.api.page.browser import PATIENCE, Visitor, becomes, expect
from tests.api.page.conftest import Visit
from tests.api.page.house import House
from tests.api.page.rooms import DIGGING, IDA, MINA, begin, connected, say, say_over_http
from tests.api.page.scenes import COMPANION_SESSION, TOPIC, Furnished

if TYPE_CHECKING:
    from playwright.sync_api import Page

WHERE = """() => {
    const one = document.activeElement;
    return one === document.body ? "nowhere" : one.tagName.toLowerCase();
}"""


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def press(page: "Page", role: str, name: str) -> None:
    """Choose something with the keyboard alone."""
    one = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
    one.focus()
    one.press("Enter")


def titled(page: "Page", title: str) -> None:
    """Wait until the window has a title."""
    becomes(page, page.title, title)


# Focus and title


def test_whoever_chooses_an_avatar_can_type_at_once(visitor: Visitor) -> None:
    page = visitor.go("#/room")
    press(page, "button", f"Talk with {IDA}")
    connected(page)
    expect(page.get_by_label("Your message")).to_be_focused()
    titled(page, f"{IDA} · Room · Salon")
    page.keyboard.type(DIGGING)
    page.keyboard.press("Enter")
    page.locator(".message.avatar button.citation").first.wait_for()


def test_going_back_to_the_lobby_leads_to_its_heading(visitor: Visitor) -> None:
    page = begin(visitor)
    press(page, "link", "New")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("With whom would you like to talk?")
    titled(page, "Room · Salon")


def test_a_session_that_was_chosen_has_the_focus_and_names_the_window(guest: Visitor) -> None:
    page = guest.go("#/reading")
    titled(page, "Reading · Salon")
    one = page.locator(f"a[href='#/reading/{COMPANION_SESSION}']")
    one.focus()
    one.press("Enter")
    titled(page, "Maria with Mina · Reading · Salon")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_text("live", exact=True).wait_for()
    page.go_back()
    titled(page, "Reading · Salon")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_a_round_that_was_chosen_has_the_focus_and_names_the_window(guest: Visitor) -> None:
    page = guest.go("#/council")
    press(page, "link", TOPIC)
    heading = page.get_by_role("heading", name=TOPIC, level=1)
    expect(heading).to_be_focused()
    titled(page, f"{TOPIC} · Council · Salon")


@pytest.mark.parametrize(
    ("screen", "tab", "title"),
    [
        ("ledger", "Replay", "Replay · Ledger · Salon"),
        ("library", "Search", "Search · Library · Salon"),
        ("council", "Souls", "Souls · Council · Salon"),
    ],
    ids=["ledger", "library", "council"],
)
def test_a_tab_that_was_chosen_keeps_the_focus(
    guest: Visitor, screen: str, tab: str, title: str
) -> None:
    page = guest.go(f"#/{screen}")
    link = page.locator(".tabs").get_by_role("link", name=tab)
    link.focus()
    link.press("Enter")
    titled(page, title)
    expect(link).to_have_attribute("aria-current", "page")
    guest.settle()
    expect(link).to_be_focused()


def test_what_is_chosen_in_the_ledger_has_the_focus(guest: Visitor) -> None:
    page = guest.go("#/ledger/replay")
    one = page.locator(f"a[href='#/ledger/replay/{COMPANION_SESSION}']")
    one.focus()
    one.press("Enter")
    titled(page, f"{COMPANION_SESSION} · Replay · Ledger · Salon")
    expect(page.get_by_role("region", name=f"Replay: {COMPANION_SESSION}")).to_be_focused()


def test_a_name_that_was_chosen_in_the_graph_does_not_lose_the_focus(guest: Visitor) -> None:
    page = guest.go("#/library/graph?entity=Orrin%20Valley")
    one = page.locator("svg.graph .node").nth(1)
    one.focus()
    one.press("Enter")
    page.wait_for_function("!location.hash.includes('Orrin')")
    guest.settle()
    assert page.evaluate(WHERE) != "nowhere"


# A name, and whose conversation it is


def test_where_everybody_may_speak_a_new_name_leaves_the_focus_where_it_was(
    visitor: Visitor,
) -> None:
    page = begin(visitor)
    page.get_by_role("button", name="You speak as").click()
    page.get_by_label("You speak as").fill("Nora")
    page.get_by_label("You speak as").press("Enter")
    expect(page.get_by_role("button", name="You speak as Nora")).to_be_focused()


def test_a_companion_s_conversation_stays_with_who_began_it(visitor: Visitor) -> None:
    page = begin(visitor, MINA)
    page.get_by_role("button", name="You speak as Guest").click()
    page.get_by_label("You speak as").fill("Nora")
    page.get_by_role("button", name="Keep", exact=True).click()
    connected(page)
    say(page, "I walked to the harbour today.")
    owner = page.locator(".owner")
    expect(owner).to_contain_text("You speak as Nora here, and only so")
    expect(owner).to_contain_text("what Mina remembers belongs to one person")
    expect(page.get_by_role("button", name="You speak as")).to_have_count(0)
    # Another name elsewhere changes nothing here: it goes on as it began.
    page.evaluate("localStorage.setItem('salon.name', 'Lena')")
    page.reload()
    connected(page)
    say(page, "And the wind was cold.")
    expect(page.locator(".message.failed")).to_have_count(0)
    expect(page.locator(".message.mine")).to_have_count(2)
    owner.get_by_role("button", name="Begin another under a new name").click()
    expect(page.get_by_role("button", name="You speak as Lena")).to_be_visible()


def test_somebody_else_reads_a_companion_s_conversation_and_is_told_why(
    visitor: Visitor, house: House
) -> None:
    say_over_http(house.url, "of-anna", "I am a little tired today.")
    page = visitor.go("#/room/of-anna")
    connected(page)
    expect(page.locator(".owner")).to_contain_text("s; you can read it")
    expect(page.get_by_label("Your message")).to_be_disabled()
    page.get_by_role("button", name="Begin your own").click()
    expect(page.get_by_label("Your message")).to_be_enabled()


# Links that lead nowhere


def test_a_conversation_that_is_not_there_is_not_made_up(visitor: Visitor) -> None:
    visitor.expect_complaint("404")
    page = visitor.go("#/room/gone-session")
    expect(page.get_by_role("heading", name="There is no such conversation")).to_be_visible()
    expect(page.get_by_label("Your message")).to_be_disabled()
    becomes(page, lambda: page.evaluate("sessionStorage.getItem('salon.session')"), None)
    page.get_by_role("link", name="Choose somebody").click()
    page.get_by_role("button", name=f"Talk with {IDA}").wait_for()


def test_an_old_link_offers_a_new_conversation_with_the_same_avatar(visitor: Visitor) -> None:
    visitor.expect_complaint("404")
    page = visitor.go("#/room/gone-too?with=ida-weir")
    page.get_by_role("button", name=f"Begin a new one with {IDA}").click()
    connected(page)
    expect(page.get_by_label("Your message")).to_be_enabled()
    assert "gone-too" not in page.evaluate("location.hash")


def test_a_first_turn_that_is_still_on_its_way_is_shown_when_it_comes(
    visitor: Visitor, house: House
) -> None:
    visitor.expect_complaint("404")
    page = visitor.go("#/room/on-its-way?with=ida-weir")
    connected_quietly = page.locator("salon-talk[data-state=open][data-found=none]")
    connected_quietly.wait_for()
    say_over_http(house.url, "on-its-way", DIGGING, avatar="ida-weir")
    page.locator(".message.avatar button.citation").first.wait_for()
    expect(page.get_by_label("Your message")).to_be_enabled()


@pytest.mark.parametrize("screen", ["reading", "gate"])
def test_a_session_that_is_not_there_is_not_made_up(guest: Visitor, screen: str) -> None:
    guest.expect_complaint("404")
    page = guest.go(f"#/{screen}/gone-session")
    expect(page.get_by_role("heading", name="There is no such conversation")).to_be_visible()
    expect(page.locator(".talk-form textarea")).to_be_disabled()
    page.get_by_role("link", name="Those that there are").click()
    page.locator(".session-list .card-link").first.wait_for()


def test_a_round_that_is_not_there_says_so(guest: Visitor) -> None:
    guest.expect_complaint("404")
    page = guest.go("#/council/round_x")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such round")
    expect(page.get_by_text("One moment.")).to_have_count(0)
    page.get_by_role("link", name="All rounds").click()
    page.get_by_role("link", name=TOPIC).wait_for()


def test_a_conversation_that_was_deleted_takes_no_more_words(
    visitor: Visitor, house: House
) -> None:
    page = begin(visitor)
    say(page, DIGGING)
    session = page.evaluate("location.hash.split('/')[2].split('?')[0]")
    httpx.delete(f"{house.url}/api/sessions/{session}", timeout=PATIENCE).raise_for_status()
    box = page.get_by_label("Your message")
    expect(box).to_be_disabled()
    expect(box).to_have_attribute("placeholder", "This conversation was deleted")


# Drafts and passing messages


def test_what_was_typed_is_there_after_a_reload_and_gone_once_it_was_said(
    visitor: Visitor,
) -> None:
    page = begin(visitor)
    box = page.get_by_label("Your message")
    box.fill("What about the")
    page.get_by_role("link", name="Library", exact=True).click()
    page.get_by_role("heading", name="The library").wait_for()
    page.go_back()
    expect(box).to_have_value("What about the")
    page.reload()
    connected(page)
    expect(box).to_have_value("What about the")
    say(page, DIGGING)
    page.reload()
    connected(page)
    expect(box).to_have_value("")
    kept: list[str] = json.loads(page.evaluate("JSON.stringify(Object.keys(sessionStorage))"))
    assert not any("draft" in one for one in kept)


def test_a_command_that_does_not_exist_comes_back_and_its_message_covers_no_box(
    visit: Visit,
) -> None:
    for viewport in ({"width": 1280, "height": 860}, {"width": 320, "height": 640}):
        visitor = visit(viewport=viewport)
        page = begin(visitor)
        box = page.get_by_label("Your message")
        box.fill("/dance with me")
        box.press("Enter")
        notice = page.locator("#notices .notice").first
        notice.wait_for()
        shown, covered = notice.bounding_box(), page.locator(".composer-form").bounding_box()
        assert shown is not None
        assert covered is not None
        assert shown["y"] + shown["height"] <= covered["y"]
        expect(box).to_have_value("/dance with me")
