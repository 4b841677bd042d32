"""Requests for a topic: "What do you say about forests?" asks for no fact, only for what is said.

How probably a sentence answers a question was learned from questions that have one right answer.
Whether it answers a request for a topic can be seen instead: it must name the topic. Of a topic in
parts ("labor and capital") it must name one of them.
"""

import re
from dataclasses import replace

from salon.experts.evidence import Evidence, Quote
from salon.experts.questions import content_words

_REQUEST = re.compile(
    r"^\W*(?:(?:and|so|well|now|please)\W+)*(?:"
    r"what (?:do|did|can|could|would|have) you (?:have to )?(?:say|said|think|thought|write|"
    r"written|wrote|believe|tell (?:me|us))\s+(?:about|of|on|regarding|concerning)|"
    r"(?:can you |could you )?tell (?:me|us) (?:something |more |a little )?(?:about|of)|"
    r"(?:can you |could you )?(?:speak|talk)(?: (?:to|with) (?:me|us))? (?:about|of|on)|"
    r"(?:what (?:are|is|were|was)|give (?:me|us)|explain|describe) your "
    r"(?:views?|opinions?|thoughts?|position|stance) (?:on|of|about|regarding|concerning)|"
    r"(?:what|how) about"
    r")\s+(?P<topic>[^?!]{1,200}?)[\s?!.]*$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",|;|\s+(?:and|or|as well as|versus)\s+", re.IGNORECASE)
_SHORTEST_STEM, _LONGEST_ENDING = 4, 3
_MOST_OF = 2 / 3
"""The share of a part's words that names it; of one or two words that is all of them."""


def requested_topic(text: str) -> str | None:
    """Return the topic that a text asks to hear about, if it asks so."""
    found = _REQUEST.match(text)
    return found["topic"].strip() if found and content_words(found["topic"]) else None


def on_topic(evidence: Evidence, topic: str) -> Evidence | None:
    """Return the evidence with only the quotes that name a topic, the fullest first, if any do."""
    parts = (content_words(part) for part in _BETWEEN.split(topic))
    patterns = [[_naming(word) for word in part] for part in parts if part]

    def named(quote: Quote) -> int:
        found = ([one.search(quote.text) is not None for one in part] for part in patterns)
        return sum(sum(words) >= _MOST_OF * len(words) for words in found)

    counted = [(named(quote), quote) for quote in evidence.quotes if not quote.derived]
    kept = sorted((one for one in counted if one[0]), key=lambda one: -one[0])
    return replace(evidence, quotes=tuple(quote for _, quote in kept)) if kept else None


def _naming(word: str) -> re.Pattern[str]:
    """Return what finds a word, endings aside."""
    stem = word[: max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)]
    return re.compile(rf"\b{re.escape(stem)}", re.IGNORECASE)
