"""Short answers: a yes is a yes only as a whole."""

import pytest

from salon.gate.answers import Change, find_changes, is_cancel, is_no, is_skip, is_yes, unquoted


@pytest.mark.parametrize(
    "text", ["yes", "Y", "yeah", "Sure!", "OK.", "okay", "Yes, please", "yes, send it", "Do it"]
)
def test_a_clear_yes_is_a_yes(text: str) -> None:
    assert is_yes(text)
    assert not is_no(text)


@pytest.mark.parametrize(
    "text",
    ["yes?", "yes but later", "yes, and tell the others too", "ok so what happens then", "",
     "maybe", "yesterday", "no", "not ok", "sure, if she agrees", "change the name to Yes"],
)  # fmt: skip
def test_what_is_not_clearly_a_yes_is_none(text: str) -> None:
    assert not is_yes(text)


@pytest.mark.parametrize(
    "text", ["no", "N", "nah", "Not now.", "no thanks", "don\u2019t", "Not yet"]
)
def test_a_clear_no_is_a_no(text: str) -> None:
    assert is_no(text)


@pytest.mark.parametrize("text", ["cancel", "/cancel", "Never mind!", "forget it", "Stop."])
def test_everything_can_be_called_off(text: str) -> None:
    assert is_cancel(text)
    assert not is_yes(text)


def test_a_field_can_be_skipped() -> None:
    assert is_skip("skip")
    assert is_skip("I don't know.")
    assert not is_skip("555 0100")


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("change the name to Robin Park", "name", "Robin Park"),
        ("Please set her email to a@b.example", "email", "a@b.example"),
        ("make it Tuesday at 3", "it", "Tuesday at 3"),
        ("move it to 15:00", "it", "15:00"),
        ("change the subject to “A talk”", "subject", "A talk"),
    ],
)
def test_changes_name_a_field_and_a_value(text: str, field: str, value: str) -> None:
    assert Change(field=field, value=value) in find_changes(text, is_loose=False)


def test_the_loose_form_counts_only_where_a_draft_is_shown() -> None:
    assert find_changes("subject: Hello", is_loose=True) == (
        Change(field="subject", value="Hello"),
    )
    assert find_changes("subject: Hello", is_loose=False) == ()


def test_quotation_marks_around_a_value_go() -> None:
    assert unquoted(' "A talk" ') == "A talk"
    assert unquoted("it's") == "it's"
