"""Finding phrases fast: each is tried only at the words that it can begin with.

A table of a hundred phrases would be tried at every place of a text by one large regular
expression. Here the first words of every phrase are worked out once, and a text is walked word by
word. A phrase whose first word is open (`\\w+ days ago`) is searched the slow way.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+")
_MOST_HEADS = 4_000
_OPEN = "\0"
"""Marks a first word that can be anything."""


class Words:
    """A text in lower case, with the places of its words."""

    __slots__ = ("low", "places")

    def __init__(self, low: str) -> None:
        self.low = low
        self.places = [(one.group(), one.start()) for one in _WORD.finditer(low)]


class Phrases:
    """Some phrases, with what must follow them; searched like a regular expression."""

    __slots__ = ("_by_word", "_open")

    def __init__(self, groups: Sequence[tuple[str, Sequence[str]]], *, behind: str) -> None:
        """Take groups of regular expressions; a group's name is the `lastgroup` of a match."""
        by_word: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name, phrases in groups:
            for phrase in phrases:
                for word in first_words(phrase):
                    by_word[word][name].append(phrase)
        compiled = {word: _compile(found, groups, behind) for word, found in by_word.items()}
        self._open = compiled.pop(_OPEN, None)
        self._by_word = compiled

    def finditer(
        self, words: Words, start: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Walk the matches between two places, none overlapping the one before."""
        low, find = words.low, self._by_word.get
        last = len(low) if end is None else end
        reached = start
        for word, at in words.places:
            if at < reached:
                continue
            if at >= last:
                return
            pattern = find(word)
            if pattern is None and self._open is None:
                continue
            found = pattern.match(low, at, last) if pattern is not None else None
            if found is None and self._open is not None:
                found = self._open.match(low, at, last)
            if found is not None:
                yield found
                reached = max(found.end(), at + 1)

    def search(self, words: Words, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first match between two places."""
        return next(self.finditer(words, start, end), None)


def _compile(
    found: dict[str, list[str]], groups: Sequence[tuple[str, Sequence[str]]], behind: str
) -> re.Pattern[str]:
    parts = [f"(?P<{name}>{'|'.join(found[name])})" for name, _ in groups if name in found]
    return re.compile(f"(?:{'|'.join(parts)}){behind}")


def first_words(expression: str) -> frozenset[str]:
    """Return the words that a phrase can begin with; `\\0` among them if any can."""
    found: set[str] = set()
    branches, _ = _branches(expression, 0)
    for branch in branches:
        _walk(branch, [""], found)
    if len(found) > _MOST_HEADS or any(_OPEN in word or not word for word in found):
        return frozenset({_OPEN})
    return frozenset(found)


_Item = str | list["_Branch"] | None
"""A character, alternatives, or `None` for what can be anything."""
_Branch = list[tuple[_Item, bool]]
"""Items with whether each may be left out."""


def _branches(text: str, at: int) -> tuple[list[_Branch], int]:
    """Read alternatives up to the bracket that closes them."""
    branches: list[_Branch] = [[]]
    while at < len(text) and text[at] != ")":
        if text[at] == "|":
            branches.append([])
            at += 1
            continue
        item, at = _item(text, at)
        is_optional, at = _repetition(text, at)
        if item != "":
            branches[-1].append((item, is_optional))
    return branches, at


def _item(text: str, at: int) -> tuple[_Item, int]:
    one = text[at]
    if one == "(":
        if text.startswith(("(?!", "(?=", "(?<"), at):
            _, end = _branches(text, at + 3)
            return "", end + 1
        inner, end = _branches(text, at + (3 if text.startswith("(?:", at) else 1))
        return inner, end + 1
    if one == "[":
        end = text.index("]", at + 1)
        inside = text[at + 1 : end]
        if inside.isalpha():
            return [[(letter, False)] for letter in inside], end + 1
        return None, end + 1
    if one == "\\":
        return (" " if text[at + 1] == "s" else None if text[at + 1] in "wdWDS" else ""
                if text[at + 1] in "bB" else text[at + 1]), at + 2  # fmt: skip
    return (None if one == "." else one), at + 1


def _repetition(text: str, at: int) -> tuple[bool, int]:
    if at < len(text) and text[at] in "?*+":
        is_optional = text[at] != "+"
        at += 1
    elif at < len(text) and text[at] == "{":
        is_optional = text[at + 1] == "0"
        at = text.index("}", at) + 1
    else:
        return False, at
    return is_optional, at + 1 if text[at : at + 1] == "?" else at


def _walk(branch: _Branch, prefixes: list[str], found: set[str]) -> list[str]:
    """Add the first words of a branch; return the beginnings that are not at their end."""
    for item, is_optional in branch:
        skipped = list(prefixes) if is_optional else []
        if item is None:
            found.update(one + _OPEN for one in prefixes)
            prefixes = []
        elif isinstance(item, str):
            if item.isalnum() or item == "_":
                prefixes = [one + item for one in prefixes]
            else:
                found.update(one or _OPEN for one in prefixes)
                prefixes = []
        else:
            prefixes = [end for one in item for end in _within(one, prefixes, found)]
        prefixes = list(dict.fromkeys([*prefixes, *skipped]))
        if not prefixes:
            return []
    found.update(one for one in prefixes if one)
    return prefixes


def _within(branch: _Branch, prefixes: list[str], found: set[str]) -> list[str]:
    """Walk a branch inside a phrase: what reaches its end goes on behind it."""
    inner: set[str] = set()
    ends = _walk(branch, prefixes, inner)
    found.update(inner - set(ends))
    return ends if branch else prefixes
