"""Homes for the front door: with a companion alone, and the one that the examples speak of."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from salon.api import examples
from salon.app import Salon
from salon.core.documents import DocumentType, VerificationStatus
from salon.core.errors import NotFound
from salon.core.ids import AvatarId
from salon.corpus.ingest import Details, Ingested
from salon.corpus.sources import FileSource
from salon.experts.profile import make_profile
from salon.settings import load_settings

DRY_YEAR = (
    "In the drought of 1904 we cut every turn at the gate to half an hour. The old men drew lots "
    "for the first night. A quarrel over water is best settled at the gate, by daylight, with both "
    "neighbours present. Orla Brandt wrote every turn into the Gate Book.\n"
)
OTTERS = (
    "The otters of the Alder sleep in dens under the roots of old trees. "
    "An otter eats about a kilogram of fish on every day of the year.\n"
)
OTHER = "ole-berg"
CASE = ("My employee Sam was late three times.", "We talked about it on Monday.")
TO_A_DRAFT = ("yes", "the second one", "Sam Hill", "skip")


@contextmanager
def companion_home(home: Path) -> Iterator[Salon]:
    """Open Salon in a home of its own."""
    with Salon(load_settings(home=home, environment={})) as salon:
        yield salon


@contextmanager
def example_home(home: Path) -> Iterator[Salon]:
    """Open the home of the examples: two experts, a companion and an assistant with sessions."""
    flags = {"actor": "anna", "actions": {"time_zone": "America/New_York"}}
    with Salon(load_settings(home=home, environment={}, flags=flags)) as salon:
        _expert(salon, examples.AVATAR, "Ida Weir", {
            examples.TITLE: (1901, examples.TEXT), "Water in a dry year": (1907, DRY_YEAR),
        })  # fmt: skip
        _expert(salon, OTHER, "Ole Berg", {"On Otters": (1890, OTTERS)})
        salon.index()
        for message in ("Good morning!", "I painted the door green."):
            salon.take_turn(examples.SESSION, message, user=examples.USER)
        draft_a_call(salon)
        yield salon


def draft_a_call(salon: Salon, session: str = examples.ASSISTED_SESSION) -> None:
    """Bring a session with the assistant to the point where a draft waits for approval."""
    salon.ensure_assistant()
    with suppress(NotFound):
        salon.forget_session(session)
    for message in (*CASE, *TO_A_DRAFT):
        salon.take_turn(session, message, user=examples.USER, avatar="manager-assistant")


def _expert(salon: Salon, id_: str, name: str, texts: dict[str, tuple[int, str]]) -> None:
    salon.new_avatar(
        make_profile(
            {
                "id": id_,
                "name": name,
                "description": "Somebody who wrote about sharing water.",
                "expertise": ["irrigation", "shared water", "canal maintenance"],
                "corpus": {
                    "description": "Notes on water.",
                    "dateRange": {"start": "1880-01-01", "end": "1910-12-31"},
                    "sources": [],
                },
                "systemPrompt": {
                    "identity": f"You represent the notes of {name}.",
                    "tone": "Plain and patient.",
                    "constraints": ["Speak of what you wrote."],
                    "citationStyle": "As I wrote in my note.",
                },
                "salon": {"grounding": {"threshold": 0.1}},
            }
        )
    )
    for title, (year, text) in texts.items():
        path = salon.settings.home / f"{year}.txt"
        path.write_text(text, "utf-8")
        about = Details(
            title=title, year=year, type=DocumentType.ARTICLE, url="https://notes.example/canal"
        )
        (result,) = salon.ingest([FileSource(path=path)], details=about)
        assert isinstance(result, Ingested)
        document = result.document.id
        salon.add_to_corpus(AvatarId(id_), [document])
        if year == 1901:
            salon.archive.write(
                lambda tx, one=document: tx.set_verification(  # type: ignore[misc]
                    one, VerificationStatus.VERIFIED, notes="seen in the original"
                )
            )
