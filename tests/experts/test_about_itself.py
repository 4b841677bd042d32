"""Asked about itself an avatar answers from its profile; asked about anything else, from texts."""

from collections.abc import Iterator

import pytest

from salon.app import Salon
from salon.core.outcomes import Outcome
from salon.experts.about_itself import about_itself, asks_about_itself
from tests.experts.profiles import profile
from tests.experts.valley import open_valley


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Salon]:
    with open_valley(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Who are you?", ("AI avatar of Ada Berg", "gardens, bridges, tolls", "4 documents")),
        ("What are you?", ("AI avatar of Ada Berg",)),
        ("Ada Berg, who are you exactly?", ("AI avatar of Ada Berg",)),
        ("Hello! Who are you?", ("AI avatar of Ada Berg",)),
        ("What\u2019s your name?", ("AI avatar of Ada Berg",)),
        ("What sources do you have?", ("4 documents, of the years 1870 to 1905", "Texts of the")),
        ("Where do you get your information from?", ("4 documents",)),
        ("What can I ask you?", ("You can ask me about gardens, for example.",)),
        ("Hello", ("Hello.", "AI avatar of Ada Berg")),
        ("Good morning, Ada Berg!", ("Hello.",)),
        ("Thank you", ("You are welcome.",)),
        ("thanks a lot!", ("You are welcome.",)),
        ("Goodbye.", ("Goodbye.",)),
    ],
)
def test_it_answers_from_its_profile_and_the_answer_verifies(
    salon: Salon, message: str, says: tuple[str, ...]
) -> None:
    reply = salon.respond("ada-berg", message)
    assert reply.outcome is Outcome.ANSWERED
    for words in says:
        assert words in reply.response
    assert reply.citations == ()
    assert reply.confidence == "high"
    assert salon.verify_response(reply.response, (), avatar="ada-berg").holds


@pytest.mark.parametrize(
    "message",
    [
        "Who are you for in this war?",
        "What are you going to do about the toll?",
        "Hello, when was the bridge over the Alder built?",
        "Thank you, and who built the bridge?",
        "What sources of water do you have?",
        "What do you know about the garden?",
        "Help the villages to save crowns",
        "who are you " * 50,
    ],
)
def test_another_question_goes_to_the_texts(message: str) -> None:
    assert asks_about_itself(message) is None


def test_another_avatars_description_does_not_verify(salon: Salon) -> None:
    reply = salon.respond("ada-berg", "Who are you?")
    assert not salon.verify_response(reply.response, (), avatar="ole-holm").holds
    more = reply.response.replace("4 documents", "400 documents")
    assert not salon.verify_response(more, (), avatar="ada-berg").holds


def test_what_is_not_there_is_not_claimed() -> None:
    said = about_itself(profile(), "AI avatar.", "her notes", 0)
    assert "I have no documents yet" in said["who"]
    assert "You can ask me about any of it." in said["thanks"]
    one = about_itself(profile(expertise=["engines"]), "AI avatar.", "engines", 1)
    assert "I answer from one document." in one["sources"]
    assert "about engines, for example" in one["greeting"]
