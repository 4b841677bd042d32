"""Small windows and long words: nothing is wider than the window, no name covers another."""

from typing import TYPE_CHECKING

import pytest

from salon.core.documents import VerificationStatus
from tests.api.page.browser import Visitor, becomes, expect
from tests.api.page.conftest import Visit
from tests.api.page.house import Note, add_note
from tests.api.page.scenes import COMPANION_SESSION, TOPIC, Furnished

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (320, 390)
HASH = "0123456789abcdef" * 4
WORD = "Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz"
NAME = "Wolfeschlegelsteinhausenbergerdorffvoralternwarengewissenhaft"[:60]
SESSION = "long-words"


@pytest.fixture(scope="module")
def stretched(furnished: Furnished) -> Furnished:
    """The house with a document, a name and words that do not end."""
    salon = furnished.salon
    folder = furnished.house.folder / "avatars" / "ida-weir"
    note = Note(
        title=f"{WORD} {HASH}",
        year=1908,
        pages=(f"The {WORD} of the Orrin Valley is kept under {HASH}.",),
        status=VerificationStatus.VERIFIED,
    )
    add_note(salon, folder, "ida-weir", note)
    salon.index()
    salon.take_turn(SESSION, f"{WORD} {HASH}", user=NAME)
    salon.take_turn(f"{SESSION}-expert", f"{WORD} {HASH}?", user=NAME, avatar="ida-weir")
    return furnished


ADDRESSES = {
    "lobby": ("#/room", ".avatar-card"),
    "room": (f"#/room/{SESSION}", ".message.avatar"),
    "expert": (f"#/room/{SESSION}-expert?with=ida-weir", ".message.avatar"),
    "readings": ("#/reading", ".card-link"),
    "reading": (f"#/reading/{SESSION}", ".said.bot"),
    "gate": (f"#/gate/{SESSION}-expert", ".said.bot"),
    "library": ("#/library", ".document"),
    "search": (f"#/library/search?q={WORD}", ".passage"),
    "graph": ("#/library/graph?entity=Orrin%20Valley", "svg.graph"),
    "council": ("#/council", ".card-link"),
    "replays": ("#/ledger/replay", ".card-link"),
    "replay": (f"#/ledger/replay/{SESSION}", ".replayed"),
    "ledger": ("#/ledger", ".entry"),
    "handles": ("#/ledger/handles", ".handles li"),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_no_screen_is_wider_than_a_narrow_window(
    visit: Visit, stretched: Furnished, name: str
) -> None:
    address, sign = ADDRESSES[name]
    visitor = visit(stretched.house.url, viewport={"width": WIDTHS[0], "height": 640})
    page = visitor.go(address)
    page.locator(sign).first.wait_for()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 700})
        visitor.settle()
        assert visitor.overflow() == 0
        assert outside(page) == []


def outside(page: "Page") -> list[str]:
    """Return what sticks out of the window and cannot be scrolled into it."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter((one) => {
            const { right, width } = one.getBoundingClientRect();
            const isHidden = one.closest('.visually-hidden, [hidden], .scroll-x, svg, .drawing');
            return width && right > innerWidth + 1 && !isHidden;
        }).map((one) => `${one.tagName}.${one.className}`)"""
    )
    return found


def test_the_chip_of_a_source_stays_in_its_frame(visit: Visit, stretched: Furnished) -> None:
    visitor = visit(stretched.house.url, viewport={"width": 390, "height": 700})
    page = visitor.go(f"#/room/{SESSION}-expert?with=ida-weir")
    main = page.locator(".message.avatar .message-main").first
    main.wait_for()
    visitor.settle()
    script = """node => [...node.querySelectorAll('*')].every((one) =>
        one.getBoundingClientRect().right <= node.getBoundingClientRect().right + 1)"""
    assert main.evaluate(script)


# The graph

