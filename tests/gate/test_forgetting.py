"""A forgotten session takes its flows and finished orders along; what is under way stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.errors import NotFound
from salon.gate.ends import NotNow
from salon.settings import load_settings

CASE = ("My employee Sam was late three times.", "We talked about it on Monday.")
TO_A_DRAFT = ("yes", "the second one", "Sam Hill", "skip")
ASSISTANT = "manager-assistant"


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    home: Path = tmp_path_factory.mktemp("home")
    flags = {"actor": "meg", "actions": {"time_zone": "America/New_York"}}
    with Salon(load_settings(home=home, environment={}, flags=flags)) as opened:
        opened.ensure_assistant()
        yield opened


def say(salon: Salon, session: str, *messages: str) -> None:
    for one in messages:
        salon.take_turn(session, one, user="meg", avatar=ASSISTANT)


def cards_with(salon: Salon, text: bytes) -> int:
    return sum(text in salon.archive.get(one.hash).content for one in salon.archive.cards())


def test_nothing_of_a_draft_stays_and_the_session_begins_anew(salon: Salon) -> None:
    say(salon, "drafted", *CASE, *TO_A_DRAFT)
    assert cards_with(salon, b"Sam Hill") > 0
    salon.forget_session("drafted")
    assert cards_with(salon, b"Sam Hill") == 0
    assert salon.flow_of("drafted") is None
    say(salon, "drafted", CASE[0])
    assert salon.session_turns("drafted")[0].reply["asked"]


def test_nothing_of_an_action_that_was_done_stays(salon: Salon) -> None:
    say(salon, "done", *CASE, *TO_A_DRAFT, "yes")
    flow = salon.flow_of("done")
    assert flow is not None
    assert flow.order is not None
    salon.forget_session("done")
    assert cards_with(salon, b"Sam Hill") == 0
    with pytest.raises(NotFound):
        salon.find_order(flow.order)
    assert salon.outbox_orders(session="done") == []
    salon.verify_audit()


def test_an_approved_action_that_is_not_over_stays_until_it_is(
    salon: Salon, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(salon, "waiting", *CASE, *TO_A_DRAFT)
    with monkeypatch.context() as busy:
        calendar = salon.acting.means.calendar
        busy.setattr(type(calendar), "add", lambda *_: NotNow(reason="the calendar is away"))
        say(salon, "waiting", "yes")
    (order,) = salon.outbox_orders(session="waiting")
    salon.forget_session("waiting")
    assert salon.find_order(order.key).key == order.key
    assert salon.flow_of("waiting") is None
