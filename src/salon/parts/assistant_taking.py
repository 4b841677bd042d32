"""One turn with an assistant: to the flow where one is active, otherwise ask, advise and offer.

The order is fixed: a cry for help goes before everything; what was said is judged, the flow goes
first, then a clarifying question, then the grounded answer, then the gate, and last the offer. One
turn is one record.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from salon.conversation.turns import Turn, append_turn, read_turn, session_handle
from salon.core.archive import Archive
from salon.core.clock import Clock, instant
from salon.core.errors import HandleMoved
from salon.core.events import TurnTaken
from salon.core.hashing import content_hash
from salon.core.ids import SessionId
from salon.core.outcomes import Outcome
from salon.experts.answering import Answered, Answering
from salon.experts.profile import Profile
from salon.experts.replies import Reply
from salon.gate.actions import Situation
from salon.gate.answers import find_changes, is_cancel, is_no, is_yes
from salon.gate.clarifying import (
    NOT_YET,
    Fact,
    ask_again,
    find_fact,
    find_unknown,
    is_active,
    latest_case,
    people_in,
)
from salon.gate.deciding import follow
from salon.gate.desk import Desk, Moved
from salon.gate.executing import Runner
from salon.gate.flow_table import Event, Step
from salon.gate.flows import Flow
from salon.gate.lexicon import Lexicon, lexicon_of
from salon.gate.messages import read_message
from salon.gate.orders import FOR_A_PERSON, Order, OrderState
from salon.gate.policy import Policy
from salon.gate.prompts import status
from salon.gate.signals import read_reply
from salon.gate.topics import GENERAL, topic_of
from salon.gate.verdicts import Said, Side, Verdict
from salon.grounding.verifying import Verification
from salon.parts.assistant_turns import (
    AssistedTurn,
    Before,
    plain_reply,
    recommendations,
    with_recommendation,
)

PRESET = "assistant"
NOTHING_WAITS = "Nothing waits for your approval."
CALLED_OFF = "All right, I leave it there. Nothing was done."
HELD_BACK = "I do not do that yet:"
NO_OFFER = "I offer nothing yet, since I do not know this:"
HANDED_OVER = "What you approved was handed over as it was; a change needs a new request."


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a turn stands on; the application puts it together."""

    archive: Archive
    desk: Desk
    runner: Runner
    answering: Answering
    verification: Verification
    policy: Policy
    decide: Callable[[Sequence[Said], str, str | None, Policy], Verdict]
    closed_because: Callable[[Sequence[str]], str | None]
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a turn says, and what its record says about it."""

    reply: Reply
    text: str
    record: dict[str, object] = field(default_factory=dict)
    verdict: Verdict | None = None
    flow: Flow | None = None
    order: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """One turn on its way."""

    on: Standing
    session: SessionId
    profile: Profile
    message: str
    user: str
    number: int
    seen: Before

    def take(self, *, approves: str | None = None) -> AssistedTurn:
        """Take the turn and record it; `approves` is the digest that a form approved."""
        help_ = self.on.answering.help_in_crisis(self.profile, self.message)
        if help_ is not None:
            # Whatever waits goes on waiting, and no notice stands before the help.
            return self._record(Spoken(reply=help_, text=help_.response))
        because = self.on.closed_because((*self.seen.person, self.message))
        expired = self.on.desk.expire(self.session)
        notices = [expired.text] if expired else []
        spoken = self._speak(because, approves)
        notices += [] if spoken.order else self._news()
        text = "\n\n".join([*notices, spoken.text])
        return self._record(replace(spoken, text=text))

    def _speak(self, because: str | None, approves: str | None) -> Spoken:
        flow = self.on.desk.find_active(self.session)
        if flow is not None and because is not None:
            closed = self.on.desk.close(self.session, rule="closed")
            text = f"I stop here: {because}. Nothing was done."
            return self._plain(text, flow=closed.flow if closed else flow, answers=flow)
        if flow is not None and (spoken := self._answer(flow, approves)) is not None:
            return spoken
        return self._after_a_flow() or self._advise(because)

    @property
    def _history(self) -> tuple[Said, ...]:
        """What the gate counts: everything before the reply at hand."""
        return (*self.seen.said, Said(Side.PERSON, self.message))

    # A flow

    def _answer(self, flow: Flow, approves: str | None) -> Spoken | None:
        desk = self.on.desk
        if approves is None:
            moved = desk.answer(self.session, self.message, turn=self.number, by=self.user)
        else:
            moved = desk.approve(self.session, approves, turn=self.number, by=self.user)
        if moved is None or moved.event is Event.MOVE_ON:
            return None  # the person went on to something else
        if moved.is_approval:
            return self._carry_out(moved, flow)
        return self._plain(moved.text, flow=moved.flow, answers=flow)

    def _carry_out(self, moved: Moved, flow: Flow) -> Spoken:
        held = self.on.runner.outbox.get(moved.flow.order or "")
        order = self._tell(self.on.runner.run(held).order)
        text = status(order, self.on.desk.reading())
        return replace(self._plain(text, flow=moved.flow, answers=flow), order=order)

    def _after_a_flow(self) -> Spoken | None:
        """Answer a yes, a no, a cancel or a change that comes when the flow is over."""
        flow = self.on.desk.find(self.session)
        if flow is None or not self.seen.said or self.seen.said[-1].flow != flow.id:
            return None
        text = self.message
        is_change = flow.order is not None and any(
            self.on.desk.actions.get(flow.action).find_field(one.field) or one.field == "it"
            for one in find_changes(text, is_loose=False)
        )
        if not (is_yes(text) or is_no(text) or is_cancel(text) or is_change):
            return None
        if flow.order is None:
            return self._plain(NOTHING_WAITS, flow=flow, answers=flow)
        order = self.on.runner.outbox.get(flow.order).order
        if is_cancel(text) and order.state in {OrderState.APPROVED, OrderState.WAITING}:
            order = self.on.runner.withdraw(order.key)
        opening = f"{HANDED_OVER} " if is_change else ""
        said = opening + status(self._tell(order), self.on.desk.reading())
        return replace(self._plain(said, flow=flow, answers=flow), order=order)

    def _news(self) -> list[str]:
        """Return how orders of this session ended about which the person was not told yet."""
        self.on.runner.run_due(session=self.session)
        found = []
        for held in list(self.on.runner.outbox.waiting(session=self.session)):
            order = held.order
            if order.is_told or order.state not in {OrderState.DONE, *FOR_A_PERSON}:
                continue
            found.append(status(self._tell(order), self.on.desk.reading()))
        return found

    def _tell(self, order: Order) -> Order:
        return self.on.runner.outbox.tell_how_it_ended(order)

    # Advice

    def _advise(self, because: str | None) -> Spoken:
        lexicon = self._lexicon
        heard = read_message(self.message, lexicon)
        asked, is_open = self._question()
        if asked is not None and is_open and (again := ask_again(asked, heard.evasions)):
            return self._ask(asked, again, because, is_held=bool(heard.requests))
        if "calls_off" in heard.evasions and not heard.requests and self.seen.matter:
            return self._call_off(because)
        matter = latest_case((*self.seen.matter, self.message), lexicon)
        is_case = is_active(matter, lexicon)
        fact = find_unknown(matter, lexicon) if is_case and not self.seen.has_asked else None
        if fact is not None:
            text = f"{NOT_YET} {fact.question}" if heard.requests else fact.question
            return self._ask(fact, text, because, is_held=bool(heard.requests))
        is_aside = asked is not None and "asks_on" in heard.evasions
        is_told = asked is not None and not is_aside
        answered = self._look_up(matter, is_case=is_case, is_told=is_told, is_aside=is_aside)
        reply = self._recommend(answered.reply, lexicon, matter, heard.requests)
        said = self._with_consent(reply, heard.requests)
        spoken = self._gate(reply, said, answered, because=because, matter=matter)
        if spoken.verdict is None or spoken.verdict.action is not None:
            return spoken
        if heard.requests:
            return self._held(spoken)
        if asked is not None and is_open and read_reply(said, lexicon).is_guiding:
            return replace(spoken, text=f"{spoken.text}\n\n{NO_OFFER} {asked.question}")
        return spoken

    @property
    def _lexicon(self) -> Lexicon:
        return lexicon_of(self.on.policy.actions, self.on.policy.language)

    def _question(self) -> tuple[Fact | None, bool]:
        """Return the fact that was asked for, and whether the message leaves that open."""
        policy = self.on.policy
        place = follow(self.seen.said, policy).question
        asked = None if place is None else find_fact(self.seen.asked.get(place))
        return asked, follow(self._history, policy).question is not None

    def _ask(self, fact: Fact, text: str, because: str | None, *, is_held: bool) -> Spoken:
        """Ask for a fact; where the person asked for an action, that is held back meanwhile."""
        verdict = self.on.decide(self._history, text, None, self.on.policy.closed(because))
        outcome = Outcome.GATE_CLOSED if is_held else Outcome.NEEDS_CLARIFICATION
        reply = plain_reply(self.profile, text, outcome)
        record = self._gate_record(verdict) | {"asked": fact.name}
        return Spoken(reply=reply, text=text, record=record, verdict=verdict)

    def _call_off(self, because: str | None) -> Spoken:
        """Leave a matter that the person no longer wants to speak of."""
        verdict = self.on.decide(self._history, CALLED_OFF, None, self.on.policy.closed(because))
        record = self._gate_record(verdict) | {"called_off": True}
        reply = plain_reply(self.profile, CALLED_OFF)
        return Spoken(reply=reply, text=CALLED_OFF, record=record, verdict=verdict)

    def _held(self, spoken: Spoken) -> Spoken:
        """Say that what the person asked for is held back, and why."""
        reply = replace(spoken.reply, outcome=Outcome.GATE_CLOSED)
        if spoken.verdict is None or spoken.record["is_withheld"]:
            return replace(spoken, reply=reply)  # the text says it
        return replace(
            spoken, reply=reply, text=f"{spoken.text}\n\n{HELD_BACK} {spoken.verdict.reason}."
        )

    def _look_up(
        self, matter: tuple[str, ...], *, is_case: bool, is_told: bool, is_aside: bool
    ) -> Answered:
        """Answer from the corpus: the question as asked, or what the case is about.

        In a case of their own people want to know what to do, so a rule goes before a definition;
        who asks something else in between gets an answer to that.
        """
        answering, profile, lexicon = self.on.answering, self.profile, self._lexicon
        if is_told:
            told = [one for one in matter if not read_message(one, lexicon).evasions]
            answered = answering.answer(profile, " ".join(told or matter))
        else:
            answered = answering.answer(profile, self.message, self.seen.discussion)
        topic, is_answered = topic_of(matter), answered.reply.outcome is Outcome.ANSWERED
        if topic is GENERAL or (is_answered and (is_aside or not is_case)):
            return answered
        if is_answered and recommendations(answered.reply, lexicon):
            return answered
        again = answering.answer(profile, topic.query)
        is_better = again.reply.outcome is Outcome.ANSWERED and (
            not is_answered or recommendations(again.reply, lexicon)
        )
        return again if is_better else answered

    def _recommend(
        self, reply: Reply, lexicon: Lexicon, matter: tuple[str, ...], wanted: frozenset[str]
    ) -> Reply:
        """Add what the quoted policy recommends, in words that the check bears out."""
        if reply.outcome is not Outcome.ANSWERED:
            return reply
        speaker = self.on.answering.speaker(self.profile)
        for one in recommendations(reply, lexicon, said=matter, wanted=wanted):
            fuller = with_recommendation(reply, one)
            report = self.on.verification.verify(
                fuller.response, fuller.citations, speaker=speaker, discussion=self.seen.discussion
            )
            if report.holds:
                return fuller
        return reply

    def _with_consent(self, reply: Reply, wanted: frozenset[str]) -> str:
        """Return the reply with a word about what the person asked for, as the gate reads it."""
        for action in self.on.desk.actions.all:
            if action.name in wanted:
                return f"{reply.response}\n\nI can {action.title} for you."
        return reply.response

    def _gate(
        self,
        reply: Reply,
        said: str,
        answered: Answered,
        *,
        because: str | None,
        matter: tuple[str, ...],
    ) -> Spoken:
        policy = self.on.policy
        verdict = self.on.decide(self._history, said, None, policy.closed(because))
        open_verdict = (
            verdict if because is None else self.on.decide(self._history, said, None, policy)
        )
        is_withheld = verdict.action is None and open_verdict.action is not None
        record = self._gate_record(verdict) | {
            "said": said,
            "is_withheld": is_withheld,
            "stages": answered.stages(),
        }
        if is_withheld:
            text = f"{reply.response}\n\nI offer nothing here: {because}."
            return Spoken(reply=reply, text=text, record=record, verdict=verdict)
        if verdict.action is None:
            return Spoken(reply=reply, text=reply.response, record=record, verdict=verdict)
        names = people_in(matter, self._lexicon) or self._named_before()
        situation = Situation(said=matter, reply=reply.response, names=names)
        moved = self.on.desk.open(self.session, verdict.action, situation, rule=verdict.rule)
        return Spoken(
            reply=reply,
            text=f"{reply.response}\n\n{moved.text}",
            record=record | {"offer": moved.text, "flow": _flow_record(moved.flow)},
            verdict=verdict,
            flow=moved.flow,
        )

    def _named_before(self) -> tuple[str, ...]:
        """Return who was named last, before the case at hand."""
        found = (people_in([one], self._lexicon) for one in reversed(self.seen.person))
        return next((names for names in found if names), ())

    # The record

    def _plain(self, text: str, *, flow: Flow, answers: Flow) -> Spoken:
        reply = plain_reply(self.profile, text)
        record: dict[str, object] = {"answers_flow": answers.id, "flow": _flow_record(flow)}
        return Spoken(reply=reply, text=text, record=record, flow=flow)

    def _gate_record(self, verdict: Verdict) -> dict[str, object]:
        shown = {name: getattr(verdict, name) for name in ("action", "state", "rule", "reason")}
        return {"gate": shown}

    def _record(self, spoken: Spoken) -> AssistedTurn:
        reply = {**asdict(spoken.reply), **spoken.record, "text": spoken.text}
        at = instant(self.on.clock.now())
        name = session_handle(self.session)
        while True:  # each time around somebody else has appended a turn, so somebody gets on
            handle = self.on.archive.find_handle(name)
            previous = None if handle is None else handle.current
            number = 1 if previous is None else read_turn(self.on.archive, previous).number + 1
            turn = Turn(
                number=number,
                session=self.session,
                speaker=self.user,
                message=self.message,
                replier=self.profile.id,
                reply=reply,
                at=at,
                previous=previous,
                preset=PRESET,
                user=self.user,
            )
            note = TurnTaken(
                avatar=self.profile.id,
                session=self.session,
                number=number,
                message_sha256=content_hash(self.message.encode()),
            )
            with suppress(HandleMoved):
                append_turn(self.on.archive, turn, citations=spoken.reply.citations, note=note)
                return AssistedTurn(
                    turn=turn,
                    reply=spoken.reply,
                    text=spoken.text,
                    verdict=spoken.verdict,
                    flow=spoken.flow,
                    order=spoken.order,
                )


def _flow_record(flow: Flow) -> dict[str, object]:
    return {
        "id": flow.id,
        "action": flow.action,
        "step": flow.step_name,
        "digest": flow.digest if flow.step is Step.CONFIRMING else None,
        "order": flow.order,
    }
