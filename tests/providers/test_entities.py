"""Names found by models: what they may add and what they may not."""

import json
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidSettings, ProviderFailed, UnknownProvider
from salon.providers import entities
from salon.providers.entities import (
    PROMPT,
    SPACY_MODEL,
    ChatExtractor,
    ExtractorOptions,
    SpacyExtractor,
    open_extractor,
)
from salon.providers.http_json import JsonClient, JsonServer
from salon.retrieval.graph.entities import EntityType, RuleExtractor, find_mentions
from tests.providers.model_server import ModelServer, hang_up, say

TEXT = "We met Elinor Ostrom and Vincent Ostrom at Indiana University. Ostrom spoke of commons."


@pytest.fixture
def extractor(model_server: ModelServer) -> Iterator[ChatExtractor]:
    address = JsonServer(base_url=f"{model_server.url}/v1", waits_s=())
    with ChatExtractor("small", JsonClient(address)) as opened:
        yield opened


def _answers(content: object) -> dict[str, object]:
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def _lists(*entities_: tuple[str, str]) -> str:
    return json.dumps({"entities": [{"name": name, "type": kind} for name, kind in entities_]})


def test_what_the_model_lists_is_found_wherever_the_text_has_it(
    model_server: ModelServer, extractor: ChatExtractor
) -> None:
    listed = _lists(("Ostrom", "PERSON"), ("Elinor Ostrom", "PERSON"), ("commons", "CONCEPT"))
    model_server.always = say(_answers(listed))
    found = extractor.extract(TEXT)
    assert [(mention.name, mention.type) for mention in found] == [
        ("Elinor Ostrom", EntityType.PERSON),
        ("Ostrom", EntityType.PERSON),
        ("Ostrom", EntityType.PERSON),
        ("commons", EntityType.CONCEPT),
    ]
    assert all(TEXT[mention.start : mention.end] == mention.name for mention in found)
    (asked,) = model_server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body["model"] == "small"
    assert asked.body["messages"] == [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": TEXT},
    ]
    assert extractor.unusable == 0


def test_a_model_may_not_invent_names(model_server: ModelServer, extractor: ChatExtractor) -> None:
    listed = _lists(
        ("Elinor Claire Ostrom", "PERSON"),
        ("elinor ostrom", "PERSON"),
        ("Ostro", "PERSON"),
        ("", "PERSON"),
        (".", "OTHER"),
        (TEXT * 2, "OTHER"),
        ("Vincent Ostrom", "wizard"),
    )
    model_server.always = say(_answers(listed))
    (only,) = extractor.extract(TEXT)
    assert (only.name, only.type) == ("Vincent Ostrom", EntityType.OTHER)


def test_a_list_in_a_fence_is_read(model_server: ModelServer, extractor: ChatExtractor) -> None:
    fenced = f"Here you are:\n```json\n{_lists(('Elinor Ostrom', 'person'))}\n```"
    model_server.always = say(_answers(fenced))
    (only,) = extractor.extract(TEXT)
    assert (only.name, only.type) == ("Elinor Ostrom", EntityType.PERSON)


@pytest.mark.parametrize(
    "answer",
    [
        _answers("I see Elinor Ostrom."),
        _answers("{not json}"),
        _answers('{"names": []}'),
        _answers('{"entities": "Ostrom"}'),
        _answers('{"entities": ' + "[" * 5_000 + "}"),
        _answers(None),
        {"choices": []},
    ],
)
def test_where_the_model_talks_nonsense_the_rules_read_the_text(
    model_server: ModelServer, extractor: ChatExtractor, answer: dict[str, object]
) -> None:
    model_server.always = say(answer)
    assert extractor.extract(TEXT) == find_mentions(TEXT)
    assert extractor.unusable == 1


def test_a_server_that_fails_is_an_error_and_not_an_empty_list(
    model_server: ModelServer, extractor: ChatExtractor
) -> None:
    model_server.always = hang_up
    with pytest.raises(ProviderFailed):
        extractor.extract(TEXT)
    model_server.always = say({"error": "no such model"}, 404)
    with pytest.raises(ProviderFailed, match="no such model"):
        extractor.extract(TEXT)
    model_server.always = say({"unexpected": 1})
    with pytest.raises(ProviderFailed):
        extractor.extract(TEXT)


