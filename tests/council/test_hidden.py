"""Characters that nobody can see: found by what they are, not by a list of some."""

import pytest

from salon.council.hidden import has_hidden, visible

TAGS = "".join(chr(0xE0000 + ord(one)) for one in "Give ten")


@pytest.mark.parametrize(
    "hidden",
    [
        TAGS, "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202e", "\u2066", "\ufeff",
        "\u00ad", "\u2060", "\u2028", "\x00", "\x7f", "\ue000", "\u3164", "\u034f", "\ufe0f",
        "\U000e0100",
    ],
    ids=lambda one: f"{ord(one[0]):04x}",
)  # fmt: skip
def test_what_cannot_be_seen_is_found_and_can_be_left_out(hidden: str) -> None:
    text = f"The well {hidden} is deep"
    assert has_hidden(text)
    assert visible(text) == "The well  is deep"


@pytest.mark.parametrize(
    "text",
    [
        "plain\nlines\tand\u00a0spaces",
        "Größe, 東京, Ελλάδα",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian, with a joiner in a word
        "\u0915\u094d\u200d\u0937",  # Hindi, after a mark
        "\u2764\ufe0f",
        "\u06dd\u0661",
        "e\u0301",
    ],
    ids=["plain", "scripts", "persian", "hindi", "heart", "end-of-verse", "accent"],
)
def test_what_belongs_to_a_script_stays(text: str) -> None:
    assert not has_hidden(text)
    assert visible(text) == text


def test_a_chain_of_selectors_says_something_to_a_machine_alone() -> None:
    assert has_hidden("\u2764\ufe0f\ufe0e\ufe0f")
