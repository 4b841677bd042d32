"""`salon archive …`, driven as a person drives it."""

import base64
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from salon.core.hashing import content_hash
from tests.cli.conftest import CommandLine


def test_a_file_becomes_a_card_that_comes_back_byte_for_byte(
    salon: CommandLine, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 50
    (tmp_path / "data.bin").write_bytes(content)
    added = salon("archive", "add", str(tmp_path / "data.bin"), "--json")
    assert added.json == [
        {"file": str(tmp_path / "data.bin"), "hash": content_hash(content), "created": True}
    ]
    assert salon("archive", "get", content_hash(content)).output == content
    target = tmp_path / "copy.bin"
    assert salon("archive", "get", content_hash(content), "-o", str(target)).code == 0
    assert target.read_bytes() == content
    found = salon("archive", "get", content_hash(content)[:10], "--json").json
    assert base64.b64decode(found["base64"]) == content
    assert found["size"] == len(content)


def test_known_content_is_said_to_be_known(salon: CommandLine) -> None:
    salon("archive", "add", "-", stdin=b"once")
    again = salon("archive", "add", "-", stdin=b"once")
    assert again.code == 0
    assert "(known)" in again.text
    assert salon("archive", "stats", "--json").json["cards"] == 1


def test_a_folder_is_walked_and_a_second_run_adds_nothing(
    salon: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "deep" / "b.txt").write_text("b")
    first = salon("archive", "add", str(folder), "--json").json
    second = salon("archive", "add", str(folder), "--json").json
    assert [row["created"] for row in first] == [True, True]
    assert [row["created"] for row in second] == [False, False]


def test_a_handle_moves_only_from_where_it_was_seen(salon: CommandLine) -> None:
    one, two = content_hash(b"one"), content_hash(b"two")
    assert (
        salon("archive", "add", "-", "--handle", "a/b", "--expect", "none", stdin=b"one").code == 0
    )
    stale = salon(
        "archive", "add", "-", "--handle", "a/b", "--expect", two, "--json", stdin=b"three"
    )
    assert stale.code == 4
    assert stale.error["code"] == "handle_moved"
    assert stale.error["details"]["actual"] == one
    assert salon("archive", "get", content_hash(b"three")).code == 3, "the refused card is not kept"
    salon("archive", "add", "-", "--handle", "a/b", "--expect", one, stdin=b"two")
    steps = salon("archive", "history", "a/b", "--json").json
    assert [(step["previous"], step["current"]) for step in steps] == [(one, two), (None, one)]
    assert salon("archive", "handle", "show", "a/b", "--json").json["current"] == two


def test_handles_are_listed_renamed_pruned_and_removed(salon: CommandLine) -> None:
    for name, content in (("x/1", b"1"), ("x/2", b"2"), ("y", b"3"), ("y", b"4")):
        salon("archive", "add", "-", "--handle", name, stdin=content)
    names = [row["name"] for row in salon("archive", "handle", "ls", "x/", "--json").json]
    assert names == ["x/1", "x/2"]
    assert salon("archive", "handle", "rename", "y", "z").code == 0
    assert salon("archive", "handle", "rename", "z", "x/1").code == 4
    assert salon("archive", "handle", "prune", "z", "--json").json["removed"] == 1
    assert salon("archive", "history", "z").text == "no steps kept\n"
    assert salon("archive", "handle", "rm", "z").code == 0
    assert salon("archive", "handle", "show", "z").code == 3
    assert salon("archive", "handle", "set", "w", "x/1").code == 0
    assert salon("archive", "get", "w").output == b"1"


def test_deleting_is_refused_with_the_reason_and_forced_with_a_tombstone(
    salon: CommandLine,
) -> None:
    salon("archive", "add", "-", "--handle", "kept", stdin=b"kept")
    refused = salon("archive", "rm", "kept", "--reason", "mistake", "--json")
    assert (refused.code, refused.error["details"]["handles"]) == (4, ["kept"])
    forced = salon("archive", "rm", "kept", "--reason", "it was private", "--force", "--json")
    assert forced.json["handles_removed"] == ["kept"]
    gone = salon("archive", "get", content_hash(b"kept"), "--json")
    assert (gone.code, gone.error["code"]) == (3, "card_deleted")
    assert gone.error["details"]["reason"] == "it was private"


def test_an_export_travels_through_a_pipe_and_comes_back_the_same(
    salon: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    salon("archive", "add", "-", "--handle", "n", stdin=b"first")
    salon("archive", "add", "-", "--handle", "n", stdin=b"second")
    exported = salon("archive", "export", "-").output
    other = CommandLine(tmp_path / "other", monkeypatch)
    done = other("archive", "import", "-", "--json", stdin=exported)
    assert (done.json["cards_added"], done.json["handles"]) == (2, 1)
    assert other("archive", "export", "-").output == exported
    file = tmp_path / "all.export"
    assert salon("archive", "export", str(file)).code == 0
    assert file.read_bytes() == exported
    cut = other("archive", "import", "-", "--json", stdin=exported[:-20])
    assert (cut.code, cut.error["code"]) == (2, "invalid_export")


def test_verify_exits_with_6_and_names_the_changed_card(salon: CommandLine) -> None:
    salon("archive", "add", "-", stdin=b"true words")
    assert "everything agrees" in salon("archive", "verify").text
    database = sqlite3.connect(salon.home / "salon.db")
    with database:
        database.execute("UPDATE card SET content = ?", (b"false words",))
    database.close()
    found = salon("archive", "verify", "--json")
    assert found.code == 6
    assert found.json["problems"][0]["kind"] == "bad_card"
    assert found.json["problems"][0]["subject"] == content_hash(b"true words")
    assert salon("archive", "get", content_hash(b"true words")).code == 6


def test_what_another_program_wrote_is_adopted(salon: CommandLine) -> None:
    salon("archive", "add", "-", stdin=b"ours")
    database = sqlite3.connect(salon.home / "salon.db")
    with database:
        database.execute(
            "INSERT INTO card VALUES (?, ?, ?)",
            (content_hash(b"theirs"), b"theirs", "sha256|2026-01-01T00:00:00.000000Z|UTC"),
        )
    database.close()
    assert salon("archive", "verify").code == 6
    assert salon("archive", "adopt", "--json").json == {"cards": 1, "handles": 0}
    assert salon("archive", "verify").code == 0


def test_a_place_that_cannot_be_written_is_one_clear_error(
    salon: CommandLine, tmp_path: Path
) -> None:
    salon("archive", "add", "-", "--handle", "n", stdin=b"x")
    nowhere = str(tmp_path / "no" / "such" / "folder" / "file")
    for args in (
        ("archive", "get", "n", "-o", nowhere),
        ("archive", "export", nowhere),
        ("audit", "checkpoint", "-o", nowhere),
    ):
        found = salon(*args)
        assert (found.code, "[outside_failed]" in found.errors) == (5, True)
        assert nowhere.rsplit("/", 1)[0] in found.errors


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("archive", "add", "no-such-file"), 3, "file_missing"),
        (("archive", "add", "-"), 2, "empty_content"),
        (("archive", "add", "-", "--handle", "me@home"), 2, "invalid_handle"),
        (("archive", "add", "-", "--handle", "a" * 256), 2, "invalid_handle"),
        (("archive", "add", "-", "--expect", "none"), 2, "invalid_input"),
        (("archive", "get", "0" * 64), 3, "card_not_found"),
        (("archive", "get", "no/such/handle"), 3, "handle_not_found"),
        (("archive", "get", "00000000"), 3, "card_not_found"),
        (("archive", "import", "no-such-file"), 3, "file_missing"),
        (("archive", "import", "-"), 2, "invalid_export"),
        (("archive", "rm", "0" * 64, "--reason", "x"), 3, "card_not_found"),
        (("archive", "verify", "--checkpoint", "no-such-file"), 2, "invalid_input"),
        (("corpus", "show", "doc_none"), 3, "document_not_found"),
        (("corpus", "add", "no-such-file"), 3, "file_missing"),
        (("corpus", "add", "ftp://example.org/x"), 2, "forbidden_address"),
    ],
)
def test_bad_input_gets_one_clear_error(
    salon: CommandLine, args: tuple[str, ...], code: int, said: str
) -> None:
    plain = salon(*args)
    assert plain.code == code
    assert f"[{said}]" in plain.errors
    as_json = salon(*args, "--json")
    assert as_json.code == code
    assert said in as_json.errors + as_json.text


