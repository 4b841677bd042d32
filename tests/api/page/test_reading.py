"""The reading: what the records hold is what is drawn; what nobody knows is said to be unknown."""

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.page.browser import PATIENCE, PHONE, Visitor, becomes, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.scenes import COMPANION_SESSION, FRAUD, MARIA, Furnished, talk

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LAST = len(MARIA)


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def readings(url: str, session: str = COMPANION_SESSION) -> list[dict[str, Any]]:
    """Return what the server says was read, turn by turn."""
    answer = httpx.get(f"{url}/api/sessions/{session}/readings", timeout=PATIENCE)
    turns: list[dict[str, Any]] = answer.json()["turns"]
    return turns


def opened(visitor: Visitor, session: str = COMPANION_SESSION, turn: int = LAST) -> "Page":
    """Open the reading of a session and wait until a turn is shown."""
    visitor.go(f"#/reading/{session}")
    return at_rest(visitor, turn)


def at_rest(visitor: Visitor, turn: int) -> "Page":
    """Wait until a turn is the latest that is shown, and nothing is drawn anew any more.

    Once it is connected the page looks at the records again, and puts all cards in place of the
    old ones; a click in that very moment would meet what is just going.
    """
    page = visitor.page
    page.get_by_text(f"turn {turn} of {turn}").wait_for()
    page.get_by_text("live", exact=True).wait_for()
    visitor.settle()
    return page


def card(page: "Page", title: str) -> "Locator":
    """Return the card with this title."""
    return page.locator(".panel", has=page.get_by_role("heading", name=title, exact=True)).last


def headline(page: "Page") -> "Locator":
    """Return what is felt now, as a word."""
    return card(page, "Now").locator(".headline")


def percent(share: float) -> str:
    """Write a share as the page does."""
    return "<1%" if 0 < share < 0.005 else f"{share * 100:.0f}%"


def say(page: "Page", text: str) -> None:
    """Send a message from the box beside the reading."""
    page.get_by_text("live", exact=True).wait_for()
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Send").click()


def test_the_emotion_is_a_word_a_line_and_a_table_that_agree_with_the_record(
    guest: Visitor,
) -> None:
    page = opened(guest)
    recorded = [one["slots"]["current_emotion"] for one in readings(guest.url)]
    expect(headline(page)).to_have_text(recorded[-1]["emotion"], ignore_case=True)
    chart = page.get_by_role("img", name=f"Emotion over {LAST} turns")
    expect(chart.locator("circle.one")).to_have_count(LAST)
    expect(chart.locator("circle.two")).to_have_count(LAST)
    page.get_by_text("As a table").click()
    rows = page.locator(".emotion tbody tr")
    becomes(
        page,
        lambda: [row.split("\t")[:2] for row in rows.all_inner_texts()],
        [[str(number), one["emotion"]] for number, one in enumerate(recorded, start=1)],
    )
    assert [float(row.split("\t")[3]) for row in rows.all_inner_texts()] == [
        pytest.approx(one["arousal"], abs=0.006) for one in recorded
    ]


def test_the_line_rises_and_falls_with_the_valence(guest: Visitor) -> None:
    page = opened(guest)
    dots = page.locator("circle.one")
    expect(dots).to_have_count(LAST)
    drawn_at = dots.evaluate_all("dots => dots.map((one) => one.getAttribute('cy'))")
    heights = [float(one) for one in drawn_at]
    valences = [one["slots"]["current_emotion"]["valence"] for one in readings(guest.url)]
    by_height = sorted(range(LAST), key=lambda place: (-heights[place], place))
    by_valence = sorted(range(LAST), key=lambda place: (round(valences[place], 2), place))
    drawn = [round(valences[place], 2) for place in by_height]
    assert drawn == [round(valences[place], 2) for place in by_valence]


def test_a_turn_in_which_nothing_was_read_breaks_the_line(guest: Visitor) -> None:
    page = opened(guest)
    found = page.evaluate(
        """async () => {
            const { lineChart } = await import("./page/draw/lines.js");
            const drawn = lineChart({
                turns: [1, 2, 3, 4, 5], words: ["joy", "joy", null, "fear", "fear"],
                low: -1, high: 1,
                lines: [{ name: "a", kind: "one", values: [0.1, 0.2, null, 0.4, 0.5] }],
                marks: [], width: 300, height: 100, title: "t", about: "d",
            });
            const lines = [...drawn.querySelectorAll("polyline")];
            return [lines.map((one) => one.getAttribute("points").split(" ").length),
                    drawn.querySelectorAll("circle").length,
                    [...drawn.querySelectorAll(".word")].map((one) => one.textContent)];
        }"""
    )
    assert found == [[2, 2], 4, ["joy", "fear"]]


