"""Chores of a server: they come round again, whatever happens to one of them."""

import threading

from fastapi.testclient import TestClient

from salon.api.app import create_app
from salon.api.chores import Chore
from salon.core.errors import ProviderFailed
from tests.api.failing import failing


def test_a_chore_comes_round_again_also_after_it_failed() -> None:
    done: list[int] = []
    thrice = threading.Event()

    def work() -> None:
        done.append(len(done))
        if len(done) >= 3:
            thrice.set()
        if len(done) == 1:
            raise ProviderFailed("the server is away")
        if len(done) == 2:
            raise ZeroDivisionError

    chore = Chore(name="a chore", work=work, seconds=0.001)
    with TestClient(create_app(failing(ProviderFailed("away")), chores=[chore])):
        assert thrice.wait(20)
    ended = len(done)
    assert ended >= 3
    assert len(done) == ended, "it ends with the server"
