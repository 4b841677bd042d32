"""Short ways to write conversations down, for the tests of deciding."""

from salon.gate.deciding import decide
from salon.gate.policy import make_policy
from salon.gate.verdicts import Said, Side, Verdict

ABSENT = "My employee is absent"
CALLED = "Have you contacted them?"
TWICE = "Yes, called twice"
BOTH = ("sentence", "conservative")


def talk(*texts: str) -> tuple[Said, ...]:
    """Return messages in turns, the person's first."""
    return tuple(
        Said(Side.PERSON if at % 2 == 0 else Side.ASSISTANT, text) for at, text in enumerate(texts)
    )


def judge(*texts: str, flow: str | None = None, policy: str = "sentence") -> Verdict:
    """Decide about the last of some messages."""
    return decide(talk(*texts[:-1]), texts[-1], flow, make_policy(policy))


def after_answer(reply: str, *, policy: str = "sentence", flow: str | None = None) -> Verdict:
    """Decide about a reply after a question that the person answered."""
    return judge(ABSENT, CALLED, TWICE, reply, policy=policy, flow=flow)
