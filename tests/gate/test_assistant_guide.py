"""The guide to the assistant says what is so."""

import re
import tomllib
from pathlib import Path

from salon.gate.builtin_actions import CALENDAR, EMAIL
from salon.gate.flow_table import Step
from salon.gate.orders import BACKOFF, OrderState
from salon.settings import load_settings

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "assistant.md").read_text("utf-8")


def test_every_step_and_every_state_is_in_the_guide() -> None:
    steps = {one.value for one in Step} - {Step.NEXT, Step.ASKING}
    fields = {field.name for action in (CALENDAR, EMAIL) for field in action.fields}
    asked = {f"awaiting_{name}" for name in fields if name.startswith("employee_")}
    for name in {*steps, *asked, "awaiting_variables", *OrderState} - {"withdrawn"}:
        assert f"`{name}`" in GUIDE, name


def test_the_pauses_are_those_of_the_guide() -> None:
    assert [int(one.total_seconds()) for one in BACKOFF] == [5, 30, 120, 600, 3600]
    assert "5 s, 30 s, 2 min, 10 min and 1 h" in GUIDE


def test_the_settings_of_the_guide_are_settings(tmp_path: Path) -> None:
    block = re.search(r"```toml\n(\[actions\].*?)```", GUIDE, re.DOTALL)
    assert block is not None
    settings = load_settings(home=tmp_path, environment={}, flags=tomllib.loads(block[1]))
    assert settings.actions.time_zone == "Europe/Berlin"
    named = re.findall(r"SALON_ACTIONS__\w+", GUIDE)
    assert len(named) == 2
    secret = load_settings(home=tmp_path, environment=dict.fromkeys(named, "hush-hush"))
    assert secret.actions.mail_password is not None
    assert "hush-hush" not in repr(secret)
