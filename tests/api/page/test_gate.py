"""The gate: which rule decided, and a flow that is approved by the digest of what is shown."""

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.page.browser import (
    PATIENCE,
    PATIENCE_MS,
    PHONE,
    Visitor,
    becomes,
    expect,
    grave_issues,
)
from tests.api.page.conftest import Visit
from tests.api.page.scenes import ASSISTANT, ASSISTANT_SESSION, LATE, Furnished, talk

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def offered(visitor: Visitor, furnished: Furnished, session: str) -> "Page":
    """Open a session in which the assistant has just offered a call."""
    talk(furnished.salon, session, LATE, "Maria", avatar=ASSISTANT)
    page = visitor.go(f"#/gate/{session}")
    page.get_by_text("Would you like me to schedule that call?").first.wait_for()
    return page


def to_approval(page: "Page") -> None:
    """Answer the flow until it asks for the approval."""
    page.get_by_role("button", name="yes").click()
    page.locator(".flow .button", has_text="(").first.click()
    page.get_by_label("Name").fill("Tom Reed")
    page.get_by_role("button", name="Answer").click()
    page.get_by_role("button", name="Leave it out").click()
    page.get_by_role("heading", name="Approve exactly this?").wait_for()


def standing(url: str, session: str) -> dict[str, Any]:
    """Return where gate and flow stand."""
    answer = httpx.get(f"{url}/api/sessions/{session}/flow", timeout=PATIENCE)
    found: dict[str, Any] = answer.raise_for_status().json()
    return found


def say(visitor: Visitor, text: str) -> None:
    """Say something in the conversation; before it is connected the words stay in the box."""
    box = visitor.page.get_by_label("Your message")
    box.fill(text)

    def is_sent() -> bool:
        box.press("Enter")
        return box.input_value() == ""

    visitor.until(is_sent)


def test_the_state_and_the_rule_that_decided_are_shown(guest: Visitor) -> None:
    page = guest.go(f"#/gate/{ASSISTANT_SESSION}")
    here = page.locator(".states [aria-current=true]")
    here.wait_for()
    expect(here.locator("strong")).to_have_text("Guiding")
    assert page.locator(".states li").count() == 4
    decided = page.locator(".panel", has=page.get_by_role("heading", name="Decision")).inner_text()
    assert "The context suffices, and the reply recommends the action." in decided
    assert "recommendation" in decided
    page.get_by_text("All decisions (2)").click()
    rows = page.locator("details tbody tr")
    becomes(
        page,
        lambda: [row.split("\t")[:3] for row in rows.all_inner_texts()],
        [["2", "guiding", "recommendation"], ["1", "clarifying", "asking"]],
    )


def test_a_conversation_with_the_assistant_begins_here(guest: Visitor) -> None:
    page = guest.go("#/gate")
    page.get_by_role("button", name="Begin with the assistant").click()
    say(guest, LATE[0])
    expect(page.locator(".said.bot .badge.ai").first).to_be_visible()
    page.get_by_text("The reply still asks for context.").wait_for()
    expect(page.locator(".states [aria-current=true] strong")).to_have_text("Clarifying")


def test_a_flow_goes_from_the_offer_to_the_receipt(guest: Visitor, furnished: Furnished) -> None:
    page = offered(guest, furnished, "whole")
    to_approval(page)
    shown = dict(
        zip(
            page.locator(".arguments dt").all_inner_texts(),
            page.locator(".arguments dd").all_inner_texts(),
            strict=True,
        )
    )
    assert shown["employee name"] == "Tom Reed"
    assert shown["start"].endswith("Z")
    digest = page.locator(".digest code").inner_text()
    page.get_by_text("checked here: exactly these values").wait_for()
    assert standing(guest.url, "whole")["order"] is None
    page.get_by_role("button", name="Approve exactly this").click()
    page.get_by_role("heading", name="Done").wait_for()
    done = standing(guest.url, "whole")["order"]
    assert done["state"] == "done"
    assert done["digest"] == digest
    receipt = page.locator(".receipt")
    assert done["receipt"]["text"] in receipt.inner_text()
    assert done["receipt"]["reference"] in receipt.inner_text()
    # The conversation hears of it on a way of its own, which may take longer.
    expect(page.locator(".said.person").last).to_have_text(re.compile(f"approve {digest}$"))


