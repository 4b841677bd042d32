"""The experts' capabilities: query, respond, decide to speak, verify, gather, calibrate.

Each is one function; edges validate, call it and shape the answer.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from salon.conversation.discussion import NOTHING_SAID, Discussion, Utterance
from salon.core.errors import InvalidInput
from salon.core.ids import RandomIds
from salon.parts.proofs import ProofsPart

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.conversation.use_log import UseLog
    from salon.core.chat import ChatModel
    from salon.core.citations import Citation
    from salon.core.embedding import Embedder, PassageReader, Vectors
    from salon.corpus.filters import Where
    from salon.corpus.search import FoundPassage, SearchAnswer
    from salon.experts.answering import Answered, Answering
    from salon.experts.calibrating import Calibration
    from salon.experts.composing.hearing import Heard
    from salon.experts.evidence import Evidence
    from salon.experts.gathering import Contribution
    from salon.experts.profile import Profile
    from salon.experts.replies import Reply, SpeakDecision
    from salon.experts.speaking import Mode, Situation
    from salon.grounding.reports import ResponseReport
    from salon.grounding.support import Judge, Selector
    from salon.grounding.verifying import Verification
    from salon.retrieval.searcher import Mode as SearchMode
    from salon.settings import Settings

MOST_PASSAGES = 50
_FITS = 0.5
"""How probably relevant another avatar's best passage must be to send somebody there."""