def test_a_set_is_drawn_inside_its_label_space_with_its_coverage(guest: Visitor) -> None:
    page = opened(guest)
    recorded = readings(guest.url)[-1]["slots"]["current_emotion"]
    drawn = card(page, "Now").locator(".set")
    inside = [one.split(",")[0] for one in drawn.locator("li.in").all_text_contents()]
    outside = drawn.locator("li.out").all_text_contents()
    assert sorted(inside) == sorted(recorded["prediction_set"])
    assert len(inside) + len(outside) == 8
    assert all(one.endswith("ruled out") for one in outside)
    assert recorded["calibrated"]
    said = f"holds the true one {percent(recorded['coverage_guarantee'])} of the time (calibrated)"
    assert drawn.locator(".coverage").inner_text() == said


def test_a_set_without_data_behind_it_promises_nothing(guest: Visitor) -> None:
    page = opened(guest)
    panel = card(page, "What is known about the person")
    assert "No set here is calibrated" in panel.inner_text()
    age = panel.locator("li", has_text="age").first
    assert "29" in age.locator(".value").inner_text()
    assert age.locator(".labels.calibrated").count() == 0
    assert age.locator("li.out").count() == 0
    assert age.locator("li.in").count() == 6


def test_trust_and_relationship_come_with_their_figures(guest: Visitor) -> None:
    page = opened(guest)
    slots = readings(guest.url)
    bond = slots[9]["slots"]["relationship_result"]
    panel = card(page, "Relationship")
    here = panel.locator("[aria-current=step]")
    assert here.locator(".name").inner_text() == bond["rel_status"]
    assert here.locator(".note").inner_text() == percent(
        bond["rel_status_probs"][bond["rel_status"]]
    )
    assert "from turn 10" in panel.inner_text()
    trust = slots[11]["slots"]["features"]["predicted_features"]["trust_score"]
    assert card(page, "Trust").locator(".headline").inner_text() == percent(trust)


def test_what_is_absent_is_not_known_with_the_reason(guest: Visitor) -> None:
    page = opened(guest)
    milestones = card(page, "Milestones").inner_text()
    assert "Not known: comes with turn 30" in milestones
    assert "Expected at turn 30" in milestones
    page.get_by_label("As of").fill("2")
    page.get_by_text(f"turn 2 of {LAST}").wait_for()
    assert "Not known: not due" in card(page, "Relationship").inner_text()
    assert "Not known: not due" in card(page, "What is known about the person").inner_text()
    assert "Not known: comes with turn 10" in card(page, "Milestones").inner_text()


def test_one_looks_back_at_any_turn(guest: Visitor) -> None:
    page = opened(guest)
    emotions = [one["slots"]["current_emotion"]["emotion"] for one in readings(guest.url)]
    for turn in (1, 5, 9):
        page.get_by_label("As of").fill(str(turn))
        page.get_by_text(f"turn {turn} of {LAST}").wait_for()
        expect(headline(page)).to_have_text(emotions[turn - 1], ignore_case=True)


def test_probes_are_questions_that_would_tell_more(guest: Visitor) -> None:
    page = opened(guest)
    items = readings(guest.url)[-1]["slots"]["suggested_probes"]["items"]
    shown = card(page, "What could be asked").locator("q").all_inner_texts()
    assert shown == [f"{one['probe_question']}" for one in items]


def test_a_conversation_is_read_while_it_goes_on(guest: Visitor) -> None:
    page = guest.go("#/reading")
    page.get_by_role("button", name="Begin a conversation").click()
    page.get_by_text("no turn yet", exact=True).wait_for()
    say(page, "I won the race today, I am so happy!")
    page.get_by_text("turn 1 of 1").wait_for()
    expect(headline(page)).to_have_text("joy", ignore_case=True)
    expect(page.locator(".said.bot").first.locator(".badge.ai")).to_be_visible()
    say(page, "But my knee hurts and I am sad about it.")
    page.get_by_text("turn 2 of 2").wait_for()
    expect(page.locator("circle.one")).to_have_count(2)


