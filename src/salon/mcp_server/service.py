"""What the avatar server needs of the app: one function for each tool, and the corpus behind it."""

from collections.abc import Sequence
from typing import Protocol

from salon.conversation.discussion import Discussion
from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.corpus.search import SearchAnswer
from salon.experts.replies import AvatarInfo, Reply, SpeakDecision
from salon.experts.speaking import Mode
from salon.grounding.reports import ResponseReport
from salon.mcp_server.assisting import AssistService


class AvatarService(AssistService, Protocol):
    """The part of the app that serves avatars."""

    @property
    def archive(self) -> Archive:
        """Return the archive."""
        ...

    def documents(self, *, avatar: str | None = None) -> list[Document]:
        """Return the documents of an avatar's corpus."""
        ...

    def query_corpus(
        self,
        avatar: str,
        query: str,
        *,
        context: str | None = None,
        limit: int = 5,
        threshold: float = 0.7,
    ) -> SearchAnswer:
        """Return the passages of an avatar's corpus that answer a query."""
        ...

    def respond(
        self,
        avatar: str,
        question: str,
        *,
        discussion: Discussion,
        passages: Sequence[Citation] | None = None,
    ) -> Reply:
        """Return a grounded reply, or an honest outcome."""
        ...

    def avatar_info(self, avatar: str) -> AvatarInfo:
        """Return who an avatar is and what it rests on."""
        ...

    def should_speak(
        self, avatar: str, discussion: Discussion, *, mode: Mode | None = None
    ) -> SpeakDecision:
        """Decide whether an avatar speaks now."""
        ...

    def verify_response(
        self,
        response: str,
        citations: Sequence[Citation],
        *,
        avatar: str | None = None,
        discussion: Discussion,
    ) -> ResponseReport:
        """Check a response with its citations."""
        ...
