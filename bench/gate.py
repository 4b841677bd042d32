"""`python -m bench.gate`: how many decisions a second, in processor time of one core.

Three figures, because a decision is cheap or dear by what of it is new:
`known` decides again on conversations that were read before, which is what the rules alone cost;
`next turn` has a new message and a new reply after a history that was read before;
`all new` has read nothing of the conversation.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from salon.gate import deciding
from salon.gate.deciding import decide
from salon.gate.messages import read_message
from salon.gate.policy import make_policy
from salon.gate.signals import read_reply
from salon.gate.situation import Tracks
from salon.gate.verdicts import Said, Side

NAMES = ("Dana", "Omar", "Mia", "Tom", "Eva", "Ravi", "Lena", "Kofi", "Ines", "Jun")
CONVERSATIONS = 400
ROUNDS = 5
REPETITIONS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Decisions a second, and what was new in each."""

    what: str
    per_second: float
    microseconds: float


def main() -> None:
    """Measure, and print one line each."""
    speeds = measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps([asdict(one) for one in speeds]))  # noqa: T201
        return
    for one in speeds:
        print(f"{one.what:<10} {one.per_second:>10,.0f}/s {one.microseconds:>8.1f} µs")  # noqa: T201


def measure(
    conversations: int = CONVERSATIONS, rounds: int = ROUNDS, repetitions: int = REPETITIONS
) -> list[Speed]:
    """Return the three figures, each the best of some repetitions, so that others disturb less."""
    policy = make_policy()
    asked = [_conversation(number) for number in range(conversations)]

    def run(times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            for history, reply in asked:
                decide(history, reply, None, policy)
        return (time.process_time() - start) / (times * len(asked))

    decide(*asked[0], None, policy)  # the tables are compiled once in a process
    new, turn, known = [], [], []
    for _ in range(repetitions):
        _forget(asked, keep=0)
        new.append(run(1))
        _forget(asked, keep=2)
        turn.append(run(1))
        known.append(run(rounds))
    return [
        Speed(what=what, per_second=round(1 / seconds, 1), microseconds=round(seconds * 1e6, 2))
        for what, seconds in (
            ("known", min(known)),
            ("next turn", min(turn)),
            ("all new", min(new)),
        )
    ]


def _conversation(number: int) -> tuple[tuple[Said, ...], str]:
    name = f"{NAMES[number % 10]}"
    texts = (
        f"{name} from my team, desk {number}, did not come in today.",
        f"I am sorry to hear that. Have you tried to reach {name} at desk {number}?",
        f"Yes, I called twice around {number % 12 + 1}, and nobody answered.",
    )
    reply = (
        f"Thank you, that helps. Three absences without notice count as leaving, see p. {number}. "
        "You should call them again today. Would you like me to schedule that call?"
    )
    sides = (Side.PERSON, Side.ASSISTANT, Side.PERSON)
    return tuple(Said(side, text) for side, text in zip(sides, texts, strict=True)), reply


def _forget(asked: Sequence[tuple[tuple[Said, ...], str]], *, keep: int) -> None:
    """Forget every reading, and read the first messages of each conversation again."""
    read_message.cache_clear()
    read_reply.cache_clear()
    deciding._TRACKS = Tracks(deciding._judge)  # noqa: SLF001
    for history, _ in asked if keep else ():
        deciding.follow(history[:keep], make_policy())


if __name__ == "__main__":
    main()
