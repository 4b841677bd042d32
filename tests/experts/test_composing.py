"""Composers: quotes that are whole and framed, and models that are held to them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from salon.conversation.discussion import NOTHING_SAID
from salon.core.chat import ChatAnswer, ChatRequest, ChatUsage, Speaker
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.experts.composing import chat, extractive
from salon.experts.composing.extractive import Voice
from salon.experts.evidence import Quote
from salon.experts.profile import make_profile
from salon.experts.questions import understand
from salon.grounding.verifying import Speaker as Saying
from salon.grounding.verifying import Verification
from tests.grounding.test_verifying import WordsOnly
from tests.grounding.worlds import World, make_world

MEMBERS = "The garden has thirty members."
BEDS = "Each of them waters one bed every evening."
WARNINGS = "Those who do not water lose their bed after two warnings."
BUILT = "The bridge was built in 1874 by the people of the valley."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path)
    yield made
    made.archive.close()


def _quote(world: World, document: Document, text: str, answers: float) -> Quote:
    cited = world.cite(document, text)
    return Quote(
        text=text,
        hash=cited.hash,
        start=cited.start,
        end=cited.end,
        source=cited.source,
        document=document.id,
        derived=False,
        passage_score=0.6,
        answers=answers,
    )


def _cite(world: World, quote: Quote) -> tuple[Document, Citation]:
    document = world.archive.get_document(quote.document)
    return document, world.citations.make(document, quote.start, quote.end)


def _holds(world: World, response: str, citations: tuple[Citation, ...]) -> bool:
    check = Verification(world.citations, WordsOnly)
    speaker = Saying(names=frozenset({"Ada Berg"}))
    return check.verify(response, citations, speaker=speaker).holds


@pytest.mark.parametrize(
    ("voice", "begins"),
    [
        (Voice(kind="first_person", name="Ada Berg"), "In “Rules of the Garden” (1901) I wrote: “"),
        (
            Voice(kind="student", name="Ada Berg"),
            "In “Rules of the Garden” (1901) Ada Berg wrote: “",
        ),
    ],
)
def test_quotes_are_whole_framed_and_numbered(world: World, voice: Voice, begins: str) -> None:
    quotes = [
        _quote(world, world.garden, WARNINGS, 0.9),
        _quote(world, world.bridge, BUILT, 0.8),
        _quote(world, world.garden, MEMBERS, 0.7),
    ]
    draft = extractive.compose(quotes, voice, lambda one: _cite(world, one))
    assert draft.response.startswith(begins)
    assert [one.quote for one in draft.citations] == [WARNINGS, BUILT, MEMBERS]
    assert "And in “A Speech at the Bridge” (1880): “" in draft.response
    assert [one.citations for one in draft.claims] == [(0,), (1,), (2,)]
    assert _holds(world, draft.response, draft.citations)


def test_sentences_that_follow_each_other_are_quoted_in_one_piece(world: World) -> None:
    quotes = [_quote(world, world.garden, BEDS, 0.9), _quote(world, world.garden, MEMBERS, 0.8)]
    draft = extractive.compose(
        quotes, Voice(kind="first_person", name="x"), lambda one: _cite(world, one)
    )
    (citation,) = draft.citations
    assert citation.quote == f"{MEMBERS} {BEDS}"
    assert _holds(world, draft.response, draft.citations)


def test_the_best_quotes_are_chosen_and_nothing_twice(world: World) -> None:
    best = _quote(world, world.garden, WARNINGS, 0.9)
    same = replace(best, start=best.start + 1, text=WARNINGS[1:])
    weak = _quote(world, world.bridge, BUILT, 0.2)
    good = _quote(world, world.garden, BEDS, 0.6)
    assert extractive.choose([best, same, weak, good], 3) == [best, good]
    assert extractive.choose([best, good], 1) == [best]
    assert extractive.choose([best, good], 3, said=[f"He said: “{WARNINGS}”"]) == [good]


def test_a_text_without_a_year_and_a_speech_have_their_own_frames(world: World) -> None:
    spoken = extractive.compose(
        [_quote(world, world.bridge, BUILT, 0.9)],
        Voice(kind="first_person", name="x"),
        lambda one: _cite(world, one),
        opening="Bob, to your question:",
    )
    assert spoken.response.startswith(
        "Bob, to your question: In “A Speech at the Bridge” (1880) I said:"
    )


class Says:
    """A model that says what it was told to."""

    address = "scripted:test"

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatAnswer:
        self.asked.append(request)
        return ChatAnswer(text=self.text, model=self.address, usage=ChatUsage(requests=1))

    def stream(self, request: ChatRequest) -> Iterator[str]:
        yield self.complete(request).text

    @property
    def usage(self) -> ChatUsage:
        return ChatUsage(requests=len(self.asked))

    def close(self) -> None:
        pass


PROFILE = make_profile(
    {
        "id": "ada-berg",
        "name": "Ada Berg",
        "description": "A gardener.",
        "corpus": {"description": "Texts.", "sources": []},
        "systemPrompt": {
            "identity": "You speak from the texts of Ada Berg.",
            "tone": "plain",
            "constraints": ["invent nothing"],
            "citationStyle": "In X I wrote",
        },
    }
)


def _by_model(world: World, text: str) -> tuple[str | None, tuple[Citation, ...], Says]:
    model = Says(text)
    cited = (world.cite(world.garden, WARNINGS), world.cite(world.bridge, BUILT))
    check = Verification(world.citations, WordsOnly)
    draft = chat.compose(
        model,
        PROFILE,
        understand("What happens to those who do not water?"),
        discussion=NOTHING_SAID,
        citations=cited,
        check=check.verify,
    )
    return (None, (), model) if draft is None else (draft.response, draft.citations, model)


@pytest.mark.requirement("cap/concepts/no-general-knowledge")
def test_what_a_model_adds_of_its_own_is_cut(world: World) -> None:
    response, citations, _ = _by_model(
        world,
        "The bridge was built in 1874 [2]. Water boils at 100 degrees [1]. Paris is in France.",
    )
    assert response == "The bridge was built in 1874. [1]"
    assert [one.quote for one in citations] == [BUILT]


def test_a_quotation_that_a_model_changed_is_cut(world: World) -> None:
    # Every word of it stands in the source, so that a judge of words has nothing against it.
    changed = "“The people of the valley was built in 1874 by the bridge.” [2]"
    response, citations, _ = _by_model(world, f"{changed} The bridge was built in 1874 [2].")
    assert response == "The bridge was built in 1874. [1]"
    assert [one.quote for one in citations] == [BUILT]
    assert _by_model(world, changed)[0] is None
    assert _by_model(world, f"“{BUILT}” [2]")[0] == f"“{BUILT}” [1]"


@pytest.mark.parametrize(
    "text", ["", "NOTHING", "nothing.", "Paris is in France [1].", "I agree with everybody. [9]"]
)
def test_where_nothing_is_borne_out_nothing_is_left(world: World, text: str) -> None:
    assert _by_model(world, text)[0] is None


def test_a_model_gets_evidence_as_data_and_its_persona_apart(world: World) -> None:
    _, _, model = _by_model(world, "NOTHING")
    (request,) = model.asked
    system, user = request.messages
    assert (system.speaker, user.speaker) == (Speaker.SYSTEM, Speaker.USER)
    assert "Ada Berg" in system.content
    assert "Never deny that you are an AI" in system.content
    assert WARNINGS not in system.content
    assert WARNINGS in user.content
