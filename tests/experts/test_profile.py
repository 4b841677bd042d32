"""Profiles: what is read, what is refused and how that is said, and where they are kept."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import AvatarNotFound, FileMissing, InvalidInput, InvalidProfile
from salon.corpus.manifest import Period
from salon.experts.profile import (
    find_profile,
    get_profile,
    list_profiles,
    load_profile,
    make_profile,
    parse_profile,
    profile_handle,
    profile_ids,
    profile_schema,
    register_profile,
    save_profile,
)
from tests.experts.profiles import config, profile

WHOLE = config(
    birthYear=1815,
    deathYear=1852,
    expertise=["engines", "numbers"],
    corpus={
        "description": "Her notes.",
        "dateRange": {"start": "1840-01-01", "end": "1852-11-27"},
        "sources": [
            {
                "id": "notes",
                "title": "Notes",
                "authors": ["A. A. L."],
                "year": 1843,
                "type": "article",
                "description": "On the engine.",
                "url": "https://nowhere.io/notes",
                "archiveUrl": "http://archive.nowhere.io/notes",
                "doi": "10.1/x",
                "hdl": "1/2",
                "journal": "Memoirs",
                "volume": 3,
                "issue": "2a",
                "pages": "666-731",
                "license": "Public domain",
                "format": "PDF",
                "verified": True,
                "priority": "primary",
                "topics": ["engines"],
                "notes": "compared with the print",
                "file": "sources/notes.pdf",
            }
        ],
    },
    vectorStore={
        "table": "avatar_chunks",
        "embeddingModel": "text-embedding-3-small",
        "embeddingDimensions": 1536,
        "chunkSize": 512,
        "chunkOverlap": 50,
    },
    mcpServer={"url": "https://nowhere.io/mcp", "tools": ["query_corpus"]},
    mcp={"name": "avatar-ada", "version": "1.0.0", "tools": ["query_corpus"]},
    salon={
        "preset": "expert",
        "voice": "student",
        "speaking": "mentioned",
        "grounding": {"alpha": 0.05, "threshold": 0.8, "composer": "chat", "mostQuotes": 2},
        "steps": [],
        "actions": [],
    },
)


def test_every_field_is_read_and_written_as_it_came() -> None:
    found = make_profile(WHOLE)
    assert found.as_config() == WHOLE
    assert parse_profile(found.to_json()) == found
    source = found.corpus.sources[0]
    assert (source.archive_url, source.volume, source.issue) == (
        "http://archive.nowhere.io/notes",
        3,
        "2a",
    )
    assert found.period == Period(first=1840, last=1852)
    assert (found.avatar, found.salon.grounding.most_quotes) == ("ada", 2)


@pytest.mark.requirement("sdk/configuration/mcp-block", "sdk/configuration/tools-list")
def test_what_is_left_out_has_a_meaning_and_is_not_written() -> None:
    found = profile()
    assert (found.salon.preset, found.salon.voice, found.salon.speaking) == (
        "expert",
        "first_person",
        "relevant",
    )
    grounding = found.salon.grounding
    assert (grounding.alpha, grounding.threshold, grounding.composer) == (0.1, None, "auto")
    assert (found.mcp.name, found.mcp.tools, found.period.is_open) == (None, None, True)
    assert found.as_config() == config()
    half = profile(corpus=config()["corpus"] | {"dateRange": {"start": "1840-01-01"}})
    assert half.period == Period(first=1840)


WRONG: list[tuple[dict[str, Any], str, str, str | None]] = [
    (config(birthyear=1815), "birthyear", "no field", "birthYear"),
    (config(birth_year=1815), "birth_year", "no field", "birthYear"),
    (config(eightPrinciples=[]), "eightPrinciples", "no field", None),
    (config(systemPromt={}), "systemPromt", "no field", "systemPrompt"),
    (config(birthYear="1815"), "birthYear", "integer", None),
    (config(birthYear=10_000), "birthYear", "less than", None),
    (config(id="Ada L"), "id", "lower-case", None),
    (config(id="a" * 65), "id", "64", None),
    (config(name=" "), "name", "must say something", None),
    (config(name="\ud800"), "name", "not text", None),
    (config(expertise="engines"), "expertise", "tuple", None),
    (config(mcp={"tools": ["query_corpos"]}), "mcp.tools.0", "query_corpus", "query_corpus"),
    (config(salon={"voice": "studnet"}), "salon.voice", "student", "student"),
    (config(salon={"grounding": {"alpha": 1.5}}), "salon.grounding.alpha", "less than", None),
    (config(mcpServer={"url": "ftp://x"}), "mcpServer.url", "http", None),
    (config(mcpServer={"url": "https://[x"}), "mcpServer.url", "http", None),
]
WRONG_SOURCE: list[tuple[dict[str, Any], str, str | None]] = [
    ({"titel": "x", "type": "book"}, "titel", "title"),
    ({"title": "x", "type": "bok"}, "type", "book"),
    ({"title": "x"}, "type", None),
    ({"title": "x", "type": "book", "file": "../secret"}, "file", None),
    ({"title": "x", "type": "book", "file": "/etc/passwd"}, "file", None),
    ({"title": "x", "type": "book", "file": "C:\\x"}, "file", None),
    ({"title": "x", "type": "book", "file": "."}, "file", None),
    ({"title": "x", "type": "book", "verified": "yes"}, "verified", None),
    ({"title": "x", "type": "book", "url": "javascript:alert(1)"}, "url", None),
]


@pytest.mark.requirement("sdk/see-also/avatar-schema", "sdk/configuration/tools-list")
@pytest.mark.parametrize(
    ("values", "path", "reason", "nearest"), WRONG, ids=lambda one: str(one)[:20]
)
def test_a_mistake_is_named_by_path_reason_and_nearest_name(
    values: dict[str, Any], path: str, reason: str, nearest: str | None
) -> None:
    with pytest.raises(InvalidProfile, match=path.split(".", 1)[0]) as caught:
        make_profile(values)
    details = caught.value.details
    assert (details["path"], details["nearest"]) == (path, nearest)
    assert reason in str(details["reason"])
    assert caught.value.code == "invalid_profile"
    if nearest:
        assert nearest in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("source", "field", "nearest"), WRONG_SOURCE, ids=lambda one: str(one)[:40]
)
def test_a_mistake_in_the_list_of_sources_says_in_which(
    source: dict[str, Any], field: str, nearest: str | None
) -> None:
    right = {"title": "fine", "type": "book"}
    with pytest.raises(InvalidProfile) as caught:
        profile(corpus={"description": "x", "sources": [right, source]})
    assert caught.value.details["path"] == f"corpus.sources.1.{field}"
    assert caught.value.details["nearest"] == nearest


@pytest.mark.parametrize(
    "days",
    [
        {"start": "1850-01-01", "end": "1840-01-01"},
        {"start": "1850"},
        {"start": 1850},
        {"start": "1850-13-01"},
    ],
)
def test_days_are_dates_in_order(days: dict[str, object]) -> None:
    with pytest.raises(InvalidProfile, match=r"corpus\.dateRange"):
        profile(corpus={"description": "x", "dateRange": days, "sources": []})


@pytest.mark.requirement("cap/concepts/avatar-needs-corpus")
def test_a_profile_without_a_corpus_is_refused() -> None:
    values = config()
    del values["corpus"]
    with pytest.raises(InvalidProfile) as caught:
        make_profile(values)
    assert caught.value.details["path"] == "corpus"


def test_all_mistakes_are_listed_and_a_field_that_is_not_ours_can_be_kept() -> None:
    with pytest.raises(InvalidProfile, match="and 1 more") as caught:
        make_profile(config(birthYear="x", deathYear="y"))
    assert len(caught.value.details["mistakes"]) == 2  # type: ignore[arg-type]
    with pytest.raises(InvalidProfile) as caught:
        make_profile(config(eightPrinciples=[]))
    assert "'x-eightPrinciples'" in (caught.value.hint or "")
    kept = make_profile(config(**{"x-eightPrinciples": ["boundaries"]}))
    assert json.loads(kept.to_json())["x-eightPrinciples"] == ["boundaries"]
    with pytest.raises(InvalidProfile, match="not text"):
        make_profile(config(**{"x-note": "\ud800"}))


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"3", b"\xff", b'{"id": NaN}', b"[" * 100_000, b" " * 4_000_001]
)
def test_what_is_no_profile_at_all_is_refused_in_one_way(content: bytes) -> None:
    with pytest.raises(InvalidProfile):
        parse_profile(content)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*WHOLE, "x-y", "z"]), inner, max_size=4)
        ),
        max_leaves=8,
    )
)
def test_anything_is_a_profile_or_refused(values: object) -> None:
    with suppress(InvalidProfile):
        make_profile(values)


def test_a_folder_or_a_file_is_loaded_and_saved_whole(tmp_path: Path) -> None:
    made = make_profile(WHOLE)
    path = save_profile(made, tmp_path / "ada")
    assert load_profile(tmp_path / "ada") == load_profile(path) == made
    assert [one.name for one in path.parent.iterdir()] == ["config.json"]
    with pytest.raises(FileMissing, match="no profile"):
        load_profile(tmp_path / "nobody")


@pytest.mark.requirement("sdk/configuration/config-file")
def test_a_profile_counts_once_it_is_registered_and_every_version_is_kept() -> None:
    with SqliteArchive.temporary() as archive:
        assert find_profile(archive, "ada") is None
        with pytest.raises(AvatarNotFound, match="ada") as caught:
            get_profile(archive, "ada")
        assert "salon avatar new" in (caught.value.hint or "")
        first = register_profile(archive, profile())
        assert register_profile(archive, profile()) == first, "nothing moved"
        register_profile(archive, profile(name="A. Lovelace"))
        register_profile(archive, profile(id="bob"))
        archive.put("avatars/ada/corpus", b"{}")
        archive.put("avatars/ada/deeper/profile", b"{}")
        assert get_profile(archive, "ada").name == "A. Lovelace"
        assert len(archive.history(profile_handle("ada"))) == 2
        assert [one.id for one in list_profiles(archive)] == profile_ids(archive) == ["ada", "bob"]
        with pytest.raises(AvatarNotFound) as caught:
            get_profile(archive, "eve")
        assert caught.value.hint == "there are ada, bob"
        with pytest.raises(InvalidInput):
            find_profile(archive, "No Id")
        archive.put(profile_handle("ada"), b"not a profile")
        with pytest.raises(InvalidProfile):
            get_profile(archive, "ada")


@pytest.mark.requirement("sdk/see-also/avatar-schema")
def test_the_published_schema_says_the_same_as_the_code() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = profile_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    judge = jsonschema.Draft202012Validator(schema)
    published = Path(__file__).parents[2] / "docs" / "reference" / "avatar-schema.json"
    assert json.loads(published.read_text("utf-8")) == json.loads(json.dumps(schema))
    for right in (WHOLE, config(), config(**{"x-own": 1})):
        assert list(judge.iter_errors(right)) == []
    told_by_schema = [values for values, _, reason, _ in WRONG if reason != "not text"]
    for wrong in told_by_schema:
        if wrong["name"] == " " or "[x" in str(wrong):
            continue  # a schema cannot say everything
        assert list(judge.iter_errors(wrong)), wrong