MANY = """async ([width, height]) => {
    const { drawGraph } = await import('/page/draw/graph.js');
    const names = ['Abraham Lincoln', 'United States', 'Government', 'American', 'Mason', 'Union',
        'Douglas', 'Illinois', 'Constitution', 'Missouri Compromise', 'Supreme Court', 'Kansas'];
    const nodes = names.map((name, at) =>
        ({ id: name, name, ring: at === 0 ? 0 : at < 6 ? 1 : 2, size: 12 - at, href: '#/library', about: name }));
    const edges = nodes.slice(1).map(({ id }, at) => ({ a: at < 5 ? names[0] : names[1 + (at % 5)], b: id, weight: 1 }));
    const drawn = drawGraph({ nodes, edges, width, height, title: 'Names' });
    document.body.prepend(drawn);
    const shown = [...drawn.querySelectorAll('text:not(.pointed)')].map((one) => one.getBoundingClientRect());
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 3 || b.bottom <= a.top + 3;
    const frame = drawn.getBoundingClientRect();
    const touching = shown.flatMap((a, at) => shown.slice(at + 1).filter((b) => !apart(a, b))).length;
    const beyond = shown.filter((one) => one.left < frame.left - 1 || one.right > frame.right + 1).length;
    drawn.remove();
    return [shown.length, touching, beyond];
}"""  # noqa: E501 - a script reads better in its own lines


@pytest.mark.parametrize("width", [260, 330, 800])
def test_names_in_the_graph_do_not_lie_over_each_other(visitor: Visitor, width: int) -> None:
    page = visitor.go("#/room")
    page.locator(".avatar-card").first.wait_for()
    page.evaluate(
        "async () => (await import('/page/lib/dom.js')).adopt('draw/draw.css')"
    )  # letters have the size that they have in the library
    shown, touching, beyond = page.evaluate(MANY, [width, 340])
    assert (touching, beyond) == (0, 0)
    assert shown >= 6


def test_a_phone_draws_fewer_names_and_the_list_has_them_all(
    visit: Visit, furnished: Furnished
) -> None:
    visitor = visit(furnished.house.url, viewport={"width": 320, "height": 640})
    page = visitor.go(f"#/council/{furnished.published.id}")
    page.get_by_role("heading", name=TOPIC, level=1).wait_for()
    page = visitor.go("#/library/graph?entity=Orrin%20Valley")
    nodes = page.locator("svg.graph .node")
    nodes.first.wait_for()
    visitor.settle()
    width = page.locator(".drawing").evaluate("node => node.clientWidth")
    assert nodes.count() <= width // 30
    page.set_viewport_size({"width": 1280, "height": 800})
    wide = page.locator("svg.graph[width]")
    visitor.until(lambda: float(wide.get_attribute("width") or 0) > 600)
    assert nodes.count() == min(24, page.locator("tbody tr").count())


# Screens that were seen before


def test_a_screen_looks_the_same_whatever_was_seen_before(
    visit: Visit, furnished: Furnished
) -> None:
    round_ = f"#/council/{furnished.published.id}"
    place = (
        "node => { const { x, y, width } = node.getBoundingClientRect(); return [x, y, width]; }"
    )
    fresh = visit(furnished.house.url)
    page = fresh.go(round_)
    page.locator(".chapter").wait_for()
    fresh.settle()
    wanted = page.locator(".seat-card").first.evaluate(place)
    seat = page.locator(".seat-card .seat").first.evaluate(place)
    page = fresh.go("#/room")
    page.locator(".avatar-card").first.wait_for()
    page.evaluate(f"location.hash = '{round_}'")
    page.locator(".chapter").wait_for()
    becomes(page, lambda: page.locator(".seat-card").first.evaluate(place), wanted)
    assert page.locator(".seat-card .seat").first.evaluate(place) == seat
    page.evaluate(f"location.hash = '#/room/{COMPANION_SESSION}'")
    page.locator(".message.avatar").first.wait_for()
    expect(page.locator("salon-talk")).to_have_css("display", "grid")
