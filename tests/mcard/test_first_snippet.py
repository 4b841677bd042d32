"""The first Python snippet of seed 004, run as a program with only its imports changed."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SNIPPET = """
from mcard import MCard, CardCollection
from mcard.rag import MCardRAGEngine, GraphRAGEngine

archive = CardCollection(db_path="prologue.db")

rag = MCardRAGEngine(archive)
rag.index_all()

graph_rag = GraphRAGEngine(vector_db_path="prologue_vectors.db")
"""

AFTERWARDS = """
card = MCard("Packet switching was invented twice.")
assert archive.add(card) == card.hash
assert rag.index_all()["vectors"] == 1
(result,) = rag.search("history of packet switching", k=5, hybrid=True)
print(f"Hash: {result.hash}, Score: {result.score:.4f}, Chunk: {result.chunk_text[:80]}")
"""

SECOND = """
from mcard.rag import MCardRAGEngine

rag = MCardRAGEngine(archive)

results = rag.search("history of packet switching", k=5, hybrid=True)
for r in results:
    print(f"Hash: {r.hash}, Score: {r.score:.4f}, Chunk: {r.chunk_text[:80]}")

response = rag.query("Explain the history of packet switching")
print(response.answer)
print(f"Sources: {response.sources}")
print(f"Confidence: {response.confidence:.2f}")
"""
FILLED = """
texts = [
    "The history of packet switching begins with Paul Baran at RAND in 1964.",
    "Donald Davies came to packet switching on his own in 1965 and gave the packet its name.",
    "Elinor Ostrom studied how people share pastures and water.",
]
for text in texts:
    archive.add(MCard(text))
rag.index_all()
"""


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    changed = code.replace("from mcard", "from salon.mcard")
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", changed],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.requirement("council/mcard/first-snippet")
def test_the_snippet_runs_with_only_its_imports_changed(tmp_path: Path) -> None:
    done = _run(SNIPPET, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "prologue.db").stat().st_size > 0
    assert not (tmp_path / ":memory:").exists()


@pytest.mark.requirement("council/mcard/first-snippet", "council/mcard/rag-lines")
def test_the_snippet_can_be_worked_with_and_run_again(tmp_path: Path) -> None:
    first = _run(SNIPPET + AFTERWARDS, tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert "Chunk: Packet switching was invented twice." in first.stdout
    second = _run(SNIPPET + "print(archive.count(), rag.get_info()['with_vector'])", tmp_path)
    assert (second.stdout, second.stderr) == ("1 1\n", "")


@pytest.mark.requirement(
    "council/search/snippet-search", "council/search/snippet-query", "council/mcard/index-all-again"
)
def test_both_snippets_run_one_after_the_other(tmp_path: Path) -> None:
    again = "print(rag.index_all())"
    done = _run(SNIPPET + FILLED + SECOND + again, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *found, counts = done.stdout.splitlines()
    hashes = [re.match(r"Hash: ([0-9a-f]{64}), Score: 0\.\d{4}, Chunk: ", one) for one in found]
    assert 1 <= len([one for one in hashes if one]) <= 5
    sources = next(one for one in found if one.startswith("Sources: "))
    cited = ast.literal_eval(sources.removeprefix("Sources: "))
    assert cited
    assert set(cited) <= {one[1] for one in hashes if one}
    assert re.search(r"^Confidence: 0\.\d\d$", done.stdout, re.MULTILINE)
    assert "begins with Paul Baran" in done.stdout.split("Sources:")[0]
    assert ast.literal_eval(counts)["indexed"] == 0
    assert ast.literal_eval(counts)["vectors"] == 0


@pytest.mark.requirement("council/mcard/graph-line")
def test_the_graph_line_gives_something_that_answers_across_documents(tmp_path: Path) -> None:
    ask = """
graph_rag.index(MCard("La Yuma is a film directed by Florence Jaugey in Managua."))
graph_rag.index(MCard("Florence Jaugey was born in Nice. She came to Nicaragua in 1983."))
response = graph_rag.query("Where was the director of La Yuma born?")
print(len(set(response.sources)), "born in Nice" in response.answer)
"""
    done = _run(SNIPPET + ask, tmp_path)
    assert (done.stdout, done.stderr) == ("2 True\n", "")
