"""Where the gate and a flow stand in a session: what was decided, what is asked, what was done.

Nothing here decides; it puts together what the latest turns recorded and what the desk holds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.conversation.turns import Turn

if TYPE_CHECKING:
    from salon.gate.approval import Proposal
    from salon.gate.flows import Flow
    from salon.gate.forms import Form
    from salon.gate.orders import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStanding:
    """What the gate decided last: in which turn, in which state, by which rule, and why."""

    turn: int
    state: str
    rule: str
    reason: str
    action: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStanding:
    """All that a person needs to see before they approve, and afterwards."""

    session: str
    verdicts: tuple[GateStanding, ...]
    """What the gate decided, turn by turn; empty where no assistant has advised yet."""
    flow: "Flow | None"
    form: "Form | None"
    """What is asked for now; `None` where nothing is."""
    proposal: "Proposal | None"
    """What an approval would be bound to, where one is asked for."""
    order: "Order | None"
    status: str | None
    """How the order stands, in a sentence."""


class FlowsPart:
    """What the application can tell about the flow of a session."""

    if TYPE_CHECKING:
        session_turns: Callable[[str], tuple[Turn, ...]]
        flow_of: Callable[[str], Flow | None]
        flow_request: Callable[[str], Form | None]
        find_order: Callable[[str], Order]
        order_status: Callable[[Order], str]

    def flow_standing(self, session: str) -> FlowStanding:
        """Return where gate, flow and order of a session stand, or raise `NotFound`."""
        from salon.gate.flows import proposal_of

        turns = self.session_turns(session)
        flow = self.flow_of(session)
        form = self.flow_request(session)
        is_shown = flow is not None and form is not None and form.digest is not None
        order = self.find_order(flow.order) if flow and flow.order else None
        return FlowStanding(
            session=turns[-1].session,
            verdicts=tuple(_decisions(turns)),
            flow=flow,
            form=form,
            proposal=proposal_of(flow) if flow is not None and is_shown else None,
            order=order,
            status=self.order_status(order) if order else None,
        )


def _decisions(turns: tuple[Turn, ...]) -> Iterator[GateStanding]:
    for turn in turns:
        recorded = turn.reply.get("gate")
        if isinstance(recorded, Mapping):
            action = recorded.get("action")
            yield GateStanding(
                turn=turn.number,
                state=str(recorded["state"]),
                rule=str(recorded["rule"]),
                reason=str(recorded["reason"]),
                action=None if action is None else str(action),
            )
