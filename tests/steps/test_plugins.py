"""Steps of other packages: the guide's example, built as a real distribution and run."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.errors import InvalidInput
from salon.steps.plugins import find_outside_steps, get_outside_steps
from tests.parts.talking import talking

GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/blackboard.md"
ENTRY = re.compile(r'\[project\.entry-points\."salon\.steps"\]\n(.*?)\n```', re.DOTALL)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if not name.startswith("salon"):
            del sys.modules[name]


def _install(site: Path, name: str, entries: str) -> None:
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[salon.steps]\n{entries}\n")


def _install_the_example(site: Path) -> None:
    guide = GUIDE.read_text("utf-8")
    code = re.search(r"`politeness\.py`:\n\n```python\n(.*?)```", guide, re.DOTALL)
    entries = ENTRY.search(guide)
    assert code
    assert entries
    (site / "politeness.py").write_text(code[1])
    _install(site, "salon-politeness", entries[1].replace('"', ""))


def test_the_example_of_the_guide_runs_in_a_turn(site: Path, tmp_path: Path) -> None:
    _install_the_example(site)
    with talking(tmp_path / "home", companion={"steps": ["politeness"]}) as salon:
        salon.take_turn("a-talk", "Would you please wait?")
        taken = salon.take_turn("a-talk", "Thank you!")
        assert taken.turn.board is not None
        assert taken.turn.board["politeness"] == {"value": {"courtesies": 1, "so_far": 3}}
        assert [one.outcome for one in salon.replay_session("a-talk")] == ["same", "same"]


def test_an_avatar_can_name_its_own_further_steps(site: Path, tmp_path: Path) -> None:
    _install_the_example(site)
    with talking(tmp_path / "home") as salon:
        first = salon.take_turn("a-talk", "please")
        path = salon.avatar_folder("mina") / "config.json"
        config = json.loads(path.read_text("utf-8"))
        config["salon"]["steps"] = ["politeness"]
        path.write_text(json.dumps(config), "utf-8")
        salon.refresh_avatar("mina")
        second = salon.take_turn("a-talk", "please")
        assert "politeness" not in (first.turn.board or {})
        assert (second.turn.board or {})["politeness"] == {"value": {"courtesies": 1, "so_far": 1}}
        assert all(one.is_same for one in salon.replay_session("a-talk"))


def test_a_step_that_was_uninstalled_shows_in_a_replay(site: Path, tmp_path: Path) -> None:
    _install_the_example(site)
    with talking(tmp_path / "home", companion={"steps": ["politeness"]}) as salon:
        salon.take_turn("a-talk", "please")
    for file in (site / "salon_politeness-1.0.dist-info").iterdir():
        file.unlink()
    with talking(tmp_path / "home") as salon:
        assert [one.outcome for one in salon.replay_session("a-talk")] == [
            "differs in slot politeness"
        ]


def test_steps_are_listed_with_their_package_and_broken_entries_with_the_reason(
    site: Path,
) -> None:
    _install_the_example(site)
    (site / "halves.py").write_text("STEPS = (3,)\n")
    _install(site, "salon-broken", "gone = nowhere:STEP\nhalves = halves:STEPS\nno = halves:NO")
    found, broken = find_outside_steps()
    assert [(one.step.name, one.package) for one in found] == [("politeness", "salon-politeness")]
    assert [(one.entry, one.package) for one in broken] == [
        ("gone", "salon-broken"),
        ("halves", "salon-broken"),
        ("no", "salon-broken"),
    ]
    assert "is no step" in broken[1].reason
    with pytest.raises(InvalidInput, match="brings the step 'rudeness'") as caught:
        get_outside_steps(["rudeness"])
    assert "there are: politeness; broken: gone of salon-broken" in (caught.value.hint or "")


def test_a_step_that_two_packages_bring_is_refused(site: Path) -> None:
    _install_the_example(site)
    _install(site, "salon-manners", "politeness = politeness:STEP")
    with pytest.raises(InvalidInput, match="two packages bring a step 'politeness'"):
        get_outside_steps(["politeness"])


def test_nothing_is_imported_where_no_further_step_is_wanted(site: Path) -> None:
    (site / "loud.py").write_text("raise RuntimeError('imported')\n")
    _install(site, "salon-loud", "loud = loud:STEP")
    assert get_outside_steps(()) == ()
