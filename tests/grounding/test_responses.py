"""Reading a response that comes from anywhere."""

import json

import pytest

from salon.core.errors import InvalidInput
from salon.grounding.responses import read_response

CITATION = {"hash": "a" * 64, "start": 0, "end": 4, "quote": "four", "source": "S", "page": None}


def test_a_reply_is_read_whole() -> None:
    content = {
        "response": "He said: four [1]",
        "citations": [CITATION],
        "conversation": [{"role": "Bob", "content": "How many?"}],
        "avatar": "ada-berg",
        "confidence": "high",
    }
    read = read_response(json.dumps(content).encode())
    assert read.response == "He said: four [1]"
    assert read.citations[0].quote == "four"
    assert read.avatar == "ada-berg"
    assert read.discussion.participants == ("Bob",)


def test_plain_text_is_a_response_without_citations() -> None:
    read = read_response("\ufeffJust words.".encode())
    assert (read.response, read.citations, read.avatar) == ("Just words.", (), None)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"{not json",
        b'{"citations": []}',
        b'{"response": 3}',
        b'{"response": "x", "citations": [{"hash": "a"}]}',
        json.dumps({"response": "x", "citations": [CITATION | {"start": "0"}]}).encode(),
        b'{"response": "x", "conversation": [{"role": "a"}]}',
        b"{" * 100_000,
    ],
)
def test_what_cannot_be_read_is_one_clear_error(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_response(content)
