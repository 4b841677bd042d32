"""The council: a round from the topic to the chapter, as it happens and afterwards."""

import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from salon.council.seats import Seat
from tests.api.page.browser import PATIENCE, PATIENCE_MS, PHONE, Visitor, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.scenes import HARD_TOPIC, TOPIC, Furnished
from tests.api.page.seats import GRADES, MOODS

if TYPE_CHECKING:
    from playwright.sync_api import Page

SEATS = ["Chair", "Miner", "Auditor", "Professor", "Vizier"]


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def get(url: str, path: str) -> dict[str, Any]:
    """Return what a route answers."""
    found: dict[str, Any] = httpx.get(f"{url}{path}", timeout=PATIENCE).raise_for_status().json()
    return found


def published(visitor: Visitor, furnished: Furnished) -> "Page":
    """Open the round that was published; a round that is over is drawn once, and all of it."""
    page = visitor.go(f"#/council/{furnished.published.id}")
    page.locator(".chapter").wait_for()
    return page


def test_rounds_are_listed_with_how_they_ended(guest: Visitor) -> None:
    page = guest.go("#/council")
    first = page.get_by_role("link", name=TOPIC)
    first.wait_for()
    assert "published" in first.inner_text()
    assert "no quorum" in page.get_by_role("link", name=HARD_TOPIC).inner_text()
    first.click()
    page.get_by_role("heading", name=TOPIC, level=1).wait_for()


def test_the_phases_are_a_track_up_to_the_publication(guest: Visitor, furnished: Furnished) -> None:
    track = published(guest, furnished).get_by_role("list", name="Phases of the round")
    assert track.locator("li .name").all_inner_texts() == [
        "Sprint", "Critique", "Refinement", "Vote", "Runoff", "Ratification", "Published",
    ]  # fmt: skip
    assert track.locator("[aria-current=step]").inner_text() == "Published"


def test_the_chapter_stands_with_sources_that_open_their_proof(
    guest: Visitor, furnished: Furnished
) -> None:
    page = published(guest, furnished)
    chapter = get(guest.url, f"/api/rounds/{furnished.published.id}/chapter")
    shown = page.locator(".chapter")
    assert shown.get_by_role("heading", name=TOPIC).is_visible()
    quotes = [one["quote"] for one in chapter["citations"]]
    assert [quote for quote in quotes if quote not in shown.inner_text()] == []
    assert shown.locator("button.citation").count() == len(quotes)
    assert "derived knowledge" in shown.inner_text()
    assert chapter["handle"] in shown.inner_text()
    shown.locator("button.citation").first.click()
    dialog = page.locator("dialog.proof[data-done]")
    dialog.wait_for()
    assert dialog.locator("mark").inner_text() == quotes[0]
    assert dialog.locator(".proof-check.good").count() == 2
    assert dialog.get_by_role("heading", name=chapter["citations"][0]["source"]).is_visible()


def test_the_chapter_says_whose_words_it_quotes(guest: Visitor, furnished: Furnished) -> None:
    page = published(guest, furnished)
    record = get(guest.url, f"/api/rounds/{furnished.published.id}/chapter")["record"]
    sources = {one for block in record["content_blocks"] for one in block["sources"]}
    assert sources
    listed = page.locator(".chapter").get_by_role("region", name="Sources").locator("li")
    shown = [one.rpartition(" (")[0] for one in listed.all_inner_texts()]
    assert sorted(shown) == sorted(sources)


def test_the_round_can_be_checked_again(guest: Visitor, furnished: Furnished) -> None:
    page = published(guest, furnished)
    page.get_by_role("button", name="Check it again").click()
    page.get_by_text("Everything stands up to a second look.").wait_for()
    checks = get(guest.url, f"/api/rounds/{furnished.published.id}/verify")["checks"]
    assert page.locator(".chapter .notice li").count() == len(checks)


def test_the_ballot_is_a_table_of_who_gave_what_to_whom(
    guest: Visitor, furnished: Furnished
) -> None:
    page = published(guest, furnished)
    ballot = get(guest.url, f"/api/rounds/{furnished.published.id}/ballot")
    rows = page.locator(".ballot tbody tr")
    assert rows.count() == len(ballot["rows"]) == 6
    for place, row in enumerate(ballot["rows"]):
        cells = rows.nth(place).locator("td").all_inner_texts()
        own = [["I", "II", "III", "IV", "V"][at] for at in range(5) if cells[at] == "own"]
        assert own == sorted(row["authors"])
        assert cells[5] == f"{row['score']:.2f}"
        assert cells[6] == f"{row['weighted']:.2f}"
        assert cells[7] == f"{row['mean']:.2f}"
        assert cells[8] == str(row["lowest"])
    auditors = next(row for row in ballot["rows"] if row["authors"] == ["III"])
    mean = sum(GRADES[Seat.AUDITOR]) / 3 + MOODS[Seat.PROFESSOR]
    assert (
        rows.nth(ballot["rows"].index(auditors)).locator("td").nth(3).inner_text() == f"{mean:.1f}"
    )


def test_the_effective_number_of_votes_stands_beside_it(
    guest: Visitor, furnished: Furnished
) -> None:
    page = published(guest, furnished)
    effective = get(guest.url, f"/api/rounds/{furnished.published.id}/ballot")["effective_votes"]
    said = page.locator(".effective").inner_text()
    assert f"Effective number of votes: {effective:.1f} of 5" in said
    page.get_by_text("What else may have moved the votes").click()
    biases = page.locator(".biases").inner_text()
    assert "Place in the order" in biases
    assert "Likeness to one's own draft" in biases
    assert effective < 5  # the script's voters agree much


