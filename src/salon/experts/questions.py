"""Understanding a question inside a discussion: what it is about, whose words it means.

A question leans on what was said before: "what about that?", "do you agree with Bob?". Retrieval
needs words that stand on their own, so those of the utterance that is meant are added. What cannot
be completed from the discussion is told apart from what the corpus lacks: no search can see that a
question is underspecified.
"""

import re
from dataclasses import dataclass

from salon.conversation.discussion import NOTHING_SAID, Discussion, Utterance
from salon.core.errors import InvalidInput
from salon.core.text import require_text

LONGEST_QUESTION = 20_000
_MOST_ADDED = 400
_FEW_WORDS = 3
_TOPIC_WORDS = 6

EMPTY_WORDS = frozenset((
    *("a", "about", "after", "again", "agree", "all", "also", "am", "an", "and", "answer"),
    *("any", "are", "as", "at", "be", "because", "been", "before", "being", "but", "by", "can"),
    *("could", "describe", "did", "disagree", "discuss", "do", "does", "doing", "done"),
    *("during", "each", "even", "every", "explain", "feel", "few", "for", "from", "get"),
    *("give", "go", "had", "has", "have", "he", "her", "here", "hers", "him", "his", "how"),
    *("i", "if", "in", "into", "is", "it", "its", "just", "know", "let", "like", "make"),
    *("many", "matter", "may", "me", "mean", "more", "most", "much", "must", "my", "no", "nor"),
    *("not", "now", "of", "off", "on", "once", "one", "only", "opinion", "or", "other", "our"),
    *("ours", "out", "over", "own", "please", "question", "really", "regarding", "said"),
    *("same", "say", "says", "see", "shall", "she", "should", "so", "some", "speak", "stand"),
    *("still", "such", "talk", "tell", "than", "that", "the", "their", "theirs", "them"),
    *("then", "there", "these", "they", "thing", "things", "think", "this", "those"),
    *("thoughts", "through", "to", "too", "topic", "under", "until", "up", "us", "very"),
    *("view", "views", "want", "was", "way", "we", "were", "what", "when", "where", "which"),
    *("while", "who", "whom", "whose", "why", "will", "with", "would", "yes", "you", "your"),
    *("yours"),
))  # fmt: skip
"""Words that say nothing about what is asked."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_MOST_PARTS = 4
_ASKING = frozenset(
    ("what", "who", "whom", "whose", "when", "where", "which", "why", "how", "is", "are", "was",
     "were", "do", "does", "did", "can", "could", "should", "would", "will", "may", "must", "have",
     "has", "had", "tell", "explain", "describe", "name")
)  # fmt: skip
_PARTS = re.compile(
    r"(?<=[?])\s+(?=\S)|[,;]?\s+and\s+(?:also\s+)?(?=(?:what|how|why|when|where|who|which|about|did|"
    r"do|is|are|should)\b)",
    re.IGNORECASE,
)
_WHETHER_AI = re.compile(
    r"\bare you\b[^?.!]{0,20}\b(?:ai|a\.i\.|artificial|bot|chatbot|robot|machine|computer|human|"
    r"person|real|alive|living|language model|llm|chatgpt)\b|"
    r"\bam i (?:talking|speaking|chatting) (?:to|with)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:it|that|this|those|these|they|them|he|she|him|her|so|such|"
    r"the (?:former|latter|same|other)(?: one)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with what it leans on.

    `query` is what retrieval looks for; `refers_to` is the utterance whose words were added;
    `unclear` says what is missing where nothing can complete the question.
    """

    text: str
    query: str
    topic: str
    refers_to: Utterance | None = None
    unclear: str | None = None


