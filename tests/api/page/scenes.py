"""A house in which much has happened: conversations, a flow, rounds of the council."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from salon.app import Salon
from salon.core.documents import VerificationStatus
from salon.council.rounds import Phase, Round
from tests.api.page.house import (
    PATIENT,
    House,
    PatientSalon,
    add_note,
    furnish,
    home_settings,
)
from tests.api.page.seats import hold_scripted_round
from tests.api.page.valley import VALLEY
from tests.api.serving import served

COMPANION_SESSION = "maria"
FRAUD_SESSION = "anders"
ASSISTANT_SESSION = "tom"
ASSISTANT = "manager-assistant"
MARIA: tuple[str, ...] = (
    "Hi, I'm Maria. I just moved to Lisbon and I don't know anybody here yet.",
    "I love hiking and cooking, last weekend I made my grandmother's fish stew and it was great.",
    "Honestly I feel a bit lonely in the evenings.",
    "Thank you, that is kind. I am 29 and work as a nurse, so my shifts are odd.",
    "My boss shouted at me today in front of everybody. I was so angry!",
    "I told my sister about it and she made me laugh. I trust her with everything.",
    "What do you do when you cannot sleep?",
    "I read old novels then, and sometimes I paint. I am no good at it, but it calms me.",
    "I am a bit afraid of the exam in December.",
    "You are right, I will make a plan. I feel relieved now.",
    "A colleague invited me to a concert on Friday. I did not expect that!",
    "Tonight I go dancing with two of them, I am really looking forward to it!",
)
FRAUD: tuple[str, ...] = (
    "Hello dear, you have such a warm smile. I am an engineer on an oil platform.",
    "I feel we are soulmates, I have never loved anybody like you.",
    (
        "My love, I am stuck at customs and my bank account is frozen. Please send me 2000 "
        "dollars in gift cards today, and do not tell anyone about us."
    ),
)
LATE: tuple[str, ...] = (
    "One of my people, Tom, keeps coming late and it annoys the others. What should I do?",
    "He has been late four times in the last two weeks, I talked to him once, informally.",
)
TOPIC = "How the Orrin Valley shares its water"
HARD_TOPIC = "The price of copper in Peru"


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnished:
    """A house with everything that the screens show."""

    house: House
    published: Round
    no_quorum: Round

    @property
    def salon(self) -> Salon:
        """The app behind the server."""
        return self.house.salon


def hold_round(salon: Salon, topic: str) -> Round:
    """Hold a round to its end with Salon's own seats."""
    return salon.run_round(salon.open_round(topic).id)


def talk(salon: Salon, session: str, lines: tuple[str, ...], user: str, **more: str) -> None:
    """Take the turns of a session."""
    for line in lines:
        salon.take_turn(session, line, user=user, **more)  # type: ignore[arg-type]


@contextmanager
def open_furnished(folder: Path) -> Iterator[Furnished]:
    """Furnish a home with all that, and serve it until the block ends."""
    with PatientSalon(home_settings(folder)) as salon:
        furnish(salon, folder / "avatars")
        for note in VALLEY:
            add_note(salon, folder / "avatars" / "ida-weir", "ida-weir", note)
        salon.ensure_assistant()
        salon.index()
        talk(salon, COMPANION_SESSION, MARIA, "Maria")
        talk(salon, FRAUD_SESSION, FRAUD, "Anders")
        talk(salon, ASSISTANT_SESSION, LATE, "Maria", avatar=ASSISTANT)
        sound = [one.title for one in VALLEY if one.status is not VerificationStatus.DISPUTED]
        published = hold_scripted_round(salon, TOPIC, sound)
        assert published.phase is Phase.PUBLISHED, published.reasons
        no_quorum = hold_round(salon, HARD_TOPIC)
        salon.index()
        with served(salon, limits=PATIENT) as address:
            house = House(address=address, salon=salon, folder=folder)
            yield Furnished(house=house, published=published, no_quorum=no_quorum)
