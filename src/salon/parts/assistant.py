"""The assistant's capabilities: a turn that asks, advises and offers; its flows; its outbox.

Each is one function; edges validate, call it and shape the answer. The gate alone says whether an
action is offered, the person alone whether it is done, and the outbox does it once.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salon.conversation.discussion import LONGEST_UTTERANCE
from salon.conversation.turns import as_session_id, walk_turns
from salon.core.clock import Clock, SystemClock
from salon.core.errors import ContentTooLarge, InvalidInput
from salon.core.ids import RandomIds
from salon.core.text import require_text
from salon.parts.flows import FlowsPart

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.experts.answering import Answering
    from salon.experts.profile import Profile
    from salon.gate.actions import Actions
    from salon.gate.desk import Desk
    from salon.gate.executing import Runner
    from salon.gate.flows import Flow
    from salon.gate.forms import Form, FormAnswer
    from salon.gate.orders import Order
    from salon.gate.policy import Policy
    from salon.gate.verdicts import Said, Verdict
    from salon.grounding.verifying import Verification
    from salon.parts.assistant_taking import Taking
    from salon.parts.assistant_turns import AssistedTurn
    from salon.providers.acting import ActingPlan
    from salon.retrieval.following import CaughtUp
    from salon.settings import Settings

DEFAULT_ASSISTANT = "manager-assistant"
"""The assistant that comes with Salon."""
LOOKED_BACK = 3
"""How many of the person's latest messages an order to the machine closes the gate for."""
SUSPICIOUS = "the message holds orders to the machine"
SCAM = "the conversation looks like a scam"


