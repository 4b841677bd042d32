"""The ledger: entries, the check of the chain, sessions run again, cards and handles."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from salon.settings import load_settings
from tests.api.page.browser import PATIENCE, PHONE, Visitor, becomes, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.house import PATIENT, PatientSalon
from tests.api.page.scenes import ASSISTANT_SESSION, COMPANION_SESSION, MARIA, Furnished, talk
from tests.api.serving import served
from tests.archive.raw import tamper

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[str]:
    """Serve a home whose log somebody has changed behind Salon's back."""
    settings = load_settings(home=tmp_path, environment={})
    with PatientSalon(settings) as salon:
        talk(salon, "short", MARIA[:1], "Maria")
    tamper(settings.archive_path, "UPDATE audit SET by = 'nobody' WHERE seq = 3")
    with PatientSalon(settings) as salon, served(salon, limits=PATIENT) as address:
        yield address.http


def opened(visitor: Visitor, address: str = "#/ledger") -> "Page":
    """Open the log."""
    page = visitor.go(address)
    page.locator(".entry").first.wait_for()
    return page


def test_the_latest_entries_come_first_and_earlier_ones_on_demand(guest: Visitor) -> None:
    page = opened(guest)
    head = httpx.get(f"{guest.url}/api/audit?limit=1", timeout=PATIENCE).json()["head"]["seq"]
    shown = page.locator(".entry .num")
    numbers = [int(one) for one in shown.all_inner_texts()]
    assert numbers == list(range(head, head - len(numbers), -1))
    before = len(numbers)
    page.get_by_role("button", name="Earlier entries").click()
    expect(shown.nth(before)).to_have_text(str(head - before))
    numbers = [int(one) for one in shown.all_inner_texts()]
    assert numbers == list(range(head, head - len(numbers), -1))
    assert len(numbers) > before


def test_entries_are_filtered_by_kind_and_say_what_they_are_about(
    guest: Visitor, furnished: Furnished
) -> None:
    talk(furnished.salon, "noted", MARIA[:1], "Maria")
    page = opened(guest)
    page.get_by_label("Show").select_option("turn_taken")
    first = page.locator(".entry", has_text="noted").first
    first.wait_for()
    page.locator(".entry", has_not_text="turn taken").first.wait_for(state="detached")
    assert page.locator(".entry").count() > 10
    first.locator("summary").click()
    facts = first.locator("dl").inner_text()
    assert "message sha256" in facts
    assert "noted" in facts
    assert not any(line in page.locator("main").inner_text() for line in MARIA)


def test_verify_now_says_that_the_log_holds(guest: Visitor) -> None:
    page = opened(guest)
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("The log holds.").wait_for()
    said = page.locator(".verified").inner_text()
    verdict = httpx.post(f"{guest.url}/api/audit/verify", json={}, timeout=PATIENCE).json()
    assert f"{verdict['head']['seq']:,} entries" in said
    assert verdict["head"]["hash"] in said
    assert "signed" in said


def test_a_changed_entry_is_named(visit: Visit, broken: str) -> None:
    page = opened(visit(broken))
    page.get_by_role("button", name="Verify now").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "The log does not hold at entry 3." in alert.inner_text()


def test_a_session_runs_again_byte_for_byte(guest: Visitor) -> None:
    page = guest.go("#/ledger/replay")
    page.get_by_role("link", name=MARIA[-1][:30]).first.click()
    page.get_by_text(f"Byte for byte the same: {len(MARIA)} turns.").wait_for()
    assert page.locator(".replayed .badge.good").count() == len(MARIA)


def test_a_turn_that_comes_out_differently_is_named(guest: Visitor) -> None:
    changed = {
        "session_id": COMPANION_SESSION,
        "identical": False,
        "turns": [
            {"turn": 1, "identical": True, "why": None, "recorded": None, "replayed": None},
            {"turn": 2, "identical": False, "why": "slot reply", "recorded": "a", "replayed": "b"},
        ],
    }
    # A home whose steps have changed since a turn was taken is not made in a test; its answer is.
    guest.page.route("**/replay", lambda route: route.fulfill(json=changed))
    page = guest.go(f"#/ledger/replay/{COMPANION_SESSION}")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "1 turn of 2 came out differently." in alert.inner_text()
    assert "slot reply" in page.locator(".replayed .changed").inner_text()


def test_a_session_that_cannot_be_run_again_says_so(guest: Visitor) -> None:
    page = guest.go(f"#/ledger/replay/{ASSISTANT_SESSION}")
    page.get_by_text("Nothing to run again.").wait_for()


def test_a_handle_leads_to_its_history_and_a_card_to_its_bytes(guest: Visitor) -> None:
    page = guest.go("#/ledger/handles")
    names = page.locator(".handles a.grow")
    expect(names.filter(has_not_text="sessions/").first).to_be_visible()
    page.get_by_label("Names that begin with").fill("sessions/")
    page.get_by_role("button", name="Look").click()
    # Until the shorter list has come it could still take the place of what is opened from the long.
    becomes(page, lambda: {one.split("/")[0] for one in names.all_inner_texts()}, {"sessions"})
    page.get_by_role("link", name=f"sessions/{COMPANION_SESSION}").click()
    page.get_by_role("heading", name=f"sessions/{COMPANION_SESSION}").wait_for()
    assert page.locator(".history li").count() == len(MARIA)
    assert page.locator(".history .badge").first.inner_text() == "now"
    page.locator(".history a").first.click()
    page.get_by_text("checked here just now: the bytes give this hash").wait_for()
    assert MARIA[-1] in page.locator(".card-text").inner_text()


def test_bytes_that_do_not_fit_their_hash_are_called_out(
    guest: Visitor, furnished: Furnished
) -> None:
    card = furnished.salon.archive.resolve(f"sessions/{COMPANION_SESSION}").current
    guest.page.route("**/content", lambda route: route.fulfill(body=b"something else"))
    page = guest.go(f"#/ledger/cards/{card}")
    page.get_by_text("the bytes give another hash").wait_for()


def test_a_card_that_is_not_there_is_said_in_words(guest: Visitor) -> None:
    guest.expect_complaint("404")
    page = guest.go(f"#/ledger/cards/{'0' * 64}")
    page.get_by_role("alert").wait_for()
    assert "0000" in page.get_by_role("alert").inner_text()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_use_it_on_any_screen(visit: Visit, furnished: Furnished, colours: str) -> None:
    # A hundred entries are made alike, and twenty of them tell as much in half the time.
    more = ".entry:nth-child(n+21)"
    for window in (None, PHONE):
        options = {"viewport": window} if window else {}
        someone = visit(furnished.house.url, color_scheme=colours, **options)
        page = opened(someone)
        page.locator(".entry summary").first.click()
        page.get_by_role("button", name="Verify now").click()
        page.get_by_text("The log holds.").wait_for()
        assert grave_issues(someone, but=more) == []
        assert someone.overflow() == 0
        page = someone.go(f"#/ledger/replay/{COMPANION_SESSION}")
        page.locator(".replayed li").first.wait_for()
        assert grave_issues(someone) == []
        page = someone.go("#/ledger/handles")
        page.locator(".handles li").first.wait_for()
        assert grave_issues(someone, but=".handles li:nth-child(n+21)") == []
        assert someone.overflow() == 0
