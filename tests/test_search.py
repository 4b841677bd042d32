"""Search through the application: passages with their proof, whatever happens meanwhile."""

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.app import Salon
from salon.core.documents import Document, VerificationStatus
from salon.core.errors import AvatarNotFound, InvalidInput, SalonError
from salon.core.ids import AvatarId
from salon.corpus.filters import Where
from salon.corpus.manifest import Period
from salon.corpus.search import FoundPassage
from salon.settings import load_settings
from tests.archive.raw import damage
from tests.documents import add_document

COMMONS = (
    "Communities of herders have shared mountain pastures for centuries. Elinor Ostrom showed that "
    "they write their own rules, watch each other and punish those who take too much."
)
PACKETS = "Paul Baran described packet switching: messages are cut into blocks that find their way."
BREAD = (
    "Knead the dough until it is smooth, let it rise for an hour, and bake it until it is brown."
)


def _open(home: Path, **index: object) -> Salon:
    chosen = {"embedder": "hashing:256"} | index
    return Salon(load_settings(home=home, environment={}, flags={"index": chosen}))


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    """A Salon whose vectors mean nothing but are made at once."""
    with _open(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    """A Salon with the model that people get by default."""
    home = tmp_path_factory.mktemp("real")
    with Salon(load_settings(home=home, environment={})) as opened:
        for text in (COMMONS, PACKETS, BREAD):
            add_document(opened.archive, text)
        opened.index()
        yield opened


def _documents(salon: Salon) -> dict[str, Document]:
    return {
        name: add_document(salon.archive, text, title=name, year=year)
        for name, text, year in (
            ("commons", COMMONS, 1990),
            ("packets", PACKETS, 1964),
            ("bread", BREAD, None),
        )
    }


@pytest.mark.requirement("sdk/query-corpus/semantic")
def test_a_passage_in_other_words_is_found(real: Salon) -> None:
    question = "How do farmers govern land that nobody owns alone?"
    assert not set(question.lower().rstrip("?").split()) & set(
        COMMONS.lower().replace(".", "").split()
    ) - {"that"}
    found = real.search(question, mode="dense", limit=1).passages
    assert found[0].content == COMMONS
    assert real.search(question, limit=1).passages[0].content == COMMONS


@pytest.mark.requirement(
    "cap/query-corpus/passage-proof",
    "cap/query-corpus/content-verbatim",
    "cap/query-corpus/source",
)
def test_a_passage_can_be_derived_again_from_its_proof(salon: Salon) -> None:
    long = " ".join(f"Sentence {n} tells of rivérs and bridges." for n in range(120))
    document = add_document(salon.archive, long, title="Rivers")
    salon.index()
    found = salon.search("bridges", limit=50).passages
    assert len(found) > 3
    for passage in found:
        content = salon.archive.get(passage.hash).content
        assert content[passage.start : passage.end] == passage.content.encode()
        assert (passage.hash, passage.document_id) == (document.text, document.id)
        assert (passage.source, passage.derived) == ("Rivers", False)


@pytest.mark.requirement("cap/query-corpus/page")
def test_a_passage_says_the_page_on_which_it_begins(salon: Salon, tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    from salon.corpus.sources import expand

    path = tmp_path / "two.pdf"
    canvas = Canvas(str(path))
    for text in ("The first page is about walruses.", "The second page is about ibexes."):
        for line in range(30):
            canvas.drawString(72, 760 - 20 * line, f"{text} Line {line} says so again.")
        canvas.showPage()
    canvas.save()
    list(salon.ingest(expand([str(path)]).sources))
    add_document(salon.archive, "Ibexes in a text without pages.")
    pages = {
        ("walrus" in found.content, "Ibexes in" in found.content): found.page
        for found in salon.search("ibexes walruses", limit=20, mode="sparse").passages
    }
    assert pages[True, False] == 1
    assert pages[False, False] == 2
    assert pages[False, True] is None


@pytest.mark.requirement("cap/query-corpus/relevance-score", "sdk/query-corpus/limit-caps")
@pytest.mark.parametrize("mode", ["hybrid", "dense", "sparse"])
def test_scores_are_probabilities_in_falling_order(salon: Salon, mode: str) -> None:
    for number in range(30):
        add_document(
            salon.archive, f"Text {number} speaks of rivers{' and floods' * (number % 3)}."
        )
    salon.index()
    everything = salon.search("rivers and floods", limit=100, mode=mode).passages  # type: ignore[arg-type]
    scores = [found.score for found in everything]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert [found.relevance_score for found in everything] == scores
    few = salon.search("rivers and floods", limit=7, mode=mode).passages  # type: ignore[arg-type]
    assert [found.content for found in few] == [found.content for found in everything[:7]]


@pytest.mark.requirement("sdk/query-corpus/threshold-cuts")
def test_nothing_below_the_threshold_comes_back(salon: Salon) -> None:
    _documents(salon)
    salon.index()
    everything = salon.search("packet switching", limit=3).passages
    middle = everything[1].score
    kept = salon.search("packet switching", limit=3, threshold=middle).passages
    assert [found.content for found in kept] == [
        found.content for found in everything if found.score >= middle
    ]
    nothing = salon.search("packet switching", threshold=1.0)
    assert nothing.passages == ()
    assert any("below the threshold 1.00, the best at 0." in one for one in nothing.notes)
    with pytest.raises(InvalidInput):
        salon.search("packet switching", threshold=1.1)


@pytest.mark.requirement("council/search/alpha-ends")
def test_the_ends_of_alpha_are_one_side_alone(salon: Salon) -> None:
    _documents(salon)
    salon.index()

    def order(mode: str, alpha: float) -> list[str]:
        found = salon.search("rules for packet blocks", limit=9, mode=mode, alpha=alpha)  # type: ignore[arg-type]
        return [passage.content for passage in found.passages]

    assert order("hybrid", 0) == order("sparse", 0.5)
    assert order("hybrid", 1) == order("dense", 0.5)
    assert len(order("hybrid", 1)) == 3
    with pytest.raises(InvalidInput):
        order("hybrid", 1.5)


@pytest.mark.requirement("cap/concepts/verified-flag")
def test_filters_and_the_verified_flag_follow_the_documents(salon: Salon) -> None:
    made = _documents(salon)
    salon.archive.write(
        lambda tx: tx.set_verification(made["packets"].id, VerificationStatus.VERIFIED)
    )
    salon.index()

    def titles(where: Where) -> set[str]:
        found = salon.search("rules packet dough", limit=9, where=where).passages
        assert all(one.verified == (one.source == "packets") for one in found)
        return {one.source for one in found}

    assert titles(Where()) == {"commons", "packets", "bread"}
    assert titles(Where(period=Period(last=1970))) == {"packets"}
    assert titles(Where(verification=frozenset({VerificationStatus.VERIFIED}))) == {"packets"}
    assert titles(Where(documents=frozenset({made["bread"].id}))) == {"bread"}
    assert titles(Where(derived=True)) == set()
    assert titles(Where(language="en")) == {"commons", "packets", "bread"}
    assert titles(Where(language="de")) == set()
    # A judgement counts from the moment it is made.
    salon.archive.write(
        lambda tx: tx.set_verification(made["packets"].id, VerificationStatus.DISPUTED)
    )
    verified = Where(verification=frozenset({VerificationStatus.VERIFIED}))
    assert salon.search("packet", where=verified).passages == ()


def test_an_avatar_finds_only_its_own_corpus_within_its_period(salon: Salon) -> None:
    made = _documents(salon)
    avatar = AvatarId("paul-baran")
    salon.add_to_corpus(avatar, [made["packets"].id, made["commons"].id])
    salon.index()
    query, where = "rules packet dough", Where(avatar=avatar)
    assert {one.source for one in salon.search(query, where=where).passages} == {
        "packets",
        "commons",
    }
    salon.set_period(avatar, Period(last=1970))
    assert {one.source for one in salon.search(query, where=where).passages} == {"packets"}
    with pytest.raises(AvatarNotFound):
        salon.search(query, where=Where(avatar=AvatarId("nobody")))


def test_a_text_is_found_by_its_words_as_soon_as_it_is_stored(salon: Salon) -> None:
    _documents(salon)
    answer = salon.search("dough")
    assert [found.source for found in answer.passages] == ["bread"]
    assert answer.mode == "sparse"
    assert "no passage has a vector" in answer.notes[0]
    salon.index_vectors()
    add_document(salon.archive, "Another dough, with yeast.", title="yeast")
    answer = salon.search("dough")
    assert {"bread", "yeast"} <= {found.source for found in answer.passages}
    assert answer.mode == "hybrid"
    assert answer.coverage.with_vector == 3
    assert "3 of 4 passages have a vector" in answer.notes[0]


def test_dense_search_without_vectors_gives_nothing_and_says_so(salon: Salon) -> None:
    _documents(salon)
    answer = salon.search("dough", mode="dense")
    assert answer.passages == ()
    assert "no passage has a vector" in answer.notes[0]


def test_an_embedder_that_cannot_be_reached_leaves_the_words(tmp_path: Path) -> None:
    with _open(tmp_path) as salon:
        _documents(salon)
        salon.index()
    address = {"embedder": "openai:away", "embedder_url": "http://127.0.0.1:9/v1"}
    with _open(tmp_path, **address) as salon:
        answer = salon.search("dough")
        assert [found.source for found in answer.passages] == ["bread"]
        assert "words alone" in answer.notes[0]
        with pytest.raises(SalonError):
            salon.search("dough", mode="dense")


def test_an_embedder_whose_package_is_missing_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as salon:
        _documents(salon)
        salon.index()
    monkeypatch.setitem(sys.modules, "wordllama", None)  # as where it was never installed
    with _open(tmp_path, embedder="static:wordllama") as salon:
        answer = salon.search("dough")
        assert [found.source for found in answer.passages] == ["bread"]
        assert "pip install 'salon[static]'" in answer.notes[0]


def test_another_embedder_is_not_compared_with_old_vectors(tmp_path: Path) -> None:
    with _open(tmp_path) as salon:
        _documents(salon)
        salon.index()
    with _open(tmp_path, embedder="hashing:128") as salon:
        answer = salon.search("dough")
        assert answer.mode == "sparse"
        assert "hashing:256" in answer.notes[0]
        salon.index_vectors()
        assert salon.search("dough").mode == "hybrid"
        assert salon.passages.catalogue.model() == salon.embedder.model


def test_deleted_and_damaged_texts_are_never_served(salon: Salon) -> None:
    made = _documents(salon)
    salon.index()
    damage(salon.archive.path, made["bread"].text)
    assert salon.search("dough", mode="sparse").passages == ()
    salon.archive.write(
        lambda tx: tx.delete(made["packets"].source, reason="a request", force=True)
    )
    assert all(found.source != "packets" for found in salon.search("packet").passages)


@pytest.mark.parametrize("engine", ["fast", "single-file"])
@pytest.mark.requirement("council/search/single-file")
def test_a_deleted_document_leaves_no_byte_anywhere_once_compacted(
    tmp_path: Path, engine: str
) -> None:
    with _open(tmp_path, engine=engine) as salon:
        _documents(salon)
        secret = add_document(
            salon.archive, "The quaggamire lies behind the xylotheque.", title="Zzyzx"
        )
        salon.index()
        assert salon.search("quaggamire").passages[0].document_id == secret.id
        vector = salon.embedder.embed_passages(["The quaggamire lies behind the xylotheque."])
        halves = vector.astype("<f2").tobytes()
        before = _all_bytes(tmp_path)
        assert halves in before
        assert b"Zzyzx" in before
        salon.archive.write(lambda tx: tx.delete(secret.source, reason="gone", force=True))
        salon.compact()
        assert salon.search("quaggamire", mode="sparse").passages == ()
        assert salon.search("dough").passages[0].source == "bread"
    left = _all_bytes(tmp_path)
    for trace in (b"quaggamire", b"xylotheque", b"Zzyzx", halves):
        assert trace not in left
    if engine == "single-file":
        assert not (tmp_path / "salon-index").exists()


def _all_bytes(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_compacting_drops_vectors_of_models_that_are_not_used(tmp_path: Path) -> None:
    from salon.archive.vectors import VectorStore

    with _open(tmp_path) as salon:
        _documents(salon)
        salon.index()
        old = salon.embedder.model
    with _open(tmp_path, embedder="hashing:128") as salon:
        salon.index()
        store = VectorStore(salon.archive)
        assert (store.count(old), store.count(salon.embedder.model)) == (3, 3)
        salon.compact()
        assert store.models() == [salon.embedder.model]


@pytest.mark.requirement("council/search/chunking")
def test_other_passages_leave_old_citations_valid(tmp_path: Path) -> None:
    long = " ".join(f"Sentence {n} tells of rivers and bridges." for n in range(120))
    with _open(tmp_path) as salon:
        add_document(salon.archive, long)
        add_document(salon.archive, long.replace("rivers", "streams"))
        salon.index()
        old = salon.search("bridges", limit=50).passages
        assert all(len(found.content) <= 1000 for found in old)
        spans = sorted((found.start, found.end) for found in old if found.hash == old[0].hash)
        assert all(0 < one[1] - two[0] <= 200 for one, two in itertools.pairwise(spans))
    with _open(tmp_path, chunk_size=300, chunk_overlap=50) as salon:
        salon.index()
        new = salon.search("bridges", limit=50).passages
        assert len(new) > len(old)
        assert all(len(found.content) <= 300 for found in new)
        for found in old:
            content = salon.archive.get(found.hash).content
            assert content[found.start : found.end].decode() == found.content


@pytest.mark.parametrize("engine", ["fast", "single-file"])
@pytest.mark.requirement("council/search/graph")
def test_evidence_in_several_documents_is_found_over_what_they_name(
    tmp_path: Path, engine: str
) -> None:
    film = "La Yuma is a Nicaraguan film. It was directed by Florence Jaugey in 2009."
    director = "Florence Jaugey is a film maker who was born in Nice and lives in Managua."
    others = [
        f"Number {n} is a film about a town. It was directed by somebody in {1950 + n}."
        for n in range(40)
    ]
    with _open(tmp_path, engine=engine) as salon:
        for text in (film, director, *others):
            add_document(salon.archive, text)
        salon.index()
        question = "Where was the director of the film La Yuma born?"
        answer = salon.search(question, mode="graph", limit=2)
        assert {found.content for found in answer.passages} == {film, director}
        assert answer.mode == "graph"
        assert any(found.why.over for found in answer.passages)
        scores = [found.score for found in salon.search(question, mode="graph", limit=20).passages]
        assert scores == sorted(scores, reverse=True)
        # What is deleted leads nowhere.
        gone = next(found for found in answer.passages if found.content == director)
        salon.archive.write(lambda tx: tx.delete(gone.hash, reason="test", force=True))
        again = salon.search(question, mode="graph", limit=50).passages
        assert director not in {found.content for found in again}
        salon.compact()
    assert b"Florence Jaugey is" not in _all_bytes(tmp_path)


HOSTILE = [
    "x" * 100_000,
    "word " * 20_000,
    '"unbalanced',
    'title:x AND (y OR "z") NEAR/3 -w ^q ~p {a TO b} \\ / [1 TO 2] *',
    "🙂🏽‍🚀 emoji",
    "من اليمين إلى اليسار",
    "混在 テキスト mixed עברית",
    "NUL\0byte",
    "\ud800 lone surrogate",
    "%_'; DROP TABLE card; --",
    "*",
    "\u202e\u0000\ufeff",
]


@pytest.mark.parametrize("mode", ["hybrid", "sparse", "dense"])
@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_queries_give_a_result_or_one_clear_error(
    real: Salon, query: str, mode: str
) -> None:
    found = _passages_or_error(real, query, mode)
    assert isinstance(found, InvalidInput) or len(found) <= 5


def _passages_or_error(
    salon: Salon, query: str, mode: str
) -> tuple[FoundPassage, ...] | InvalidInput:
    try:
        return salon.search(query, mode=mode).passages  # type: ignore[arg-type]
    except InvalidInput as error:
        return error


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200))
def test_any_text_can_be_searched_for(real: Salon, query: str) -> None:
    found = _passages_or_error(real, query, "hybrid")
    assert isinstance(found, InvalidInput) == (not query.strip())


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_query_without_anything_in_it_is_refused(salon: Salon, query: str) -> None:
    with pytest.raises(InvalidInput, match="needs something"):
        salon.search(query)


def test_a_query_beyond_all_measure_is_refused(salon: Salon) -> None:
    with pytest.raises(InvalidInput, match="too long"):
        salon.search("x" * 100_001)


def test_readers_see_whole_passages_while_documents_come_and_go(salon: Salon) -> None:
    salon.start_indexing()
    stop = threading.Event()
    problems: list[str] = []

    def read() -> None:
        while not stop.is_set():
            problems.extend(
                found.content
                for found in salon.search("rivers", limit=10).passages
                if not found.content.startswith("Text") or "rivers" not in found.content
            )

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    made = []
    for number in range(60):
        made.append(add_document(salon.archive, f"Text {number} speaks of rivers. " * 5))
        salon.start_indexing()
        if number % 3 == 0:
            gone = made.pop(0)
            salon.archive.write(
                lambda tx, gone=gone: tx.delete(gone.source, reason="t", force=True)  # type: ignore[misc]
            )
    stop.set()
    for thread in threads:
        thread.join()
    salon.stop_indexing()
    salon.index()
    assert problems == []
    coverage = salon.index_coverage()
    assert (coverage.passages, coverage.with_vector, coverage.entries_behind) == (40, 40, 0)


def test_what_is_stored_later_is_found_while_the_background_rests(tmp_path: Path) -> None:
    with _open(tmp_path) as salon, _open(tmp_path) as other:
        _documents(salon)
        salon.start_indexing()
        _until(lambda: salon.index_coverage().with_vector == 3)
        _until(lambda: salon._filling is not None and salon._filling.is_idle)
        add_document(other.archive, "Saffron grows from a crocus that blooms in autumn.")
        found = salon.search("saffron crocus", mode="sparse").passages
        assert found
        assert found[0].content.startswith("Saffron")
        _until(lambda: salon.index_coverage().with_vector == 4)


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(2000):
        if is_so():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come about")
