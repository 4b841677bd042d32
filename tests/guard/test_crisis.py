"""Cries for help: noticed, told apart from idioms, and answered with fixed words."""

import json
from collections.abc import Sequence

import pytest

from salon.core.embedding import Embedder
from salon.guard.crisis import REPLIES, Crisis, crisis_reply, find_crisis
from salon.guard.crisis_meaning import most_likely
from salon.providers.embedders import open_embedder
from tests.guard.crisis_cases import SEEN, UNSEEN

Cases = Sequence[tuple[str, str]]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder("embedded:minilm")


def rates(cases: Cases, embedder: Embedder | None) -> tuple[float, float]:
    """Return which share of the cries was noticed, and which share of what was noticed is one."""
    marks = [(bool(kind), find_crisis(text, embedder) is not None) for kind, text in cases]
    noticed = sum(is_cry and is_found for is_cry, is_found in marks)
    return noticed / sum(is_cry for is_cry, _ in marks), noticed / sum(found for _, found in marks)


def test_there_are_enough_cases_of_both_kinds() -> None:
    texts = [text for _, text in (*SEEN, *UNSEEN)]
    assert len(set(texts)) == len(texts) >= 150
    assert 60 <= sum(not kind for kind, _ in (*SEEN, *UNSEEN)) <= len(texts) - 60


def test_patterns_alone_notice_every_known_cry_and_nothing_else() -> None:
    assert rates(SEEN, None) == (1.0, 1.0)


def test_with_the_second_look_nearly_every_unseen_cry_is_noticed(embedder: Embedder) -> None:
    recall, precision = rates(UNSEEN, embedder)
    assert recall >= 0.93
    assert precision >= 0.8


def test_patterns_alone_miss_much_of_what_they_never_saw(embedder: Embedder) -> None:
    """The reason for the second look; if this changes, the guide's figures are old."""
    alone, _ = rates(UNSEEN, None)
    together, _ = rates(UNSEEN, embedder)
    assert alone < 0.6 < together


@pytest.mark.parametrize(
    "text",
    ["I'm a bit scared that it goes too fast.", "I am terrified of flying", "I'm scared of it"],
)
def test_an_everyday_fear_is_no_cry_for_help(text: str, embedder: Embedder) -> None:
    assert find_crisis(text, embedder) is None


@pytest.mark.parametrize("text", [text for kind, text in SEEN if kind])
def test_a_known_cry_is_noticed_as_the_right_kind(text: str) -> None:
    found = find_crisis(text)
    assert found is not None
    kinds = {text: kind for kind, text in SEEN}
    assert found.kind == kinds[text]
    assert found.certainty == "certain"
    assert text[found.start : found.end].strip()


@pytest.mark.parametrize(
    "text",
    [
        "this traffic is killing me",
        "I could kill for a pizza",
        "I'm not suicidal, just sad",
        "we watched Suicide Squad yesterday",
    ],
)
def test_sayings_and_denials_get_no_help_reply(text: str, embedder: Embedder) -> None:
    assert find_crisis(text) is None
    assert find_crisis(text, embedder) is None


def test_somebody_elses_crisis_is_theirs() -> None:
    found = find_crisis("I think my son is self-harming")
    assert found is not None
    assert found.kind == "other"


def test_what_has_happened_is_more_urgent_than_what_is_felt() -> None:
    found = find_crisis("I want to die. I took a whole bottle of pills.")
    assert found is not None
    assert found.kind == "overdose"


def test_a_denial_before_a_but_does_not_cover_what_follows() -> None:
    assert find_crisis("I don't want to scare you but I want to die") is not None


def test_curly_quotes_and_capitals_change_nothing() -> None:
    assert find_crisis("I DON\u2019T WANT TO BE HERE ANYMORE") is not None
    assert find_crisis("\u0130 am here. I WANT TO DIE") is not None


def test_the_second_look_is_only_possible_and_asks(embedder: Embedder) -> None:
    found = find_crisis("I lost the will to live", embedder)
    assert found is not None
    assert found.certainty == "possible"
    reply = crisis_reply(found, "GB")
    assert "?" in reply
    assert "116 123" in reply


def test_the_second_look_needs_the_embedder_it_was_trained_on() -> None:
    other = open_embedder("hashing:384")
    assert most_likely(["I lost the will to live"], other) is None
    assert find_crisis("I lost the will to live", other) is None


def test_nothing_said_is_no_cry(embedder: Embedder) -> None:
    assert find_crisis("", embedder) is None
    assert find_crisis("...", embedder) is None


def test_a_very_long_message_is_read_at_both_ends() -> None:
    filler = "The bus was late again. " * 4000
    assert find_crisis(f"I want to die. {filler}") is not None
    assert find_crisis(f"{filler} I want to die.") is not None
    assert find_crisis("he is going to " * 8000) is None


# Replies

KINDS = ("self", "overdose", "other", "danger")
POSSIBLE = ("self", "other", "danger")
REGIONS = ("", "US", "CA", "GB", "IE", "AU", "NZ", "DE", "FR", "PL", "XX")


def crisis(kind: str, certainty: str = "certain") -> Crisis:
    return Crisis(kind=kind, certainty=certainty, start=0, end=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_reply_says_what_it_is_and_where_help_is(kind: str, region: str) -> None:
    reply = crisis_reply(crisis(kind), region)
    assert "I am an AI. I cannot call anyone" in reply
    assert "call" in reply.casefold()
    assert any(character.isdigit() for character in reply)
    assert "{" not in reply
    assert crisis_reply(crisis(kind), region) == reply


@pytest.mark.parametrize("kind", POSSIBLE)
def test_every_possible_kind_has_a_reply(kind: str) -> None:
    reply = crisis_reply(crisis(kind, "possible"), "US")
    assert "If I have misread you" in reply
    assert "911" in reply


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("US", ("988", "911")),
        ("en-US", ("988", "911")),
        ("ca", ("988", "911")),
        ("GB", ("116 123", "999")),
        ("uk", ("116 123", "999")),
        ("IE", ("116 123", "112")),
        ("AU", ("13 11 14", "000")),
        ("NZ", ("1737", "111")),
        ("de_AT", ("142", "112")),
        ("SE", ("findahelpline.com", "112")),
        ("", ("findahelpline.com", "your local emergency number")),
        ("Atlantis", ("findahelpline.com", "your local emergency number")),
    ],
)
def test_help_is_named_by_region(region: str, expected: tuple[str, ...]) -> None:
    reply = crisis_reply(crisis("self"), region)
    assert all(one in reply for one in expected)


def test_every_help_line_names_the_page_where_it_can_be_checked() -> None:
    read = json.loads(REPLIES.read_text(encoding="utf-8"))
    for region in (*read["regions"].values(), read["unknown_region"]):
        for line in (*region["lines"], *region.get("violence", [])):
            assert "." in line["page"]
            assert line["reach"]
