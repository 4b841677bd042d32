"""The skills of the council as tools: what they publish, what they take, what they refuse."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Tool

from salon.app import Salon
from salon.core.documents import Provenance
from salon.core.errors import TimedOut
from salon.council.seats import Seat
from salon.mcp_server.council_registry import REGISTRY, tools_of
from salon.mcp_server.council_server import build_seat_server, seat_plan
from salon.mcp_server.factory import build_server
from salon.mcp_server.tables import CALL_SECONDS
from salon.settings import load_settings
from tests.mcp_server.council_playing import GOOD, calling, draft, look_often, play
from tests.mcp_server.talking import ERAS, call, read, talk, text_of
from tests.parts.council_homes import (
    FAR,
    PAST,
    TOPIC,
    TOPIC_ID,
    make_council_home,
    propose_retirement,
    vacate,
)

MALFORMED = "Error: Invalid JSON. Please retry adhering strictly to the schema."
SKILLS = {
    "skill_qdrant_search": ({"query", "limit", "mode", "alpha"}, {"query"}),
    "skill_submit_candidate": (
        {"topic_id", "markdown_content"},
        {"topic_id", "markdown_content"},
    ),
    "skill_broadcast_draft": (
        {"topic_id", "markdown_content"},
        {"topic_id", "markdown_content"},
    ),
    "skill_peer_review": ({"target_candidate_id", "feedback"}, {"target_candidate_id", "feedback"}),
    "skill_submit_fusion": (
        {"collaborator_ids", "markdown_content"},
        {"collaborator_ids", "markdown_content"},
    ),
    "skill_cast_vote": (
        {"target_draft_id", "scores", "rationale"},
        {"target_draft_id", "scores", "rationale"},
    ),
    "skill_synthesize_soul": ({"goal", "system_prompt_content"}, {"system_prompt_content"}),
}
"""By name: the properties of the registry, and which of them are required."""
VOTE = {"target_draft_id": "x", "scores": GOOD, "rationale": "good"}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("skill_qdrant_search", {}, "query"),
    ("skill_qdrant_search", {"query": ""}, "query"),
    ("skill_qdrant_search", {"query": 7}, "query"),
    ("skill_qdrant_search", {"query": "oil", "limit": 21}, "limit"),
    ("skill_qdrant_search", {"query": "oil", "limit": 0}, "limit"),
    ("skill_qdrant_search", {"query": "oil", "limit": "5"}, "limit"),
    ("skill_qdrant_search", {"query": "oil", "mode": "graph"}, "mode"),
    ("skill_qdrant_search", {"query": "oil", "alpha": 1.01}, "alpha"),
    ("skill_qdrant_search", {"query": "oil", "alpha": -0.01}, "alpha"),
    ("skill_qdrant_search", {"query": "oil", "threshold": 0.75}, "threshold"),
    ("skill_submit_candidate", {"topic_id": TOPIC_ID}, "markdown_content"),
    ("skill_submit_candidate", {"markdown_content": "# x"}, "topic_id"),
    (
        "skill_submit_candidate",
        {"topic_id": TOPIC_ID, "markdown_content": "x" * 60_001},
        "markdown_content",
    ),
    ("skill_broadcast_draft", {"topic_id": 1, "markdown_content": "# x"}, "topic_id"),
    ("skill_peer_review", {"target_candidate_id": "x"}, "feedback"),
    ("skill_peer_review", {"target_candidate_id": "x", "feedback": ["a"]}, "feedback"),
    (
        "skill_submit_fusion",
        {"collaborator_ids": "II", "markdown_content": "x"},
        "collaborator_ids",
    ),
    (
        "skill_submit_fusion",
        {"collaborator_ids": ["II", 4], "markdown_content": "x"},
        "collaborator_ids[1]",
    ),
    ("skill_cast_vote", {**VOTE, "scores": {"accuracy": 9, "depth": 9}}, "scores.pedagogy"),
    ("skill_cast_vote", {**VOTE, "scores": {**GOOD, "depth": 0}}, "scores.depth"),
    ("skill_cast_vote", {**VOTE, "scores": {**GOOD, "depth": 11}}, "scores.depth"),
    ("skill_cast_vote", {**VOTE, "scores": {**GOOD, "depth": 7.5}}, "scores.depth"),
    ("skill_cast_vote", {**VOTE, "scores": {**GOOD, "style": 7}}, "scores.style"),
    ("skill_cast_vote", {**VOTE, "verdict": "maybe"}, "verdict"),
    ("skill_synthesize_soul", {"goal": "be kind"}, "system_prompt_content"),
    ("council_brief", {"round_id": 5}, "round_id"),
]


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    settings = make_council_home(tmp_path_factory.mktemp("council"))
    with Salon(settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(salon: Salon) -> Server[Any]:
    """Seat II, with a round open in which it is held outside."""
    salon.open_round(TOPIC, holders={Seat.MINER: "outside", Seat.VIZIER: "outside"})
    return build_seat_server(salon, Seat.MINER)


def listed(server: Server[Any], era: str = ERAS[0]) -> dict[str, Tool]:
    return {one.name: one for one in talk(server, era, lambda client: client.list_tools()).tools}


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def reason_of(result: CallToolResult) -> dict[str, Any]:
    assert result.is_error
    assert result.structured_content is not None
    error: dict[str, Any] = result.structured_content["error"]
    return error


# What is published


@pytest.mark.requirement(
    "council/overview/mcp-tools",
    "council/search/schema",
    "council/submit-candidate/schema",
    "council/peer-review/schema",
    "council/submit-fusion/schema",
    "council/cast-vote/schema",
    "council/synthesize-soul/schema",
)
@pytest.mark.parametrize("era", ERAS)
def test_the_tools_have_the_names_and_schemas_of_the_registry(
    server: Server[Any], era: str
) -> None:
    tools = listed(server, era)
    assert set(tools) == {*SKILLS, "council_brief", "council_vote_retirement"}
    for name, (properties, required) in SKILLS.items():
        schema = tools[name].input_schema
        assert properties <= set(schema["properties"]), name
        assert set(schema.get("required", ())) == required, name
        extra = set(schema["properties"]) - properties
        assert extra <= {"round_id", "verdict"}, name


def kinds(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: one.get("type") for name, one in schema["properties"].items()}


@pytest.mark.requirement(
    "council/search/schema",
    "council/search/limit",
    "council/search/mode",
    "council/search/alpha",
)
def test_the_search_says_what_it_takes_and_what_it_takes_when_left_out(
    server: Server[Any],
) -> None:
    schema = listed(server)["skill_qdrant_search"].input_schema
    fields = schema["properties"]
    assert kinds(schema) == {
        "query": "string",
        "limit": "integer",
        "mode": "string",
        "alpha": "number",
    }
    assert (fields["limit"]["default"], fields["limit"]["maximum"]) == (5, 20)
    assert fields["mode"]["enum"] == ["hybrid", "dense", "sparse"]
    assert fields["mode"]["default"] == "hybrid"
    alpha = fields["alpha"]
    assert (alpha["default"], alpha["minimum"], alpha["maximum"]) == (0.5, 0, 1)


def test_the_other_skills_have_the_types_of_the_registry(server: Server[Any]) -> None:
    tools = listed(server)
    assert kinds(tools["skill_submit_candidate"].input_schema)["markdown_content"] == "string"
    fusion = tools["skill_submit_fusion"].input_schema["properties"]["collaborator_ids"]
    assert (fusion["type"], fusion["items"]["type"]) == ("array", "string")
    vote = tools["skill_cast_vote"].input_schema
    scores = vote["$defs"]["Scores"]
    assert set(scores["required"]) == {"accuracy", "depth", "pedagogy"}
    for one in scores["properties"].values():
        assert (one["type"], one["minimum"], one["maximum"]) == ("integer", 1, 10)


def test_every_tool_says_what_it_does_to_the_world(server: Server[Any]) -> None:
    for name, tool in listed(server).items():
        hints = tool.annotations
        assert hints is not None
        is_reading = name in {"skill_qdrant_search", "council_brief"}
        assert hints.read_only_hint is is_reading, name
        assert hints.destructive_hint is False
        assert hints.open_world_hint is False


@pytest.mark.requirement("council/registry/all-seats")
def test_every_seat_is_offered_every_skill(salon: Salon) -> None:
    names = {seat: [one.name for one in tools_of(salon, seat)] for seat in Seat}
    assert set(names) == set(Seat)
    for offered in names.values():
        assert offered == list(SKILLS)


def test_the_server_tells_a_client_which_seat_it_holds(salon: Salon) -> None:
    plan = seat_plan(salon, Seat.AUDITOR)
    assert "seat III of a council of five, the Auditor" in plan.instructions
    assert "skill://council/play-a-round/SKILL.md" in plan.instructions


# Searching


@pytest.mark.requirement(
    "council/search/result-hash", "council/search/limit", "council/overview/reach"
)
def test_every_result_names_its_card_and_its_bytes(salon: Salon, server: Server[Any]) -> None:
    found = structured(call(server, "skill_qdrant_search", query="paraffin oil in the lamp"))
    assert 1 <= len(found["results"]) <= 5
    for one in found["results"]:
        content = salon.archive.get(one["hash"]).content
        assert content[one["start"] : one["end"]].decode() == one["text"]
        assert one["source"]
        assert one["document"]
        assert 0 <= one["score"] <= 1


@pytest.mark.requirement("council/search/mode", "council/search/alpha", "council/search/limit")
def test_mode_and_alpha_choose_between_words_and_vectors(server: Server[Any]) -> None:
    def ranking(**arguments: Any) -> list[tuple[str, int]]:
        found = structured(call(server, "skill_qdrant_search", query="cheaper fuel", **arguments))
        return [(one["hash"], one["start"]) for one in found["results"]]

    assert ranking(alpha=0.0) == ranking(mode="sparse")
    assert ranking(alpha=1.0) == ranking(mode="dense")
    assert ranking() == ranking(mode="hybrid", alpha=0.5, limit=5)
    assert ranking(alpha=1) == ranking(alpha=1.0)
    assert len(ranking(limit=20)) == 5
    assert len(ranking(limit=1)) == 1


@pytest.mark.requirement("council/search/read-only")
def test_searching_changes_nothing(salon: Salon, server: Server[Any]) -> None:
    before = (salon.archive.checkpoint().seq, salon.archive.stats())
    for mode in ("hybrid", "dense", "sparse"):
        structured(call(server, "skill_qdrant_search", query="the siren in fog", mode=mode))
    structured(call(server, "council_brief"))
    assert (salon.archive.checkpoint().seq, salon.archive.stats()) == before


@pytest.mark.requirement("council/search/results-verifiable")
def test_a_reviewer_confirms_a_citation_from_hash_and_span_alone(server: Server[Any]) -> None:
    found = structured(call(server, "skill_qdrant_search", query="how often the wick was trimmed"))
    one = found["results"][0]
    place = f"card://{one['hash']}?start={one['start']}&end={one['end']}"
    assert read(server, place) == one["text"]
    with pytest.raises(MCPError, match="no document has the text"):
        read(server, f"card://{'0' * 64}?start=0&end=5")
    with pytest.raises(MCPError, match="are not all in this card"):
        read(server, f"card://{one['hash']}?start=0&end=99999999")


@pytest.mark.requirement("council/search/results-verifiable")
def test_a_made_up_citation_is_sent_back(server: Server[Any]) -> None:
    made_up = (
        f"# Lamps\n\n## Oil\n\nThe lamp burned whale oil.[^1]\n\n"
        f'[^1]: "The lamp burned whale oil." card:{"0" * 64}#0-27\n'
    )
    result = structured(
        call(server, "skill_submit_candidate", topic_id=TOPIC_ID, markdown_content=made_up)
    )
    assert result["status"] == "sent_back"
    assert [one["code"] for one in result["failings"]] == ["no_such_card"]


def test_bytes_that_cut_a_character_are_refused(salon: Salon, server: Server[Any]) -> None:
    added = salon.archive.add("Grüße vom Leuchtturm".encode())
    salon.archive.write(
        lambda tx: tx.add_document(Provenance(title="Greetings"), source=added.hash)
    )
    assert read(server, f"card://{added.hash}?start=0&end=4") == "Grü"
    with pytest.raises(MCPError, match="inside a character"):
        read(server, f"card://{added.hash}?start=0&end=3")


def test_drafts_and_rounds_cannot_be_read_as_cards(salon: Salon, server: Server[Any]) -> None:
    (opened,) = salon.open_rounds()
    handle = salon.archive.resolve(f"council/rounds/{opened.id}")
    with pytest.raises(MCPError, match="no document has the text"):
        read(server, f"card://{handle.current}")


def test_a_seat_reads_where_chapters_and_souls_lead_and_no_other_handle(
    salon: Salon, server: Server[Any]
) -> None:
    soul = json.loads(read(server, "handle://souls/active/II"))
    assert soul["current"]["hash"] == salon.archive.resolve("souls/active/II").current
    assert len(soul["history"]) >= 1
    (opened,) = salon.open_rounds()
    for hidden in (f"council/rounds/{opened.id}", "completed/never-published"):
        with pytest.raises(MCPError, match="no handle"):
            read(server, f"handle://{hidden}")


# Malformed arguments


@pytest.mark.requirement("council/errors/malformed", "council/errors/malformed-reason")
@pytest.mark.parametrize(
    ("name", "arguments", "argument"), WRONG, ids=[f"{n}-{k}" for k, (n, _, _) in enumerate(WRONG)]
)
def test_malformed_arguments_get_the_sentence_and_a_reason(
    salon: Salon, server: Server[Any], name: str, arguments: dict[str, Any], argument: str
) -> None:
    before = salon.archive.checkpoint().seq
    result = call(server, name, **arguments)
    assert result.is_error
    assert text_of(result) == MALFORMED
    error = reason_of(result)
    assert error["code"] == "invalid_input"
    assert error["details"]["argument"] == argument
    assert salon.archive.checkpoint().seq == before
    tool = listed(server)[name]
    assert tool.output_schema is not None
    jsonschema.validate(result.structured_content, tool.output_schema)


@pytest.mark.requirement("council/errors/malformed-reason")
def test_a_malformed_call_can_be_mended_and_made_again(server: Server[Any]) -> None:
    assert call(server, "skill_qdrant_search", qery="oil").is_error
    assert structured(call(server, "skill_qdrant_search", query="oil"))["results"]


def test_a_refusal_that_is_not_about_the_schema_keeps_its_own_words(server: Server[Any]) -> None:
    result = call(server, "skill_peer_review", target_candidate_id="forged", feedback="Hm.")
    assert reason_of(result)["code"] == "invalid_input"
    assert "cannot be the id of a candidate" in text_of(result)


# Time


def with_seconds(salon: Salon, seconds: float) -> Server[Any]:
    plan = seat_plan(salon, Seat.MINER)
    assert {tool.seconds for tool in plan.tools} == {CALL_SECONDS} == {30.0}
    tools = tuple(replace(tool, seconds=seconds) for tool in plan.tools)
    return build_server(replace(plan, tools=tools))


@pytest.mark.requirement("council/errors/timeout")
def test_a_skill_that_takes_too_long_is_ended_and_the_caller_is_told(
    salon: Salon, server: Server[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()
    checked = threading.Event()
    refused: list[Exception] = []
    verify = type(salon.council_desk._staging).check

    def slowly(staging: Any, markdown: str, **named: Any) -> Any:
        assert goes_on.wait(60)
        return verify(staging, markdown, **named)

    submit = type(salon.council_desk).submit_candidate

    def noting(desk: Any, *words: Any, **named: Any) -> Any:
        try:
            return submit(desk, *words, **named)
        except Exception as error:
            refused.append(error)
            raise
        finally:
            checked.set()

    monkeypatch.setattr(type(salon.council_desk._staging), "check", slowly)
    monkeypatch.setattr(type(salon.council_desk), "submit_candidate", noting)
    before = salon.archive.checkpoint().seq
    slow = with_seconds(salon, 0.2)
    result = call(slow, "skill_submit_candidate", topic_id=TOPIC_ID, markdown_content="# x")
    error = reason_of(result)
    assert error["code"] == "timed_out"
    assert "took longer than 0.2 s" in error["message"]
    goes_on.set()
    assert checked.wait(60)
    assert [type(one) for one in refused] == [TimedOut]
    assert salon.archive.checkpoint().seq == before


# Playing


@pytest.mark.requirement("council/synthesize-soul/survivors-only")
def test_survivors_write_a_soul_over_mcp_and_nobody_else_can(tmp_path: Path) -> None:
    with Salon(load_settings(home=tmp_path, environment={})) as home:
        arguments = {"system_prompt_content": "Join what lies far apart.", "goal": "Links"}
        servers = {seat: build_seat_server(home, seat) for seat in Seat}
        early = call(servers[Seat.CHAIR], "skill_synthesize_soul", **arguments)
        assert reason_of(early)["code"] == "not_allowed"
        vacate(home, Seat.VIZIER)
        own = call(servers[Seat.VIZIER], "skill_synthesize_soul", **arguments)
        assert reason_of(own)["code"] == "not_allowed"
        assert structured(call(servers[Seat.VIZIER], "council_brief"))["vacancy"] is None
        made = [
            structured(call(servers[seat], "skill_synthesize_soul", **arguments))
            for seat in (Seat.CHAIR, Seat.MINER, Seat.AUDITOR)
        ]
        assert {one["status"] for one in made} == {"awaiting_survivors"}
        seen = structured(call(servers[Seat.PROFESSOR], "council_brief"))["vacancy"]
        assert (seen["seat"], seen["goal"], seen["consents_needed"]) == ("V", "Links", 4)
        (proposal,) = seen["proposals"]
        assert proposal == {
            "system_prompt_content": "Join what lies far apart.\n",
            "consents": 3,
        }
        last = structured(call(servers[Seat.PROFESSOR], "skill_synthesize_soul", **arguments))
        assert last == {"new_soul_path": "souls/active/V", "status": "born"}


def test_survivors_vote_on_a_retirement_over_mcp_once_each_and_the_subject_has_no_say(
    tmp_path: Path,
) -> None:
    with Salon(load_settings(home=tmp_path, environment={})) as home:
        servers = {seat: build_seat_server(home, seat) for seat in Seat}
        tool = "council_vote_retirement"
        early = call(servers[Seat.CHAIR], tool, review_id="review_1", verdict="up")
        assert reason_of(early)["code"] == "not_allowed"
        propose_retirement(home, Seat.VIZIER)
        other = reason_of(call(servers[Seat.CHAIR], tool, review_id="review_0", verdict="up"))
        assert other["message"] == "'review_0' is not what is voted on now"
        assert other["hint"] == "seat V is put to the vote now, in review_1"
        assert structured(call(servers[Seat.VIZIER], "council_brief"))["retirement"] is None
        assert (
            reason_of(call(servers[Seat.VIZIER], tool, review_id="review_1", verdict="down"))[
                "code"
            ]
            == "not_allowed"
        )
        assert (
            structured(call(servers[Seat.CHAIR], tool, review_id="review_1", verdict="up"))[
                "status"
            ]
            == "voting"
        )
        assert (
            reason_of(call(servers[Seat.CHAIR], tool, review_id="review_1", verdict="up"))["code"]
            == "not_allowed"
        )
        assert structured(call(servers[Seat.CHAIR], "council_brief"))["retirement"] is None
        seen = structured(call(servers[Seat.MINER], "council_brief"))["retirement"]
        assert seen == {
            "review_id": "review_1",
            "seat": "V",
            "ups": 1,
            "downs": 0,
            "due_at": FAR,
        }
        others = (Seat.MINER, Seat.AUDITOR, Seat.PROFESSOR)
        said = [
            structured(call(servers[seat], tool, review_id="review_1", verdict="up"))["status"]
            for seat in others
        ]
        assert said == ["voting", "voting", "vacant"]


def test_a_vote_that_comes_too_late_over_mcp_gets_one_clear_error(tmp_path: Path) -> None:
    with Salon(load_settings(home=tmp_path, environment={})) as home:
        server = build_seat_server(home, Seat.CHAIR)
        propose_retirement(home, Seat.VIZIER, due_at=PAST)
        tool = "council_vote_retirement"
        errors = [
            reason_of(call(server, tool, review_id="review_1", verdict="up")) for _ in range(2)
        ]
        assert errors[0] == errors[1]
        assert errors[0]["code"] == "not_allowed"
        assert f"I, II, III and IV had not voted by {PAST}" in errors[0]["message"]
        assert "council.evolve_every" in errors[0]["hint"]
        assert structured(call(server, "council_brief"))["retirement"] is None
        assert {one.seat for one in home._soul_keeper.state().absences} == set(Seat) - {Seat.VIZIER}


def test_a_vacancy_that_lasts_is_shown_and_holds_up_only_whoever_has_yet_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []

    async def look_again(seconds: float) -> None:
        looks.append(seconds)

    with Salon(load_settings(home=tmp_path, environment={})) as home:
        vacate(home, Seat.VIZIER, due_at=PAST)
        servers = {seat: build_seat_server(home, seat) for seat in Seat}
        text = "Join what lies far apart."
        for seat in (Seat.CHAIR, Seat.MINER):
            made = call(servers[seat], "skill_synthesize_soul", system_prompt_content=text)
            assert structured(made)["status"] == "awaiting_survivors"
        monkeypatch.setattr("salon.mcp_server.council_server.anyio.sleep", look_again)
        waiting = structured(call(servers[Seat.AUDITOR], "council_brief", wait_s=1))["vacancy"]
        assert (waiting["due_at"], waiting["consents_needed"]) == (PAST, 3)
        assert not waiting["handed_in"]
        assert not looks
        done = structured(call(servers[Seat.CHAIR], "council_brief", wait_s=1))["vacancy"]
        assert done["handed_in"]
        assert len(looks) == 2
        born = call(servers[Seat.AUDITOR], "skill_synthesize_soul", system_prompt_content=text)
        assert structured(born)["status"] == "born"
        late = call(servers[Seat.PROFESSOR], "skill_synthesize_soul", system_prompt_content=text)
        assert "IV stayed silent" in reason_of(late)["message"]


@pytest.mark.requirement("council/security/broadcast-alias")
def test_the_alias_is_the_same_skill(salon: Salon, server: Server[Any]) -> None:
    tools = listed(server)
    own, other = tools["skill_submit_candidate"], tools["skill_broadcast_draft"]
    assert own.model_copy(update={"name": other.name}) == other
    (entry,) = [one for one in REGISTRY if "skill_broadcast_draft" in one.names]
    assert entry.names == ("skill_submit_candidate", "skill_broadcast_draft")

    async def hand_in(client: Client) -> dict[str, Any]:
        text = await draft(calling(client), TOPIC, "V")
        arguments = {"topic_id": TOPIC_ID, "markdown_content": text}
        return await calling(client)("skill_broadcast_draft", arguments)

    made = talk(build_seat_server(salon, Seat.VIZIER), ERAS[1], hand_in)
    assert made["status"] == "awaiting_peer_review"
    (opened,) = salon.open_rounds()
    assert opened.find_candidate(made["candidate_id"]) is not None


def test_a_seat_that_is_not_held_outside_cannot_be_played(
    salon: Salon, server: Server[Any]
) -> None:
    chair = build_seat_server(salon, Seat.CHAIR)
    brief = structured(call(chair, "council_brief"))
    assert (brief["seat"], brief["round_id"], brief["open_rounds"]) == ("I", None, [])
    result = call(chair, "skill_submit_candidate", topic_id=TOPIC_ID, markdown_content="# x")
    assert reason_of(result)["code"] == "not_allowed"
    (opened,) = salon.open_rounds()
    refused = call(chair, "council_brief", round_id=opened.id)
    assert reason_of(refused)["code"] == "not_allowed"


@pytest.mark.requirement("council/overview/reach", "council/overview/any-holder")
def test_five_outside_seats_play_a_round_to_its_chapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_often(monkeypatch)
    with Salon(make_council_home(tmp_path / "home")) as home:
        opened = home.open_round(TOPIC, holders=dict.fromkeys(Seat, "outside"))

        async def main() -> dict[Seat, list[str]]:
            used: dict[Seat, list[str]] = {}

            async def hold(seat: Seat) -> None:
                async with Client(build_seat_server(home, seat), mode=ERAS[1]) as client:
                    used[seat] = await play(calling(client))

            async with anyio.create_task_group() as seats:
                for seat in Seat:
                    seats.start_soon(hold, seat)
                assert home.start_round(opened.id)
            return used

        used = anyio.run(main)
        over = home.round(opened.id)
        assert over.phase == "published"
        assert home.verify_round(opened.id).holds
        for skills in used.values():
            assert skills[:5] == ["skill_submit_candidate", *["skill_peer_review"] * 4]
        assert home.chapter(opened.id).record["consensus_metadata"]["average_score"] >= 8