def test_what_somebody_says_is_text_and_never_markup(guest: Visitor) -> None:
    page = guest.go("#/reading/markup?new=1")
    hostile = "<img src=x onerror=alert(1)> <b>Hello</b>"
    say(page, hostile)
    page.get_by_text("turn 1 of 1").wait_for()
    page.locator(".said.bot").wait_for()
    assert page.locator(".said.person .text").inner_text() == hostile
    assert page.locator(".talk img, .talk b").count() == 0


def test_a_turn_that_was_taken_elsewhere_appears_with_what_was_said(guest: Visitor) -> None:
    session = "elsewhere"
    guest.expect_complaint("404")  # it exists with its first turn
    page = guest.go(f"#/reading/{session}")
    page.get_by_text("live", exact=True).wait_for()
    httpx.post(
        f"{guest.url}/api/sessions/{session}/messages",
        json={"content": "Good morning from another window.", "user_id": "Ada"},
        timeout=PATIENCE,
    ).raise_for_status()
    page.get_by_text("turn 1 of 1").wait_for()
    page.get_by_text("Good morning from another window.", exact=True).wait_for()
    at_rest(guest, 1)  # now no further look at the records can bring it twice
    assert page.locator(".said.bot").count() == 1


@pytest.mark.requirement("companion/websocket-out/scam-warning-visible")
def test_a_warning_of_fraud_cannot_be_overlooked(guest: Visitor) -> None:
    page = guest.go("#/reading/fraud-live?new=1")
    for turn, line in enumerate(FRAUD, start=1):
        say(page, line)
        page.get_by_text(f"turn {turn} of {turn}").wait_for()
    at_rest(guest, len(FRAUD))
    alert = page.get_by_role("alert")
    box = alert.bounding_box()
    assert box is not None
    assert box["width"] > 600
    assert "This looks like fraud" in alert.inner_text()
    assert "money request" in alert.inner_text()
    assert "Send no money" in alert.inner_text()
    page.get_by_role("heading", name="Emotion over time").hover()  # what is scrolled is below it
    page.mouse.wheel(0, 4000)
    guest.until(lambda: page.evaluate("scrollY") > box["height"])
    expect(alert).to_be_in_viewport()
    top = alert.evaluate("node => node.getBoundingClientRect().top")
    assert 0 <= top < 300  # it stays in sight while the rest scrolls
    page.reload()
    at_rest(guest, len(FRAUD))
    alert.get_by_role("button", name="I have read this").click()
    expect(alert).to_have_count(0)
    page.reload()
    at_rest(guest, len(FRAUD))
    assert alert.count() == 0


def test_a_new_warning_comes_although_an_earlier_one_was_read(
    guest: Visitor, furnished: Furnished
) -> None:
    session = "fraud-again"  # of its own, for another turn is taken in it
    talk(furnished.salon, session, FRAUD, "Anders")
    page = opened(guest, session, len(FRAUD))
    page.get_by_role("button", name="I have read this").click()
    say(page, "Honey, send me the gift card codes now, and keep it secret from your family.")
    expect(page.get_by_role("alert")).to_contain_text("read in turn 4")


def test_leaving_closes_the_connection_and_leaves_nothing_running(guest: Visitor) -> None:
    sockets: list[Any] = []
    guest.page.on("websocket", lambda one: sockets.extend([one]))
    page = opened(guest)
    page.get_by_role("link", name="Ledger").click()
    page.get_by_role("heading", name="The ledger").wait_for()
    guest.until(lambda: [one.is_closed() for one in sockets] == [True])


def test_sessions_can_be_chosen_and_a_bad_one_says_so_in_words(guest: Visitor) -> None:
    page = guest.go("#/reading")
    page.get_by_role("link", name=MARIA[-1][:30]).first.click()
    page.get_by_text(f"turn {LAST} of {LAST}").wait_for()
    guest.expect_complaint("422")
    guest.expect_complaint("WebSocket")
    page = guest.go("#/reading/NOT%20AN%20ID")
    expect(page.get_by_role("alert").first).to_contain_text("is not the id of a session")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_use_it_on_any_screen(visit: Visit, furnished: Furnished, colours: str) -> None:
    wide = visit(furnished.house.url, color_scheme=colours)
    phone = visit(furnished.house.url, color_scheme=colours, viewport=PHONE)
    for someone in (wide, phone):
        opened(someone)
        assert grave_issues(someone) == []
    assert phone.overflow() == 0
