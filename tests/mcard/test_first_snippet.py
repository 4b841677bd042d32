"""The first Python snippet of seed 004, run as a program with only its imports changed."""

import subprocess
import sys
from pathlib import Path

import pytest

SNIPPET = """
from mcard import MCard, CardCollection
from mcard.rag import MCardRAGEngine, GraphRAGEngine

# The archive: all 10,000 files as MCards
archive = CardCollection(db_path="prologue.db")

# RAG engine for semantic retrieval (backs skill_qdrant_search)
rag = MCardRAGEngine(archive)
rag.index_all()  # Index all MCards with vector embeddings

# GraphRAG for entity-aware retrieval
graph_rag = GraphRAGEngine(vector_db_path="prologue_vectors.db")
"""

AFTERWARDS = """
card = MCard("Packet switching was invented twice.")
assert archive.add(card) == card.hash
assert rag.index_all()["vectors"] == 1
(result,) = rag.search("history of packet switching", k=5, hybrid=True)
print(f"Hash: {result.hash}, Score: {result.score:.4f}, Chunk: {result.chunk_text[:80]}")
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
