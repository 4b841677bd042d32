"""A chat model in a seat: it searches first, then writes, and its words are never taken on trust.

What it writes becomes a draft only through numbers of evidence, so an invented citation cannot be
made; what it says of others and of itself is read as strict JSON. An answer of another form is
asked for once more; after that the seat has failed, and the driver decides what follows.
"""

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from salon.core.archive import Archive
from salon.core.chat import ChatMessage, ChatModel, ChatRequest, Speaker
from salon.core.errors import NotFound, ProviderFailed
from salon.council import model_prompts as prompts
from salon.council.drafts import LINKING, Section, Sentence, write_draft
from salon.council.holders import Brief, Graded, Shown
from salon.council.model_evidence import Evidence, Search
from salon.council.rounds import Phase, Scorecard
from salon.council.seats import Seat

Form = TypeVar("Form", bound=BaseModel)

LONG, SHORT = 4_000, 1_200
"""Tokens that a model may use for a draft, and for anything else."""
MOST_FEEDBACK, MOST_RATIONALE, MOST_SOUL = 6_000, 3_000, 8_000
_LONGEST_HEADING, _LONGEST_TITLE, _LONGEST_SHOWN = 100, 160, 20_000
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_MARK = re.compile(r"\[\^?[\w\s,.-]{0,40}\]")


class ModelSeat:
    """A seat held by a chat model."""

    def __init__(self, seat: Seat, chat: ChatModel, *, search: Search, archive: Archive) -> None:
        self._seat = seat
        self._chat = chat
        self._search = search
        self._archive = archive
        self._wishes: dict[str, tuple[str, ...]] = {}

    def draft(self, brief: Brief) -> str:
        """Write a first draft from what was searched for."""
        evidence = self._evidence(brief)
        return self._write(brief, evidence, self._sent_back(brief))

    def review(self, brief: Brief, candidate: Shown) -> str:
        """Criticise a peer's draft."""
        question = prompts.REVIEW.format(
            topic=self._topic(brief),
            draft=_shown("draft", candidate.markdown),
            evidence=self._evidence(brief).numbered(),
        )
        said = self._ask(prompts.Feedback, brief.soul, question, SHORT)
        return _clean(said.feedback)[:MOST_FEEDBACK]

    def refine(self, brief: Brief) -> str:
        """Write the final text from one's own draft and what peers said of it."""
        if brief.own is None:
            return self.draft(brief)
        evidence = self._evidence(brief, brief.own)
        said = "\n\n".join(brief.own.critiques)
        before = "\n".join(
            (
                "Your own draft:",
                _shown("draft", brief.own.markdown),
                "What peers said of it:",
                _shown("critiques", said or "nothing"),
                self._sent_back(brief),
            )
        )
        return self._write(brief, evidence, before)

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        """Grade a peer's final text."""
        is_fusion = brief.phase is Phase.RATIFICATION
        question = prompts.GRADE.format(
            topic=self._topic(brief),
            draft=_shown("draft", candidate.markdown),
            verdict='"up" or "down"' if is_fusion else "null",
        )
        given = self._ask(prompts.Grades, brief.soul, question, SHORT)
        return Graded(
            scores=Scorecard(accuracy=given.accuracy, depth=given.depth, pedagogy=given.pedagogy),
            rationale=_clean(given.rationale)[:MOST_RATIONALE],
            verdict=given.as_verdict if is_fusion else None,
        )

    def fuse(self, brief: Brief) -> str:
        """Join the two texts of a runoff."""
        evidence = self._evidence(brief, *brief.fusing)
        before = "\n".join(
            (
                "Two texts are to become one:",
                *(_shown("draft", one.markdown) for one in brief.fusing),
                self._sent_back(brief),
            )
        )
        return self._write(brief, evidence, before)

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        """Propose a system prompt for a seat that was retired."""
        missed = "\n".join(f"- {spot}" for spot in blind_spots)
        material = "\n".join(
            (
                "What the old soul said:",
                _shown("soul", old_soul or "nothing"),
                "What the council missed:",
                _shown("notes", missed or "nothing"),
            )
        )
        question = prompts.SOUL.format(goal=" ".join(goal.split()), material=material)
        return _clean(self._ask(prompts.Soul, "", question, SHORT).soul)[:MOST_SOUL]

    # Asking

    def _ask(self, form: type[Form], soul: str, question: str, tokens: int) -> Form:
        """Return the model's answer in a form; one that is malformed is asked for once more."""
        messages: tuple[ChatMessage, ...] = (
            ChatMessage(speaker=Speaker.SYSTEM, content=prompts.rules_for(self._seat, soul)),
            ChatMessage(speaker=Speaker.USER, content=question),
        )
        for _ in range(2):
            text = self._chat.complete(ChatRequest(messages=messages, max_tokens=tokens)).text
            try:
                return form.model_validate_json(_bare(text))
            except ValidationError:
                messages += (
                    ChatMessage(speaker=Speaker.ASSISTANT, content=text[:_LONGEST_SHOWN]),
                    ChatMessage(speaker=Speaker.USER, content=prompts.INVALID_JSON),
                )
        raise ProviderFailed(
            f"{self._chat.address} did not answer in the form that was asked for",
            hint="a larger model keeps to a schema better",
        )

    def _evidence(self, brief: Brief, *drafts: Shown) -> Evidence:
        """Return what the archive says: what drafts cite already, the topic, the model's wishes."""
        evidence = Evidence(self._archive)
        for one in drafts:
            evidence.add_notes(one.markdown)
        evidence.search(self._search, (brief.topic, *self._queries(brief)))
        if not len(evidence):
            raise NotFound(
                "the archive has nothing on this",
                hint="add documents on the topic, or choose another one",
            )
        return evidence

    def _queries(self, brief: Brief) -> tuple[str, ...]:
        """Return what the model wants to look up, asked once for a topic."""
        if brief.topic not in self._wishes:
            question = prompts.QUERIES.format(topic=self._topic(brief))
            asked = self._ask(prompts.Queries, brief.soul, question, SHORT)
            self._wishes[brief.topic] = tuple(_clean(one) for one in asked.queries)
        return self._wishes[brief.topic]

    def _topic(self, brief: Brief) -> str:
        return prompts.fenced("topic", " ".join(brief.topic.split()))

    def _sent_back(self, brief: Brief) -> str:
        """Say why the last text was sent back."""
        if not brief.failings:
            return ""
        lines = [f"- {one.message}: {one.excerpt}" for one in brief.failings]
        return "Your last text was sent back:\n" + _shown("failings", "\n".join(lines)) + "\n"

    # Writing

    def _write(self, brief: Brief, evidence: Evidence, before: str) -> str:
        question = prompts.DRAFT.format(
            topic=self._topic(brief),
            evidence=evidence.numbered(),
            before=f"{before.strip()}\n" if before.strip() else "",
        )
        draft = self._ask(prompts.WrittenDraft, brief.soul, question, LONG)
        sections = [
            section for one in draft.sections if (section := _section(one, evidence)).paragraphs
        ]
        if not sections:
            raise ProviderFailed(
                f"{self._chat.address} wrote nothing that the evidence bears out",
                hint="a sentence counts only with the number of its evidence",
            )
        return write_draft(_named(draft.title or brief.topic, _LONGEST_TITLE), sections)


