"""Several avatars in one discussion: each hears the others, speaks if it has something, or not.

A round gives each avatar one chance, those who have the most to say first. The discussion ends when
a round passes in silence or the rounds are used up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from salon.conversation.discussion import Discussion, Utterance
from salon.core.outcomes import Outcome
from salon.experts.profile import Profile
from salon.experts.replies import Reply, SpeakDecision

Decide = Callable[[Profile, Discussion], SpeakDecision]
Speak = Callable[[Profile, str, Discussion], Reply]
FACILITATOR = "Facilitator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one avatar did with its chance: spoke, or stayed silent for a reason."""

    round: int
    avatar: str
    name: str
    decision: SpeakDecision
    reply: Reply | None

    @property
    def outcome(self) -> Outcome:
        """Return how the chance ended."""
        return Outcome.SILENT if self.reply is None else self.reply.outcome


def gather(
    profiles: Sequence[Profile],
    opening: Utterance,
    *,
    topic: str,
    rounds: int,
    decide: Decide,
    speak: Speak,
    before: Sequence[Utterance] = (),
) -> Iterator[Contribution]:
    """Walk what each avatar does, round by round; `before` is what was said until now."""
    said: list[Utterance] = []
    for number in range(1, rounds + 1):
        first = _on_the_table(before, said, opening, topic, number)
        scores = {one.id: decide(one, first).score for one in profiles}
        spoke = False
        for profile in sorted(profiles, key=lambda one: -scores[one.id]):
            now = _on_the_table(before, said, opening, topic, number)
            decision = decide(profile, now)
            contribution = _chance(profile, now, decision, speak, number)
            if contribution.reply is not None:
                spoke = True
                said.append(Utterance(role=profile.name, content=contribution.reply.response))
            yield contribution
        if not spoke:
            return


def _on_the_table(
    before: Sequence[Utterance],
    said: Sequence[Utterance],
    opening: Utterance,
    topic: str,
    number: int,
) -> Discussion:
    """Return what was said; in the first round, the question itself is what is answered."""
    heard = (*said, opening) if number == 1 else (opening, *said)
    return Discussion(utterances=(*before, *heard), topic=topic)


def _chance(
    profile: Profile, now: Discussion, decision: SpeakDecision, speak: Speak, number: int
) -> Contribution:
    reply = speak(profile, now.utterances[-1].content, now) if decision.speak else None
    if reply is not None and reply.outcome is not Outcome.ANSWERED:
        reply = None
        decision = SpeakDecision(
            speak=False,
            score=decision.score,
            reason="it had nothing grounded to add",
            rule="nothing_grounded",
        )
    return Contribution(
        round=number, avatar=profile.id, name=profile.name, decision=decision, reply=reply
    )
