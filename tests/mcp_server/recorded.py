"""A service that notes what it is asked and gives answers that were put into it."""

from collections.abc import Sequence
from typing import Any

from salon.conversation.discussion import Discussion
from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.core.hashing import CardHash
from salon.core.outcomes import Outcome
from salon.corpus.search import SearchAnswer
from salon.experts.replies import AvatarInfo, Claim, Reply, SpeakDecision
from salon.gate.forms import Form, FormAnswer
from salon.grounding.reports import (
    CitationCheck,
    ClaimCheck,
    Fault,
    ResponseReport,
    Support,
    Verdict,
)
from salon.parts.assistant_turns import AssistedTurn
from salon.retrieval.passage_index import Coverage
from salon.retrieval.searcher import Timings
from tests.mcp_server.homes import AVATAR

LABEL = "AI avatar of Ida Weir: not Ida Weir."
CITATION = Citation(
    hash=CardHash("0" * 64), start=3, end=9, quote="a turn", source="On keeping a canal", page=None
)
REPLY = Reply(
    response="I wrote: “a turn” [1].",
    citations=(CITATION,),
    claims=(Claim(text="I wrote: “a turn” [1].", citations=(0,), support=0.9),),
    confidence="medium",
    outcome=Outcome.ANSWERED,
    ai_label=LABEL,
    avatar=AVATAR,
    composer="extractive",
    score=0.7,
)
CHECK = CitationCheck(
    citation=CITATION,
    verdict=Verdict.FABRICATED,
    fault=Fault.NO_SUCH_CARD,
    reason="the archive has no such card",
)
REPORT = ResponseReport(
    claims=(
        ClaimCheck(
            text="It silts.",
            verdict=Verdict.UNSUPPORTED,
            fault=Fault.NOT_BORNE_OUT,
            reason="the quoted text does not say so",
            citations=(CHECK,),
            support=Support(probability=0.2, against=("number differs",)),
        ),
        ClaimCheck(
            text="Well.", verdict=Verdict.SUPPORTED, fault=None, reason="claims nothing",
            citations=(), support=None,
        ),
    ),
    citations=(CHECK,),
)  # fmt: skip
NOTHING_FOUND = SearchAnswer(
    passages=(),
    mode="hybrid",
    coverage=Coverage(passages=0, with_vector=0, entries_behind=0),
    notes=("vectors are still being computed",),
    timings=Timings(),
)
INFO = AvatarInfo(
    id=AVATAR,
    name="Ida Weir",
    description="A keeper of canals.",
    expertise=("irrigation",),
    corpus_summary="Two notes.",
    corpus_size=120,
    document_count=2,
    verified_count=1,
    ai=True,
    ai_label=LABEL,
    period=(None, 1910),
    voice="student",
    tools=("query_corpus",),
)


class Recorded:
    """Answers as told; `asked` has every call."""

    def __init__(self, archive: Archive, documents: Sequence[Document] = ()) -> None:
        self.archive = archive
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.reply: Reply | Exception = REPLY
        self._documents = list(documents)

    def documents(self, *, avatar: str | None = None) -> list[Document]:
        return self._documents

    def query_corpus(self, avatar: str, query: str, **asked: Any) -> SearchAnswer:
        self._note("query", query=query, **asked)
        return NOTHING_FOUND

    def respond(self, avatar: str, question: str, **asked: Any) -> Reply:
        self._note("respond", question=question, **asked)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    def avatar_info(self, avatar: str) -> AvatarInfo:
        return INFO

    def should_speak(self, avatar: str, discussion: Discussion, **asked: Any) -> SpeakDecision:
        self._note("speak", discussion=discussion, **asked)
        return SpeakDecision(speak=False, score=0.2, reason="nobody asked", rule="mentioned")

    def verify_response(
        self, response: str, citations: Sequence[Citation], **asked: Any
    ) -> ResponseReport:
        self._note("verify", response=response, citations=citations, **asked)
        return REPORT

    # It is no assistant, so nobody gets here.

    def assist(self, session: str, message: str, *, avatar: str, user: str) -> AssistedTurn:
        raise NotImplementedError

    def flow_request(self, session: str) -> Form | None:
        raise NotImplementedError

    def answer_flow(
        self, session: str, answer: FormAnswer, *, avatar: str, user: str
    ) -> AssistedTurn:
        raise NotImplementedError

    def _note(self, what: str, **values: Any) -> None:
        self.asked.append((what, values))
