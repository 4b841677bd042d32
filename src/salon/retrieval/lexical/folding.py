"""What an index and a query have in common before an engine sees either: folded text.

An engine splits text at whatever is neither letter nor digit, lowers its case and takes English
endings off. Folding does beforehand what engines do differently or not at all. It is not for
showing to people and not reversible.

Invariants: ASCII text stays as it is; folding folded text changes no word of it; the result always
has a UTF-8 form; spellings of one word (composed or not, with accents or vowel points or without,
full or half width) become one; signs of scripts that put no spaces between words stand alone.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

FOLDING_VERSION = 1
"""Counts up whenever the same text folds to something else: indexes must then be built again."""

# Other than these, nothing outside ASCII needs folding once it is in normal form: dashes, quotation
# marks and other signs between words, and the plain Greek letters of formulas.
_NEEDS_FOLDING = re.compile(
    "[\xad\xc0-\xd6\xd8-\xf6\xf8-\u0390\u03aa-\u03b0\u03c2\u03ca-\u1fff"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u2c00-\U0010ffff]"
)

# fmt: off
_SPECIAL = {
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H", "\u0131": "i", "ł": "l", "Ł": "L",
    "þ": "th", "Þ": "TH",
    "\u03c2": "\u03c3",  # sigma at the end of a word
    "\u0649": "\u064a", "\u06cc": "\u064a",  # three ways to write yeh
    "\u06a9": "\u0643", "\u0629": "\u0647",  # keheh as kaf, teh marbuta as heh
    "\u0640": "",  # tatweel, which only stretches a line
    "\u200b": " ",  # a place to break between words, unlike its width-less siblings
}
"""Letters that Unicode does not take apart though people spell them otherwise."""

_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF), (0x20000, 0x3FFFF),  # Chinese characters
    (0x3041, 0x30FF), (0x31F0, 0x31FF), (0x1AFF0, 0x1B16F),  # Japanese kana
    (0x3105, 0x312F), (0x31A0, 0x31BF),  # Bopomofo
    (0xAC00, 0xD7A3),  # Korean, which has spaces but hangs its particles on the words
)
_SILENT = (
    (0x034F, 0x034F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0x180B, 0x180F),  # joiner, selectors
    (0x0AFD, 0x0AFF), (0x0B55, 0x0B55), (0x0F3E, 0x0F3F),  # Indic and Tibetan signs
    (0x0E47, 0x0E47), (0x0E4C, 0x0E4E), (0x0ECC, 0x0ECC),  # Thai, Lao
    (0x17B4, 0x17B5), (0x17C9, 0x17D3),  # Khmer
    (0x1CE1, 0x1CE1), (0x1CF7, 0x1CF7), (0xABEC, 0xABEC),  # Vedic, Meetei Mayek
)
"""Marks without a combining class that engines take for the end of a word."""
_SILENT_TONES = frozenset({107, 122})
"""The combining classes of Thai and Lao tones."""
# fmt: on


class CharacterTable(dict[int, str]):
    """A table for `str.translate` that works out what a character becomes when it meets it."""

    def __init__(self, replacement: Callable[[str], str]) -> None:
        super().__init__()
        self._replacement = replacement

    def __missing__(self, code: int) -> str:
        self[code] = found = self._replacement(chr(code))
        return found


def fold(text: str) -> str:
    """Return `text` in the form in which it is indexed and searched."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return text.translate(_FOLDED) if _NEEDS_FOLDING.search(text) else text


def fold_lowered(text: str) -> str:
    """Return `text` folded and in lower case, for where no engine lowers it, or by old tables."""
    # Before, because a sigma is only known to end a word once it is small; after, because "TM"
    # comes out of a trade mark sign.
    return fold(text.lower()).lower()


def only_words(text: str) -> str:
    """Return `text` with spaces for everything that is no part of a word."""
    return text.translate(_WORDS)


def is_sign(piece: str) -> bool:
    """Tell whether this is one sign of a script that puts no spaces between words."""
    return len(piece) == 1 and _is_spaceless(piece)


def is_part_of_word(character: str) -> bool:
    """Tell whether a character can be a part of a word.

    One that this Python does not know yet can be: engines have tables of their own.
    """
    category = unicodedata.category(character)
    return category[0] in "LNM" or category in ("Co", "Cn")


def _folded(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    category = unicodedata.category(character)
    if category == "Cs":
        return " "  # half a character: no engine takes it
    if category == "Cf" or (category[0] == "M" and _is_silent(character)):
        return ""
    if category[0] in "LM" and _is_spaceless(character):
        return f" {character} "
    if category[0] == "L":
        return _without_accents(character)
    return character


def _without_accents(letter: str) -> str:
    parts = unicodedata.normalize("NFKD", letter)
    bare = (_SPECIAL.get(part, part) for part in parts if not unicodedata.combining(part))
    return "".join(bare) or letter


def _is_silent(mark: str) -> bool:
    """Tell whether a word is found without this mark: accents, points, viramas, tones.

    Vowel signs are not silent: they have no combining class, or one between 84 and 132.
    """
    combining = unicodedata.combining(mark)
    return (
        0 < combining < 84
        or combining >= 200
        or combining in _SILENT_TONES
        or unicodedata.category(mark) == "Me"
        or _is_within(mark, _SILENT)
    )


@cache
def _is_spaceless(character: str) -> bool:
    return _is_within(character, _SPACELESS)


def _is_within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in ranges)


_FOLDED = CharacterTable(_folded)
_WORDS = CharacterTable(lambda character: character if is_part_of_word(character) else " ")