def understand(
    question: str, discussion: Discussion = NOTHING_SAID, *, names: tuple[str, ...] = ()
) -> Asked:
    """Read a question that is put to one of `names` in a discussion."""
    require_text(question, "a question")
    if len(question) > LONGEST_QUESTION:
        raise InvalidInput(
            f"a question of {len(question):,} characters is too long",
            hint=f"ask in at most {LONGEST_QUESTION:,} characters",
        )
    bare = without_address(question, names)
    content = content_words(bare)
    meant = _meant(bare, content, discussion, names)
    if meant is not None:
        named = {word.casefold() for word in _WORD.findall(meant.role)}
        content = [word for word in content if word.casefold() not in named]
    topic = " ".join((content or content_words(meant.content if meant else ""))[:_TOPIC_WORDS])
    if not content and meant is None:
        topic_of_all = discussion.topic or ""
        if not content_words(topic_of_all):
            return Asked(text=question, query=bare, topic="", unclear="nothing names what is meant")
        return Asked(text=question, query=topic_of_all, topic=topic_of_all)
    query = bare
    if meant is not None:
        # "Do you agree with Bob?" asks about what Bob said, and about nothing else.
        added = meant.content[:_MOST_ADDED]
        query = f"{bare} {added}" if content else added
    topic_words = set(content_words(discussion.topic or ""))
    if len(content) < _FEW_WORDS and meant is None and topic_words - set(content):
        query = f"{query} {(discussion.topic or '')[:_MOST_ADDED]}"
    unclear = None
    if meant is None and _only_points(bare, content):
        unclear = "it points at something that was not said"
    return Asked(text=question, query=query, topic=topic, refers_to=meant, unclear=unclear)


def asks_whether_ai(text: str) -> bool:
    """Tell whether somebody wants to know if they talk to a person."""
    return _WHETHER_AI.search(text) is not None


def is_question(text: str) -> bool:
    """Tell whether a text asks; a claim that is held against a corpus does not."""
    first = _WORD.search(text)
    return text.rstrip().endswith("?") or (first is not None and first[0].casefold() in _ASKING)


def split_parts(
    asked: Asked, discussion: Discussion = NOTHING_SAID, *, names: tuple[str, ...] = ()
) -> list[Asked]:
    """Return the questions that one question holds; most hold one, which is itself."""
    parts = [part.strip(" ,;") for part in _PARTS.split(without_address(asked.text, names))]
    parts = [part for part in parts if len(content_words(part)) >= 1]
    if len(parts) < 2 or asked.refers_to is not None:
        return [asked]
    return [understand(part, discussion, names=names) for part in parts[:_MOST_PARTS]]


def content_words(text: str) -> list[str]:
    """Return the words of a text that say what it is about, in order."""
    return [word for word in _WORD.findall(text) if word.casefold() not in EMPTY_WORDS]


def without_address(text: str, names: tuple[str, ...]) -> str:
    """Return a text without the name of whom it speaks to at either end."""
    bare = text.strip()
    for name in sorted(names, key=len, reverse=True):
        bare = re.sub(rf"^\s*@?{re.escape(name)}\s*[,:;\-]\s*", "", bare, flags=re.IGNORECASE)
        bare = re.sub(rf"\s*,\s*@?{re.escape(name)}\s*(?=[?.!]*$)", "", bare, flags=re.IGNORECASE)
    return bare or text.strip()


def _meant(
    bare: str, content: list[str], discussion: Discussion, names: tuple[str, ...]
) -> Utterance | None:
    """Return the utterance that a question leans on, if it leans on one."""
    mine = {name.casefold() for name in names}
    others = [one for one in discussion.utterances if one.role.casefold() not in mine]
    others = [one for one in others if one.content.strip() != bare]
    for name in dict.fromkeys(one.role for one in reversed(others)):
        if re.search(rf"\b{re.escape(name)}\b", bare, re.IGNORECASE):
            return next(one for one in reversed(others) if one.role == name)
    if others and (not content or (_POINTING.search(bare) and len(content) <= _FEW_WORDS)):
        return others[-1]
    return None


def _only_points(bare: str, content: list[str]) -> bool:
    """Tell whether the little that a question names cannot stand without what it points at."""
    return len(content) <= 1 and _POINTING.search(bare) is not None and len(bare.split()) <= 6
