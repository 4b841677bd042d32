"""What a conversation is about, as far as a title or a first draft of a mail needs it: tables.

The drafts are starting points in square brackets; what stands there is asked for, one by one, and
the person sees and can change every word before anything is sent.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A subject of such conversations: the words that show it, a title, a draft."""

    name: str
    pattern: re.Pattern[str]
    title: str
    body: str
    query: str
    """What to look up in a handbook when the person's own words find nothing."""


_OPENING = "Hi [name],\n\n"
_CLOSING = "\n\nBest regards,\n[your name]"


def _topic(name: str, words: str, title: str, body: str, query: str) -> Topic:
    pattern = re.compile(rf"\b(?:{words})", re.IGNORECASE)
    return Topic(
        name=name, pattern=pattern, title=title, body=_OPENING + body + _CLOSING, query=query
    )


TOPICS: tuple[Topic, ...] = (
    _topic(
        "termination", r"terminat|dismiss(?:al|ed)|let (?:him|her|them) go|fire(?:d|s)?\b",
        "Meeting about your employment",
        "I would like to meet with you about your employment. It concerns [what it concerns]. "
        "Please let me know that you have received this.",
        "What should I do before any dismissal?",
    ),
    _topic(
        "leave", r"medical|sick leave|leave of absence|parental|on leave|fmla",
        "Your leave",
        "I am writing about your leave. [what you want to say about it] "
        "Please come to me with any question about it.",
        "What should I do during medical leave?",
    ),
    _topic(
        "attendance",
        r"absen|no[- ]?show|did(?:n't| not) (?:show|come|turn)|missed (?:a |his |her |the )?shift|"
        r"not shown up|hasn't shown|attendance",
        "Your attendance",
        "I am writing about [the days of absence]. I tried to reach you and would like to hear "
        "from you. Please call me by [when they should call].",
        "What should I do after an absence without notice?",
    ),
    _topic(
        "tardiness",
        r"tard|late (?:to|for|again|every)|comes? late|came late|(?:been|was|is) late|"
        r"late \w+ times|arriv\w+ late",
        "Arriving on time",
        "I am writing about [the days of arriving late]. I would like to hear from you what gets "
        "in the way, and to agree on what happens from here.",
        "What should I do when an employee is late for the third time?",
    ),
    _topic(
        "warning", r"written warning|final warning|disciplin|written notice",
        "Written notice",
        "This is a written notice about [what happened]. From now on I expect [what you expect]. "
        "I am ready to talk about it with you.",
        "What should I do before any warning?",
    ),
    _topic(
        "performance",
        r"perform|underperform|targets?\b|mistakes|quality of (?:his|her|their) work",
        "Your work",
        "I would like to talk with you about [what you noticed]. I want to hear how you see it, "
        "and to agree on next steps.",
        "What should I do when I noticed that an employee's work got worse?",
    ),
)  # fmt: skip
"""In order: the more serious first."""

GENERAL = _topic(
    "general", r"", "HR Discussion",
    "I am writing about [what it is about].", "",
)  # fmt: skip


def topic_of(texts: tuple[str, ...]) -> Topic:
    """Return the topic that the latest words speak of, or the general one."""
    for text in reversed(texts):
        for topic in TOPICS:
            if topic.pattern.search(text):
                return topic
    return GENERAL


_SUBJECT = re.compile(
    r"^\W{0,3}subject\W{0,3}\s*(?P<subject>[^\n]{1,200})$", re.IGNORECASE | re.MULTILINE
)
_LETTER = re.compile(
    r"^(?P<body>(?:Hi|Hello|Dear)\s.+?^(?:Best regards|Kind regards|Regards|Sincerely|Thank you|"
    r"Thanks)\b[^\n]*(?:\n[^\n]+)?)",
    re.DOTALL | re.MULTILINE,
)


def find_letter(reply: str) -> dict[str, str]:
    """Return the subject and body of a mail that a reply spells out, as far as it does."""
    found: dict[str, str] = {}
    if match := _SUBJECT.search(reply):
        found["subject"] = match["subject"].strip()
    if match := _LETTER.search(reply):
        found["body"] = match["body"].strip()
    return found if "body" in found else {}
