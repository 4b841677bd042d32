"""What the front door needs of the app: one function for each route."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from salon.api.rounds import RoundService
from salon.blackboard.replaying import Replayed
from salon.conversation.discussion import Discussion
from salon.conversation.turns import Turn
from salon.conversation.user_export import UserExport
from salon.core.archive import Archive
from salon.core.citations import Citation
from salon.core.documents import Document
from salon.core.events import Checkpoint
from salon.core.hashing import CardHash
from salon.corpus.filters import Where
from salon.corpus.search import SearchAnswer
from salon.experts.gathering import Contribution
from salon.experts.profile import Profile
from salon.experts.replies import AvatarInfo, Reply, SpeakDecision
from salon.experts.speaking import Mode
from salon.gate.forms import FormAnswer
from salon.grounding.reports import ResponseReport
from salon.parts.companion import CommandAnswer
from salon.parts.flows import FlowStanding
from salon.parts.measuring import Measurements
from salon.parts.proofs import GraphAround, Place
from salon.parts.sessions import SessionInfo, TurnReadings
from salon.retrieval.searcher import Mode as SearchMode
from salon.steps.wire_shapes import WireEvent


class TakenTurn(Protocol):
    """A turn that was taken and recorded."""

    @property
    def turn(self) -> Turn:
        """Return its record."""

    @property
    def reply(self) -> str:
        """Return what the avatar says."""

    @property
    def ai_label(self) -> str:
        """Return what says that an AI wrote it."""

    @property
    def events(self) -> tuple[WireEvent, ...]:
        """Return what is told to whoever listens."""


class ConversationService(Protocol):
    """The part of the app that holds conversations."""

    def take_turn(
        self,
        session: str,
        message: str,
        *,
        user: str,
        avatar: str | None = None,
        on_event: Callable[[WireEvent], None] | None = None,
    ) -> TakenTurn:
        """Take one turn of a session, with whichever avatar it is held."""

    def run_command(self, name: str, *, session: str, user: str) -> CommandAnswer:
        """Answer a command; it is no turn."""

    def events_after(self, session: str, event_id: int) -> tuple[WireEvent, ...]:
        """Return the events of a session that come after one, from the turns' records."""

    def latest_event_id(self, session: str) -> int:
        """Return the id of the latest event of a session, 0 where there is none."""

    def session_list(self, *, limit: int = 100, preset: str | None = None) -> list[SessionInfo]:
        """Return the sessions that went on last."""

    def session_turns(self, session: str) -> tuple[Turn, ...]:
        """Return the turns of a session, the first one first, or raise `NotFound`."""

    def session_readings(self, session: str, *, after: int = 0) -> list[TurnReadings]:
        """Return what the board held in each turn after one."""

    def feature_labels(self) -> dict[str, tuple[str, ...]]:
        """Return all labels that each feature may have."""

    def replay_session(self, session: str) -> Iterator[Replayed]:
        """Run every turn again and compare it with its record."""

    def forget_session(self, session: str) -> int:
        """Delete a session and all that only exists because of it."""

    def export_user(self, user: str) -> UserExport:
        """Return everything about a user, in one file."""

    def new_session(self) -> str:
        """Return the id of a session that nobody has used."""

    def flow_standing(self, session: str) -> FlowStanding:
        """Return where gate, flow and order of a session stand."""

    def answer_flow_of(
        self, session: str, answer: FormAnswer, *, user: str | None = None
    ) -> TakenTurn:
        """Answer the flow that waits in a session, as a turn."""

    def readiness(self) -> dict[str, str]:
        """Return what turns stand on, each with `ok` or what is wrong with it."""

    def measurements(self) -> Measurements:
        """Return what there is in this home and what waits, in numbers."""


class AvatarService(Protocol):
    """The part of the app that lets avatars answer."""

    def avatars(self) -> list[AvatarInfo]:
        """Describe every avatar."""

    def describe_avatar(self, avatar: str) -> AvatarInfo:
        """Return who an avatar is and what it rests on; nothing is noted of it."""

    def profile(self, avatar: str) -> Profile:
        """Return the profile of an avatar."""

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

    def respond(
        self,
        avatar: str,
        question: str,
        *,
        discussion: Discussion,
        passages: Sequence[Citation] | None = None,
        session: str | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return a grounded reply, or an honest outcome."""

    def should_speak(
        self,
        avatar: str,
        discussion: Discussion,
        *,
        mode: Mode | None = None,
        others: Sequence[str] = (),
    ) -> SpeakDecision:
        """Decide whether an avatar speaks now."""

    def gather(
        self,
        avatars: Sequence[str],
        topic: str,
        *,
        rounds: int = 2,
        facilitator: str = "Facilitator",
        session: str | None = None,
        before: Discussion = ...,
    ) -> Iterator[Contribution]:
        """Walk what each of several avatars does with a message."""

    def verify_response(
        self,
        response: str,
        citations: Sequence[Citation],
        *,
        avatar: str | None = None,
        discussion: Discussion,
    ) -> ResponseReport:
        """Check a response with its citations."""


class LibraryService(Protocol):
    """The part of the app that shows what there is: documents, cards, handles, the ledger."""

    @property
    def archive(self) -> Archive:
        """Return the archive."""

    def documents(self, *, avatar: str | None = None) -> list[Document]:
        """Return the documents of an avatar's corpus, or all of them."""

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: SearchMode = "hybrid",
        alpha: float = 0.5,
        threshold: float = 0.0,
        where: Where | None = None,
    ) -> SearchAnswer:
        """Return the passages that answer a query best."""

    def place_of(self, card: CardHash, start: int, end: int, *, width: int = 1_500) -> Place:
        """Return a span with the text around it."""

    def graph_of_entity(self, name: str, *, hops: int = 1, limit: int = 40) -> GraphAround:
        """Return what an entity is named together with."""

    def graph_of_passage(
        self, card: CardHash, start: int, end: int, *, limit: int = 40
    ) -> GraphAround:
        """Return the names in a span and what each is named together with."""

    def verify_audit(self) -> Checkpoint:
        """Check the audit chain and return its head, or raise `AuditBroken`."""


class Service(ConversationService, AvatarService, LibraryService, RoundService, Protocol):
    """The app as the front door sees it."""
