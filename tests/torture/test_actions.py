"""`kill -9` where an action takes effect; `python -m tests.torture.actions` takes every step."""

import os
from pathlib import Path

import pytest

from tests.torture.actions import decisive_steps, torture


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it needs fork")
def test_a_killed_action_is_neither_lost_nor_done_twice(tmp_path: Path) -> None:
    report = torture(folder=tmp_path, choose=decisive_steps)
    assert report.faults == []
    assert report.kills == {"calendar": 3, "email": 3}
    assert report.unknown == 3, "a mail whose dot may have been sent is never sent again by itself"
