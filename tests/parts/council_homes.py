"""A home whose made-up documents are enough for a round, and seats that play it by hand."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from salon.app import Salon
from salon.core.documents import DocumentType
from salon.corpus.ingest import Details, Failed
from salon.corpus.search import FoundPassage
from salon.corpus.sources import FileSource
from salon.council import souls
from salon.council.rounds import Phase, Round, Scorecard, Verdict
from salon.council.seats import Seat
from salon.council.soul_cards import EVOLUTION, EVOLUTION_CARD
from salon.settings import Settings, load_settings

TOPIC = "The lamp and the keepers of Skerry Head"
TOPIC_ID = "the-lamp-and-the-keepers-of-skerry-head"
FOG = "Signals in fog"
FAR, PAST = "2999-01-01T00:00:00.000000Z", "2001-01-01T00:00:00.000000Z"
GOOD = Scorecard(accuracy=9, depth=8, pedagogy=9)
POOR = Scorecard(accuracy=3, depth=3, pedagogy=3)
DOCUMENTS = {
    "lamp.txt": (
        "The lamp at Skerry Head",
        1891,
        """The lamp at Skerry Head burned colza oil until 1874. In that year the keepers changed to
        paraffin, which cost half as much and gave a whiter light. A keeper trimmed the wick
        every four hours through the night. If the wick was not trimmed, soot covered the lens
        and the light could not be seen beyond six miles. The lens itself was cleaned each
        morning with spirit of wine and a linen cloth. Two keepers shared the night, and the
        second was woken by a bell beside his bed.""",
    ),
    "fog.txt": (
        "Signals in fog",
        1902,
        """In fog a light is of little use, because drops of water scatter it. The station at
        Skerry Head therefore had a bell, and from 1896 a siren that was driven by compressed
        air. The siren sounded for five seconds in every ninety. Masters of ships complained
        that they could not judge its distance. Tests in 1899 showed that sound carries further
        against a light wind than against a strong one. A keeper wrote down the hour at which
        each fog began and ended.""",
    ),
    "stores.txt": (
        "Stores and accounts of the northern stations",
        1888,
        """Each station received its oil, flour and coal by a tender that came twice a year. The
        tender could land only in calm weather, so a station kept stores for nine months. The
        keeper entered every gallon of oil in a book that the inspector read. In 1886 the
        stations used eleven thousand gallons of paraffin together. A keeper who could not
        account for his oil lost a month of pay. Vegetables were grown in gardens that were
        walled against the salt wind.""",
    ),
    "keepers.txt": (
        "Letters of keepers",
        1910,
        """A keeper served at least two years before he was given a station of his own. He learned
        to trim a wick, to wind the clockwork and to write the journal. The clockwork that
        turned the lens had to be wound every thirty minutes. One keeper wrote that the
        loneliness was easier to bear than the cold. Families lived at the station if it stood
        on land, but not on a rock. The journal recorded the weather, the hours of the lamp and
        every ship that passed.""",
    ),
    "reform.txt": (
        "A report on the lights",
        1921,
        """The report of 1921 recommended that lights on land be made automatic. Acetylene lamps
        with a sun valve needed no keeper, since the valve closed at dawn. The commissioners
        found that an automatic light cost one third of a manned one. They warned that an
        automatic light cannot notice a ship in distress. For this reason the rock stations kept
        their crews until better signals were found. By 1930 nine of the fourteen land stations
        had no keeper.""",
    ),
}


def make_council_home(home: Path, **flags: object) -> Settings:
    """Make a home with these documents, indexed."""
    home.mkdir(parents=True, exist_ok=True)
    settings = load_settings(home=home, environment={}, flags=flags)
    with Salon(settings) as salon:
        for name, (title, year, text) in DOCUMENTS.items():
            path = home / name
            path.write_text(" ".join(text.split()) + "\n", "utf-8")
            about = Details(title=title, year=year, type=DocumentType.ARTICLE)
            (result,) = salon.ingest([FileSource(path=path)], details=about)
            assert not isinstance(result, Failed)
        salon.index()
    return settings


def copied(settings: Settings, home: Path, **flags: object) -> Settings:
    """Return the settings of a copy of a home that nobody has open."""
    shutil.copytree(settings.home, home)
    return load_settings(home=home, environment={}, flags=flags)


def play_by_hand(salon: Salon, scores: Scorecard = GOOD, *, topic: str = TOPIC) -> Round:
    """Open a round of five outside seats and play it to its end."""
    opened = salon.open_round(topic, holders=dict.fromkeys(Seat, "outside"))
    while not salon.round(opened.id).is_over:
        for seat in Seat:
            act(salon, seat, opened.id, scores)
        salon.council_desk.advance(opened.id)
    return salon.round(opened.id)


def act(salon: Salon, seat: Seat, round_id: str, scores: Scorecard = GOOD) -> None:
    """Do all that is due from a seat."""
    skills = salon.seat_skills(seat)
    _, brief = skills.brief(round_id=round_id)
    assert brief is not None
    for due in brief.due:
        if due in {"draft", "refinement"}:
            found = skills.search(TOPIC).passages
            text = quoting_draft(f"Lamps {due} {list(Seat).index(seat)}", found)
            skills.submit_candidate(text, topic_id=brief.topic_id)
        elif due == "fusion":
            text = brief.fusing[0].markdown
            skills.submit_fusion([str(one) for one in brief.collaborators], text)
        elif brief.phase is Phase.CRITIQUE:
            skills.peer_review(due, "Say when.")
        else:
            skills.cast_vote(due, scores, "It is quoted.")


def propose_retirement(salon: Salon, seat: Seat, *, due_at: str = FAR) -> None:
    """Put a seat to the vote, whatever its record is."""
    state = souls.propose(
        salon._soul_keeper.state(),
        seat,
        review="review_1",
        finished=0,
        blind_spots=("all",),
        goal="Links",
        due_at=due_at,
    )
    _put(salon, state)


def vacate(salon: Salon, seat: Seat, *, due_at: str = FAR) -> None:
    """Have the four others retire a seat, whatever its record is."""
    propose_retirement(salon, seat)
    keeper = salon._soul_keeper
    for survivor in keeper.state().survivors:
        keeper.vote_retirement(survivor, Verdict.UP)
    _put(salon, replace(keeper.state(), due_at=due_at))


def _put(salon: Salon, state: souls.Evolution) -> None:
    salon.archive.put(EVOLUTION, EVOLUTION_CARD.write(asdict(state)))


def quoting_draft(title: str, passages: Sequence[FoundPassage], *, most: int = 6) -> str:
    """Return a draft of whole sentences that passages have, each proven by its place."""
    lines: list[str] = []
    notes: list[str] = []
    for passage in passages:
        for sentence in sentences_of(passage.content):
            mark = len(notes) + 1
            place = passage.start + len(passage.content[: passage.content.index(sentence)].encode())
            end = place + len(sentence.encode())
            lines.append(f"{sentence}[^{mark}]")
            notes.append(f"[^{mark}]: {json.dumps(sentence)} card:{passage.hash}#{place}-{end}")
            if len(notes) == most:
                break
        if len(notes) == most:
            break
    return "\n".join([f"# {title}", "", "## What is known", "", " ".join(lines), "", *notes, ""])


def sentences_of(text: str) -> list[str]:
    """Cut a passage of these documents into its sentences; what it only begins is left out."""
    found = [one.strip() for one in text.replace("\n", " ").split(". ")]
    return [f"{one.rstrip('.')}." for one in found if one[:1].isupper() and len(one) > 20]
