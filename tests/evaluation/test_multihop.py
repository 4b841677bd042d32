"""Measuring questions that need several documents, the whole way through the product."""

import gzip
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.errors import FileMissing, InvalidInput
from salon.core.hashing import CardHash
from salon.evaluation.multihop import MultihopReport, evaluate_multihop, read_questions
from salon.evaluation.retrieval import settings_for
from salon.settings import Settings, load_settings

SHARED = Path(__file__).parents[3] / "shared" / "data" / "twowiki"

DOCUMENTS = {
    "La Garza": "La Garza is a 2009 drama film directed by Marta Solano.",
    "Marta Solano": "Marta Solano (1959 in Lyon) is a painter and sculptor.",
    "El Faro": "El Faro is a comedy film directed by Pedro Ruiz and shot in Cadiz.",
    "Pedro Ruiz": "Pedro Ruiz (1930-2001) was a painter and sailor.",
    "Rain": "Rain falls when drops in a cloud grow too heavy for the air to carry.",
    "Snow": "Snow forms where water vapour freezes into crystals inside a cloud.",
    "Bread": "Yeast makes the dough rise; the oven turns it into a loaf.",
    "Films": "A film is directed by a director, and a director may direct many films.",
    "Births": "Who was born first, and where was anybody born? Registers of birth tell.",
    "Awards": "Each year the film with the best director is chosen by those who were born here.",
    "School": "At the film school every director was taught where films were born.",
    "Age": "A director who was born first is older than a director who was born later.",
    "Studio": "The studio has a film, a director and a place where stars were born.",
    "Empty": " ",
}
QUESTIONS: list[dict[str, object]] = [
    {
        "id": "1",
        "type": "compositional",
        "question": "Where was the director of film La Garza born?",
        "supporting_titles": ["La Garza", "Marta Solano", "Marta Solano"],
        "all_titles_found": True,
        "answer": "unused",
    },
    {
        "id": "2",
        "type": "bridge_comparison",
        "question": "Which film has the director who was born first, La Garza or El Faro?",
        "supporting_titles": ["La Garza", "Marta Solano", "El Faro", "Pedro Ruiz"],
    },
    {"id": "3", "question": "Who wrote it?", "supporting_titles": ["Nowhere"]},
    {
        "id": "4",
        "question": "Who else?",
        "supporting_titles": ["Rain"],
        "all_titles_found": False,
    },
    {"id": "5", "question": "And who?", "supporting_titles": []},
]


def _write(path: Path, rows: Sequence[object]) -> Path:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [
        {"_id": str(number), "title": title, "text": text}
        for number, (title, text) in enumerate(DOCUMENTS.items())
    ]
    return _write(tmp_path / "corpus.jsonl.gz", rows)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_for(tmp_path / "kept", load_settings(home=tmp_path / "mine", environment={}))


@pytest.fixture
def report(corpus: Path, settings: Settings, tmp_path: Path) -> MultihopReport:
    return evaluate_multihop(corpus, _write(tmp_path / "questions.jsonl", QUESTIONS), settings)


def test_the_graph_finds_what_a_single_search_does_not(report: MultihopReport) -> None:
    by_name = {one.system: one for one in report.systems}
    assert list(by_name) == ["salon graph", "salon hybrid", "salon dense", "salon sparse", "bm25s"]
    graph, words = by_name["salon graph"], by_name["bm25s"]
    assert graph.overall.all_support_at_5 == 1
    assert graph.overall.recall == {2: pytest.approx(0.75), 5: 1, 10: 1}
    assert words.overall.recall[5] < 1
    assert graph.p99_ms >= graph.p50_ms > 0
    assert set(graph.by_kind) == {"bridge_comparison", "compositional"}
    assert graph.by_kind["compositional"].recall[2] == 1
    assert graph.by_kind["compositional"].questions == 1


def test_a_report_says_what_was_measured(report: MultihopReport) -> None:
    assert (report.documents, report.distinct_texts, report.passages) == (14, 13, 13)
    assert (report.questions, report.questions_evaluated) == (5, 2)
    assert report.questions_without_support == 3
    assert report.entities > 4
    assert [one.peer for one in report.comparisons] == [
        "salon hybrid",
        "salon dense",
        "salon sparse",
        "bm25s",
    ]
    words = report.comparisons[-1]
    assert words.difference > 0
    assert words.low <= words.difference <= words.high
    as_json = json.loads(json.dumps(report.as_json()))
    assert as_json["systems"][0]["overall"]["recall"]["5"] == 1


def test_titles_are_hidden(report: MultihopReport, settings: Settings) -> None:
    with Salon(settings) as salon:
        stored = {
            (document.provenance.title, salon.archive.get(document.text).content.decode())
            for document in salon.archive.documents()
        }
    assert {text for _, text in stored} == {text for text in DOCUMENTS.values() if text.strip()}
    assert not {title for title, _ in stored} & DOCUMENTS.keys()


def test_a_kept_home_is_used_again_and_only_so_many_questions_are_asked(
    corpus: Path, settings: Settings, tmp_path: Path, report: MultihopReport
) -> None:
    questions = tmp_path / "questions.jsonl"
    again = evaluate_multihop(corpus, questions, settings, limit_questions=1)
    assert again.questions_evaluated == 1
    assert (again.passages, again.entities) == (report.passages, report.entities)


def test_a_home_with_other_documents_is_refused(
    corpus: Path, settings: Settings, tmp_path: Path
) -> None:
    with Salon(settings) as salon:
        card = salon.archive.add(b"somebody's own notes").hash
        salon.archive.write(partial(_add_document, card=card))
    questions = _write(tmp_path / "questions.jsonl", QUESTIONS)
    with pytest.raises(InvalidInput, match="1 documents that are not in this corpus"):
        evaluate_multihop(corpus, questions, settings)


def _add_document(transaction: ArchiveTransaction, *, card: CardHash) -> None:
    transaction.add_document(Provenance(title="mine"), source=card)


def test_files_that_do_not_belong_together_are_refused(
    corpus: Path, settings: Settings, tmp_path: Path
) -> None:
    questions = _write(tmp_path / "questions.jsonl", QUESTIONS[2:])
    with pytest.raises(InvalidInput, match="support of no question"):
        evaluate_multihop(corpus, questions, settings)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no questions"),
        (b'{"id": "1"}\n', "line 1: question"),
        (b'\n{"id": "1", "question": " ", "supporting_titles": []}\n', "line 2: .* without words"),
        (b"not json\n", "line 1"),
        (b"\xff\xfe\n", "line 1: this is not UTF-8 text"),
        (b"\x1f\x8bnot gzip", "the compressed file is damaged"),
        (gzip.compress(b"x" * 100, mtime=0)[:-9], "the compressed file is damaged"),
    ],
)
def test_questions_that_cannot_be_read_are_named(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=reason):
        read_questions(path)


def test_a_path_that_leads_nowhere_or_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_questions(tmp_path / "none")
    with pytest.raises(InvalidInput, match="a folder"):
        read_questions(tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data/twowiki is not here")
def test_the_real_questions_are_read() -> None:
    questions = read_questions(SHARED / "questions.jsonl.gz")
    assert (len(questions), sum(one.is_whole for one in questions)) == (400, 346)
    assert {one.kind for one in questions} == {
        "bridge_comparison",
        "comparison",
        "compositional",
        "inference",
    }
