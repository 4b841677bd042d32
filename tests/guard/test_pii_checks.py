"""Check digits, each with a number that passes and its neighbours that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.guard import pii_checks as checks

PASSING = [
    (checks.is_card_number, "4111 1111 1111 1111"),
    (checks.is_card_number, "378282246310005"),
    (checks.is_card_number, "6011111111111117"),
    (checks.is_iban, "GB82 WEST 1234 5698 7654 32"),
    (checks.is_iban, "de89370400440532013000"),
    (checks.is_us_ssn, "123-45-6789"),
    (checks.is_nhs_number, "943 476 5919"),
    (checks.is_spanish_id, "12345678Z"),
    (checks.is_spanish_id, "X1234567L"),
    (checks.is_codice_fiscale, "RSSMRA85T10A562S"),
    (checks.is_french_nir, "255081416802538"),
    (checks.is_german_tax_id, "86095742719"),
    (checks.is_cpf, "529.982.247-25"),
    (checks.is_pesel, "44051401359"),
    (checks.is_bsn, "111222333"),
    (checks.is_hetu, "131052-308T"),
    (checks.is_personnummer, "811218-9876"),
    (checks.is_aadhaar, "2341 2341 2346"),
    (checks.is_chinese_id, "11010519491231002X"),
    (checks.is_ip_address, "8.8.8.8"),
    (checks.is_ip_address, "2001:4860:4860::8888"),
    (checks.is_bitcoin_address, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    (checks.is_bitcoin_address, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
]


@pytest.mark.parametrize(
    ("check", "number"), PASSING, ids=lambda value: getattr(value, "__name__", str(value)[:30])
)
def test_a_number_that_was_issued_passes(check: checks.Check, number: str) -> None:
    assert check(number)


@pytest.mark.parametrize(
    ("check", "number"),
    [case for case in PASSING if case[0] not in (checks.is_us_ssn, checks.is_ip_address)],
    ids=lambda value: getattr(value, "__name__", str(value)[:30]),
)
def test_a_mistyped_last_sign_does_not_pass(check: checks.Check, number: str) -> None:
    others = [one for one in "0123456789" if one != number[-1]]
    passing = [one for one in others if check(number[:-1] + one)]
    assert passing == []


@pytest.mark.parametrize(
    ("check", "number"),
    [
        (checks.is_card_number, "0000000000000000"),
        (checks.is_card_number, "1234567812345670"),
        (checks.is_iban, "GB82"),
        (checks.is_us_ssn, "000-12-3456"),
        (checks.is_us_ssn, "666-12-3456"),
        (checks.is_us_ssn, "123-00-4567"),
        (checks.is_us_ssn, "123-45-0000"),
        (checks.is_us_ssn, "12-34"),
        (checks.is_german_tax_id, "06095742719"),
        (checks.is_cpf, "111.111.111-11"),
        (checks.is_ip_address, "127.0.0.1"),
        (checks.is_ip_address, "192.0.2.7"),
        (checks.is_ip_address, "999.1.1.1"),
        (checks.is_bitcoin_address, "1" + "z" * 33),
        (checks.is_bitcoin_address, "bc1bbbbbbbbbbbbbb"),
    ],
)
def test_what_nobody_issues_does_not_pass(check: checks.Check, number: str) -> None:
    assert not check(number)


@given(st.integers(min_value=0, max_value=10**18))
def test_exactly_one_last_digit_passes_luhn(number: int) -> None:
    assert sum(checks.passes_luhn(f"{number}{digit}") for digit in range(10)) == 1
