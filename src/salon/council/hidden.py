"""Characters that nobody can see, and that could carry words to a model behind a reader's back."""

import re
import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Controls, formats (tags, direction, soft hyphen), private use, halves, odd line ends."""
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""Letters and marks that show nothing, variation selectors among them."""
_SHOWN = frozenset("\n\t\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd")
"""Line ends and tabs, and formats that do show: signs which go under or around numbers."""
_JOINERS = frozenset("\u200c\u200d")
_PRESENTATIONS = frozenset("\ufe0e\ufe0f")


def has_hidden(text: str) -> bool:
    """Tell whether a text holds a character that nobody can see."""
    return any(is_hidden_at(text, at) for at in _suspects(text))


def visible(text: str) -> str:
    """Return a text without the characters that nobody can see."""
    gone = {at for at in _suspects(text) if is_hidden_at(text, at)}
    return "".join(one for at, one in enumerate(text) if at not in gone) if gone else text


def is_hidden_at(text: str, at: int) -> bool:
    """Tell whether the character there cannot be seen.

    Joiners between letters are spelling in Persian and in the scripts of India; one selector after
    a symbol says how it is drawn.
    """
    character = text[at]
    before = _category(text, at - 1)
    if character in _JOINERS:
        return not (before[0] in "LM" and _category(text, at + 1)[0] == "L")
    if character in _PRESENTATIONS:
        return before[0] != "S"
    if character in _SHOWN:
        return False
    return unicodedata.category(character) in _UNSEEN or bool(_BLANK.match(character))


def _suspects(text: str) -> list[int]:
    if text.isprintable() and not _BLANK.search(text):
        return []
    return [at for at, one in enumerate(text) if not one.isprintable() or _BLANK.match(one)]


def _category(text: str, at: int) -> str:
    return unicodedata.category(text[at]) if 0 <= at < len(text) else "--"
