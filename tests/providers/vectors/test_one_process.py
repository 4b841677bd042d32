"""Folders that one process uses at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from salon.core.errors import StorageBusy
from salon.providers.vectors.one_process import OneProcess

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
from pathlib import Path
from salon.providers.vectors.one_process import OneProcess
from salon.core.errors import StorageBusy
folders = OneProcess(open_engine=str, close=print)
try:
    folders.take(Path(sys.argv[1]))
except StorageBusy as error:
    print("busy", error, flush=True)
else:
    print("mine", flush=True)
    sys.stdin.readline()
"""


def other_process(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_the_second_process_is_told_and_the_next_one_gets_it(tmp_path: Path) -> None:
    folders = OneProcess(open_engine=str, close=lambda _: None)
    folders.take(tmp_path)
    said, _ = other_process(tmp_path).communicate()
    assert said.startswith("busy another process is using")
    folders.give_back(tmp_path)
    said, _ = other_process(tmp_path).communicate("\n")
    assert said == "mine\n"


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    folders = OneProcess(open_engine=str, close=lambda _: None)
    with other_process(tmp_path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(StorageBusy):
            folders.take(tmp_path)
        holder.kill()
    assert folders.take(tmp_path) == str(tmp_path)
    folders.give_back(tmp_path)


def test_one_engine_serves_the_whole_process_until_the_last_gives_it_back(tmp_path: Path) -> None:
    closed: list[object] = []
    folders = OneProcess(open_engine=lambda _: object(), close=closed.append)
    engine = folders.take(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert folders.take(tmp_path / "link") is engine
    folders.give_back(tmp_path / "a")
    assert closed == []
    folders.give_back(tmp_path / "link")
    assert closed == [engine]
    assert folders.take(tmp_path / "a") is not engine
    folders.give_back(tmp_path / "a")


def test_an_engine_that_does_not_open_leaves_the_folder_free(tmp_path: Path) -> None:
    def refuse(folder: Path) -> str:
        raise ValueError(folder)

    with pytest.raises(ValueError, match=tmp_path.name):
        OneProcess(open_engine=refuse, close=print).take(tmp_path)
    said, _ = other_process(tmp_path).communicate("\n")
    assert said == "mine\n"
