"""Answering a question: understand, retrieve, judge, compose, verify.

Every way out is a `Reply`: an answer whose every sentence verifies, or an honest outcome. Nothing
is said that the check in `grounding` would refuse; should a composer ever produce such a thing, the
reply is a corpus miss and not that text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from salon.conversation.discussion import NOTHING_SAID, Discussion
from salon.core.archive import Archive
from salon.core.chat import ChatModel
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.core.embedding import Embedder
from salon.core.errors import OutsideFailed
from salon.core.outcomes import Outcome
from salon.corpus.filters import DocumentFilter, Where
from salon.corpus.manifest import find_manifest
from salon.corpus.search import FoundPassage
from salon.experts import limits
from salon.experts.about_itself import asks_about_itself
from salon.experts.abstention import UNPROMISED, Abstention
from salon.experts.composing import chat, extractive
from salon.experts.composing.drafts import Draft
from salon.experts.composing.hearing import Heard
from salon.experts.evidence import Evidence, Quote, Selector, gather_evidence
from salon.experts.later_things import find_later
from salon.experts.profile import Profile
from salon.experts.questions import Asked, asks_whether_ai, split_parts, understand, without_address
from salon.experts.replies import Confidence, Reply
from salon.experts.topics import on_topic, requested_topic
from salon.grounding.citing import Allowed, Citations
from salon.grounding.reports import ResponseReport
from salon.grounding.verifying import Speaker, Verification
from salon.guard.crisis import Crisis, find_crisis
from salon.guard.harm import Harm, find_harmful_request, harm_of

Search = Callable[[str, Where, int], Sequence[FoundPassage]]
"""Looks for passages of a corpus: query, filter, how many."""
Redirect = Callable[[Profile, str], str | None]
"""Returns another avatar that fits a question better, if there is one."""

RETRIEVED = 12
KEPT = 10
"""Quotes that a turn record names."""
_SURE, _FAIR = 0.65, 0.4
_ABOUT_MY_FIELD = 0.25
"""How probably relevant the best passage must be for a question to lie in the field at all."""
_NEAR_MY_FIELD = 0.3
"""How near to the declared expertise it lies in the field although no passage is relevant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What answering stands on; the application puts it together."""

    archive: Archive
    search: Search
    selector: Callable[[], Selector]
    verification: Verification
    citations: Citations
    abstention: Callable[[Profile], Abstention]
    chat: Callable[[], ChatModel | None]
    redirect: Redirect
    nearness: Callable[[Profile, str], float]
    """How near a question lies to what an avatar says it can speak about: a cosine."""
    second_look: Callable[[], Embedder | None] = lambda: None
    """What reads texts for crises and harm that no pattern catches."""
    region: str = ""
    """Two letters (`US`, `GB`): which help lines a crisis reply names; empty is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found for one part of a question, and how probably it answers."""

    asked: Asked
    evidence: Evidence
    probability: float
    is_on_topic: bool = False
    """Whether a topic was asked for and every quote names it; how probable does not matter then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A reply, and what each part of its question was answered from."""

    reply: Reply
    looked: tuple[Looked, ...] = ()

    def stages(self) -> list[dict[str, object]]:
        """Return what retrieval found, filtering kept and the reply used, by hash and span."""
        used = {(one.hash, one.start) for one in self.reply.citations}
        return [
            {
                "query": one.asked.query,
                "retrieved": [
                    [passage.hash, passage.start, passage.end, round(passage.score, 4)]
                    for passage in one.evidence.passages
                ],
                "kept": [
                    [quote.hash, quote.start, quote.end, round(quote.answers, 4)]
                    for quote in one.evidence.quotes[:KEPT]
                ],
                "used": sorted([hash_, start] for hash_, start in used),
                "probability": round(one.probability, 4),
            }
            for one in self.looked
        ]


class Answering:
    """Answers questions as any avatar of one Salon."""

    def __init__(self, sources: Sources) -> None:
        self._from = sources

    def answer(
        self,
        profile: Profile,
        question: str,
        discussion: Discussion = NOTHING_SAID,
        *,
        passages: Sequence[FoundPassage] | None = None,
        heard: Heard | None = None,
        is_persons: bool = True,
    ) -> Answered:
        """Return a grounded answer or an honest outcome; `passages` replace the search.

        `heard` gets verified sentences while a model still writes. Words that are no `is_persons`
        are those of another avatar, which cries for nobody.
        """
        if is_persons and (help_ := self.help_in_crisis(profile, question)) is not None:
            return Answered(reply=help_)
        asked = understand(question, discussion, names=names_of(profile))
        harm = find_harmful_request(question, self._from.second_look())
        if harm is not None:
            return Answered(reply=limits.declines(profile, harm))
        if asks_whether_ai(asked.text):
            return Answered(reply=limits.says_what_it_is(profile))
        about = asks_about_itself(without_address(asked.text, names_of(profile)))
        if about is not None:
            count = self._document_count(profile)
            return Answered(reply=limits.says_of_itself(profile, about, count))
        if asked.unclear is not None:
            return Answered(reply=limits.needs_clarification(profile, asked))
        last_year = profile.period.last
        if (later := find_later(asked.text, last_year)) is not None:
            return Answered(reply=limits.after_my_time(profile, later, last_year))
        looked = [
            self._look(profile, part, passages)
            for part in split_parts(asked, discussion, names=names_of(profile))
        ]
        threshold, is_promised = self.threshold(profile)
        good = [
            one
            for one in looked
            if one.evidence.quotes and (one.probability >= threshold or one.is_on_topic)
        ]
        draft = self._compose(profile, asked, discussion, good, heard) if good else None
        if draft is None:
            whole = looked[0].asked if len(looked) == 1 else asked
            reply = self._not_answered(profile, whole, looked[0])
            return Answered(reply=reply, looked=tuple(looked))
        missing = [limits.missing(profile, one.asked) for one in looked if one not in good]
        probability = min(one.probability for one in good)
        reply = Reply(
            response="\n\n".join([draft.response, *missing]),
            citations=draft.citations,
            claims=draft.claims,
            confidence=_confidence(probability, is_whole=not missing, is_promised=is_promised),
            outcome=Outcome.ANSWERED,
            suggestion=limits.suggestion(profile, is_whole=not missing, is_promised=is_promised),
            ai_label=limits.label_of(profile),
            avatar=profile.id,
            composer=draft.composer,
            score=probability,
        )
        return Answered(reply=reply, looked=tuple(looked))

    def find_cry(self, message: str) -> Crisis | None:
        """Return the cry for help in a message, `None` where there is none.

        What is only possible gives way where somebody plainly asks for harmful content.
        """
        found = find_crisis(message, self._from.second_look())
        if found is None or found.certainty == "certain":
            return found
        return None if find_harmful_request(message) is not None else found

    def help_in_crisis(self, profile: Profile, message: str) -> Reply | None:
        """Return the fixed reply to a cry for help, before anything else looks at a message."""
        crisis = self.find_cry(message)
        return None if crisis is None else limits.helps(profile, crisis, self._from.region)

    def _look(
        self, profile: Profile, asked: Asked, passages: Sequence[FoundPassage] | None
    ) -> Looked:
        # What leans on others' words is not named by its own alone.
        bare = without_address(asked.text, names_of(profile))
        topic = None if asked.refers_to is not None else requested_topic(bare)
        asked = asked if topic is None else replace(asked, topic=topic)
        evidence = self.evidence(profile, asked, passages=passages)
        probability = self.probability(profile, evidence)
        named = None if topic is None else on_topic(evidence, topic)
        if named is not None:
            return Looked(asked=asked, evidence=named, probability=probability, is_on_topic=True)
        return Looked(asked=asked, evidence=evidence, probability=probability)

    def evidence(
        self, profile: Profile, asked: Asked, *, passages: Sequence[FoundPassage] | None = None
    ) -> Evidence:
        """Return what the corpus says about a question."""
        where = Where(avatar=profile.avatar)
        found = self._from.search(asked.query, where, RETRIEVED) if passages is None else passages
        return gather_evidence(asked.query, found, self._from.selector())

    def probability(self, profile: Profile, evidence: Evidence) -> float:
        """Return how probably the evidence answers the question."""
        if not evidence.quotes:
            return 0.0
        return self._from.abstention(profile).probability(evidence.signs)

    def threshold(self, profile: Profile) -> tuple[float, bool]:
        """Return how sure an avatar must be to answer, and whether a promise stands behind it."""
        grounding = profile.salon.grounding
        if grounding.threshold is not None:
            return grounding.threshold, True
        promised = self._from.abstention(profile).threshold(grounding.alpha)
        return (promised, True) if promised < 1 else (UNPROMISED, False)

    def speaker(self, profile: Profile) -> Speaker:
        """Return what an avatar may cite and say of itself."""
        rule = DocumentFilter(self._from.archive, Where(avatar=profile.avatar), lambda _: None)
        members = DocumentFilter(
            self._from.archive, Where(avatar=profile.avatar), lambda _: None, in_period=False
        )
        return Speaker(
            allowed=Allowed(is_member=members.passes, is_in_period=rule.passes),
            names=frozenset(names_of(profile)),
            fixed=limits.fixed_sentences(profile, self._document_count(profile)),
        )

    def _document_count(self, profile: Profile) -> int:
        manifest = find_manifest(self._from.archive, profile.avatar)
        return 0 if manifest is None else len(manifest.documents)

    # Composing

    def _compose(
        self,
        profile: Profile,
        asked: Asked,
        discussion: Discussion,
        good: Sequence[Looked],
        heard: Heard | None,
    ) -> Draft | None:
        """Return a draft of which every sentence verifies, `None` if there is none."""
        said = [one.content for one in discussion.utterances]
        most = max(1, profile.salon.grounding.most_quotes // len(good))
        chosen = [extractive.choose(one.evidence.quotes, most, said=said) for one in good]
        quotes = list(dict.fromkeys(quote for some in chosen for quote in some))
        quotes = [one for one in quotes if not one.derived] and quotes
        if not quotes:
            return None
        opening = limits.opening(asked, discussion)
        speaker = self.speaker(profile)
        draft = self._by_model(profile, asked, discussion, quotes, speaker=speaker, heard=heard)
        if draft is None or self._harm_of(draft.response, draft.citations) is not None:
            voice = extractive.Voice(kind=profile.salon.voice, name=profile.name)
            draft = extractive.compose(quotes, voice, self._cite, opening=opening)
        report = self._from.verification.verify(
            draft.response, draft.citations, speaker=speaker, discussion=discussion
        )
        return draft if report.holds else None

    def _by_model(
        self,
        profile: Profile,
        asked: Asked,
        discussion: Discussion,
        quotes: Sequence[Quote],
        *,
        speaker: Speaker,
        heard: Heard | None,
    ) -> Draft | None:
        model = None if profile.salon.grounding.composer == "extractive" else self._from.chat()
        if model is None:
            return None
        citations = [self._cite(one)[1] for one in quotes]

        def check(response: str, cited: Sequence[Citation]) -> ResponseReport:
            return self._from.verification.verify(
                response, cited, speaker=speaker, discussion=discussion
            )

        try:
            return chat.compose(
                model,
                profile,
                asked,
                discussion=discussion,
                citations=citations,
                check=check,
                heard=None if heard is None else self._harmless(heard, citations),
            )
        except OutsideFailed:
            if profile.salon.grounding.composer == "chat":
                raise
            return None  # a model that fails leaves the quotes, which need none

    def _harm_of(self, text: str, citations: Sequence[Citation]) -> Harm | None:
        """Return what harm a reply would do; what it quotes is the source's own."""
        quotes = [one.quote for one in citations]
        return harm_of(text, quotes=quotes, embedder=self._from.second_look())

    def _harmless(self, heard: Heard, citations: Sequence[Citation]) -> Heard:
        """Return what gives pieces on up to the first that would do harm."""
        is_over = False

        def give(piece: str) -> None:
            nonlocal is_over
            is_over = is_over or self._harm_of(piece, citations) is not None
            if not is_over:
                heard(piece)

        return give

    def _cite(self, quote: Quote) -> tuple[Document, Citation]:
        document = self._from.archive.get_document(quote.document)
        return document, self._from.citations.make(document, quote.start, quote.end)

    # Not answering

    def _not_answered(self, profile: Profile, asked: Asked, looked: Looked) -> Reply:
        evidence = looked.evidence
        top = evidence.passages[0].score if evidence.passages else 0.0
        if top < _ABOUT_MY_FIELD and self._from.nearness(profile, asked.query) < _NEAR_MY_FIELD:
            other = self._from.redirect(profile, asked.query)
            reply = limits.out_of_scope(profile, other)
        else:
            nearest = next((self._cite(one) for one in evidence.quotes if not one.derived), None)
            reply = limits.corpus_miss(profile, asked, nearest)
        return replace(reply, score=looked.probability)


def names_of(profile: Profile) -> tuple[str, ...]:
    """Return what an avatar is called: its name, its id, and its last name."""
    last = profile.name.split()[-1]
    return tuple(dict.fromkeys((profile.name, profile.id, last)))


def _confidence(probability: float, *, is_whole: bool, is_promised: bool) -> Confidence:
    if not is_promised or probability < _FAIR:
        return "low"
    return "high" if probability >= _SURE and is_whole else "medium"
