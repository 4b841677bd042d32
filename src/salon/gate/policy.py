"""A policy: how strict the gate is, which actions there are, and whether it is closed."""

from dataclasses import dataclass, replace
from typing import Literal

from salon.core.errors import InvalidInput
from salon.gate.tables import Triggers, built_in_actions

PolicyName = Literal["sentence", "conservative"]
POLICY_NAMES: tuple[PolicyName, ...] = ("sentence", "conservative")
MINIMUM_DEPTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How the gate decides.

    `sentence` judges sentence by sentence: a clarifying question blocks, an offer does not.
    `conservative` is blocked by any question mark. `actions` are in order of precedence.
    `closed_because` closes the gate whatever is said: a scam warning, a content filter.
    """

    name: PolicyName = "sentence"
    actions: tuple[Triggers, ...]
    language: str = "en"
    minimum_depth: int = MINIMUM_DEPTH
    closed_because: str | None = None

    def closed(self, because: str | None) -> "Policy":
        """Return the same policy, closed for a reason, or open where there is none."""
        return replace(self, closed_because=because)

    def with_actions(self, *more: Triggers) -> "Policy":
        """Return the same policy with further actions, after those it has."""
        known = {one.action for one in self.actions}
        for one in more:
            if one.action in known:
                raise InvalidInput(
                    f"there is an action {one.action!r} already", hint="give it another name"
                )
            known.add(one.action)
        return replace(self, actions=(*self.actions, *more))


def make_policy(
    name: str = "sentence",
    *,
    language: str = "en",
    more_actions: tuple[Triggers, ...] = (),
    closed_because: str | None = None,
) -> Policy:
    """Return a policy with the built-in actions, or raise `InvalidInput`."""
    found: PolicyName | None = next((one for one in POLICY_NAMES if one == name), None)
    if found is None:
        raise InvalidInput(
            f"there is no policy {name!r}", hint=f"take one of {', '.join(POLICY_NAMES)}"
        )
    policy = Policy(
        name=found,
        actions=built_in_actions(language),
        language=language,
        closed_because=closed_because,
    )
    return policy.with_actions(*more_actions)
