"""The proof behind a citation: what the browser checks itself, and what it says where it cannot."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.page.browser import PATIENCE, PATIENCE_MS, PHONE, Visitor, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.house import House
from tests.api.page.rooms import DIGGING, OIL, REPLIES, begin, come_back, say, say_over_http

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

CONTENT = "**/api/cards/*/content"


def open_proof(page: "Page", reply: "Locator") -> "Locator":
    """Click the first citation of a reply, and return the dialog once everything was checked.

    The dialog is marked as done after all of it was drawn, so what it shows can be read at once.
    """
    reply.locator("button.citation").first.click()
    dialog = page.locator("dialog.proof[data-done]")
    dialog.wait_for()
    return dialog


def proof(visitor: Visitor, avatar: str = "ida-weir", question: str = DIGGING) -> "Locator":
    """Open the proof of an answer that was given before."""
    session = f"proof-{avatar}"
    if httpx.get(f"{visitor.url}/api/sessions/{session}", timeout=PATIENCE).status_code == 404:
        say_over_http(visitor.url, session, question, avatar=avatar)
    page = come_back(visitor, session, avatar)
    return open_proof(page, page.locator(REPLIES).first)


def test_a_click_shows_the_span_in_its_document_checked_just_now(visitor: Visitor) -> None:
    page = begin(visitor)
    dialog = open_proof(page, say(page, DIGGING))
    assert dialog.get_by_role("heading", name="On keeping a canal").is_visible()
    marked = dialog.locator("mark").inner_text()
    assert marked == "We agreed that each household gives two days of digging in March."
    around = dialog.locator(".proof-page").inner_text()
    assert around.startswith("A canal that everyone uses")
    assert around.endswith("surprised by the water.")
    checks = dialog.locator(".proof-check.good").all_inner_texts()
    assert len(checks) == 2
    assert "Checked just now" in checks[0]
    assert "SHA-256" in checks[0]
    assert "letter for letter" in checks[1]
    assert dialog.locator(".proof-check.bad").count() == 0


def test_the_hash_the_status_and_the_links_stand_with_it(visitor: Visitor, house: House) -> None:
    dialog = proof(visitor)
    shown = dialog.locator("code").inner_text()
    card = httpx.get(f"{house.url}/api/cards/{shown}/content", timeout=PATIENCE)
    assert b"two days of digging" in card.content
    assert dialog.locator(".badge.good").inner_text().strip() == "verified"
    original = dialog.get_by_role("link", name="original")
    assert original.get_attribute("href") == "https://example.org/canal"
    assert "noopener" in (original.get_attribute("rel") or "")
    assert dialog.get_by_role("link", name="archived copy").is_visible()


def test_a_document_with_pages_is_opened_at_the_page(visitor: Visitor) -> None:
    dialog = proof(visitor, "tomas-brand", OIL)
    assert "page 1" in dialog.locator(".proof-where").inner_text()
    assert "four in a winter night" in dialog.locator("mark").inner_text()
    assert "Three short flashes" not in dialog.locator(".proof-page").inner_text()


def test_offsets_are_bytes_also_behind_letters_of_several_bytes(visitor: Visitor) -> None:
    dialog = proof(visitor, "mirela-sand", "When does a swarm leave the hive?")
    assert dialog.locator("mark").inner_text().startswith("A swarm leaves the hive")
    assert "“grey ladies”" in dialog.locator(".proof-page").inner_text()
    assert dialog.locator(".proof-check.good").count() == 2


def tampered(route: "Route") -> None:
    answer = route.fetch(timeout=PATIENCE_MS)
    body = answer.body().replace(b"surprised", b"surprized")
    route.fulfill(response=answer, body=body)


def test_one_changed_byte_of_the_card_is_a_red_failure(visitor: Visitor) -> None:
    visitor.page.route(CONTENT, tampered)
    dialog = proof(visitor)
    bad = dialog.locator(".proof-check.bad")
    assert bad.count() == 1
    assert "not those that were cited" in bad.inner_text()
    assert bad.get_by_role("alert").is_visible()
    red = bad.evaluate("node => getComputedStyle(node).color")
    assert red == "rgb(156, 28, 38)"
    assert "bad" in (dialog.locator("mark").get_attribute("class") or "")
    # The quote itself was left alone, and that is said too.
    assert dialog.locator(".proof-check.good").count() == 1


def test_a_changed_quote_is_caught_although_the_rest_is_whole(visitor: Visitor) -> None:
    def swapped(route: "Route") -> None:
        answer = route.fetch(timeout=PATIENCE_MS)
        route.fulfill(response=answer, body=answer.body().replace(b"two days", b"six days"))

    visitor.page.route(CONTENT, swapped)
    dialog = proof(visitor)
    assert dialog.locator(".proof-check.bad").count() == 2
    assert "is not what stands at bytes" in dialog.locator(".proof-check.bad").nth(1).inner_text()


def test_where_the_browser_cannot_hash_the_page_says_so(visitor: Visitor) -> None:
    visitor.page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    dialog = proof(visitor)
    unsure = dialog.locator(".proof-check.unknown")
    assert "cannot recompute the hash" in unsure.inner_text()
    assert "Checked just now" not in dialog.inner_text()
    # The quote can still be held against the bytes that came.
    assert dialog.locator(".proof-check.good").count() == 1


def test_the_bytes_are_proof_enough_where_nothing_is_known_of_the_document(
    visitor: Visitor,
) -> None:
    visitor.page.route("**/api/cards/*/place?*", lambda route: route.abort())
    visitor.expect_complaint("Failed to load resource")
    dialog = proof(visitor)
    assert dialog.locator(".proof-check.good").count() == 2
    assert "two days of digging" in dialog.locator("mark").inner_text()
    assert "not known" in dialog.locator(".proof-facts").inner_text()


def test_a_card_that_cannot_be_fetched_is_told_in_words(visitor: Visitor) -> None:
    visitor.page.route(CONTENT, lambda route: route.abort())
    visitor.expect_complaint("Failed to load resource")
    dialog = proof(visitor)
    assert "The server does not answer." in dialog.get_by_role("alert").inner_text()


def test_escape_closes_the_proof_and_gives_the_focus_back(visitor: Visitor) -> None:
    page = begin(visitor)
    reply = say(page, DIGGING)
    open_proof(page, reply)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(reply.locator("button.citation").first).to_be_focused()


def test_the_bytes_come_from_this_server_alone(visitor: Visitor, house: House) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    proof(visitor)
    here = urlsplit(house.url).netloc
    assert {urlsplit(one).netloc for one in asked} == {here}
    assert any(one.endswith("/content") for one in asked)


@pytest.mark.parametrize(
    ("scheme", "broken"),
    [("light", True), ("dark", True), ("dark", False)],
    ids=["light-broken", "dark-broken", "dark-good"],
)
def test_the_proof_is_accessible(visit: Visit, scheme: str, broken: bool) -> None:
    visitor = visit(color_scheme=scheme)
    if broken:
        visitor.page.route(CONTENT, tampered)
    proof(visitor)
    assert grave_issues(visitor) == []


def test_the_proof_fits_a_phone(visit: Visit) -> None:
    visitor = visit(viewport=PHONE)
    dialog = proof(visitor)
    assert visitor.overflow() == 0
    box = dialog.bounding_box()
    assert box is not None
    assert box["width"] <= PHONE["width"]
    assert grave_issues(visitor) == []
