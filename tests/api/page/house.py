"""A small real home behind a real server: three experts with documents, and the companion."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salon.api.access import Door
from salon.api.limits import Limits
from salon.app import Salon
from salon.core.documents import DocumentType, VerificationStatus
from salon.core.ids import AvatarId
from salon.corpus.ingest import Details, Failed
from salon.corpus.sources import FileSource
from salon.experts.avatars import AvatarPlace
from salon.experts.profile import make_profile
from salon.settings import Settings, load_settings
from tests.api.serving import Address, served
from tests.corpus.samples import pdf

if TYPE_CHECKING:
    from salon.blackboard.steps import Step

PATIENT = Limits(rate=1000.0, burst=10_000)


STEP_S = 60.0


class PatientSalon(Salon):
    """The app, whose steps are given up later: what a page shows must not hang on how fast it is.

    A step of a second or two is late on a machine that has much else to do, and then its reading
    is, rightly, not known. That has tests of its own, with steps that hang.
    """

    def _companion_steps(self) -> "tuple[Step[Any], ...]":
        return tuple(replace(one, timeout_s=STEP_S) for one in super()._companion_steps())


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A document of an avatar; several pages make it a PDF."""

    title: str
    year: int
    pages: tuple[str, ...]
    status: VerificationStatus = VerificationStatus.PENDING
    url: str | None = None
    archive_url: str | None = None


def _words(text: str) -> str:
    return " ".join(text.split())


def _profile(id_: str, name: str, about: str, expertise: list[str], last: int) -> dict[str, Any]:
    return {
        "id": id_,
        "name": name,
        "description": about,
        "expertise": expertise,
        "corpus": {
            "description": f"Notes of {name}.",
            "dateRange": {"start": "1890-01-01", "end": f"{last}-12-31"},
            "sources": [],
        },
        "systemPrompt": {
            "identity": f"You represent the notes of {name}.",
            "tone": "Plain and patient.",
            "constraints": [],
            "citationStyle": "As I wrote in my note.",
        },
        # These tests are about what a page shows, not about how sure one must be to answer.
        "salon": {"grounding": {"threshold": 0.1}},
    }


IDA = _profile(
    "ida-weir",
    "Ida Weir",
    "A keeper of canals who wrote about sharing water.",
    ["irrigation", "shared water", "canal maintenance"],
    1910,
)
TOMAS = _profile(
    "tomas-brand",
    "Tomas Brand",
    "A keeper of the light who wrote about signals, storms and oil.",
    ["lighthouses", "signals at sea", "storms"],
    1921,
)
MIRELA = _profile(
    "mirela-sand",
    "Mirela Sand",
    "A keeper of bees who wrote about swarms and winter stores.",
    ["beekeeping", "swarms", "honey"],
    1934,
)
NOTES: dict[str, tuple[Note, ...]] = {
    "ida-weir": (
        Note(
            title="On keeping a canal",
            year=1901,
            status=VerificationStatus.VERIFIED,
            url="https://example.org/canal",
            archive_url="https://example.org/archive/canal",
            pages=(
                _words(
                    """A canal that everyone uses and nobody mends will silt within three winters.
                    We agreed that each household gives two days of digging in March. Whoever sends
                    no digger pays the wage of one. In eleven years the fund never ran dry. The
                    bell rings when the upper gate is opened, so that nobody below is surprised by
                    the water."""
                ),
            ),
        ),
        Note(
            title="Water in a dry year",
            year=1907,
            url="https://example.org/drought",
            pages=(
                _words(
                    """In the drought of 1904 we cut every turn at the gate to half an hour. The old
                    men drew lots for the first night. A quarrel over water is best settled at the
                    gate, by daylight, with both neighbours present."""
                ),
            ),
        ),
        Note(
            title="Letters to the bailiff",
            year=1909,
            status=VerificationStatus.DISPUTED,
            pages=("The bailiff asked for a map of the ditches, and I drew him one in ink.",),
        ),
    ),
    "tomas-brand": (
        Note(
            title="The log of the north light",
            year=1912,
            status=VerificationStatus.VERIFIED,
            url="https://example.org/log",
            pages=(
                "The lamp burns two pints of oil in a summer night\nand four in a winter night.",
                (
                    "Before a storm the glass falls and the gulls come inland.\n"
                    "In a storm I trim the wick every half hour."
                ),
                "Three short flashes warn a ship away from the reef.",
            ),
        ),
    ),
    "mirela-sand": (
        Note(
            title="A year with bees",
            year=1930,
            status=VerificationStatus.VERIFIED,
            pages=(
                _words(
                    """My neighbour keeps “grey ladies”, gentle bees from Kärnten. A swarm leaves
                    the hive on the first warm morning after rain. A colony needs thirty pounds of
                    honey to live through the winter. Smoke calms the bees because they fill
                    themselves with honey."""
                ),
            ),
        ),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A server and the app behind it."""

    address: Address
    salon: Salon
    folder: Path

    @property
    def url(self) -> str:
        """Where the page is."""
        return self.address.http


def furnish(salon: Salon, folder: Path) -> None:
    """Store the profiles and their documents, and make them searchable."""
    for profile in (IDA, TOMAS, MIRELA):
        place = AvatarPlace(archive=salon.archive, folder=folder / profile["id"])
        place.folder.mkdir(parents=True)
        place.take_in(make_profile(profile))
        for note in NOTES[profile["id"]]:
            add_note(salon, place.folder, profile["id"], note)
    salon.ensure_companion()
    salon.index()


def add_note(salon: Salon, folder: Path, avatar: str, note: Note) -> None:
    """Store a document of an avatar, with what somebody said of it."""
    name = note.title.lower().replace(" ", "-")
    path = folder / f"{name}.{'pdf' if len(note.pages) > 1 else 'txt'}"
    path.write_bytes(pdf(note.pages) if len(note.pages) > 1 else note.pages[0].encode())
    about = Details(
        title=note.title,
        year=note.year,
        type=DocumentType.ARTICLE,
        url=note.url,
        archive_url=note.archive_url,
    )
    (result,) = salon.ingest([FileSource(path=path)], details=about)
    assert not isinstance(result, Failed)
    document = result.document.id
    salon.add_to_corpus(AvatarId(avatar), [document])
    if note.status is not VerificationStatus.PENDING:
        salon.archive.write(
            lambda tx: tx.set_verification(document, note.status, notes="seen in the original")
        )


def home_settings(folder: Path) -> Settings:
    """Return the settings of a home in a folder, whoever runs this."""
    return load_settings(home=folder / "home", environment={}, flags={"actor": "librarian"})


@contextmanager
def open_house(folder: Path, *, door: Door | None = None) -> Iterator[House]:
    """Furnish a home in a folder and serve it until the block ends."""
    with PatientSalon(home_settings(folder)) as salon:
        furnish(salon, folder / "avatars")
        with served(salon, limits=PATIENT, door=door) as address:
            yield House(address=address, salon=salon, folder=folder)
