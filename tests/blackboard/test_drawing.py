"""The table and the picture of a plan say what the steps declare."""

import xml.etree.ElementTree as ET

from salon.blackboard.checking import make_plan
from salon.blackboard.describing import rows_of
from salon.blackboard.drawing import draw_svg
from salon.blackboard.slots import Past, Slot
from salon.blackboard.triggers import Every, Holds
from tests.blackboard.toys import COUNTING, LOUD, MESSAGE, SHOUTING, WORDS, says, step

SVG = "{http://www.w3.org/2000/svg}"
RARE = Slot("rare", int)
PLAN = make_plan(
    (
        COUNTING,
        SHOUTING,
        step(
            "asking",
            RARE,
            says(1),
            reads=(LOUD, Past(RARE)),
            when=Holds(WORDS, "there are < 3 words & the words are few", lambda words: words < 3),
        ),
    ),
    given=(MESSAGE,),
)


def test_a_row_tells_reads_tests_and_what_is_looked_back_at() -> None:
    rows = {row.name: row for row in rows_of(PLAN, medians={"counting": 0.5})}
    assert rows["asking"].reads == ("loud", "words")
    assert rows["asking"].looks_back_at == ("rare",)
    assert rows["asking"].writes == "rare"
    assert rows["asking"].when == "when there are < 3 words & the words are few"
    assert rows["counting"].median_s == 0.5
    assert rows["shouting"].median_s is None
    assert rows["counting"].package == "salon"


def test_the_picture_has_boxes_in_layers_and_only_arrows_that_say_something_new() -> None:
    root = ET.fromstring(draw_svg(PLAN))
    boxes = root.findall(f"./{SVG}g/{SVG}g")
    assert len(boxes) == 3
    lefts = {
        str(box.findtext(f"{SVG}text[@class='n']")): int(
            box.attrib["transform"].removeprefix("translate(").split()[0]
        )
        for box in boxes
    }
    assert lefts["counting"] < lefts["shouting"] < lefts["asking"]
    # Asking tests the words too, but it comes after shouting, which comes after counting.
    slots = [path.findtext(f"{SVG}title") for path in root.findall(f".//{SVG}path[@marker-end]")]
    assert slots == ["words", "loud"]


def test_a_plan_without_steps_is_an_empty_picture() -> None:
    root = ET.fromstring(draw_svg(make_plan((), given=())))
    assert root.findall(f".//{SVG}rect") == []


def test_every_seventh_turn_fits_into_a_box() -> None:
    plan = make_plan((step("rare", RARE, says(1), when=Every(7)),), given=())
    assert "every 7 turns" in draw_svg(plan)