class ExpertsPart(ProofsPart):
    """What the application can do as an expert; it brings archive, search and chat model."""

    settings: "Settings"

    @cached_property
    @abstractmethod
    def archive(self) -> "SqliteArchive":
        """The archive of this home."""

    @cached_property
    @abstractmethod
    def embedder(self) -> "Embedder":
        """What turns text into vectors."""

    @cached_property
    @abstractmethod
    def chat(self) -> "ChatModel | None":
        """The chat model of the settings."""

    @abstractmethod
    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: "SearchMode" = "hybrid",
        alpha: float = 0.5,
        threshold: float = 0.0,
        where: "Where | None" = None,
    ) -> "SearchAnswer":
        """Return the passages that answer a query best."""

    # Capabilities

    def query_corpus(
        self,
        avatar: str,
        query: str,
        *,
        context: str | None = None,
        limit: int = 5,
        threshold: float = 0.7,
    ) -> "SearchAnswer":
        """Return the passages of an avatar's corpus that are relevant to a query."""
        from salon.corpus.filters import Where

        if not 1 <= limit <= MOST_PASSAGES:
            raise InvalidInput(
                f"a limit of {limit} is not possible", hint=f"take 1 to {MOST_PASSAGES}"
            )
        asked = f"{query} {context}" if context else query
        where = Where(avatar=self.profile(avatar).avatar)
        answer = self.search(asked, limit=limit, threshold=threshold, where=where)
        self.note_use(avatar, "query", asked, "answered" if answer.passages else "corpus_miss")
        return answer

    def respond(
        self,
        avatar: str,
        question: str,
        *,
        discussion: Discussion = NOTHING_SAID,
        passages: "Sequence[Citation] | None" = None,
        session: str | None = None,
        speaker: str = "user",
        heard: "Heard | None" = None,
        is_persons: bool = True,
    ) -> "Reply":
        """Return a grounded answer or an honest outcome, and keep a record of it.

        `heard` gets verified sentences of the answer while a chat model still writes. What another
        avatar said is no person's (`is_persons`), and no cry for help. An avatar that is no expert
        is refused, with the way to talk to it.
        """
        from salon.experts.presets import require_expert

        profile = self.profile(avatar)
        require_expert(profile)
        given = None if passages is None else self._given(profile, passages)
        answered = self._answering.answer(
            profile, question, discussion, passages=given, heard=heard, is_persons=is_persons
        )
        self._record(answered, question, session=session, speaker=speaker)
        return answered.reply

    def should_speak(
        self,
        avatar: str,
        discussion: Discussion,
        *,
        mode: "Mode | None" = None,
        others: Sequence[str] = (),
    ) -> "SpeakDecision":
        """Decide whether an avatar speaks now; `others` are the other avatars present."""
        from salon.experts.answering import names_of
        from salon.experts.speaking import decide, situation_of

        profile = self.profile(avatar)
        heard = [one.content for one in discussion.utterances[:-1]]

        def look(text: str) -> tuple[float, bool]:
            evidence = self._evidence(profile, text, discussion)
            best = evidence.quotes[0].text if evidence.quotes else None
            is_said = best is not None and any(best in one for one in heard)
            return self._answering.probability(profile, evidence), is_said

        mine = names_of(profile)
        present = [names_of(self.profile(one)) for one in others if one != profile.id]
        spoke = [(one,) for one in discussion.participants if one not in mine]
        # An avatar that replies to somebody does not ask them to go on.
        last = discussion.utterances[-1].role if discussion.utterances else ""
        is_reply = any(last in names for names in present)
        situation = situation_of(
            profile,
            discussion,
            names=mine,
            others=() if is_reply else (*present, *spoke),
            mode=mode,
            threshold=self._answering.threshold(profile)[0],
            look=look,
        )
        if situation.last is not None and not situation.is_mine and not is_reply:
            situation = self._with_crisis(situation, profile, heard)
        decision = decide(situation)
        said = situation.last.content if situation.last else ""
        self.note_use(avatar, "should_speak", said, decision.rule)
        return decision

    def _with_crisis(
        self, situation: "Situation", profile: "Profile", heard: Sequence[str]
    ) -> "Situation":
        """Return a situation that knows whether somebody cries for help, and was helped."""
        said = "" if situation.last is None else situation.last.content
        help_ = self._answering.help_in_crisis(profile, said)
        if help_ is None:
            return situation
        return replace(situation, is_cry=True, is_helped=help_.response in heard)

    def verify_response(
        self,
        response: str,
        citations: "Sequence[Citation]",
        *,
        avatar: str | None = None,
        discussion: Discussion = NOTHING_SAID,
    ) -> "ResponseReport":
        """Check a response with its citations, as anybody's or as an avatar's."""
        from salon.grounding.verifying import ANYBODY

        speaker = ANYBODY if avatar is None else self._answering.speaker(self.profile(avatar))
        return self._verification.verify(
            response, citations, speaker=speaker, discussion=discussion
        )

    def gather(
        self,
        avatars: Sequence[str],
        topic: str,
        *,
        rounds: int = 2,
        facilitator: str = "Facilitator",
        session: str | None = None,
        before: Discussion = NOTHING_SAID,
    ) -> "Iterator[Contribution]":
        """Walk a discussion of several avatars about a topic; `before` is what was said earlier."""
        from salon.experts.gathering import gather
        from salon.experts.presets import require_expert

        profiles = [self.profile(one) for one in dict.fromkeys(avatars)]
        for one in profiles:
            require_expert(one)
        name = session or self.new_session()

        def speak(profile: "Profile", question: str, discussion: Discussion) -> "Reply":
            last = discussion.utterances[-1].role
            return self.respond(
                profile.id,
                question,
                discussion=discussion,
                session=name,
                speaker=last,
                is_persons=last not in {one.name for one in profiles},
            )

        return gather(
            profiles,
            Utterance(role=facilitator, content=topic),
            topic=before.topic or topic,
            rounds=rounds,
            decide=lambda one, now: self.should_speak(one.id, now, others=avatars),
            speak=speak,
            before=before.utterances,
        )

    def calibrate(
        self,
        avatar: str,
        *,
        questions: bytes | None = None,
        alpha: float | None = None,
        on_progress: "Callable[[int, int], None]" = lambda _done, _total: None,
    ) -> "Calibration":
        """Find how sure an avatar must be to answer, and let that count."""
        from salon.corpus.filters import Where
        from salon.experts import abstention, calibrating

        profile = self.profile(avatar)
        where = Where(avatar=profile.avatar)
        if questions is None:
            rule = self._answering.speaker(profile).allowed
            documents = [one for one in self.archive.documents() if rule.is_in_period(one)]
            probes = calibrating.make_probes(
                documents, lambda one: self.archive.get(one.text).content.decode()
            )
        else:
            probes = calibrating.read_probes(questions)
        made, _ = calibrating.calibrate(
            probes,
            kind=calibrating.MADE_KIND if questions is None else "labelled",
            alpha=alpha or profile.salon.grounding.alpha,
            search=lambda query, limit: self._passages(query, where, limit),
            selector=self.selector,
            abstention=abstention.shipped(),
            on_progress=on_progress,
        )
        if made is None:
            raise InvalidInput(
                f"{len(probes)} questions are too few, or too hard, to promise anything",
                hint="give more labelled questions, or a larger --alpha",
            )
        calibrating.save_calibration(self.archive, profile, made)
        return made

    def note_use(self, avatar: str, act: str, question: str, outcome: str) -> None:
        """Have a use of an avatar written to the audit log, soon."""
        from salon.conversation.use_log import make_use

        self._uses.note(make_use(avatar, act, question, outcome))

    def flush_uses(self) -> None:
        """Write the uses of avatars that wait for the audit log, now."""
        self._uses.flush()

    @cached_property
    def _uses(self) -> "UseLog":
        from salon.conversation.use_log import UseLog

        return UseLog(self.archive)

    def new_session(self) -> str:
        """Return the id of a session that nobody has used."""
        return RandomIds().new("session").replace("_", "-")

    def discussion(self, session: str) -> Discussion:
        """Return what was said in a session so far."""
        from salon.conversation.turns import as_session_id, discussion_of, walk_turns

        turns = list(walk_turns(self.archive, as_session_id(session)))
        return discussion_of(turns[::-1])

    def profile(self, avatar: str) -> "Profile":
        """Return the profile of an avatar, or raise `AvatarNotFound`."""
        from salon.experts.profile import get_profile

        return get_profile(self.archive, avatar)

    # What they stand on

    @cached_property
    def _answering(self) -> "Answering":
        from salon.experts import abstention
        from salon.experts.answering import Answering, Sources
        from salon.experts.calibrating import abstention_of
        from salon.grounding.citing import Citations

        return Answering(
            Sources(
                archive=self.archive,
                search=self._passages,
                selector=lambda: self.selector,
                verification=self._verification,
                citations=Citations(self.archive),
                abstention=lambda profile: abstention_of(
                    self.archive, profile, abstention.shipped()
                ),
                chat=lambda: self.chat,
                redirect=self._redirect,
                nearness=self._nearness,
                second_look=lambda: self._token_embedder,
                region=self.settings.companion.region,
            )
        )

    @cached_property
    def _verification(self) -> "Verification":
        from salon.grounding.citing import Citations
        from salon.grounding.verifying import Verification

        return Verification(Citations(self.archive), lambda: self.judge)

    @cached_property
    def judge(self) -> "Judge":
        """What says whether a text bears a claim out."""
        from salon.grounding.support import load_judge

        return load_judge(self._token_embedder)

    @cached_property
    def selector(self) -> "Selector":
        """What says which sentences answer a question."""
        from salon.grounding.support import load_selector

        return load_selector(self._token_embedder, self._reader)

    @cached_property
    def _reader(self) -> "PassageReader":
        from salon.providers.embedders.answer_reader import open_answer_reader

        return open_answer_reader()

    @cached_property
    def _token_embedder(self) -> Any:
        # Support was trained on this model, whatever finds passages.
        from salon.providers.embedders import open_embedder

        return open_embedder("embedded:minilm")

    def _passages(self, query: str, where: "Where", limit: int) -> "Sequence[FoundPassage]":
        return self.search(query, limit=limit, where=where).passages

    def _evidence(self, profile: "Profile", text: str, discussion: Discussion) -> "Evidence":
        from salon.experts.answering import names_of
        from salon.experts.questions import understand

        asked = understand(text, discussion, names=names_of(profile))
        return self._answering.evidence(profile, asked)

    def _redirect(self, profile: "Profile", query: str) -> str | None:
        """Return another avatar here whose corpus fits a question."""
        from salon.corpus.filters import Where
        from salon.experts.profile import get_profile, profile_ids

        best, name = _FITS, None
        for other in profile_ids(self.archive):
            if other == profile.id:
                continue
            found = get_profile(self.archive, other)
            passages = self._passages(query, Where(avatar=found.avatar), 1)
            if passages and passages[0].score > best:
                best, name = passages[0].score, found.name
        return name

    def _nearness(self, profile: "Profile", query: str) -> float:
        """Return the cosine of a question and the nearest field of an avatar."""
        fields = self._fields(profile.expertise or (profile.description,))
        return float((fields @ self.embedder.embed_query(query)).max())

    def _fields(self, names: tuple[str, ...]) -> "Vectors":
        if names not in self._known_fields:
            self._known_fields[names] = self.embedder.embed_passages(list(names))
        return self._known_fields[names]

    @cached_property
    def _known_fields(self) -> "dict[tuple[str, ...], Vectors]":
        return {}

    def _given(self, profile: "Profile", passages: "Sequence[Citation]") -> "list[FoundPassage]":
        from salon.experts.given import as_found

        return as_found(self.archive, passages, self._answering.speaker(profile).allowed)

    def _record(
        self, answered: "Answered", question: str, *, session: str | None, speaker: str
    ) -> None:
        from salon.conversation.turns import as_session_id, record_turn
        from salon.conversation.use_log import make_use
        from salon.core.clock import SystemClock, instant

        reply = answered.reply
        record_turn(
            self.archive,
            session=as_session_id(session or self.new_session()),
            speaker=speaker,
            message=question,
            replier=reply.avatar,
            reply={**asdict(reply), "stages": answered.stages()},
            citations=reply.citations,
            at=instant(SystemClock().now()),
            note=make_use(reply.avatar, "respond", question, reply.outcome),
        )
