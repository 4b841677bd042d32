"""What a person typed, read as words, phrases and beginnings of words; the same for every engine.

Two things in a query have a meaning: double quotes around words that must occur together, and a
`*` after the beginning of a word. Everything else is text: no operators, no fields, no brackets.
It does not know how an engine stems or asks; it hands over folded words in lower case.

Invariants: every string can be read, and the result is bounded whatever its length; words that
hold sentences together count only when there is nothing else to look for.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from salon.retrieval.lexical.folding import (
    CharacterTable,
    fold_lowered,
    is_part_of_word,
    is_sign,
    only_words,
)

MAX_QUERY_WORDS = 64
"""How many different words of a query count; a whole page pasted as a query stays cheap.

The first ones count: people put the point first, and no engine has to be asked which are rare.
"""
MAX_QUERY_CHARACTERS = 20_000
MAX_PHRASES = 8
MAX_PREFIXES = 8
SHORTEST_PREFIX = 2

_QUOTE = re.compile('["\u201c\u201d\u201e\u201f]')
_CONTRACTED = re.compile(r"'(?:s|d|m|ll|re|ve)\Z")
_BETWEEN_PARTS = re.compile(r"[-'*]+")
_PIECE = re.compile(r"\S+")

# fmt: off
STOPWORDS = frozenset(
    {
        "a", "about", "above", "after", "again", "against", "all", "also", "although", "am",
        "among", "an", "and", "any", "are", "around", "as", "at", "be", "because", "been",
        "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "could",
        "did", "do", "does", "doing", "done", "down", "during", "each", "either", "else", "ever",
        "every", "few", "for", "from", "further", "had", "has", "have", "having", "he", "hence",
        "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if",
        "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might", "mine", "more",
        "moreover", "most", "much", "must", "my", "myself", "neither", "nor", "not", "of", "off",
        "often", "on", "once", "only", "onto", "or", "other", "our", "ours", "ourselves", "out",
        "over", "own", "perhaps", "quite", "rather", "same", "shall", "she", "should", "since",
        "so", "some", "such", "than", "that", "the", "their", "theirs", "them", "themselves",
        "then", "there", "thereby", "therefore", "these", "they", "this", "those", "though",
        "through", "throughout", "thus", "to", "too", "toward", "towards", "under", "unless",
        "until", "up", "upon", "us", "very", "was", "we", "were", "what", "whatever", "when",
        "where", "whereas", "whether", "which", "while", "who", "whom", "whose", "why", "will",
        "with", "within", "without", "would", "yet", "you", "your", "yours", "yourself",
        "yourselves",
    }
)
"""English words that hold sentences together. They are indexed, so phrases with them are found."""

_ENDINGS = (
    "s", "es", "ed", "er", "ers", "ing", "ings", "ies", "ied", "ier", "ly", "ally", "ness",
    "nesses", "less", "ful", "fully", "ment", "ments", "ion", "ions", "ation", "ations",
    "ational", "ative", "atively", "ization", "izations", "ize", "izes", "ized", "izing", "ise",
    "ises", "ised", "ising", "ity", "ities", "ility", "ilities", "ance", "ances", "ence", "ences",
    "ancy", "ancies", "ency", "encies", "able", "ably", "ible", "ibly", "al", "als", "ical",
    "ically", "ic", "ics", "icate", "icated", "ication", "ications", "ive", "ively", "iveness",
    "ous", "ously", "ousness", "ism", "isms", "ist", "ists", "istic", "ate", "ates", "ated",
    "ating", "ator", "ators", "ying", "e", "y",
)
"""English endings that a stemmer may take off."""
# fmt: on

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to look for, in folded lower case.

    `words` and `pairs` (neighbouring signs of a script without spaces) are each worth finding,
    `prefixes` stand for any word that begins so, `phrases` must occur.
    """

    words: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    prefixes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.pairs or self.phrases or self.prefixes)


def parse_query(text: str) -> Query:
    """Read a query."""
    plain, quoted = _parted(fold_lowered(text[:MAX_QUERY_CHARACTERS]))
    phrases = _first(MAX_PHRASES, (_phrase(part) for part in quoted))
    prefixes: dict[str, None] = {}
    found: dict[str | Pair, None] = {}
    for part in plain:
        for piece in _read(part):
            if isinstance(piece, str) and piece.endswith("*"):
                prefixes[piece[:-1]] = None
            else:
                found[piece] = None
    telling = [piece for piece in found if piece not in STOPWORDS]
    if not (telling or phrases or prefixes):
        telling = list(found)
    counted = telling[:MAX_QUERY_WORDS]
    return Query(
        words=tuple(piece for piece in counted if isinstance(piece, str)),
        pairs=tuple(piece for piece in counted if not isinstance(piece, str)),
        phrases=phrases,
        prefixes=tuple(prefixes)[:MAX_PREFIXES],
    )


def completions(prefix: str) -> list[str]:
    """Return words that begin with `prefix`, which may end inside an English ending.

    An index holds stems. That of "happiness" does not begin with "happine", so an engine must
    also look for the stems of the words that somebody may be about to type.
    """
    if not prefix.isascii():
        return [prefix]
    words = {prefix: None, f"{prefix}ing": None}  # the second for "mapp", whose stem is "map"
    for ending in _ENDINGS:
        for typed in range(1, min(len(ending), len(prefix) - SHORTEST_PREFIX) + 1):
            if prefix.endswith(ending[:typed]):
                words[prefix + ending[typed:]] = None
    return list(words)


def _parted(text: str) -> tuple[list[str], list[str]]:
    """Return what stands outside and inside of quotes; a quote that is never closed is none."""
    parts = _QUOTE.split(text)
    if len(parts) % 2 == 0:
        parts[-2:] = [f"{parts[-2]} {parts[-1]}"]
    return parts[::2], parts[1::2]


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(only_words(text).split())[:MAX_QUERY_WORDS]


def _first(count: int, phrases: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))[:count]


def _read(text: str) -> Iterator[str | Pair]:
    """Walk the words, pairs and prefixes (with their `*`) of unquoted text."""
    lone, last, end = "", "", -2
    for match in _PIECE.finditer(text.translate(_PIECES)):
        piece = match[0]
        if not is_sign(piece):
            yield from _read_piece(piece)
            continue
        # Folding sets each sign between two spaces, so signs that touched are two spaces apart.
        if last and match.start() - end == 2:
            yield last, piece
            lone = ""
        else:
            if lone:
                yield lone
            lone = piece
        last, end = piece, match.end()
    if lone:
        yield lone


def _read_piece(piece: str) -> Iterator[str]:
    """Walk the words of a piece such as `co-operation`, `don't` or `covid-19*`."""
    if piece.isalnum():
        yield piece
        return
    piece = "not" if piece.endswith("n't") else _CONTRACTED.sub("", piece)
    parts = [part for part in _BETWEEN_PARTS.split(piece) if part]
    if not parts:
        return
    if piece.endswith("*") and len(parts[-1]) >= SHORTEST_PREFIX and not is_sign(parts[-1]):
        yield f"{parts.pop()}*"
    yield from parts
    if len(parts) > 1 and "-" in piece:
        yield "".join(parts)  # some write "cooperation"


def _as_piece(character: str) -> str:
    if character in "-\u2010":
        return "-"
    if character in "'\u2019":
        return "'"
    return character if character == "*" or is_part_of_word(character) else " "


_PIECES = CharacterTable(_as_piece)
