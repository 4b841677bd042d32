"""Text on a terminal: titles, texts and file names come from anywhere and are not trusted."""

import re

# What moves the cursor, changes the terminal or turns the direction of writing; tab and newline
# may stay.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return text that does nothing to a terminal but appear."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
