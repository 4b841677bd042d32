"""Actions as plugins: the built-in ones, and one that a real distribution brings."""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidInput, NotFound
from salon.gate.actions import Actions, Problem, Situation
from salon.gate.builtin_actions import CALENDAR, EMAIL, check_start
from salon.gate.deciding import decide
from salon.gate.ends import Done, NotDone
from salon.gate.orders import OrderState
from salon.gate.plugins import GROUP, load_actions
from salon.gate.policy import make_policy
from salon.gate.verdicts import Said, Side
from tests.gate.test_fields import READING
from tests.gate.worlds import World

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "assistant.md"


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Build the example of the guide as a distribution, and install it."""
    text = GUIDE.read_text("utf-8")
    code = re.search(r"```python title=\"salon_tasks.py\"\n(.*?)```", text, re.DOTALL)
    entry = re.search(r"```toml title=\"pyproject.toml\"\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert entry is not None
    place = tmp_path / "site"
    info = place / "salon_tasks-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "salon_tasks.py").write_text(code[1])
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: salon-tasks\nVersion: 1.0\n")
    named = re.search(r'task = "(.+)"', entry[1])
    assert named is not None
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ntask = {named[1]}\n")
    monkeypatch.syspath_prepend(str(place))
    yield tmp_path
    sys.modules.pop("salon_tasks", None)


@pytest.mark.requirement("gate/overview/two-actions")
def test_two_actions_are_built_in_and_email_goes_first() -> None:
    assert [one.name for one in load_actions().all] == ["email", "calendar"]
    with pytest.raises(NotFound, match="no action 'fax'"):
        load_actions().get("fax")
    assert [one.name for one in load_actions().only(["calendar"]).all] == ["calendar"]
    assert load_actions().only([]).all == (EMAIL, CALENDAR)


def test_the_example_of_the_guide_is_offered_approved_and_done(tasks: Path) -> None:
    actions = load_actions()
    action = actions.get("task")
    assert action.triggers is not None
    policy = make_policy(more_actions=(action.triggers,))
    history = (
        Said(Side.PERSON, "My employee Sam was late again."),
        Said(Side.ASSISTANT, "What have you done about it so far?"),
        Said(Side.PERSON, "We talked on Monday."),
    )
    verdict = decide(history, "You should create a task to look at it again.", None, policy)
    assert verdict.action == "task"
    with SqliteArchive(tasks / "salon.db") as archive:
        world = World(archive, actions=actions, folder=tasks / "actions")
        desk = world.desk()
        desk.open("s-1", "task", Situation(said=(), reply=""), rule=verdict.rule)
        for answer in ("yes", "Look at Sam's hours", "yes"):
            desk.answer("s-1", answer, turn=3, by="meg")
        [order] = world.runner().run_due()
        assert order.state is OrderState.DONE
        assert order.receipt is not None
        files = list((tasks / "actions" / "tasks").iterdir())
        assert [one.read_text() for one in files] == ["Look at Sam's hours"]
        executor = world.runner().executor("task")
        assert isinstance(executor.look(order), Done)
        assert isinstance(executor.execute(order, lambda: None), Done)
        assert list((tasks / "actions" / "tasks").iterdir()) == files, (
            "a second try changes nothing"
        )
        assert isinstance(executor.look(replace(order, key="0" * 64)), NotDone)


def test_an_entry_that_is_no_action_is_refused() -> None:
    broken = EntryPoint(name="x", value="salon.gate.plugins:GROUP", group=GROUP)
    with pytest.raises(InvalidInput, match="is no action"):
        load_actions([broken])
    assert load_actions(list(entry_points(group="nothing.here"))).all == (EMAIL, CALENDAR)


def test_two_actions_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same name"):
        Actions([EMAIL, EMAIL])


def test_a_field_is_found_by_the_names_people_use() -> None:
    assert CALENDAR.find_field("Phone number") is CALENDAR.fields[2]
    assert EMAIL.find_field("to") is EMAIL.fields[1]
    assert EMAIL.find_field("employee_name") is EMAIL.fields[0]
    assert EMAIL.find_field("colour") is None


def test_a_start_is_an_instant_or_a_time_in_words() -> None:
    assert check_start("2026-11-20T15:00:00.000000Z", READING) == "2026-11-20T15:00:00.000000Z"
    assert check_start("2026-11-20 15:00", READING) == "2026-11-20T20:00:00.000000Z"
    for text in ("soon", "2026-99-20T15:00:00Z", "next monday at 3"):
        assert isinstance(check_start(text, READING), Problem)
