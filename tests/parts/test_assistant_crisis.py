"""A cry for help to an assistant: help at once, whatever waits for an answer."""

from collections.abc import Iterator

import pytest

from salon.app import Salon
from salon.conversation.turns import as_session_id, walk_turns
from salon.core.outcomes import Outcome
from salon.guard.crisis import crisis_reply, find_crisis
from salon.settings import load_settings

CRY = "I want to end my life"


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    flags = {"actor": "meg", "companion": {"region": "US"}, "actions": {"time_zone": "UTC"}}
    home = tmp_path_factory.mktemp("assistant")
    with Salon(load_settings(home=home, environment={}, flags=flags)) as opened:
        opened.ensure_assistant()
        yield opened


def _help(message: str) -> str:
    found = find_crisis(message)
    assert found is not None
    return crisis_reply(found, "US")


def test_it_gives_help_and_offers_nothing(salon: Salon) -> None:
    taken = salon.take_turn("cry", CRY, user="meg", avatar="manager-assistant")
    assert taken.reply == _help(CRY)
    assert taken.assisted is not None
    assert taken.assisted.reply.is_crisis
    assert taken.assisted.reply.outcome is Outcome.ANSWERED
    assert (taken.assisted.verdict, taken.assisted.flow, taken.assisted.order) == (None,) * 3
    assert any(one.model_dump().get("is_crisis") for one in taken.events)
    (turn,) = walk_turns(salon.archive, as_session_id("cry"))
    assert turn.reply["is_crisis"] is True


def test_what_waits_goes_on_waiting_and_the_cry_is_not_brought_up_again(salon: Salon) -> None:
    case = ("My employee Sam was late three times.", "We talked about it on Monday.")
    offered = [salon.assist("flow", one, user="meg") for one in case][-1]
    assert offered.flow is not None
    helped = salon.assist("flow", CRY, user="meg")
    assert helped.text == _help(CRY)
    form = salon.flow_request("flow")
    assert form is not None
    assert form.flow == offered.flow.id
    after = salon.assist("flow", "no", user="meg")
    assert not after.reply.is_crisis
    later = salon.assist("flow", "My employee Kim was late three times.", user="meg")
    assert not later.reply.is_crisis
