"""A home with one avatar whose corpus is made up, for tests and for the conformance run."""

from pathlib import Path
from typing import Any

from salon.app import Salon
from salon.core.documents import DocumentType, VerificationStatus
from salon.core.ids import AvatarId
from salon.corpus.ingest import Details, Failed
from salon.corpus.sources import FileSource
from salon.experts.avatars import AvatarPlace
from salon.experts.profile import make_profile
from salon.settings import Settings, load_settings

AVATAR = "ida-weir"
PROFILE: dict[str, Any] = {
    "id": AVATAR,
    "name": "Ida Weir",
    "description": "A keeper of canals who wrote about sharing water.",
    "expertise": ["irrigation", "shared water", "canal maintenance"],
    "corpus": {
        "description": "Two notes on canals, 1901 and 1907.",
        "dateRange": {"start": "1900-01-01", "end": "1910-12-31"},
        "sources": [],
    },
    "systemPrompt": {
        "identity": "You represent the notes of Ida Weir.",
        "tone": "Plain and patient.",
        "constraints": ["Speak of canals you kept, not of those you did not."],
        "citationStyle": "As I wrote in my note.",
    },
    # These tests are about the way to an answer, not about how sure one must be to give it.
    "salon": {"grounding": {"threshold": 0.1}},
}
NOTES = {
    "canal.txt": (
        "On keeping a canal",
        1901,
        """A canal that everyone uses and nobody mends will silt within three winters. We agreed
        that each household gives two days of digging in March. Whoever sends no digger pays the
        wage of one. In eleven years the fund never ran dry. The bell rings when the upper gate is
        opened, so that nobody below is surprised by the water.""",
    ),
    "drought.txt": (
        "Water in a dry year",
        1907,
        """In the drought of 1904 we cut every turn at the gate to half an hour. The old men drew
        lots for the first night. A quarrel over water is best settled at the gate, by daylight,
        with both neighbours present. Nobody was fined that summer, because everybody could see
        the gauge, “the brass one”.""",
    ),
}


def fill_home(settings: Settings, folder: Path, profile: dict[str, Any] | None = None) -> None:
    """Store the profile and its two documents, the first of them verified."""
    with Salon(settings) as salon:
        place = AvatarPlace(archive=salon.archive, folder=folder)
        place.take_in(make_profile(PROFILE | (profile or {})))
        for name, (title, year, text) in NOTES.items():
            path = folder / name
            path.write_text(" ".join(text.split()) + "\n", "utf-8")
            about = Details(title=title, year=year, type=DocumentType.ARTICLE)
            (result,) = salon.ingest([FileSource(path=path)], details=about)
            assert not isinstance(result, Failed)
            document = result.document.id
            salon.add_to_corpus(AvatarId(AVATAR), [document])
            if year == 1901:
                salon.archive.write(
                    lambda tx, one=document: tx.set_verification(  # type: ignore[misc]
                        one, VerificationStatus.VERIFIED, notes="seen in the original"
                    )
                )
        salon.index()


def make_home(home: Path, profile: dict[str, Any] | None = None) -> Settings:
    """Make a home at a path and return its settings."""
    home.mkdir(parents=True, exist_ok=True)
    settings = load_settings(home=home, environment={})
    fill_home(settings, home, profile)
    return settings
