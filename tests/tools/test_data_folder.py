"""Tools that learn from public data sets say where these belong."""

import argparse
from pathlib import Path

import pytest

from tools.data_folder import add_data_option


def test_a_missing_folder_is_named_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    add_data_option(parser)
    with pytest.raises(SystemExit):
        parser.parse_args([])
    said = capsys.readouterr().err
    assert "there is no folder data; docs/reference/datasets.md says" in said


def test_the_folder_of_the_option_is_taken(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_data_option(parser)
    assert parser.parse_args(["--data", str(tmp_path)]).data == tmp_path


def test_a_tool_that_may_do_without_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    add_data_option(parser, is_always_needed=False)
    assert parser.parse_args([]).data == Path("data")
