"""What a text is about, as far as the opening of a paragraph says so.

Reference works, reports and profiles open by naming their subject and saying what it is: "La Yuma
is a film", "Samuel Cook (born 1931), known as Sam Cooke, was a singer". Such a paragraph is the
place to go to when another text names the subject. Nothing is guessed: a paragraph that opens in
another way has no subject here.

Invariant: mentions stay in order, apart from each other, and each span holds its name.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from salon.retrieval.chunking import sentences
from salon.retrieval.graph.entities import EntityType, Mention
from salon.retrieval.graph.word_lists import FUNCTION_WORDS, OPENERS

LONGEST_OPENING = 400
"""Characters in which a paragraph must have said what its subject is."""
MOST_WORDS = 16
"""Words in the name of a subject; titles of films and papers are long."""

_PARAGRAPH = re.compile(r"(?:\A|\n[^\S\n]*\n)\s*[\"\u201c\u2018'*_#]*\s*")
_WORD = re.compile(r"[^\W_]+")
_CODA = " \t\r\n,:*_\"'\u201c\u201d\u2018\u2019"

# What ends the name: the verb, a parenthesis, or what else is said of the subject before the verb.
_VERB = re.compile(r"\b(?:is|was|are|were|may|refers|reigned|served|stands|became)\b")
_AFTER_NAME = re.compile(
    r"[;\[(\u2013\u2014]|,\s+(?:the|an?|also|better|best|or|known|sometimes|originally|formerly"
    r"|commonly|born|n\u00e9e?|son|daughter|\w+ly)\b|\s(?:also|better|best)\s+known\b|\sn\u00e9e?\s"
    r"|\sborn\s"
)
_DEFINES = re.compile(r"(?:is|are)\s+(?:an?|the|one)\s")
_ANOTHER_NAME = re.compile(
    r"(?:\bknown\s(?:[\w-]+\s){0,3}as|\bcredited\s(?:[\w-]+\s){0,3}as|\bcalled|\bnicknamed|\balias"
    r"|\ba\.?k\.?a\.?|\b(?:stage|pen|birth|regnal)\sname(?:\sof)?|\bn\u00e9e?|\bborn|\bor"
    r"|\b[A-Z][a-z]+:)\s+(?:\w{2,3}\s)?[\"\u201c\u2018]?\s*\Z"
)


def with_subjects(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return mentions with those added or marked that say what a paragraph is about."""
    openings = list(_openings(text))
    starts = [subject.start for subject, _ in openings]
    found = [subject for subject, _ in openings]
    for mention in mentions:
        # Openings lie apart, so only the last one before the end of a mention can touch it.
        before = bisect_left(starts, mention.end)
        if not before:
            found.append(mention)
            continue
        subject, verb = openings[before - 1]
        if mention.start < subject.end:
            continue
        is_subject = mention.start < verb and bool(
            _ANOTHER_NAME.search(text, subject.start, mention.start)
        )
        found.append(replace(mention, is_subject=True) if is_subject else mention)
    return sorted(found, key=lambda mention: mention.start)


def _openings(text: str) -> Iterator[tuple[Mention, int]]:
    """Walk the subjects that paragraphs open with, each with the place of its verb."""
    for paragraph in _PARAGRAPH.finditer(text):
        start = paragraph.end()
        verb = _find_verb(text, start)
        if verb is None:
            continue
        cut = _AFTER_NAME.search(text, start, verb)
        end = start + len(text[start : cut.start() if cut else verb].rstrip(_CODA))
        is_plain = not paragraph[0].strip("\n #*_") and not _DEFINES.match(text, verb)
        if _is_subject(text[start:end], may_open_so=not is_plain):
            name = " ".join(text[start:end].split())
            subject = Mention(
                name=name, type=EntityType.OTHER, start=start, end=end, is_subject=True
            )
            yield subject, verb


def _find_verb(text: str, start: int) -> int | None:
    """Return where the first verb outside parentheses stands, if it does so soon enough."""
    stop = min(len(text), start + LONGEST_OPENING)
    depth = 0
    place = start
    for verb in _VERB.finditer(text, start, stop):
        between = text[place : verb.start()]
        depth = max(0, depth + between.count("(") - between.count(")"))
        place = verb.start()
        if "\n\n" in text[start:place]:
            return None
        if depth == 0:
            return place
    return None


def _is_subject(name: str, *, may_open_so: bool) -> bool:
    """Tell a name from the beginning of an ordinary sentence.

    A title may open with any word ("How Moscha Came Back is a film"), but then it is in quotation
    marks or is defined, and it is written in capitals.
    """
    words = _WORD.findall(name)
    if not words or len(words) > MOST_WORDS or len(list(sentences(name))) > 1:
        return False
    if words[0].lower() in OPENERS:
        in_capitals = all(word in FUNCTION_WORDS or not word.islower() for word in words)
        return may_open_so and len(words) > 1 and in_capitals
    return any(not word.islower() and word.lower() not in FUNCTION_WORDS for word in words)