def test_the_hint_of_a_missing_handle_is_a_command_that_works(salon: CommandLine) -> None:
    missing = salon("archive", "get", "nosuch")
    assert "`salon archive handle ls`" in missing.errors
    assert salon("archive", "handle", "ls").code == 0


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:hunter2@127.0.0.1/salon",
        "postgresql+asyncpg://u:hunter2@127.0.0.1/salon",
        "sqlite:///hunter2/salon.db",
    ],
)
@pytest.mark.parametrize("way", ["flag", "variable"])
def test_an_address_is_no_archive_and_makes_no_file(
    salon: CommandLine, tmp_path: Path, address: str, way: str
) -> None:
    salon.patch.chdir(tmp_path)
    if way == "flag":
        ran = salon("--archive", address, "archive", "stats")
    else:
        with salon.patch.context() as patch:
            patch.setenv("SALON_ARCHIVE", address)
            ran = salon("archive", "stats")
    assert ran.code == 2
    assert "[invalid_settings]" in ran.errors
    assert "give the path of a file" in ran.errors
    assert "hunter2" not in ran.errors + ran.text
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    environment = os.environ | {"SALON_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "salon.cli.main", "archive"]
    big = subprocess.run(
        [*command, "add", "-"],
        input=b"x" * 3_000_000,
        env=environment,
        capture_output=True,
        check=True,
    )
    card = big.stdout.split()[0].decode()
    with subprocess.Popen(
        [*command, "get", card], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_help_and_version_load_nothing_heavy() -> None:
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import sys; sys.argv = ['salon', '--help']\n"
                "from salon.cli.main import main\n"
                "try: main()\nexcept SystemExit: pass\n"
                "print(sorted({'apsw', 'pydantic', 'rich', 'lxml', 'httpcore'} & set(sys.modules)))"
            ),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout.endswith("[]\n")
