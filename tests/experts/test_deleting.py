"""Deleting avatars: what goes, what another needs, and what stays on record."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.errors import AvatarNotFound
from salon.core.ids import AvatarId
from salon.corpus.filters import Where
from salon.experts.profile import find_profile
from tests.cli.conftest import CommandLine
from tests.experts.valley import ADAS, OLES, open_valley, profile_of


@pytest.fixture
def valley(tmp_path: Path) -> Iterator[Salon]:
    with open_valley(tmp_path) as opened:
        yield opened


def test_the_names_go_and_the_documents_stay(valley: Salon) -> None:
    before = {one.id for one in valley.archive.documents()}
    valley.note_use("ada-berg", "describe", "", "answered")
    gone = valley.delete_avatar("ada-berg")
    assert set(gone.handles) == {"avatars/ada-berg/profile", "avatars/ada-berg/corpus"}
    assert (gone.documents, len(gone.kept)) == ((), len(ADAS))
    assert {one.id for one in valley.archive.documents()} == before
    assert find_profile(valley.archive, "ada-berg") is None
    assert [one.id for one in valley.avatars()] == ["ole-holm"]
    with pytest.raises(AvatarNotFound):
        valley.respond("ada-berg", "When was the bridge built?")
    assert valley.verify_audit().seq > 0


def test_documents_go_unless_another_avatar_needs_them(valley: Salon) -> None:
    shared = next(one for one in valley.archive.documents() if one.provenance.year == 1880)
    valley.add_to_corpus(AvatarId("ole-holm"), [shared.id])
    gone = valley.delete_avatar("ada-berg", documents=True)
    assert len(gone.documents) == len(ADAS) - 1
    assert gone.kept == (shared.id,)
    titles = {one.provenance.title for one in valley.archive.documents()}
    assert titles == {"A Speech at the Bridge", *(text[1] for text in OLES)}
    assert valley.archive.has(shared.text)
    found = valley.search("bridge", where=Where(avatar=AvatarId("ole-holm"))).passages
    assert found[0].source == "A Speech at the Bridge"


def test_the_folder_goes_unless_files_are_in_it(valley: Salon) -> None:
    valley.new_avatar(profile_of("eva-lund", "Eva Lund"))
    folder = valley.avatar_folder("eva-lund")
    assert folder.is_dir()
    assert valley.delete_avatar("eva-lund").folder_left is None
    assert not folder.exists()
    valley.new_avatar(profile_of("eva-lund", "Eva Lund"))
    (folder / "sources" / "mine.txt").write_text("mine")
    assert valley.delete_avatar("eva-lund").folder_left == str(folder)
    assert (folder / "sources" / "mine.txt").read_text() == "mine"
    assert not valley.ensure_avatar("eva-lund")
    assert find_profile(valley.archive, "eva-lund") is None


def test_who_is_not_there_cannot_be_deleted(valley: Salon) -> None:
    with pytest.raises(AvatarNotFound, match="nobody"):
        valley.delete_avatar("nobody")


@pytest.fixture
def salon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    with open_valley(home):
        pass
    return CommandLine(home, monkeypatch)


def test_the_command_asks_first(salon: CommandLine) -> None:
    refused = salon("avatar", "delete", "ada-berg", stdin=b"n\n")
    assert refused.code == 130
    assert "Delete the avatar ada-berg?" in refused.errors
    assert salon("avatar", "delete", "ada-berg", "--json").error["message"].endswith("--yes")
    assert len(salon("avatar", "list", "--json").json) == 2
    done = salon("avatar", "delete", "ada-berg", "--documents", stdin=b"y\n")
    assert done.code == 0
    assert "ada-berg is deleted" in done.text
    assert f"{len(ADAS)} documents went with it" in done.text


def test_the_command_says_what_stays(salon: CommandLine) -> None:
    done = salon("avatar", "delete", "ole-holm", "--yes")
    assert "1 document stayed in the archive" in done.text
    gone = salon("avatar", "delete", "ada-berg", "--yes", "--json").json
    assert (gone["avatar"], gone["documents"]) == ("ada-berg", [])
    assert salon("avatar", "delete", "ada-berg", "--yes").code != 0
