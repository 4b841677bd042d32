"""Sentences of a message, as spans: what a person typed, however they put their full stops."""

import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.](?=\S)[^.!?\n]*)*[.!?]*", re.UNICODE)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Walk the sentences of a text: where each starts and ends, without the space around it."""
    for found in _SENTENCE.finditer(text):
        said = found[0]
        start = found.start() + len(said) - len(said.lstrip())
        end = found.start() + len(said.rstrip())
        if any(character.isalnum() for character in text[start:end]):
            yield start, end
