"""What a person's other commands may do to a chapter, and what they are told."""

from pathlib import Path

import pytest

from salon.app import Salon
from salon.council.rounds import Phase
from salon.settings import Settings
from tests.cli.conftest import CommandLine
from tests.parts.council_homes import TOPIC_ID, copied, make_council_home, play_by_hand

CHAPTER = f"completed/{TOPIC_ID}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with a published chapter."""
    settings = make_council_home(tmp_path_factory.mktemp("handles") / "home")
    with Salon(settings) as salon:
        assert play_by_hand(salon).phase is Phase.PUBLISHED
    return settings


@pytest.fixture
def command(filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    home = tmp_path / "home"
    copied(filled, home)
    return CommandLine(home, monkeypatch)


def _round(command: CommandLine) -> str:
    [found] = command("council", "list", "--json").json["rounds"]
    return str(found["id"])


@pytest.mark.parametrize(
    "args",
    [
        ("set", CHAPTER, "free"),
        ("set", "council/evolution", "free"),
        ("set", "souls/active/I", "free"),
        ("rm", CHAPTER),
        ("rm", f"{CHAPTER}/record"),
        ("rename", CHAPTER, "mine"),
        ("rename", "free", "staging/mine"),
    ],
    ids=["set", "evolution", "soul", "rm", "rm-record", "rename", "rename-into"],
)
def test_handles_of_the_council_are_not_moved_by_hand(
    command: CommandLine, args: tuple[str, ...]
) -> None:
    command("archive", "add", "-", "--handle", "free", stdin=b"something")
    before = command("archive", "handle", "ls", "--json").json
    refused = command("archive", "handle", *args, "--json")
    assert (refused.code, refused.error["code"]) == (4, "not_allowed")
    assert "council" in refused.error["message"]
    assert refused.error["hint"]
    assert command("archive", "handle", "ls", "--json").json == before


def test_a_file_does_not_become_a_chapter_by_its_handle(command: CommandLine) -> None:
    refused = command("archive", "add", "-", "--handle", CHAPTER, "--json", stdin=b"# Forged")
    assert (refused.code, refused.error["code"]) == (4, "not_allowed")
    assert command("council", "verify", _round(command)).code == 0


def test_whoever_takes_a_cited_document_away_is_told_which_chapter_it_was_for(
    command: CommandLine,
) -> None:
    chapter = command("archive", "get", CHAPTER).text
    cited: list[str] = []
    others: list[str] = []
    for one in command("corpus", "ls", "--json").json:
        (cited if one["text"] in chapter else others).append(one["id"])
    quiet = command("corpus", "rm", others[0], "--json")
    assert (quiet.json["chapters"], quiet.errors) == ([], "")
    loud = command("corpus", "rm", cited[0], "--json")
    assert loud.json["chapters"] == [CHAPTER]
    assert loud.errors == f"warning: {CHAPTER} cites it and no longer verifies\n"
    failed = command("council", "verify", _round(command))
    assert failed.code == 6
    assert failed.text.count("the card is no document's text") == 1


def test_a_published_draft_is_shown_with_whose_words_it_quotes(command: CommandLine) -> None:
    round_ = command("council", "show", _round(command), "--json").json["round"]
    chosen = round_["published"]["candidate"]
    shown = command("council", "show", _round(command), "--draft", chosen).text
    title = command("corpus", "ls", "--json").json[0]["provenance"]["title"]
    assert f" \u2014 {title}" in shown


def test_a_round_that_is_not_there_is_looked_for_in_the_list(command: CommandLine) -> None:
    missing = command("council", "show", "round_0", "--json")
    assert missing.error["code"] == "round_not_found"
    assert missing.error["hint"] == "`salon council list` names them"