def _section(written: prompts.WrittenSection, evidence: Evidence) -> Section:
    """Return a section with those sentences that name evidence."""
    sentences = tuple(
        sentence for one in written.sentences if (sentence := _sentence(one, evidence)) is not None
    )
    heading = _named(written.heading, _LONGEST_HEADING) or "What the sources say"
    return Section(heading=heading, paragraphs=(sentences,) if sentences else ())


def _sentence(written: prompts.Written, evidence: Evidence) -> Sentence | None:
    found = (evidence.find(number) for number in dict.fromkeys(written.evidence))
    citations = tuple(one for one in found if one is not None)
    text = " ".join(_MARK.sub(" ", _clean(written.text)).split())
    if not citations:
        return Sentence(text=text) if text in LINKING else None
    return Sentence(text=text or citations[0].quote, citations=citations)


def _named(text: str, longest: int) -> str:
    """Return a title or a heading that names, and states nothing."""
    return " ".join(_MARK.sub(" ", _clean(text)).replace("#", " ").split())[:longest].rstrip(" .!")


def _shown(name: str, text: str) -> str:
    return prompts.fenced(name, text[:_LONGEST_SHOWN])


def _bare(text: str) -> str:
    """Return what stands inside a code fence, if that is all there is."""
    found = _FENCE.match(text)
    return found[1] if found else text


def _clean(text: str) -> str:
    """Return a text without characters that nothing can store or show."""
    kept = text.encode(errors="ignore").decode()
    return "".join(one for one in kept if one.isprintable() or one in "\n\t").strip()
