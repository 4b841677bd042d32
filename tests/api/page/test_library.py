"""The library: sources with their status, three ways of searching, the names around a passage."""

from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.page.browser import PATIENCE, PHONE, Visitor, becomes, expect, grave_issues
from tests.api.page.conftest import Visit
from tests.api.page.scenes import Furnished
from tests.api.page.valley import VALLEY

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUERY = "Who sits in the canal court?"
MODES = ("hybrid", "dense", "sparse")
CENTRE = "Orrin Valley"


@pytest.fixture
def guest(visit: Visit, furnished: Furnished) -> Visitor:
    """Return a visitor of the house in which much has happened."""
    return visit(furnished.house.url)


def searched(visitor: Visitor) -> "Page":
    """Search and wait until all three ways have answered."""
    page = visitor.go("#/library/search")
    page.get_by_label("Search everything that is stored").fill(QUERY)
    page.get_by_role("button", name="Search").click()
    for place in range(3):
        page.locator(".column").nth(place).locator(".passage").first.wait_for()
    return page


def graph(visitor: Visitor, query: str = "entity=Orrin%20Valley") -> "Page":
    """Open the names around something, and wait until they are drawn to the width there is."""
    page = visitor.go(f"#/library/graph?{query}")
    page.locator("svg.graph .node").first.wait_for()
    visitor.settle()
    return page


def entities(url: str) -> list[dict[str, Any]]:
    """Return the names around the centre, as the server has them."""
    answer = httpx.get(f"{url}/api/graph", params={"entity": CENTRE, "hops": 2}, timeout=PATIENCE)
    found: list[dict[str, Any]] = answer.json()["entities"]
    return found


def test_every_document_stands_with_its_status_and_links(guest: Visitor) -> None:
    page = guest.go("#/library")
    for note in VALLEY:
        row = page.locator(".document", has=page.get_by_role("heading", name=note.title))
        row.wait_for()
        wanted = "not yet verified" if note.status == "pending" else note.status.value
        assert row.locator(".badge").last.inner_text().strip() == wanted
        links = [row.get_by_role("link", name=one) for one in ("Source", "Archived copy")]
        for link, target in zip(links, (note.url, note.archive_url), strict=True):
            assert link.count() == (1 if target else 0)
            if target:
                assert link.get_attribute("href") == target
                assert "noopener" in (link.get_attribute("rel") or "")


def test_what_the_council_wrote_is_marked_as_derived(guest: Visitor) -> None:
    page = guest.go("#/library")
    page.locator(".document").first.wait_for()
    listed = httpx.get(f"{guest.url}/api/documents", timeout=PATIENCE).json()["documents"]
    derived = [one["title"] for one in listed if one["derived"]]
    assert derived  # a round that another test held may have added its own
    marked = page.locator(".document", has_text="derived").locator("h2").all_inner_texts()
    assert sorted(marked) == sorted(derived)


def test_documents_are_filtered_by_words_and_by_status(guest: Visitor) -> None:
    page = guest.go("#/library")
    page.locator(".document").first.wait_for()
    page.get_by_label("Filter").fill("canal 1903")
    titles = page.locator(".document h2")
    expect(titles).to_have_text(["How the canal court works"])
    page.get_by_label("Filter").fill("")
    page.get_by_label("Verification").select_option("disputed")
    becomes(
        page,
        lambda: sorted(titles.all_inner_texts()),
        ["A visitor in the Orrin Valley", "Letters to the bailiff"],
    )


def test_three_ways_of_searching_stand_side_by_side(guest: Visitor) -> None:
    page = searched(guest)
    for place, mode in enumerate(MODES):
        column = page.locator(".column").nth(place)
        assert column.get_by_role("heading").first.inner_text().lower() == mode
        answer = httpx.post(
            f"{guest.url}/api/search",
            json={"query": QUERY, "mode": mode, "limit": 5},
            timeout=PATIENCE,
        ).json()["passages"]
        assert column.locator(".passage strong").all_inner_texts() == [
            one["source"] for one in answer
        ]
    tops = [page.locator(".column").nth(place).bounding_box() for place in range(3)]
    assert len({round(one["y"]) for one in tops if one}) == 1
    assert "dense 1" in page.locator(".column").first.locator(".passage").first.inner_text()


