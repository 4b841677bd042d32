"""Whether a question of the assistant is still open after a message of the person."""

from salon.gate.lexicon import Lexicon
from salon.gate.messages import MessageReading
from salon.gate.phrases import Phrases, Words
from salon.gate.signals import LIVE, ReplyReading, normal

_MENTION = "mention"


def leaves_open(said: MessageReading, question: ReplyReading, lexicon: Lexicon) -> bool:
    """Tell whether a question is still open after a message.

    What tells anything answers it, and who calls the matter off closes it. A yes or a no answers
    only what can be answered so, a name a question for one, and a request or a question of the
    person one about what they want.
    """
    is_open_ended = _is_open_ended(question, lexicon)
    if not said.evasions:
        return said.is_consenting and is_open_ended
    if "calls_off" in said.evasions and not said.requests:
        return False
    if "unknowing" in said.evasions:
        return True
    if said.is_clear and not is_open_ended:
        return False
    if said.names and "request" in said.evasions and _has(question, lexicon.who_question):
        return False
    is_wish = "request" in said.evasions or "asks_on" in said.evasions
    return not (is_wish and _asks_for_a_wish(question, lexicon))


def _is_open_ended(question: ReplyReading, lexicon: Lexicon) -> bool:
    return lexicon.open_question.match(normal(question.asking[-1].quote)) is not None


def _has(question: ReplyReading, phrases: Phrases) -> bool:
    return any(phrases.search(Words(normal(one.quote))) for one in question.asking)


def _asks_for_a_wish(question: ReplyReading, lexicon: Lexicon) -> bool:
    if _has(question, lexicon.wish_question):
        return True
    return any(
        found.kind in {*LIVE, _MENTION}
        and any(one.start <= found.span.start < one.end for one in question.asking)
        for found in question.found
    )
