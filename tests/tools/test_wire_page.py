"""The reference of the WebSocket is what the code says."""

import pytest

from tools.wire_page import WHEN, main, pages


def test_every_page_is_the_one_of_the_code() -> None:
    """Where one is not: `python -m tools.wire_page` writes it anew."""
    for path, text in pages().items():
        assert path.read_text("utf-8") == text, path.name


def test_the_page_names_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    page = next(text for path, text in pages().items() if path.name == "websocket.md")
    for kind in WHEN:
        assert f"### `{kind}`" in page
    assert main(["--check"]) == 0
    assert "12 pages" in capsys.readouterr().out