class AssistantPart(FlowsPart):
    """What the application can do as an assistant; it brings archive, answers and settings."""

    clock: Clock = SystemClock()
    settings: "Settings"

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        @property
        def _answering(self) -> Answering:
            """What answers from a corpus."""

        @property
        def _verification(self) -> Verification:
            """What checks a response."""

        profile: Callable[[str], Profile]
        new_avatar: Callable[[Profile], Profile]
        _add: Callable[..., Any]
        decide: Callable[[Sequence[Said], str, str | None, Policy], Verdict]

        def index_words(self, on_entries: Callable[[int], None] = ...) -> CaughtUp:
            """Make everything that is stored searchable by its words."""

    # Capabilities

    def assist(
        self, session: str, message: str, *, avatar: str = DEFAULT_ASSISTANT, user: str = "user"
    ) -> "AssistedTurn":
        """Take one turn: an answer to the flow where one is active, otherwise advice, gated."""
        if not require_text(message, "the message").strip():
            raise InvalidInput("the message is empty", hint="say something")
        if len(message) > LONGEST_UTTERANCE:
            raise ContentTooLarge(
                f"a message of {len(message):,} characters is too long",
                hint=f"keep it below {LONGEST_UTTERANCE:,}",
            )
        return self._taking(session, message, avatar=avatar, user=user).take()

    def flow_of(self, session: str) -> "Flow | None":
        """Return the latest flow of a session, whether it is over or not."""
        return self._desk.find(as_session_id(session))

    def flow_request(self, session: str) -> "Form | None":
        """Return what a session's flow asks for, as a form; `None` where none is active."""
        from salon.gate.forms import flow_request

        flow = self._desk.find_active(as_session_id(session))
        if flow is None:
            return None
        return flow_request(flow, self.actions.get(flow.action), self._desk.reading())

    def answer_flow(
        self,
        session: str,
        answer: "FormAnswer",
        *,
        avatar: str = DEFAULT_ASSISTANT,
        user: str = "user",
    ) -> "AssistedTurn":
        """Answer a session's flow as a form: one field, an approval by its digest, or a cancel."""
        text = "cancel" if answer.is_cancelled else answer.text
        digest = None if answer.is_cancelled else answer.approved_digest
        if not text and not digest:
            raise InvalidInput("the answer is empty", hint="give a text, a digest or a cancel")
        message = text or f"approve {digest}"
        return self._taking(session, message, avatar=avatar, user=user).take(approves=digest)

    def run_outbox(self, *, session: str | None = None) -> "list[Order]":
        """Carry out what is due, and return the orders that moved."""
        return self._runner.run_due(session=session)

    def outbox_orders(self, *, session: str | None = None) -> "list[Order]":
        """Return the orders about which something is still to be done or to be told."""
        return [held.order for held in self._runner.outbox.waiting(session=session)]

    def find_order(self, key: str) -> "Order":
        """Return an order by its key or the beginning of it, or raise `NotFound`."""
        return self._runner.outbox.get(key).order

    def withdraw_order(self, key: str) -> "Order":
        """Call an order off."""
        return self._runner.withdraw(self.find_order(key).key)

    def retry_order(self, key: str) -> "Order":
        """Try an order again that failed, or that a person found not to be done."""
        return self.tell_order(self._runner.retry(self.find_order(key).key))

    def settle_order(self, key: str) -> "Order":
        """Record that a person found an order done."""
        return self._runner.settle_done(self.find_order(key).key)

    def tell_order(self, order: "Order") -> "Order":
        """Record that the person was shown how an order ended; one that is done is settled so."""
        return self._runner.outbox.tell_how_it_ended(order)

    def order_status(self, order: "Order") -> str:
        """Return how an order stands, in a sentence."""
        from salon.gate.prompts import status

        return status(order, self._desk.reading())

    def ensure_assistant(self) -> "Profile":
        """Make the assistant that comes with Salon, with its handbook, where it is not there."""
        from salon.experts.profile import find_profile, make_profile

        found = find_profile(self.archive, DEFAULT_ASSISTANT)
        if found is not None:
            return found
        place = files("salon.experts")
        config = place.joinpath("demo_profiles", f"{DEFAULT_ASSISTANT}.json").read_text("utf-8")
        profile = self.new_avatar(make_profile(json.loads(config)))
        self._add_handbook(profile, Path(str(place.joinpath("demo_handbook"))))
        self.index_words()
        return profile

    # What they stand on

    def _taking(self, session: str, message: str, *, avatar: str, user: str) -> "Taking":
        from salon.parts.assistant_taking import Standing, Taking
        from salon.parts.assistant_turns import before

        name = as_session_id(session)
        turns = list(walk_turns(self.archive, name))[::-1]
        profile = self.profile(avatar)
        return Taking(
            on=Standing(
                archive=self.archive,
                desk=self._desk,
                runner=self._runner,
                answering=self._answering,
                verification=self._verification,
                policy=self._gate_policy(profile),
                decide=self.decide,
                closed_because=self._closed_because,
                clock=self.clock,
            ),
            session=name,
            profile=profile,
            message=message,
            user=user,
            number=len(turns) + 1,
            seen=before(turns),
        )

    @cached_property
    def actions(self) -> "Actions":
        """The actions that can be offered here."""
        from salon.gate.plugins import load_actions

        return load_actions()

    @cached_property
    def acting(self) -> "ActingPlan":
        """With which calendar and mail actions are carried out, and in which time zone."""
        from salon.providers.acting import make_plan

        return make_plan(self.settings.actions, home=self.settings.home)

    @cached_property
    def _desk(self) -> "Desk":
        from salon.gate.desk import Desk

        return Desk(
            self.archive,
            actions=self.actions,
            calendar=lambda: self.acting.means.calendar,
            zone=self.acting.zone,
            clock=self.clock,
            ids=RandomIds(),
        )

    @cached_property
    def _runner(self) -> "Runner":
        from salon.gate.executing import LEASE, Runner, is_gone, make_worker
        from salon.gate.outbox import Outbox

        return Runner(
            outbox=Outbox(self.archive),
            executor=lambda name: self.actions.get(name).executor(self.acting.means),
            clock=self.clock,
            worker=make_worker(),
            is_gone=is_gone,
            lease=max(LEASE, self.acting.longest),
        )

    def _gate_policy(self, profile: "Profile") -> "Policy":
        from salon.gate.policy import make_policy

        offered = self.actions.only(profile.salon.actions).all
        more = tuple(one.triggers for one in offered if one.triggers is not None)
        strictness = profile.salon.gate_policy or self.settings.actions.gate_policy
        policy = make_policy(strictness, more_actions=more)
        names = {one.name for one in offered}
        return replace(policy, actions=tuple(one for one in policy.actions if one.action in names))

    def _closed_because(self, texts: Sequence[str]) -> str | None:
        """Return why nothing may be offered in a conversation, if so."""
        from salon.guard.instructions import is_instruction
        from salon.steps.scam import scam_risk

        if any(is_instruction(text) for text in texts[-LOOKED_BACK:]):
            return SUSPICIOUS
        return SCAM if scam_risk(texts).scam_warning_level == "high" else None

    def _add_handbook(self, profile: "Profile", folder: Path) -> None:
        from salon.core.documents import DocumentType
        from salon.corpus.ingest import Details
        from salon.corpus.sources import expand

        details = Details(type=DocumentType.GUIDE)
        for result in self._add(profile, expand([folder]).sources, details=details):
            if (error := getattr(result, "error", None)) is not None:
                raise error
