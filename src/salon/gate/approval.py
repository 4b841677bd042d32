"""Approval: the digest that binds a person's yes to one action with exactly these arguments.

The digest covers the action, its canonical arguments, the version of the policy, and the turn in
which the draft was shown. Change any of them and the digest is another, so the yes no longer fits
and has to be asked for again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from salon.core.canonical import canonical_json
from salon.core.hashing import content_hash

POLICY_VERSION = "1"
"""Goes up whenever what an approval means changes; approvals of another version are void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a person is asked to approve."""

    action: str
    arguments: Mapping[str, str]
    policy: str
    session: str
    turn: int

    @property
    def digest(self) -> str:
        """What an approval names."""
        return content_hash(
            canonical_json(
                {
                    "kind": "salon.proposal",
                    "action": self.action,
                    "arguments": dict(self.arguments),
                    "policy": self.policy,
                    "session": self.session,
                    "turn": self.turn,
                }
            )
        )


def order_key(flow: str, digest: str) -> str:
    """Return the name under which an approved action is carried out, here and at the server."""
    return content_hash(canonical_json({"kind": "salon.order", "flow": flow, "digest": digest}))