def test_on_a_phone_the_three_stand_below_each_other(visit: Visit, furnished: Furnished) -> None:
    phone = visit(furnished.house.url, viewport=PHONE)
    page = searched(phone)
    lefts = [page.locator(".column").nth(place).bounding_box() for place in range(3)]
    assert len({round(one["x"]) for one in lefts if one}) == 1
    assert phone.overflow() == 0


def test_a_passage_opens_its_proof_and_its_surroundings(guest: Visitor) -> None:
    page = searched(guest)
    first = page.locator(".column").first.locator(".passage").first
    first.locator("button.citation").click()
    page.locator("dialog.proof[data-done]").wait_for()
    assert page.locator(".proof-check.good").count() == 2
    assert page.locator(".proof-check.bad").count() == 0
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    first.get_by_role("link", name="names around it").click()
    page.locator("svg.graph .node").first.wait_for()
    centres = page.locator("svg.graph .ring0 text").all_text_contents()
    assert {"Orrin Valley", "Josef Hale"} & set(centres)


def test_the_graph_is_drawn_the_same_way_every_time(visit: Visit, furnished: Furnished) -> None:
    drawn = [
        graph(visit(furnished.house.url)).locator("svg.graph").evaluate("node => node.outerHTML")
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


def test_the_graph_and_the_list_say_the_same(guest: Visitor) -> None:
    page = graph(guest)
    names = {one["name"]: one for one in entities(guest.url)}
    labels = page.locator("svg.graph .node").evaluate_all(
        "nodes => nodes.map((one) => one.getAttribute('aria-label') ?? '')"
    )
    rows = [row.split("\t") for row in page.locator("tbody tr").all_inner_texts()]
    assert {row[0] for row in rows} == set(names)
    assert [label.rsplit(", ", 1)[0] for label in labels] == [row[0] for row in rows][:24]
    for row in rows:
        assert row[2:4] == [str(names[row[0]]["hops"]), str(names[row[0]]["mentions"])]


def test_the_graph_is_walked_with_the_keyboard(guest: Visitor) -> None:
    page = graph(guest)
    nodes = page.locator("svg.graph .node")
    page.get_by_role("button", name="Show").focus()
    page.keyboard.press("Tab")
    expect(nodes.first).to_be_focused()
    page.keyboard.press("Tab")
    expect(nodes.nth(1)).to_be_focused()
    name = (nodes.nth(1).get_attribute("aria-label") or "").rsplit(", ", 1)[0]
    assert name
    assert name != CENTRE
    page.keyboard.press("Enter")
    page.locator("svg.graph .ring0", has_text=name[:10]).wait_for()
    expect(page.get_by_label("Whose surroundings?")).to_have_value(name)


def test_a_name_that_no_document_has_is_said_in_words(guest: Visitor) -> None:
    guest.expect_complaint("404")
    page = guest.go("#/library/graph?entity=Nobody%20Ever")
    page.get_by_text("No document names that.").wait_for()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_anybody_can_use_it_on_any_screen(visit: Visit, furnished: Furnished, colours: str) -> None:
    for window in (None, PHONE):
        options = {"viewport": window} if window else {}
        someone = visit(furnished.house.url, color_scheme=colours, **options)
        page = someone.go("#/library")
        page.locator(".document").first.wait_for()
        assert grave_issues(someone) == []
        searched(someone)
        assert grave_issues(someone) == []
        graph(someone)
        assert grave_issues(someone) == []
        assert someone.overflow() == 0