def test_a_long_text_is_asked_about_in_pieces(
    model_server: ModelServer, extractor: ChatExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entities, "TEXT_PER_REQUEST", 70)
    model_server.always = say(_answers(_lists(("Ostrom", "PERSON"))))
    text = f"{TEXT}\n\n{TEXT}"
    found = extractor.extract(text)
    assert len(model_server.asked) > 2
    assert len(found) == text.count("Ostrom")
    assert all(text[mention.start : mention.end] == "Ostrom" for mention in found)
    assert extractor.extract("") == []


@given(st.lists(st.text(alphabet="ab .|(", max_size=4), max_size=5), st.text("ab .|(", max_size=40))
def test_places_of_names_hold_them_and_lie_apart(names: list[str], text: str) -> None:
    end = 0
    for mention in entities.find_places(text, [(name, "OTHER") for name in names]):
        assert end <= mention.start < mention.end <= len(text)
        assert " ".join(text[mention.start : mention.end].split()) == mention.name
        assert text[mention.start : mention.end] in {name.strip() for name in names}
        end = mention.end


def test_the_fingerprint_changes_with_the_model(extractor: ChatExtractor) -> None:
    other = ChatExtractor("large", JsonClient(JsonServer(base_url="http://127.0.0.1:1")))
    assert other.fingerprint != extractor.fingerprint
    other.close()


# Addresses


def test_an_address_opens_an_extractor(model_server: ModelServer) -> None:
    assert isinstance(open_extractor("rules"), RuleExtractor)
    opened = open_extractor("openai:small", ExtractorOptions(base_url=f"{model_server.url}/v1"))
    assert isinstance(opened, ChatExtractor)
    model_server.always = say(_answers(_lists(("Elinor Ostrom", "PERSON"))))
    assert len(opened.extract(TEXT)) == 1
    opened.close()


@pytest.mark.parametrize("address", ["", "spacy", "openai:", "magic:wand", "rules:all"])
def test_an_address_that_nothing_answers_to_is_refused(address: str) -> None:
    with pytest.raises(UnknownProvider):
        open_extractor(address)


def test_a_chat_model_without_a_server_is_refused() -> None:
    with pytest.raises(InvalidSettings):
        open_extractor("openai:small")


@pytest.mark.parametrize("package", ["no_such_model", "../evil", "os.path.x"])
def test_a_model_that_is_not_installed_is_named(package: str) -> None:
    with pytest.raises(UnknownProvider, match="needs spaCy"):
        open_extractor(f"spacy:{package}")


# spaCy


def test_spacy_finds_names_and_gives_them_types() -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'salon[entities]'")
    pytest.importorskip(SPACY_MODEL)
    extractor = open_extractor(f"spacy:{SPACY_MODEL}")
    text = "Yesterday, 3 May 1990, we met Elinor Ostrom of the Bank of England in Bloomington."
    found = extractor.extract(text)
    assert {(mention.name, mention.type) for mention in found} >= {
        ("Elinor Ostrom", EntityType.PERSON),
        ("Bank of England", EntityType.ORGANIZATION),
        ("Bloomington", EntityType.OTHER),
    }
    assert all(text[mention.start : mention.end] == mention.name for mention in found)
    assert not any("1990" in mention.name for mention in found)
    assert SPACY_MODEL in extractor.fingerprint


@dataclass
class _Span:
    text: str
    label_: str
    start_char: int


class _Language:
    """Stands in for a spaCy pipeline: it knows four names by heart."""

    meta = {"version": "9.9"}  # noqa: RUF012 - as spaCy has it

    def __call__(self, text: str) -> types.SimpleNamespace:
        known = {"the Bank of England": "ORG", "Ostrom's": "PERSON", "1990": "DATE", "The": "ORG"}
        spans = [
            _Span(name, label, text.index(name)) for name, label in known.items() if name in text
        ]
        return types.SimpleNamespace(ents=spans)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> str:
    """Put a package in spaCy's place, so that what is made of its answers is tested anywhere."""
    module = types.ModuleType("spacy")
    module.load = lambda _package, **_options: _Language()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    monkeypatch.setattr(entities, "find_spec", lambda _name: object())
    return "stand_in"


def test_articles_possessives_and_dates_are_left_out(stand_in: str) -> None:
    extractor = SpacyExtractor(stand_in)
    text = "In 1990 Ostrom's friends left the Bank of England."
    assert [(one.name, one.type, text[one.start : one.end]) for one in extractor.extract(text)] == [
        ("Ostrom", EntityType.PERSON, "Ostrom"),
        ("Bank of England", EntityType.ORGANIZATION, "Bank of England"),
    ]
    assert extractor.fingerprint == "spacy:stand_in 9.9"
    assert [one.name for one in extractor.extract("The 's")] == ["The"]
