"""`salon search`, `salon index` and what belongs to an avatar, as a person uses them."""

from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

COMMONS = "# Commons\n\nHerders share a mountain pasture and write their own rules.\n"
PACKETS = "# Packets\n\nPaul Baran described packet switching for networks.\n"


@pytest.fixture
def corpus(salon: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A home with two documents, whose vectors are made at once and mean little."""
    monkeypatch.setenv("SALON_INDEX__EMBEDDER", "hashing:256")
    (tmp_path / "commons.md").write_text(COMMONS)
    (tmp_path / "packets.md").write_text(PACKETS)
    ran = salon("corpus", "add", str(tmp_path / "commons.md"), "--year", "1990")
    assert ran.code == 0, ran.errors
    ran = salon("corpus", "add", str(tmp_path / "packets.md"), "--avatar", "paul-baran")
    assert ran.code == 0, ran.errors
    return salon


def test_a_search_prints_score_source_text_and_proof(corpus: CommandLine) -> None:
    ran = corpus("search", "packet switching", "--limit", "1")
    assert ran.code == 0
    first, text, proof = ran.text.splitlines()
    assert first.endswith("Packets, Packets")
    assert 0 <= float(first.split()[0]) <= 1
    assert "Paul Baran described" in text
    assert proof.strip().startswith("doc_")
    assert "bytes 0 to" in proof


def test_the_proof_in_json_leads_back_to_the_text(corpus: CommandLine) -> None:
    (found, *_) = corpus("search", "packet switching", "--json").json["passages"]
    content = corpus("archive", "get", found["hash"]).output
    assert content[found["start"] : found["end"]].decode() == found["content"]
    assert found["score"] == found["relevance_score"]
    assert "why" not in found


def test_an_explanation_shows_both_ranks_and_what_the_score_is_made_of(corpus: CommandLine) -> None:
    ran = corpus("search", "packet switching", "--explain", "--limit", "1")
    assert "words: rank 1, BM25" in ran.text
    assert "vectors: rank 1, cosine" in ran.text
    assert "fused" in ran.text
    shown = corpus("search", "packet switching", "--explain", "--json").json
    assert shown["passages"][0]["why"]["lexical_rank"] == 1
    assert shown["timings"]["lexical_s"] > 0


def test_a_search_can_be_kept_to_an_avatar_a_document_and_years(corpus: CommandLine) -> None:
    def titles(*options: str) -> set[str]:
        ran = corpus("search", "rules networks", "--limit", "9", "--json", *options)
        assert ran.code == 0, ran.errors
        return {found["source"] for found in ran.json["passages"]}

    assert titles() == {"Commons", "Packets"}
    assert titles("--avatar", "paul-baran") == {"Packets"}
    assert titles("--from", "1980", "--until", "1999") == {"Commons"}
    assert titles("--status", "verified") == set()
    assert titles("--original") == {"Commons", "Packets"}
    assert titles("--derived") == set()
    (document,) = corpus("corpus", "ls", "--avatar", "paul-baran", "--json").json
    assert titles("--document", document["id"]) == {"Packets"}


def test_finding_nothing_is_no_error(corpus: CommandLine) -> None:
    ran = corpus("search", "quagga", "--mode", "sparse")
    assert (ran.code, ran.text.strip()) == (0, "nothing found")
    assert corpus("search", "packet", "--threshold", "1").code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", " "], 2),
        (["search", "x", "--avatar", "nobody"], 3),
        (["search", "x", "--avatar", "No Body"], 2),
        (["search", "x", "--from", "1990", "--until", "1980"], 2),
        (["search", "x", "--alpha", "2"], 2),
        (["corpus", "period", "nobody", "--until", "1900"], 3),
    ],
)
def test_bad_input_gets_one_clear_error(
    corpus: CommandLine, arguments: list[str], code: int
) -> None:
    ran = corpus(*arguments)
    assert ran.code == code
    assert ran.errors.count("rror") == 1
    assert "Traceback" not in ran.errors


def test_a_period_and_leaving_change_what_an_avatar_finds(corpus: CommandLine) -> None:
    assert corpus("search", "packet", "--avatar", "paul-baran", "--json").json["passages"]
    ran = corpus("corpus", "period", "paul-baran", "--until", "1970")
    assert ran.text.strip() == "the corpus of paul-baran covers the beginning to 1970"
    # The document has no year, so nobody knows that it lies inside.
    assert not corpus("search", "packet", "--avatar", "paul-baran", "--json").json["passages"]
    (document,) = corpus("corpus", "ls", "--avatar", "paul-baran", "--json").json
    assert "0 documents" in corpus("corpus", "leave", "paul-baran", document["id"]).text
    assert corpus("corpus", "ls", "--avatar", "paul-baran").text.strip() == "no documents"


def test_the_status_says_how_much_is_indexed(corpus: CommandLine, tmp_path: Path) -> None:
    status = corpus("index", "status", "--json").json
    assert status["coverage"] == {"passages": 2, "with_vector": 2, "entries_behind": 0}
    assert status["model"]["address"] == "hashing:256"
    (tmp_path / "third.txt").write_text("A third text about bread.")
    corpus("corpus", "add", str(tmp_path / "third.txt"), "--no-vectors")
    ran = corpus("index", "status")
    assert "(66%)" in ran.text, "a share is rounded down, so that 100% means all"
    ran = corpus("search", "bread", "--limit", "3")
    assert "A third text" in ran.text
    assert "2 of 3 passages have a vector" in ran.errors
    assert "1 vector computed" in corpus("index", "update").text
    assert "0 vectors computed, 3 taken from the archive" in corpus("index", "rebuild").text
    only_words = corpus("index", "update", "--no-vectors", "--json").json
    assert only_words["vectors"] is None


def test_compacting_takes_the_last_byte(corpus: CommandLine, tmp_path: Path) -> None:
    (document,) = corpus("corpus", "ls", "--avatar", "paul-baran", "--json").json
    ran = corpus("corpus", "rm", document["id"], "--cards", "--reason", "a request")
    assert ran.code == 0, ran.errors
    (tmp_path / "packets.md").unlink()
    ran = corpus("archive", "compact")
    assert ran.text.startswith("compacted")
    left = b"".join(path.read_bytes() for path in corpus.home.rglob("*") if path.is_file())
    assert b"Paul Baran" not in left


def test_an_unknown_embedder_is_named_with_the_nearest_one(
    corpus: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SALON_INDEX__EMBEDDER", "embeded:minilm")
    ran = corpus("index", "update")
    assert ran.code == 2
    assert "embedded:minilm" in ran.errors
