"""`salon corpus …`, `salon read`, `salon settings` and the tour."""

import sqlite3
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from salon.core.hashing import content_hash
from tests.cli.conftest import CommandLine


def _library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "essay.md").write_text("# On rain\n\nIt falls.\n\n## Later\n\nIt dries.\n")
    canvas = Canvas(str(folder / "paper.pdf"))
    canvas.drawString(72, 720, "The first page speaks.")
    canvas.showPage()
    canvas.showPage()
    canvas.drawString(72, 720, "The third page answers.")
    canvas.showPage()
    canvas.save()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing follows")
    return folder


def test_a_folder_becomes_documents_and_what_fails_is_named(
    salon: CommandLine, tmp_path: Path
) -> None:
    folder = _library(tmp_path)
    first = salon("corpus", "add", str(folder), "--type", "paper", "--year", "1999", "--json")
    assert first.code == 2
    results = first.json["results"]
    failed = [row for row in results if "error" in row]
    assert [Path(row["source"]).name for row in failed] == ["broken.pdf"]
    assert "broken.pdf" in failed[0]["error"]["message"]
    again = salon("corpus", "add", str(folder), "--json").json["results"]
    assert [row["already_there"] for row in again if "error" not in row] == [True, True]
    listed = salon("corpus", "ls", "--json").json
    assert [row["provenance"]["year"] for row in listed] == [1999, 1999]
    assert salon("archive", "verify").code == 0


def test_pages_in_the_text_are_the_true_pages(salon: CommandLine, tmp_path: Path) -> None:
    found = salon("read", str(_library(tmp_path) / "paper.pdf"), "--json").json
    text = found["text"].encode()
    spoken = {
        segment["page"]: text[segment["start"] : segment["end"]].decode().strip()
        for segment in found["segments"]
    }
    assert spoken[1] == "The first page speaks."
    assert spoken[3] == "The third page answers."
    assert "[page 3" in salon("read", str(tmp_path / "library" / "paper.pdf")).text


def test_every_judgement_on_a_document_is_kept(salon: CommandLine, tmp_path: Path) -> None:
    source = _library(tmp_path) / "essay.md"
    added = salon("corpus", "add", str(source), "--author", "A. Cloud", "--doi", "10.1/x", "--json")
    document = added.json["results"][0]["document"]["id"]
    salon("corpus", "mark", document, "verified", "--notes", "read against the print")
    salon("corpus", "mark", document, "disputed", "--notes", "page 2 is missing")
    shown = salon("corpus", "show", document, "--json").json
    assert [row["status"] for row in shown["verifications"]] == ["disputed", "verified", "pending"]
    assert shown["document"]["verification"]["notes"] == "page 2 is missing"
    assert "A. Cloud" in salon("corpus", "show", document).text


def test_a_removed_document_leaves_its_cards_unless_told(
    salon: CommandLine, tmp_path: Path
) -> None:
    source = _library(tmp_path) / "essay.md"
    card = content_hash(source.read_bytes())
    first = salon("corpus", "add", str(source), "--json").json["results"][0]["document"]["id"]
    assert salon("corpus", "rm", first).code == 0
    assert salon("archive", "get", card).code == 0
    second = salon("corpus", "add", str(source), "--json").json["results"][0]["document"]["id"]
    assert salon("corpus", "rm", second, "--cards").code == 2, "a deletion needs a reason"
    assert salon("corpus", "show", second).code == 0, "nothing happened"
    assert salon("corpus", "rm", second, "--cards", "--reason", "withdrawn").code == 0
    assert salon("archive", "get", card).code == 3
    assert salon("archive", "verify").code == 0


def test_a_text_cannot_take_over_the_terminal(salon: CommandLine, tmp_path: Path) -> None:
    source = tmp_path / "evil\x1b[2J.md"
    source.write_text("# Title \x1b]0;owned\x07\n\nHidden \u202etxet\u202c and \x9b31m red.\n")
    for args in (("read", str(source)), ("corpus", "add", str(source)), ("corpus", "ls")):
        shown = salon(*args)
        assert shown.code == 0
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown.text + shown.errors)
    missing = salon("read", "no\x1b[2Jfile")
    assert (missing.code, "\x1b" in missing.errors) == (3, False)
    assert "\x1b]0;owned" in salon("read", str(source), "--json").json["text"], "JSON has it all"


def test_settings_come_from_file_environment_and_flag(salon: CommandLine) -> None:
    salon.home.mkdir()
    (salon.home / "salon.toml").write_text("actor = 'file'\n[reader]\nmemory_mb = 512\n")
    shown = salon("settings", "--json").json
    assert (shown["actor"], shown["reader"]["memory_mb"]) == ("file", 512)
    with salon.patch.context() as patch:
        patch.setenv("SALON_ACTOR", "environment")
        patch.setenv("SALON_READER__CPU_S", "7")
        shown = salon("settings", "--json").json
    assert (shown["actor"], shown["reader"]["cpu_s"]) == ("environment", 7)
    assert shown["reader"]["memory_mb"] == 512
    (salon.home / "salon.toml").write_text("acter = 'typo'\n")
    wrong = salon("settings")
    assert (wrong.code, "did you mean 'actor'" in wrong.errors) == (2, True)


def test_an_mcard_file_is_opened_where_it_lies(salon: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "prologue.db"
    database = sqlite3.connect(path)
    with database:
        database.execute(
            "CREATE TABLE card (hash TEXT PRIMARY KEY, content BLOB NOT NULL, g_time TEXT NOT NULL)"
        )
        database.execute(
            "INSERT INTO card VALUES (?, ?, ?)",
            (content_hash(b"v1"), b"v1", "sha256|2026-01-01T00:00:00.000000Z|UTC"),
        )
    database.close()
    found = salon("--archive", str(path), "archive", "get", content_hash(b"v1"))
    assert found.output == b"v1"
    assert salon("--archive", str(path), "archive", "verify").code == 0
    assert not (salon.home / "salon.db").exists()


def test_the_tour_shows_what_it_promises(salon: CommandLine) -> None:
    shown = salon("tour")
    assert shown.code == 0
    assert "all.export and again.export are identical" in shown.text
    assert "everything agrees" in shown.text
    for caught in ("[handle_moved]", "[card_in_use]", "[integrity_failed]", "[audit_broken]"):
        assert caught in shown.text
    assert not salon.home.exists(), "the tour leaves your own home alone"
