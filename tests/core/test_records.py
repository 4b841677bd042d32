"""Values as cards: what was written is read back, and anything else is named."""

import pytest

from salon.core.errors import InvalidDocument
from salon.core.records import RecordKind

PAIR = RecordKind(
    kind="salon.pair", version=1, called="a pair", check=lambda one: (one["left"], one["right"])
)


def test_what_was_written_is_read_back() -> None:
    content = PAIR.write({"right": 2, "left": 1})
    assert content == b'{"kind":"salon.pair","left":1,"right":2,"version":1}'
    assert PAIR.read(content) == (1, 2)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"3", b"{}", b'{"kind":"salon.pair","version":1}', b"[" * 100_000, b"\xff"],
    ids=["empty", "list", "number", "nothing", "fields missing", "too deep", "no text"],
)
def test_what_is_no_such_card_is_one_error(content: bytes) -> None:
    with pytest.raises(InvalidDocument, match="not a pair"):
        PAIR.read(content)


def test_a_card_of_another_kind_is_named() -> None:
    other = b'{"kind":"salon.turn","left":1,"right":2,"version":3}'
    with pytest.raises(InvalidDocument, match=r"but salon\.turn 3"):
        PAIR.read(other)
