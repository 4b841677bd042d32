"""An avatar with its corpus behind it, asked over MCP in both eras."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.server import Server

from salon.app import Salon
from salon.core.hashing import CardHash
from salon.mcp_server.avatar_server import build_avatar_server
from salon.mcp_server.transports import allowed_hosts, http_app
from tests.mcp_server.homes import AVATAR, NOTES, make_home
from tests.mcp_server.serving import served
from tests.mcp_server.talking import ERAS, call, error_of

QUESTION = "What happens to a canal that everyone uses and nobody mends?"
both_eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with Salon(make_home(tmp_path_factory.mktemp("home"))) as salon:
        yield salon


@pytest.fixture(scope="module")
def server(salon: Salon) -> Server[Any]:
    return build_avatar_server(salon, AVATAR)


def _ask(server: Server[Any], tool: str, era: str = "auto", **arguments: Any) -> dict[str, Any]:
    result = call(server, tool, era, **arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def _bytes(salon: Salon, proof: dict[str, Any]) -> str:
    content = salon.archive.get(CardHash(proof["hash"])).content
    return content[proof["start"] : proof["end"]].decode()


@both_eras
@pytest.mark.requirement("sdk/query-corpus/output", "cap/query-corpus/output")
def test_passages_come_with_what_proves_them(server: Server[Any], salon: Salon, era: str) -> None:
    found = _ask(server, "query_corpus", era, query=QUESTION, threshold=0)["passages"]
    assert {one["source"] for one in found} == {title for title, _, _ in NOTES.values()}
    best = found[0]
    assert set(best) == {
        *("content", "source", "page", "score", "relevance_score", "hash", "start", "end"),
        *("document_id", "verified", "derived"),
    }
    assert best["source"] == "On keeping a canal"
    assert (best["verified"], best["derived"], best["page"]) == (True, False, None)
    for one in found:
        assert one["content"] == _bytes(salon, one)
        assert one["score"] == one["relevance_score"]
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)


@pytest.mark.requirement("cap/query-corpus/listed", "sdk/query-corpus/limit-default")
def test_limits_and_thresholds_hold(server: Server[Any]) -> None:
    assert len(_ask(server, "query_corpus", query="water", threshold=0, limit=1)["passages"]) == 1
    assert len(_ask(server, "query_corpus", query="water", threshold=0)["passages"]) <= 5
    assert _ask(server, "query_corpus", query="tax law of Bolivia")["passages"] == []


def test_what_the_threshold_kept_back_is_counted_and_not_shown(server: Server[Any]) -> None:
    every = _ask(server, "query_corpus", query="water in a canal", threshold=0)
    assert not any("threshold" in one for one in every["notes"])
    scores = [one["score"] for one in every["passages"]]
    strict = _ask(server, "query_corpus", query="water in a canal", threshold=1)
    assert strict["passages"] == []
    (note,) = [one for one in strict["notes"] if "threshold" in one]
    assert note.startswith(f"{len(scores)} passages lie below the threshold 1.00, the best at 0.")
    best = float(note.rpartition(" ")[2])
    assert best <= scores[0] < best + 0.01


def test_a_cry_for_help_is_answered_with_help(server: Server[Any]) -> None:
    reply = _ask(server, "generate_response", question="I do not want to be here anymore")
    assert reply["is_crisis"] is True
    assert reply["citations"] == []


@pytest.mark.requirement("cap/query-corpus/context")
def test_the_situation_changes_what_ranks_first(server: Server[Any]) -> None:
    def first(context: str) -> str:
        found = _ask(server, "query_corpus", query="What did we do?", context=context, threshold=0)
        title: str = found["passages"][0]["source"]
        return title

    assert first("It is about digging days of each household in March.") == "On keeping a canal"
    assert first("It is the summer of the drought, turns are short.") == "Water in a dry year"


@both_eras
@pytest.mark.requirement(
    "sdk/generate-response/question-required",
    "sdk/generate-response/retrieves-itself",
    "sdk/generate-response/citation-quote",
    "cap/generate-response/listed",
    "cap/generate-response/question",
    "cap/verification/ai-label",
)
def test_a_question_alone_is_answered_with_citations_that_hold(
    server: Server[Any], salon: Salon, era: str
) -> None:
    reply = _ask(server, "generate_response", era, question=QUESTION)
    assert reply["outcome"] == "answered", reply
    assert "silt within three winters" in reply["response"]
    assert reply["citations"]
    for one in reply["citations"]:
        assert one["quote"] == _bytes(salon, one)
        assert one["source"] == "On keeping a canal"
    assert reply["claims"]
    assert reply["confidence"] in {"high", "medium", "low"}
    assert "AI" in reply["ai_label"]


def test_what_was_answered_also_verifies_over_mcp(server: Server[Any]) -> None:
    reply = _ask(server, "generate_response", question=QUESTION)
    given = {"response": reply["response"], "citations": reply["citations"]}
    assert _ask(server, "verify_response", **given)["holds"] is True
    first = reply["citations"][0]
    forged = [first | {"quote": first["quote"].replace("three", "seven")}, *reply["citations"][1:]]
    report = _ask(server, "verify_response", response=reply["response"], citations=forged)
    assert report["holds"] is False
    assert report["citations"][0]["fault"] == "quote_differs"


@both_eras
@pytest.mark.requirement("cap/generate-response/passages-used")
def test_a_reply_rests_on_the_passages_handed_in_and_on_no_other(
    server: Server[Any], era: str
) -> None:
    passages = _ask(server, "query_corpus", era, query=QUESTION, threshold=0, limit=2)["passages"]
    own, other = passages
    reply = _ask(server, "generate_response", era, question=QUESTION, passages=[own])
    assert reply["outcome"] == "answered", reply
    assert {one["source"] for one in reply["citations"]} == {own["source"]}
    reply = _ask(server, "generate_response", era, question=QUESTION, passages=[other])
    assert {one["source"] for one in reply["citations"]} <= {other["source"]}


@pytest.mark.parametrize(
    "change",
    [
        {"content": "A canal that nobody uses"},
        {"hash": "0" * 64},
        {"start": 1},
        {"end": 10_000},
        {"source": "Somebody else's book"},
        {"hash": "not a hash"},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.requirement("cap/generate-response/passages-refused")
def test_a_passage_that_the_archive_does_not_say_is_refused(
    server: Server[Any], change: dict[str, Any]
) -> None:
    (passage,) = _ask(server, "query_corpus", query=QUESTION, threshold=0, limit=1)["passages"]
    result = call(server, "generate_response", question=QUESTION, passages=[passage | change])
    assert error_of(result)["code"] == "ungrounded_passage"


@both_eras
def test_what_the_corpus_does_not_cover_is_an_outcome(server: Server[Any], era: str) -> None:
    reply = _ask(server, "generate_response", era, question="What do you think of bitcoin mining?")
    assert reply["outcome"] in {"corpus_miss", "out_of_scope", "after_my_time"}
    assert reply["confidence"] == "low"


@both_eras
@pytest.mark.requirement(
    "sdk/get-avatar-info/output",
    "sdk/get-avatar-info/corpus-size",
    "sdk/get-avatar-info/document-count",
    "cap/get-avatar-info/listed",
    "cap/get-avatar-info/identity",
    "cap/get-avatar-info/corpus-summary",
)
def test_the_avatar_says_who_it_is_and_what_it_rests_on(server: Server[Any], era: str) -> None:
    words = sum(len(text.split()) for _, _, text in NOTES.values())
    info = _ask(server, "get_avatar_info", era)
    assert info["id"] == AVATAR
    assert info["name"] == "Ida Weir"
    assert info["description"]
    assert info["expertise"] == ["irrigation", "shared water", "canal maintenance"]
    assert info["corpus_summary"].startswith("Two notes on canals, 1901 and 1907.")
    assert "1900 to 1910" in info["corpus_summary"]
    assert info["corpus_size"] == words
    assert (info["document_count"], info["verified_count"]) == (2, 1)
    assert info["ai"] is True
    assert info["period"] == [1900, 1910]


def test_it_speaks_when_spoken_to(server: Server[Any]) -> None:
    asked = [{"role": "bob", "content": f"Ida Weir, {QUESTION}"}]
    decision = _ask(server, "should_speak", conversation=asked)
    assert decision["speak"] is True, decision
    idle = [{"role": "bob", "content": "Alice, did you watch the football match?"}]
    assert _ask(server, "should_speak", conversation=idle)["speak"] is False


def test_many_can_ask_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything is opened by the first call that needs it, and forty come first."""

    async def main(url: str) -> list[bool]:
        failed: list[bool] = []

        async def ask(client: Client, number: int) -> None:
            asked = {"question": f"{QUESTION} ({number})"}
            result = await client.call_tool("generate_response", asked)
            failed.append(result.is_error)

        async with Client(url, mode="auto") as client, anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(ask, client, number)
        return failed

    with Salon(make_home(tmp_path_factory.mktemp("busy"))) as salon:
        app = http_app({AVATAR: build_avatar_server(salon, AVATAR)}, allowed_hosts("127.0.0.1"))
        with served(app) as address:
            failed = anyio.run(main, f"{address}/mcp/{AVATAR}")
    assert failed == [False] * 40
