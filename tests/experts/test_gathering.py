"""A discussion of several: turns by who has most to say, silence with its reason, an end."""

from collections.abc import Iterator

from salon.conversation.discussion import Discussion, Utterance
from salon.core.outcomes import Outcome
from salon.experts.gathering import Contribution, gather
from salon.experts.profile import Profile, make_profile
from salon.experts.replies import Reply, SpeakDecision

OPENING = Utterance(role="Facilitator", content="Who waters the garden?")


def _profile(name: str) -> Profile:
    return make_profile(
        {
            "id": name.casefold(),
            "name": name,
            "description": "Somebody.",
            "corpus": {"description": "Texts.", "sources": []},
            "systemPrompt": {
                "identity": "A person.",
                "tone": "plain",
                "constraints": [],
                "citationStyle": "plain",
            },
        }
    )


ADA, EVA, OLE = (_profile(name) for name in ("Ada", "Eva", "Ole"))


class Room:
    """Avatars whose eagerness is given; each has so many things to say."""

    def __init__(self, eager: dict[str, float], things: dict[str, int]) -> None:
        self.eager = eager
        self.left = dict(things)
        self.heard: list[tuple[str, str, Discussion]] = []

    def decide(self, profile: Profile, _: Discussion) -> SpeakDecision:
        score = self.eager[profile.id]
        return SpeakDecision(speak=score > 0.5, score=score, reason="because", rule="test")

    def speak(self, profile: Profile, question: str, discussion: Discussion) -> Reply:
        self.heard.append((profile.id, question, discussion))
        self.left[profile.id] -= 1
        is_answer = self.left[profile.id] >= 0
        return Reply(
            response=f"{profile.name} speaks",
            citations=(),
            claims=(),
            confidence="high",
            outcome=Outcome.ANSWERED if is_answer else Outcome.CORPUS_MISS,
            ai_label="AI",
            avatar=profile.id,
            composer="test",
            score=0.9,
        )

    def walk(self, *profiles: Profile, rounds: int = 2) -> Iterator[Contribution]:
        return gather(
            profiles,
            OPENING,
            topic=OPENING.content,
            rounds=rounds,
            decide=self.decide,
            speak=self.speak,
        )


def test_who_has_most_to_say_speaks_first_and_is_heard() -> None:
    room = Room({"ada": 0.6, "eva": 0.9, "ole": 0.1}, {"ada": 9, "eva": 9, "ole": 9})
    first = list(room.walk(ADA, EVA, OLE, rounds=1))
    assert [one.avatar for one in first] == ["eva", "ada", "ole"]
    assert [one.outcome for one in first] == [Outcome.ANSWERED, Outcome.ANSWERED, Outcome.SILENT]
    (_, question, discussion) = room.heard[1]
    assert question == OPENING.content
    assert discussion.utterances == (Utterance(role="Eva", content="Eva speaks"), OPENING)


def test_in_later_rounds_they_answer_each_other() -> None:
    room = Room({"ada": 0.6, "eva": 0.9}, {"ada": 9, "eva": 9})
    list(room.walk(ADA, EVA, rounds=2))
    assert [question for _, question, _ in room.heard[2:]] == ["Ada speaks", "Eva speaks"]


def test_a_round_in_silence_ends_it() -> None:
    room = Room({"ada": 0.6, "eva": 0.9}, {"ada": 1, "eva": 1})
    said = list(room.walk(ADA, EVA, rounds=9))
    assert [one.round for one in said] == [1, 1, 2, 2]
    assert {one.decision.rule for one in said[2:]} == {"nothing_grounded"}
    assert all(one.reply is None for one in said[2:])
