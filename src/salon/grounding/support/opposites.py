"""Whether two sentences about the same thing say opposite things: negation, comparison, order.

Only plain signs are read, and only between sentences that share most of their words: a negation
that stands before the same words, one of two opposite words on each side, the two sides of `than`,
`before` or `after` exchanged.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from salon.grounding.support.words import Word, read_words

_SCOPE = 3
_NEGATIONS = frozenset(
    {
        "not", "no", "never", "cannot", "neither", "nor", "none", "nobody", "nothing", "nowhere",
        "hardly", "scarcely", "isn't", "aren't", "wasn't", "weren't", "don't", "doesn't", "didn't",
        "won't", "wouldn't", "can't", "couldn't", "shouldn't", "hasn't", "haven't", "hadn't",
        "false", "untrue", "denied", "denies", "failed", "fails", "refused", "refuses", "unable",
    }
)  # fmt: skip
# `not only` denies nothing, and `no longer than` compares.
_NO_NEGATION = re.compile(
    r"\b(?:not only|not just|not merely|no fewer|no less|no more than|no later|no doubt"
    r"|whether or not|not necessarily|if not)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:.!?()]|\bbut\b|\bwhile\b|\balthough\b|\bwhereas\b", re.IGNORECASE)
_PAIRS: tuple[tuple[str, str], ...] = (
    (
        (
            "more greater larger bigger higher increase increased increases increasing rise "
            "rises rose rising grow grew grows growing growth raise raises raised elevate "
            "elevated elevates expand expanded upregulate upregulates upregulated upregulation "
            "exceed exceeded"
        ),
        (
            "less fewer smaller lower decrease decreased decreases decreasing decline declined "
            "declines declining reduce reduced reduces reducing reduction fall falls fell "
            "falling drop dropped drops shrink shrank diminish diminished diminishes "
            "downregulate downregulates downregulated downregulation"
        ),
    ),
    (
        (
            "promote promotes promoted enhance enhances enhanced improve improves improved "
            "stimulate stimulates stimulated activate activates activated induce induces "
            "induced facilitate facilitates strengthen strengthens strengthened"
        ),
        (
            "inhibit inhibits inhibited inhibition impair impairs impaired worsen worsens "
            "worsened suppress suppresses suppressed block blocks blocked prevent prevents "
            "prevented weaken weakens weakened hinder hinders hindered deactivate deactivates"
        ),
    ),
    ("before earlier prior preceded precedes", "after later following followed follows since"),
    ("above over", "below under beneath"),
    ("older elder", "younger"),
    ("heavier", "lighter"),
    ("longer", "shorter"),
    ("faster quicker", "slower"),
    ("better best", "worse worst"),
    ("stronger", "weaker"),
    ("cheaper", "costlier dearer"),
    ("maximum highest largest greatest", "minimum lowest smallest fewest"),
    ("majority", "minority"),
    ("win wins won victory", "lose loses lost defeat defeated"),
    (
        "accept accepts accepted approve approves approved",
        "reject rejects rejected refuse refuses refused deny denies denied",
    ),
    (
        "support supports supported favour favours favoured favor favors favored",
        "oppose opposes opposed",
    ),
    ("positive positively", "negative negatively"),
    ("always", "never"),
    ("all every", "none"),
    ("legal lawful", "illegal unlawful"),
    ("possible", "impossible"),
    ("able", "unable"),
    (
        "begin begins began start starts started open opens opened",
        "end ends ended close closes closed finish finished",
    ),
    ("success successful succeeded", "failure unsuccessful failed"),
    ("import imports imported", "export exports exported"),
    ("buy bought", "sell sold"),
    ("inside within", "outside"),
    ("northern north", "southern south"),
    ("eastern east", "western west"),
    ("male men", "female women"),
    ("beneficial protective", "harmful detrimental"),
    ("sensitive", "resistant insensitive"),
    ("necessary required essential", "unnecessary dispensable"),
    ("agonist", "antagonist"),
)
_BETWEEN = frozenset({"than", "before", "after"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Poles:
    """Which pairs a sentence takes sides in: for each, -1 or 1; 0 where it says both."""

    signs: dict[int, int]
    words: dict[int, str]


def opposed(claim: str, sentence: str) -> list[str]:
    """Return in which ways a sentence of the evidence says the opposite of a claim."""
    mine, theirs = read_words(claim), read_words(sentence)
    reasons = []
    if (denied := _negation_differs(claim, mine, sentence, theirs)) is not None:
        reasons.append(denied)
    reasons.extend(_comparison_differs(mine, theirs))
    return reasons


def is_negation(word: Word) -> bool:
    """Tell whether a word denies what follows it."""
    return word.text.lower().replace("\u2019", "'") in _NEGATIONS


def are_opposites(one: str, other: str) -> bool:
    """Tell whether two words in lower case are the two sides of a pair."""
    mine = dict(_sides().get(one, ()))
    return any(mine.get(number) == -sign for number, sign in _sides().get(other, ()))


# Negation


def _negation_differs(
    claim: str, mine: Sequence[Word], sentence: str, theirs: Sequence[Word]
) -> str | None:
    ours, others = _denied(claim, mine), _denied(sentence, theirs)
    if _only_here(ours, others, theirs):
        return "negation differs: only the claim denies it"
    if _only_here(others, ours, mine):
        return "negation differs: only the text denies it"
    return None


def _only_here(
    here: Sequence[Sequence[str]], there: Sequence[Sequence[str]], words: Sequence[Word]
) -> bool:
    """Tell whether what is denied here is said there without being denied."""
    said = {word.stem for word in words}
    excused = {stem for scope in there for stem in scope}
    return any(scope[0] in said and scope[0] not in excused for scope in here)


def _denied(text: str, words: Sequence[Word]) -> list[list[str]]:
    """Return, for each negation, the stems of the few content words that follow it."""
    spared = [found.span() for found in _NO_NEGATION.finditer(text)]
    ends = [found.start() for found in _CLAUSE_END.finditer(text)]
    denied = []
    for place, word in enumerate(words):
        if not is_negation(word) or any(a <= word.start < b for a, b in spared):
            continue
        end = next((stop for stop in ends if stop > word.start), len(text))
        after = (one.stem for one in words[place + 1 :] if one.is_content and one.start < end)
        if scope := list(islice(after, _SCOPE)):
            denied.append(scope)
    return denied


# Comparison


@cache
def _sides() -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, pair in enumerate(_PAIRS):
        for sign, words in zip((1, -1), pair, strict=True):
            for word in words.split():
                found.setdefault(word, []).append((number, sign))
    return found


@cache
def pole_stems() -> frozenset[str]:
    """Return the stems of all words that are one of two opposites."""
    return frozenset(word.stem for one in _sides() for word in read_words(one))


def _poles(words: Sequence[Word]) -> _Poles:
    signs: dict[int, int] = {}
    spelled: dict[int, str] = {}
    for word in words:
        for number, sign in _sides().get(word.text.lower(), ()):
            signs[number] = sign if signs.get(number, sign) == sign else 0
            spelled[number] = word.text.lower()
    return _Poles(signs=signs, words=spelled)


def _comparison_differs(mine: Sequence[Word], theirs: Sequence[Word]) -> list[str]:
    ours, others = _poles(mine), _poles(theirs)
    exchanged = _are_exchanged(mine, theirs)
    reasons = [
        f"comparison reversed: {ours.words[number]!r} in the claim, "
        f"{others.words[number]!r} in the text"
        for number, sign in ours.signs.items()
        if sign * others.signs.get(number, 0) == -1
    ]
    if exchanged:
        # Both turned round is the same again: A before B, B after A.
        return [] if reasons else ["comparison reversed: the two sides are exchanged"]
    return reasons


def _are_exchanged(mine: Sequence[Word], theirs: Sequence[Word]) -> bool:
    ours, others = _around(mine), _around(theirs)
    if ours is None or others is None:
        return False
    (left, right), (other_left, other_right) = ours, others
    crossed = len(left & other_right), len(right & other_left)
    straight = len(left & other_left) + len(right & other_right)
    return min(crossed) > 0 and sum(crossed) > straight


def _around(words: Sequence[Word]) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the stems on both sides of the word that compares, without those on both."""
    places = [place for place, word in enumerate(words) if word.text.lower() in _BETWEEN]
    if len(places) != 1:
        return None
    left = {word.stem for word in words[: places[0]] if word.is_content}
    right = {word.stem for word in words[places[0] + 1 :] if word.is_content}
    return frozenset(left - right), frozenset(right - left)
