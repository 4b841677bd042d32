"""From the settings to a chat model, and what is shown of them."""

import json
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.chat import ask
from salon.core.errors import InvalidSettings, LimitReached
from salon.providers.chat.metered import MeteredChat
from salon.settings import Settings, load_settings
from tests.providers.chat.conftest import KEY, Talk
from tests.providers.chat.wire import TEXT

QUESTION = ask("You are brief.", (), "Who governs?")


def settings(home: Path, **chat: object) -> Settings:
    return load_settings(home=home, environment={}, flags={"chat": chat})


def test_without_a_model_there_is_none(tmp_path: Path) -> None:
    with Salon(settings(tmp_path)) as salon:
        assert salon.chat is None


def test_a_scripted_model_comes_from_the_settings_and_is_closed(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text(json.dumps(["Yes.", "No."]), "utf-8")
    with Salon(settings(tmp_path, model=f"scripted:{script}", session_requests=1)) as salon:
        assert salon.chat is salon.chat
        assert salon.chat is not None
        assert salon.chat.complete(QUESTION).text == "Yes."
        with pytest.raises(LimitReached):
            salon.chat.complete(QUESTION)
    assert "chat" not in vars(salon)


def test_every_setting_reaches_the_model(tmp_path: Path, compatible: Talk) -> None:
    chosen = settings(
        tmp_path,
        model="compatible:some-model",
        url=f"{compatible.server.url}/v1",
        key=KEY,
        timeout_s=5,
        retries=1,
        max_tokens=33,
        session_tokens=1000,
        session_usd=1.0,
        usd_per_million_input=1.0,
        usd_per_million_output=2.0,
    )
    with Salon(chosen) as salon:
        assert isinstance(salon.chat, MeteredChat)
        answer = salon.chat.complete(QUESTION)
        options = salon.chat._options
    assert answer.text == TEXT
    assert answer.usage.cost_usd == pytest.approx(45e-6)
    assert compatible.body["max_tokens"] == 33
    assert (options.timeout_s, options.retries) == (5, 1)
    assert (options.limits.tokens, options.limits.usd) == (1000, 1.0)


@pytest.mark.parametrize(
    "chat",
    [
        {"session_usd": 1.0},
        {"session_usd": 1.0, "usd_per_million_input": 1.0},
        {"usd_per_million_output": 1.0},
    ],
)
def test_money_without_prices_is_refused_at_the_start(
    tmp_path: Path, chat: dict[str, object]
) -> None:
    script = tmp_path / "answers.json"
    script.write_text("[]", "utf-8")
    failing = pytest.raises(InvalidSettings, match=r"cost|price")
    with Salon(settings(tmp_path, model=f"scripted:{script}", **chat)) as salon, failing:
        salon.chat  # noqa: B018 - reading it opens the model


@pytest.mark.parametrize(
    "chat",
    [{"timeout_s": 0}, {"retries": -1}, {"session_usd": "nan"}, {"max_tokens": 0}, {"modle": "x"}],
)
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, chat: dict[str, object]) -> None:
    with pytest.raises(InvalidSettings, match="chat"):
        settings(tmp_path, **chat)


def test_key_and_password_are_masked(tmp_path: Path) -> None:
    url = f"https://me:{KEY}@proxy.test/v1"
    chosen = settings(tmp_path, model="compatible:x", url=url, key=KEY)
    for shown in (repr(chosen), chosen.model_dump_json(), str(chosen.model_dump())):
        assert KEY not in shown
    assert chosen.model_dump(mode="json")["chat"]["url"] == "https://***@proxy.test/v1"
    with Salon(chosen) as salon, pytest.raises(InvalidSettings) as caught:
        salon.chat  # noqa: B018
    assert KEY not in repr(caught.value.as_json())