def test_runoff_fusion_and_ratification_are_told(guest: Visitor, furnished: Furnished) -> None:
    page = published(guest, furnished)
    told = page.locator(".panel", has=page.get_by_role("heading", name="Runoff")).inner_text()
    assert "I Chair and II Miner" in told
    assert "fusion" in told
    ratified = page.locator(".panel", has=page.get_by_role("heading", name="Ratification"))
    assert ratified.locator("li").all_inner_texts() == [
        "III\nAuditor\nUp", "IV\nProfessor\nUp", "V\nVizier\nUp",
    ]  # fmt: skip


def test_a_draft_opens_with_its_sources_and_what_the_others_said(
    guest: Visitor, furnished: Furnished
) -> None:
    page = published(guest, furnished)
    drafts = page.locator(".draft")
    assert drafts.count() == 6
    authors = drafts.locator("summary").all_inner_texts()
    assert [name for name in SEATS if any(name in one for one in authors)] == SEATS
    drafts.first.locator("summary").click()
    drafts.first.get_by_role("heading", name="What the others said").wait_for()
    critiques = drafts.first.locator(".critiques > li")
    assert critiques.count() == 4
    assert "Read for" in critiques.first.inner_text()
    assert drafts.first.locator(".draft-text > .prose button.citation").count() == 4
    critiques.first.locator("button.citation").click()
    page.locator("dialog.proof[data-done] .proof-check.good").first.wait_for()


def test_no_quorum_is_shown_with_the_reasons(guest: Visitor, furnished: Furnished) -> None:
    page = guest.go(f"#/council/{furnished.no_quorum.id}")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "found no quorum" in alert.inner_text()
    assert "Nothing was published" in alert.inner_text()
    assert alert.locator("li").count() == len(furnished.no_quorum.reasons)
    assert page.locator(".seat-card").count() == 5
    assert "The archive has nothing on this." in page.locator(".seats").inner_text()


def test_a_round_is_followed_from_the_topic_to_its_end(guest: Visitor) -> None:
    page = guest.go("#/council")
    page.get_by_label("Topic of a new round").fill("Turns of water at Brenn Weir")
    page.get_by_role("button", name="Start a round").click()
    page.get_by_role("heading", name="Turns of water at Brenn Weir", level=1).wait_for()
    expect(page.locator(".seat-card")).to_have_count(5)
    over = (
        page.locator(".track [aria-current=step]")
        .get_by_text("Published")
        .or_(page.get_by_text("found no quorum"))
    )
    over.first.wait_for(timeout=3 * PATIENCE_MS)  # a whole round, not one thing
    rounds = get(guest.url, "/api/rounds")["rounds"]
    assert rounds[0]["topic"] == "Turns of water at Brenn Weir"
    assert rounds[0]["is_over"]
    # Its driver may still write what the seats learnt; no other test should see that happen.
    driver = f"round {rounds[0]['id']}"
    guest.until(lambda: all(one.name != driver for one in threading.enumerate()))


def test_a_topic_that_cannot_be_taken_says_why(guest: Visitor) -> None:
    guest.expect_complaint("422")
    page = guest.go("#/council")
    page.get_by_label("Topic of a new round").fill("\u200b")
    page.get_by_role("button", name="Start a round").click()
    expect(page.get_by_role("alert")).not_to_be_empty()


def test_souls_are_shown_with_their_history(guest: Visitor) -> None:
    page = guest.go("#/council/souls")
    page.locator(".soul").first.wait_for()
    assert page.locator(".soul").count() == 5
    souls = get(guest.url, "/api/souls")["souls"]
    assert [one.split("\n")[1] for one in page.locator(".soul h2").all_inner_texts()] == [
        one["title"] for one in souls
    ]
    page.get_by_text(f"History ({len(souls[0]['history'])})").first.click()
    page.locator(".history a").first.click()
    page.get_by_text("checked here just now").wait_for()


def test_what_a_draft_says_is_text_and_never_markup(guest: Visitor) -> None:
    page = guest.go("#/council")
    page.get_by_role("heading", name="The council").wait_for()
    found = page.evaluate(
        """async () => {
            const { showMarkdown } = await import("./page/screens/council/markdown.js");
            const text = "# <img src=x onerror=alert(1)>\\n\\nA <b>bold</b> claim.[^1]"
                + "\\n\\n- [link](javascript:alert(1))\\n\\n"
                + "[^1]: \\"<i>q</i>\\" card:" + "a".repeat(64) + "#0-4";
            const made = showMarkdown(text);
            return [made.querySelectorAll("img, b, i, a").length, made.textContent];
        }"""
    )
    assert found[0] == 0
    assert "<img src=x onerror=alert(1)>" in found[1]
    assert "A <b>bold</b> claim." in found[1]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_use_it_on_any_screen(visit: Visit, furnished: Furnished, colours: str) -> None:
    wide = visit(furnished.house.url, color_scheme=colours)
    page = published(wide, furnished)
    page.locator(".draft summary").first.click()
    page.locator(".critiques").wait_for()
    assert grave_issues(wide) == []
    phone = visit(furnished.house.url, color_scheme=colours, viewport=PHONE)
    # Each with what only that screen shows: the one before stands there until it has come.
    screens = {
        f"#/council/{furnished.published.id}": ".chapter",
        f"#/council/{furnished.no_quorum.id}": ".notice.bad",
        "#/council": ".card-link",
        "#/council/souls": ".soul",
    }
    for address, sign in screens.items():
        page = phone.go(address)
        page.locator(sign).first.wait_for()
        assert grave_issues(phone) == []
        assert phone.overflow() == 0
