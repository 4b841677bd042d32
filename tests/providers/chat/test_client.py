"""The model of whoever calls: there for the length of a call, and only then."""

import pytest

from salon.core.chat import ChatRequest, ask
from salon.core.errors import LimitReached, ProviderFailed
from salon.providers.chat import ChatLimits, ChatOptions, open_chat
from salon.providers.chat.backend import Written
from salon.providers.chat.client import LONGEST, NotWrittenYet, lent_by

REQUEST = ask("You are brief.", (), "Who digs?")


def _says(text: str) -> Written:
    return Written(text=text, model="of-the-client", tokens=None)


def test_it_writes_while_somebody_lends_it() -> None:
    model = open_chat("client:sampling")
    with lent_by(lambda request: _says(request.messages[-1].content.upper())):
        answer = model.complete(REQUEST)
        assert (answer.text, answer.model) == ("WHO DIGS?", "of-the-client")
        assert list(model.stream(REQUEST)) == ["WHO DIGS?"]
    with pytest.raises(ProviderFailed, match="no client here lends one"):
        model.complete(REQUEST)


def test_nobody_lends_inside_of_another_call_that_lends_nothing() -> None:
    model = open_chat("client:sampling")
    with lent_by(lambda _: _says("yes")):
        with lent_by(None), pytest.raises(ProviderFailed):
            model.complete(REQUEST)
        assert model.complete(REQUEST).text == "yes"


@pytest.mark.parametrize("text", ["", " \n", "x" * (LONGEST + 1)], ids=["none", "blank", "long"])
def test_nothing_and_too_much_are_failures(text: str) -> None:
    with lent_by(lambda _: _says(text)), pytest.raises(ProviderFailed, match="wrote"):
        open_chat("client:sampling").complete(REQUEST)


def test_a_client_that_has_to_be_asked_first_hands_the_request_on() -> None:
    def not_yet(request: ChatRequest) -> Written:
        raise NotWrittenYet(request)

    with lent_by(not_yet), pytest.raises(NotWrittenYet) as caught:
        open_chat("client:sampling").complete(REQUEST)
    assert caught.value.request.messages == REQUEST.messages


def test_limits_hold_for_it_too() -> None:
    options = ChatOptions(limits=ChatLimits(requests=1))
    model = open_chat("client:sampling", options)
    with lent_by(lambda _: _says("yes")):
        model.complete(REQUEST)
        with pytest.raises(LimitReached):
            model.complete(REQUEST)
