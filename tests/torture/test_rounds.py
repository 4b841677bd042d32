"""`kill -9` around a publication; `python -m tests.torture.rounds` takes every write of a round."""

import os
from pathlib import Path

import pytest

from tests.torture.rounds import decisive_steps, torture


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it needs fork")
def test_a_killed_round_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    report = torture(folder=tmp_path, choose=decisive_steps)
    assert report.faults == []
    assert report.kills == 3
