"""What an avatar's tools take and give, whoever answers behind them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.client import Client
from mcp.server import Server

from salon import __version__
from salon.app import Salon
from salon.conversation.discussion import Discussion, Utterance
from salon.core.errors import InvalidInput
from salon.core.outcomes import Outcome
from salon.experts.profile import make_profile, register_profile
from salon.mcp_server.avatar_server import build_avatar_server
from salon.settings import load_settings
from tests.mcp_server.homes import AVATAR, PROFILE
from tests.mcp_server.recorded import CITATION, LABEL, REPLY, Recorded
from tests.mcp_server.talking import ERAS, call, error_of, talk

SAID = [{"role": "alice", "content": "The canal silts."}, {"role": "bob", "content": "Who digs?"}]
DISCUSSION = Discussion(
    utterances=tuple(Utterance(role=one["role"], content=one["content"]) for one in SAID)
)
ALL_TOOLS = [
    "query_corpus",
    "generate_response",
    "get_avatar_info",
    "should_speak",
    "verify_response",
]


@pytest.fixture
def salon(tmp_path: Path) -> Iterator[Salon]:
    with Salon(load_settings(home=tmp_path / "home", environment={})) as salon:
        register_profile(salon.archive, make_profile(PROFILE))
        yield salon


@pytest.fixture
def service(salon: Salon) -> Recorded:
    return Recorded(salon.archive)


@pytest.fixture
def server(service: Recorded) -> Server[Any]:
    return build_avatar_server(service, AVATAR)


def _schemas(server: Server[Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    tools = talk(server, "auto", lambda client: client.list_tools()).tools
    return {one.name: (one.input_schema, one.output_schema or {}) for one in tools}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("sdk/tools/three-tools", "cap/query-corpus/listed")
def test_all_five_tools_are_offered_unless_the_profile_says_otherwise(
    server: Server[Any], era: str
) -> None:
    tools = talk(server, era, lambda client: client.list_tools()).tools
    assert [one.name for one in tools] == ALL_TOOLS
    for one in tools:
        assert one.output_schema is not None
        assert one.annotations is not None
        assert None not in (
            one.annotations.read_only_hint,
            one.annotations.destructive_hint,
            one.annotations.idempotent_hint,
            one.annotations.open_world_hint,
        )


@pytest.mark.requirement("sdk/configuration/mcp-block", "sdk/configuration/tools-list")
def test_the_profile_names_the_server_and_its_tools(salon: Salon, service: Recorded) -> None:
    block = {"name": "weir", "version": "3.2.1", "tools": ["get_avatar_info", "query_corpus"]}
    register_profile(salon.archive, make_profile(PROFILE | {"mcp": block}))
    server = build_avatar_server(service, AVATAR)

    async def ask(client: Client) -> None:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("weir", "3.2.1")
        assert [one.name for one in (await client.list_tools()).tools] == [
            "query_corpus",
            "get_avatar_info",
        ]

    talk(server, "legacy", ask)
    with pytest.raises(InvalidInput, match=r"mcp\.tools"):
        make_profile(PROFILE | {"mcp": {"tools": ["query_corpora"]}})


@pytest.mark.parametrize("era", ERAS)
def test_a_client_learns_on_connecting_that_this_is_an_ai(server: Server[Any], era: str) -> None:
    async def ask(client: Client) -> None:
        assert client.server_info is not None
        assert client.server_info.name == f"avatar-{AVATAR}"
        assert client.server_info.version == __version__
        assert client.instructions is not None
        assert client.instructions.startswith(LABEL)

    talk(server, era, ask)


@pytest.mark.requirement("sdk/query-corpus/schema", "sdk/generate-response/schema")
def test_the_schemas_are_those_of_the_source_protocols(server: Server[Any]) -> None:
    query, respond = (_schemas(server)[name][0] for name in ALL_TOOLS[:2])
    assert query["required"] == ["query"]
    shown = query["properties"]
    types = {name: shown[name]["type"] for name in shown}
    assert types == {
        "query": "string",
        "context": "string",
        "limit": "integer",
        "max_results": "integer",
        "threshold": "number",
    }
    assert (shown["limit"]["default"], shown["threshold"]["default"]) == (5, 0.7)
    assert all(one["description"] for one in shown.values())
    assert respond["required"] == ["question"]
    shown = respond["properties"]
    assert shown["question"]["type"] == "string"
    assert shown["passages"]["type"] == "array"
    item = respond["$defs"]["Said"]
    for name in ("context", "conversation_context", "conversation"):
        assert shown[name]["type"] == "array"
        assert shown[name]["items"] == {"$ref": "#/$defs/Said"}
    assert {name: item["properties"][name]["type"] for name in item["properties"]} == {
        "role": "string",
        "content": "string",
    }


@pytest.mark.requirement("sdk/get-avatar-info/no-input")
def test_get_avatar_info_takes_nothing(server: Server[Any]) -> None:
    assert _schemas(server)["get_avatar_info"][0] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    error = error_of(call(server, "get_avatar_info", verbose=True))
    assert error["message"] == "`verbose` is not an argument of get_avatar_info"
    assert error["hint"] == "it takes no arguments"


@pytest.mark.requirement("sdk/query-corpus/limit-default", "sdk/query-corpus/threshold-default")
def test_a_query_alone_has_the_defaults(server: Server[Any], service: Recorded) -> None:
    result = call(server, "query_corpus", query="silt")
    assert result.structured_content == {
        "passages": [],
        "notes": ["vectors are still being computed"],
    }
    assert service.asked == [
        ("query", {"query": "silt", "context": None, "limit": 5, "threshold": 0.7})
    ]


@pytest.mark.requirement("cap/query-corpus/max-results")
def test_a_query_is_handed_on_as_it_came(server: Server[Any], service: Recorded) -> None:
    call(server, "query_corpus", query="silt", context="a garden", max_results=9, threshold=0)
    call(server, "query_corpus", query="silt", limit=50, max_results=50, threshold=1)
    assert [one[1]["limit"] for one in service.asked] == [9, 50]
    assert [one[1]["threshold"] for one in service.asked] == [0, 1]
    assert service.asked[0][1]["context"] == "a garden"


@pytest.mark.requirement("cap/query-corpus/max-results-conflict")
def test_two_limits_that_differ_are_refused(server: Server[Any], service: Recorded) -> None:
    error = error_of(call(server, "query_corpus", query="silt", limit=5, max_results=6))
    assert error["code"] == "invalid_input"
    assert "must be equal" in error["message"]
    assert service.asked == []


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({}, "query"),
        ({"query": 3}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "limit": "3"}, "limit"),
        ({"query": "x", "limit": 2.5}, "limit"),
        ({"query": "x", "max_results": 51}, "max_results"),
        ({"query": "x", "threshold": -0.1}, "threshold"),
        ({"query": "x", "threshold": 1.1}, "threshold"),
        ({"query": "x", "threshold": "0.5"}, "threshold"),
        ({"query": "x", "context": ["a"]}, "context"),
    ],
)
@pytest.mark.requirement(
    "sdk/query-corpus/query-required",
    "sdk/query-corpus/limit-range",
    "sdk/query-corpus/threshold-range",
)
def test_what_a_query_may_not_be_is_refused_by_name(
    server: Server[Any], service: Recorded, arguments: dict[str, Any], argument: str
) -> None:
    error = error_of(call(server, "query_corpus", **arguments))
    assert error["details"]["argument"] == argument
    assert f"`{argument}`" in error["message"]
    assert service.asked == []


def test_a_misspelt_argument_is_named_with_the_right_one(server: Server[Any]) -> None:
    error = error_of(call(server, "query_corpus", query="x", treshold=0.5))
    assert "did you mean `threshold`" in error["message"]
    error = error_of(call(server, "generate_response", question="x", conversations=[]))
    assert "did you mean `conversation`" in error["message"]


@pytest.mark.parametrize("name", ["context", "conversation_context", "conversation"])
@pytest.mark.requirement(
    "cap/flow/one-call-with-context", "cap/generate-response/conversation-context"
)
def test_a_conversation_goes_by_three_names(
    server: Server[Any], service: Recorded, name: str
) -> None:
    about = {"topic": "the canal", "participant_count": 12, "room": "blue"}
    given: dict[str, Any] = {name: SAID, "session_metadata": about}
    result = call(server, "generate_response", question="Who digs?", **given)
    assert not result.is_error
    assert service.asked == [
        (
            "respond",
            {
                "question": "Who digs?",
                "discussion": replace(DISCUSSION, topic="the canal"),
                "passages": None,
            },
        )
    ]


@pytest.mark.requirement("cap/context/session-metadata")
@pytest.mark.parametrize(
    "about",
    [
        None,
        {},
        {"topic": "the canal"},
        {"participant_count": 3, "platform": "harmonica"},
        {"topic": "the canal", "participant_count": 12, "platform": "slack"},
    ],
    ids=["left out", "empty", "topic", "without a topic", "whole"],
)
def test_what_is_known_of_a_session_may_be_given_whole_or_in_part(
    server: Server[Any], service: Recorded, about: dict[str, Any] | None
) -> None:
    given: dict[str, Any] = {} if about is None else {"session_metadata": about}
    assert not call(server, "generate_response", question="Who digs?", **given).is_error
    ((_, asked),) = service.asked
    assert asked["discussion"].topic == (about or {}).get("topic")


def test_conversations_that_differ_are_refused(server: Server[Any]) -> None:
    given: dict[str, Any] = {"context": SAID, "conversation": SAID[:1]}
    assert "must be equal" in error_of(
        call(server, "generate_response", question="x", **given)
    )["message"]  # fmt: skip
    same: dict[str, Any] = {"context": SAID, "conversation": SAID}
    assert not call(server, "generate_response", question="x", **same).is_error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "generate_response needs `question`"),
        ({"question": "x", "context": "alice: hello"}, "`context`"),
        ({"question": "x", "context": [{"role": "a"}]}, "needs `context[0].content`"),
        ({"question": "x", "context": [{"role": "a", "content": 1}]}, "`context[0].content`"),
        ({"question": "x", "passages": [{"hash": "0"}]}, "needs `passages[0].content`"),
        ({"question": "x", "context": [{"role": "a", "content": "y" * 100_001}]}, "too long"),
        ({"question": "x", "session_metadata": {"topic": 1}}, "`session_metadata.topic`"),
    ],
)
def test_what_a_question_may_not_be_is_refused_by_name(
    server: Server[Any], service: Recorded, arguments: dict[str, Any], said: str
) -> None:
    assert said in error_of(call(server, "generate_response", **arguments))["message"]
    assert service.asked == []


def test_passages_are_handed_on_with_their_proof(server: Server[Any], service: Recorded) -> None:
    passage = {"content": "a turn", "hash": "0" * 64, "start": 3, "end": 9, "score": 0.8}
    known = passage | {"source": "On keeping a canal", "page": 4}
    call(server, "generate_response", question="x", passages=[known, passage])
    proof = replace(CITATION, page=4)
    assert service.asked[0][1]["passages"] == [proof, replace(proof, source="", page=None)]


@pytest.mark.parametrize("missing", ["hash", "start", "end"])
def test_a_passage_without_its_place_is_ungrounded(
    server: Server[Any], service: Recorded, missing: str
) -> None:
    passage = {"content": "a turn", "hash": "0" * 64, "start": 3, "end": 9}
    del passage[missing]
    error = error_of(call(server, "generate_response", question="x", passages=[passage]))
    assert error["code"] == "ungrounded_passage"
    assert "passage 1" in error["message"]
    assert service.asked == []


@pytest.mark.requirement("sdk/generate-response/output", "cap/flow/reply-with-citations")
def test_a_reply_has_the_fields_of_both_protocols(server: Server[Any]) -> None:
    result = call(server, "generate_response", question="x")
    assert result.structured_content == {
        "response": REPLY.response,
        "citations": [
            {
                "source": "On keeping a canal",
                "page": None,
                "quote": "a turn",
                "hash": "0" * 64,
                "start": 3,
                "end": 9,
            }
        ],
        "claims": [{"text": REPLY.response, "citations": [0], "support": 0.9}],
        "confidence": "medium",
        "outcome": "answered",
        "ai_label": LABEL,
    }


def test_an_outcome_is_no_error(server: Server[Any], service: Recorded) -> None:
    service.reply = replace(
        REPLY,
        outcome=Outcome.OUT_OF_SCOPE,
        suggestion="Ask of canals.",
        redirect="Ask somebody who built bridges.",
    )
    result = call(server, "generate_response", question="x")
    assert not result.is_error
    assert result.structured_content is not None
    assert result.structured_content["outcome"] == "out_of_scope"
    assert result.structured_content["suggestion"] == "Ask of canals."
    assert result.structured_content["redirect"] == "Ask somebody who built bridges."


def test_whether_to_speak_is_asked_of_a_conversation(
    server: Server[Any], service: Recorded
) -> None:
    result = call(server, "should_speak", conversation=SAID, mode="always")
    assert result.structured_content == {
        "speak": False,
        "score": 0.2,
        "reason": "nobody asked",
        "rule": "mentioned",
    }
    assert service.asked == [("speak", {"discussion": DISCUSSION, "mode": "always"})]
    assert "conversation" in error_of(call(server, "should_speak"))["message"]
    wrong = error_of(call(server, "should_speak", conversation=SAID, mode="loud"))
    assert "'mentioned'" in wrong["message"]


def test_a_check_tells_everything_it_found(server: Server[Any], service: Recorded) -> None:
    citation = {"hash": "0" * 64, "start": 3, "end": 9, "quote": "a turn", "source": "On"}
    result = call(
        server, "verify_response", response="It silts.", citations=[citation], conversation=SAID
    )
    report = result.structured_content
    assert report is not None
    assert report["holds"] is False
    first, second = report["claims"]
    assert (first["verdict"], first["fault"]) == ("unsupported", "not_borne_out")
    assert (first["support"], first["against"]) == (0.2, ["number differs"])
    assert (second["fault"], second["support"], second["against"]) == (None, None, [])
    assert report["citations"][0]["fault"] == "no_such_card"
    expected = replace(CITATION, source="On")
    ((_, asked),) = service.asked
    assert asked == {
        "response": "It silts.",
        "citations": [expected],
        "avatar": AVATAR,
        "discussion": DISCUSSION,
    }


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("query_corpus", {"query": "x"}),
        ("generate_response", {"question": "x"}),
        ("get_avatar_info", {}),
        ("should_speak", {"conversation": SAID}),
        ("verify_response", {"response": "x"}),
    ],
)
def test_results_keep_to_their_published_schemas(
    server: Server[Any], name: str, arguments: dict[str, Any]
) -> None:
    result = call(server, name, **arguments)
    schema = _schemas(server)[name][1]
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result.structured_content, schema)
    given = _schemas(server)[name][0]
    jsonschema.Draft202012Validator.check_schema(given)
    jsonschema.validate(arguments, given)


_names = st.sampled_from(
    [
        *("query", "context", "limit", "max_results", "threshold", "question", "passages"),
        *("conversation", "session_metadata", "mode", "response", "citations", "hash", "start"),
        *("end", "quote", "source", "content", "role", "topic"),
    ]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_names | st.text(max_size=5), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=st.sampled_from(ALL_TOOLS), arguments=st.dictionaries(_names, _values, max_size=5))
def test_whatever_is_handed_in_is_answered_or_refused_with_a_reason(
    server: Server[Any], tool: str, arguments: dict[str, Any]
) -> None:
    result = talk(server, "auto", lambda client: client.call_tool(tool, arguments))
    if result.is_error:
        error = error_of(result)
        assert error["code"] in {"invalid_input", "ungrounded_passage"}
        assert error["hint"]


def test_half_a_character_is_refused(server: Server[Any]) -> None:
    for arguments in ({"query": "\ud800"}, {"query": "x", "\udfff": 1}):
        error = error_of(call(server, "query_corpus", **arguments))
        assert error["code"] == "invalid_input"


def test_the_persona_ends_with_being_an_ai_and_holds_no_instruction_of_the_corpus(
    server: Server[Any],
) -> None:
    def persona(**arguments: str) -> list[str]:
        found = talk(server, "auto", lambda client: client.get_prompt("persona", arguments))
        return [json.loads(one.content.model_dump_json())["text"] for one in found.messages]

    (alone,) = persona()
    for part in (
        "You represent the notes of Ida Weir.",
        "Plain and patient.",
        "Speak of canals you kept",
        "As I wrote in my note.",
        "open to 1910",
        "as one who studied Ida Weir",
        "verify_response",
    ):
        assert part in alone
    assert alone.index(LABEL) > alone.index("Plain and patient.")
    assert "say that you are an AI" in alone
    with_question = persona(question="Who digs?")
    assert with_question[0] == alone
    assert "The corpus has no passage on this." in with_question[1]
    assert '"Who digs?"' in with_question[1]
