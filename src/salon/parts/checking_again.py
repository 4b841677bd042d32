"""A recorded turn that cannot be run again, held against the archive as it is now.

An expert's and an assistant's reply came from an index, a corpus and perhaps a model of that day,
and the record holds none of these whole. What it does hold is the proof: citations by hash and
span, and the words that rest on them. These are checked again, by the check that every reply goes
through on its way out; where a reply cites nothing there is nothing to compare, and that is said.
"""

from collections.abc import Callable

from salon.blackboard.replaying import Replayed
from salon.conversation.discussion import Discussion, Utterance
from salon.conversation.sessions import SessionState
from salon.conversation.turns import Turn
from salon.core.canonical import canonical_json
from salon.core.errors import AvatarNotFound, InvalidInput
from salon.grounding.reports import ResponseReport
from salon.grounding.responses import read_response

Verify = Callable[..., ResponseReport]


def check_again(turn: Turn, state: SessionState, verify: Verify) -> Replayed:
    """Check the citations and claims of a recorded reply; `state` is where the session stood."""
    try:
        read = read_response(canonical_json(turn.reply))
    except InvalidInput as error:
        return _not_compared(turn, f"its reply cannot be read: {error.message}")
    if not read.citations:
        return _not_compared(turn, "the reply cites nothing")
    said = (*state.history.utterances, Utterance(role=turn.speaker, content=turn.message))
    try:
        report = verify(
            read.response,
            read.citations,
            avatar=turn.replier,
            discussion=Discussion(utterances=said),
        )
    except AvatarNotFound:
        return _not_compared(turn, f"{turn.replier} is no longer here")
    faults = [(one.text, one.fault, one.reason) for one in report.claims if one.fault]
    faults += [(one.citation.quote, one.fault, one.reason) for one in report.citations if one.fault]
    if not faults:
        return Replayed(session=turn.session, number=turn.number, is_same=True, way="checked")
    words, fault, reason = faults[0]
    return Replayed(
        session=turn.session,
        number=turn.number,
        is_same=False,
        way="checked",
        differs=f"{fault}: {reason}",
        recorded=words,
    )


def _not_compared(turn: Turn, why: str) -> Replayed:
    return Replayed(
        session=turn.session, number=turn.number, is_same=None, way="not_compared", differs=why
    )
