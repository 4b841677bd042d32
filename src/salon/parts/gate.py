"""Deciding whether an action may be offered: the rules, and what a reviewer taught the home.

Each capability is one function; what it does stands in `salon.gate`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.gate.feedback import FeedbackGate, Rates
    from salon.gate.learned import DecisionModel, MovesReader
    from salon.gate.policy import Policy
    from salon.gate.transcripts import ExplainedTurn
    from salon.gate.verdicts import Said, Verdict
    from salon.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedGate:
    """What was learned from a reviewer's file, beside the rules alone on the same rows."""

    gate: "FeedbackGate"
    rules: "Rates"
    handle: str | None


class GatePart:
    """What the application can do about deciding."""

    settings: "Settings"

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

    # Capabilities

    def decide(
        self, history: "Sequence[Said]", reply: str, flow: str | None, policy: "Policy"
    ) -> "Verdict":
        """Say whether an action may be offered with a reply; what was learned may withhold it."""
        from salon.gate.deciding import decide
        from salon.gate.learned import within_rules

        said = tuple(history)
        verdict = decide(said, reply, flow, policy)
        for learned in self._learned_gates:
            verdict = within_rules(verdict, learned.consider(said, reply))
        return verdict

    def explain_transcript(
        self, text: str, *, policy: str | None = None, assistant: str | None = None
    ) -> "list[ExplainedTurn]":
        """Return the verdict on each reply of a transcript; the policy is that of the settings."""
        from dataclasses import replace

        from salon.gate.learned import within_rules
        from salon.gate.policy import make_policy
        from salon.gate.transcripts import explain, read_transcript

        transcript = read_transcript(text, assistant=assistant)
        strictness = policy or self.settings.actions.gate_policy
        turns = list(explain(transcript, make_policy(strictness)))
        for learned in self._learned_gates:
            turns = [
                replace(
                    one,
                    verdict=within_rules(
                        one.verdict, learned.consider(transcript.said[: one.index], one.reply)
                    ),
                )
                for one in turns
            ]
        return turns

    def train_gate(
        self,
        content: bytes,
        *,
        keep: bool = True,
        on_progress: "Callable[[int, int], None]" = lambda _done, _total: None,
    ) -> TrainedGate:
        """Learn from a reviewer's file when to trigger, and let it count in this home."""
        from salon.gate.feedback import HANDLE, learn, read_feedback, rule_rates, save_feedback_gate
        from salon.gate.policy import make_policy

        rows = read_feedback(content)
        made = learn(rows, on_progress=on_progress)
        if keep:
            save_feedback_gate(self.archive, made)
            self.__dict__.pop("_learned_gates", None)
        return TrainedGate(
            gate=made,
            rules=rule_rates(rows, make_policy(self.settings.actions.gate_policy)),
            handle=HANDLE if keep else None,
        )

    @cached_property
    def _learned_gates(self) -> "tuple[DecisionModel, ...]":
        """What was learned, each heard in turn: from a reviewer here, and the model that ships."""
        from salon.gate.feedback import find_feedback_gate
        from salon.gate.learned import MovesGate

        here = find_feedback_gate(self.archive)
        found: list[DecisionModel] = [] if here is None else [here]
        if self.settings.actions.learned_gate:
            found.append(MovesGate(reader=self._moves_reader))
        return tuple(found)

    @cached_property
    def _moves_reader(self) -> "MovesReader":
        from salon.providers.embedders.moves_reader import open_moves_reader

        return open_moves_reader()