def test_the_digest_in_the_browser_is_the_one_of_the_server(
    guest: Visitor, furnished: Furnished
) -> None:
    page = offered(guest, furnished, "digest")
    to_approval(page)
    proposal = standing(guest.url, "digest")["proposal"]
    whole = json.dumps(
        {"kind": "salon.proposal", **proposal},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    expect(page.locator(".digest code")).to_have_text(hashlib.sha256(whole.encode()).hexdigest())


def test_a_proposal_that_does_not_fit_its_digest_is_said_to_be_wrong(
    guest: Visitor, furnished: Furnished
) -> None:
    page = offered(guest, furnished, "forged")
    to_approval(page)

    def forge(route: "Route") -> None:
        answer = route.fetch(timeout=PATIENCE_MS)
        found = answer.json()
        found["proposal"]["arguments"]["employee_name"] = "Somebody else"
        route.fulfill(response=answer, json=found)

    page.route("**/api/sessions/forged/flow", forge)
    page.reload()
    page.get_by_text("does not fit these values").wait_for()


def test_a_change_gives_another_digest_and_nothing_is_done(
    guest: Visitor, furnished: Furnished
) -> None:
    page = offered(guest, furnished, "changed")
    to_approval(page)
    before = page.locator(".digest code").inner_text()
    page.get_by_label("Or change something first").fill("change the title to Talk about mornings")
    page.get_by_role("button", name="Change", exact=True).click()
    page.locator(".arguments dd", has_text="Talk about mornings").wait_for()
    assert page.locator(".digest code").inner_text() != before
    assert standing(guest.url, "changed")["order"] is None


def test_a_cancel_ends_the_flow_and_nothing_is_done(guest: Visitor, furnished: Furnished) -> None:
    page = offered(guest, furnished, "cancelled")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("heading", name="Flow cancelled").wait_for()
    expect(page.get_by_text("Nothing was done.", exact=True)).to_be_visible()
    found = standing(guest.url, "cancelled")
    assert found["order"] is None
    assert found["flow"]["step"] == "cancelled"


def test_the_offer_and_its_source_are_still_there_when_one_comes_back(
    guest: Visitor, furnished: Furnished
) -> None:
    page = offered(guest, furnished, "back")
    last = page.locator(".said.bot").last
    expect(last.locator(".text")).to_have_text(
        re.compile(r"Would you like me to schedule that call\?$")
    )
    last.locator("button.citation").first.click()
    page.locator("dialog.proof[data-done]").wait_for()
    assert page.locator(".proof-check.good").count() == 2


def test_the_flow_can_be_answered_in_the_conversation_too(
    guest: Visitor, furnished: Furnished
) -> None:
    page = offered(guest, furnished, "spoken")
    page.locator(".talk-log li").last.wait_for()
    say(guest, "yes")
    page.get_by_text("Which time? You can also name another one.").wait_for()
    expect(page.locator(".said.person").last).to_have_text(re.compile("yes$"))


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_use_it_on_any_screen(visit: Visit, furnished: Furnished, colours: str) -> None:
    session = f"axe-{colours}"
    wide = visit(furnished.house.url, color_scheme=colours)
    page = offered(wide, furnished, session)
    assert grave_issues(wide) == []
    to_approval(page)
    page.get_by_text("checked here").wait_for()
    assert grave_issues(wide) == []
    phone = visit(furnished.house.url, color_scheme=colours, viewport=PHONE)
    page = phone.go(f"#/gate/{session}")
    page.get_by_text("checked here").wait_for()
    assert grave_issues(phone) == []
    assert phone.overflow() == 0
