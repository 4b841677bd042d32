"""Finding entries of the log on the page: the server looks, the address says for what."""

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.api.page.browser import PHONE, Visitor, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.scenes import COMPANION_SESSION, MARIA, Furnished

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

SAID = re.compile(rf"^{len(MARIA)} of [\d,]+ entries match$")
"""How many of the turns of that session match, as the page says it."""


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def opened(visitor: Visitor, address: str = "#/ledger") -> "Page":
    """Open the log."""
    page = visitor.go(address)
    expect(page.locator(".entry").first).to_be_visible()
    return page


def find_turns(page: "Page") -> None:
    """Ask for the turns of one session, with the keyboard."""
    page.get_by_role("combobox", name="Show").select_option("turn_taken")
    page.get_by_role("combobox", name="About").select_option("session")
    page.get_by_role("searchbox", name="Name").fill(COMPANION_SESSION)
    page.get_by_role("searchbox", name="Name").press("Enter")


def test_the_turns_of_a_session_are_found_and_counted(guest: Visitor) -> None:
    page = opened(guest)
    find_turns(page)
    expect(page.get_by_text(SAID)).to_be_visible()
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    expect(page.locator(".entry summary", has_text=COMPANION_SESSION)).to_have_count(len(MARIA))
    expect(page.get_by_role("button", name="Earlier entries")).to_be_hidden()
    expect(page.get_by_role("searchbox", name="Name")).to_be_focused()


def test_what_is_asked_for_stands_in_the_address(guest: Visitor) -> None:
    page = opened(guest)
    find_turns(page)
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    _, _, asked = page.url.partition("?")
    assert parse_qs(asked) == {"kind": ["turn_taken"], "session": [COMPANION_SESSION]}
    page.reload()
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    expect(page.get_by_role("combobox", name="Show")).to_have_value("turn_taken")
    expect(page.get_by_role("combobox", name="About")).to_have_value("session")
    expect(page.get_by_role("searchbox", name="Name")).to_have_value(COMPANION_SESSION)
    page.get_by_role("link", name="All entries").click()
    expect(page.get_by_text(re.compile(r"entries in the log$"))).to_be_visible()
    expect(page.get_by_role("searchbox", name="Name")).to_have_value("")
    page.go_back()
    expect(page.locator(".entry")).to_have_count(len(MARIA))


def test_a_day_is_that_of_the_browser(visit: Visit, furnished: Furnished) -> None:
    someone = visit(furnished.house.url, timezone_id="Asia/Tokyo")
    page = opened(someone)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.get_by_role("textbox", name="To").fill("2020-01-02")
    page.get_by_role("textbox", name="To").press("Tab")
    expect(page.get_by_text("No such entry.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^0 of [\d,]+ entries match$"))).to_be_visible()
    sent = parse_qs(urlsplit(next(one for one in asked if "until" in one)).query)
    assert sent["until"] == ["2020-01-02T14:59:59.999999Z"]


def test_earlier_entries_are_added_and_what_is_open_stays_open(guest: Visitor) -> None:
    page = opened(guest)
    entries = page.locator(".entry")
    expect(entries).to_have_count(100)
    entries.first.locator("summary").click()
    expect(entries.first.locator("dl")).to_be_visible()
    more = page.get_by_role("button", name="Earlier entries")
    more.press("Enter")
    expect(entries.nth(100)).to_be_attached()
    expect(entries.first.locator("dl")).to_be_visible()


def test_only_matching_entries_come_from_the_server(guest: Visitor) -> None:
    brought: list[int] = []

    def pass_on(route: "Route") -> None:
        answer = route.fetch()
        brought.append(len(answer.json()["entries"]))
        route.fulfill(response=answer)

    guest.page.route("**/api/audit?*", pass_on)
    address = f"#/ledger?kind=turn_taken&session={COMPANION_SESSION}"
    page = opened(guest, address)
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    assert brought == [len(MARIA)]


def test_a_late_answer_to_something_else_is_dropped(guest: Visitor) -> None:
    held: list[Route] = []

    def hold(route: "Route") -> None:
        if "kind=" in route.request.url:
            route.continue_()
        else:
            held.append(route)

    guest.page.route("**/api/audit?*", hold)
    page = guest.go("#/ledger")
    guest.until(lambda: bool(held))
    page.evaluate(f"location.hash = '#/ledger?kind=turn_taken&session={COMPANION_SESSION}'")
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    held[0].continue_()
    guest.settle()
    expect(page.locator(".entry")).to_have_count(len(MARIA))
    expect(page.get_by_text(SAID)).to_be_visible()


def test_an_address_that_asks_for_what_cannot_be_is_answered_in_words(guest: Visitor) -> None:
    guest.expect_complaint("422")
    page = guest.go("#/ledger?kind=turn_token")
    expect(page.get_by_role("alert")).to_contain_text("no kind of entry called 'turn_token'")
    page.get_by_role("link", name="All entries").click()
    expect(page.locator(".entry").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_find_entries_on_any_screen(
    visit: Visit, furnished: Furnished, colours: str
) -> None:
    for window in (None, PHONE):
        options = {"viewport": window} if window else {}
        someone = visit(furnished.house.url, color_scheme=colours, **options)
        page = opened(someone)
        find_turns(page)
        expect(page.get_by_text(SAID)).to_be_visible()
        assert grave_issues(someone) == []
        assert someone.overflow() == 0
