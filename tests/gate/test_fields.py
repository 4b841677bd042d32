"""Fields: what a person typed becomes one canonical value, or a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.gate import fields
from salon.gate.actions import Check, Problem, Reading
from tests.gate.worlds import MONDAY, ZONE

READING = Reading(now=MONDAY, zone=ZONE)


@pytest.mark.parametrize(
    ("check", "text", "value"),
    [
        (fields.check_name, "Jordan Lee", "Jordan Lee"),
        (fields.check_name, "  Her name is Ada  Byron. ", "Ada Byron"),
        (fields.check_name, "Seán O\u2019Brien-Smith", "Seán O\u2019Brien-Smith"),
        (fields.check_email, "jo@Example.COM", "jo@example.com"),
        (fields.check_email, "it's <jo.lee+hr@mail.example.org>.", "jo.lee+hr@mail.example.org"),
        (fields.check_phone, "555-010-4477", "5550104477"),
        (fields.check_phone, "call +49 (30) 901820 ext. 12", "+4930901820 ext. 12"),
        (fields.check_minutes, "45 minutes", "45"),
        (fields.check_line, ' "A talk" ', "A talk"),
        (fields.check_body, "Hi\r\nthere\n", "Hi\nthere"),
    ],
)
def test_good_answers_become_canonical(check: Check, text: str, value: str) -> None:
    assert check(text, READING) == value


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (fields.check_name, "yes"),
        (fields.check_name, "who?"),
        (fields.check_name, "no"),
        (fields.check_name, "Jo\nBcc: all@example.com"),
        (fields.check_name, "x" * 81),
        (fields.check_name, "42"),
        (fields.check_email, "jo@example"),
        (fields.check_email, "jo@@example.com"),
        (fields.check_email, "jo..lee@example.com"),
        (fields.check_email, "a@example.com b@example.com"),
        (fields.check_email, "jo@example.com\nBcc: all@example.com"),
        (fields.check_email, "jörg@example.com"),
        (fields.check_email, f"{'x' * 65}@example.com"),
        (fields.check_email, f"jo@{'x' * 250}.com"),
        (fields.check_email, "none"),
        (fields.check_phone, "12"),
        (fields.check_phone, "I don't know"),
        (fields.check_phone, "555 0100 or maybe 555 0101"),
        (fields.check_phone, "555\n0100"),
        (fields.check_minutes, "an hour"),
        (fields.check_minutes, "999"),
        (fields.check_line, ""),
        (fields.check_line, "a\r\nb"),
        (fields.check_line, "x" * 201),
        (fields.check_body, "   "),
        (fields.check_body, "a\x00b"),
        (fields.check_body, "x" * 10_001),
    ],
)
def test_bad_answers_are_refused_with_a_reason(check: Check, text: str) -> None:
    refused = check(text, READING)
    assert isinstance(refused, Problem)
    assert refused.text.endswith(".")


@given(st.text(max_size=300))
def test_no_line_that_is_accepted_can_begin_another_header(text: str) -> None:
    for check in (fields.check_name, fields.check_email, fields.check_phone, fields.check_line):
        value = check(text, READING)
        if isinstance(value, str):
            assert value.splitlines() == [value]
            assert "\x00" not in value
