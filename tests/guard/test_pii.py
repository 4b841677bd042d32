"""Private data in texts: what is found, how surely, and what is left alone."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.guard.pii import count_kinds, find_private_data, mask

SPACED = " ".join("4111111111111111")
WALLET = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
IPV6 = "2606:2800:220:1:248:1893:25c8:1946"
CERTAIN = [
    ("email", "Write to jane.doe+news@mail.nowhere.io today.", "jane.doe+news@mail.nowhere.io"),
    ("email", "Reach me: jane (at) nowhere (dot) io", "jane (at) nowhere (dot) io"),
    ("phone", "Ring +49 (0)30 1234 5678 after six.", "+49 (0)30 1234 5678"),
    ("phone", "Her mobile: 0151 2345678.", "0151 2345678"),
    ("phone", "(212) 555-0187 is the desk.", "(212) 555-0187"),
    ("phone", "The fax is 555-0187, use it.", "555-0187"),
    ("credit_card", "It was 4111 1111 1111 1111 all along.", "4111 1111 1111 1111"),
    ("credit_card", f"My card {SPACED} is lost", SPACED),
    ("bank_account", "Pay to GB82 WEST 1234 5698 7654 32 please.", "GB82 WEST 1234 5698 7654 32"),
    ("crypto_wallet", f"Send it to {WALLET}.", WALLET),
    ("crypto_wallet", "0x" + "aB" * 20, "0x" + "aB" * 20),
    ("national_id", "Here it is: 123-45-6789.", "123-45-6789"),
    ("national_id", "my social security number 123456789", "123456789"),
    ("national_id", "NI number AB 12 34 56 C on file", "AB 12 34 56 C"),
    ("national_id", "DNI 12345678Z", "12345678Z"),
    ("national_id", "CPF 529.982.247-25", "529.982.247-25"),
    ("national_id", "PESEL 44051401359", "44051401359"),
    ("passport", "passport no. C01X00T47 was stolen", "C01X00T47"),
    ("driver_licence", "My driver's license number is 2270-66-1551", "2270-66-1551"),
    ("ip_address", "It came from 93.184.216.34 at noon.", "93.184.216.34"),
    ("ip_address", f"and from {IPV6} too", IPV6),
    ("mac_address", "device 00:1B:44:11:3A:B7", "00:1B:44:11:3A:B7"),
    ("street_address", "She moved to 12 Old Mill Lane in May.", "12 Old Mill Lane"),
    ("street_address", "sie wohnt Lindenstraße 17a, Berlin", "Lindenstraße 17a"),
    ("street_address", "vive en Calle de la Luna 25", "Calle de la Luna 25"),
    ("street_address", "P.O. Box 442", "P.O. Box 442"),
    ("date_of_birth", "Born on 12 March 1984 in Leeds", "12 March 1984"),
    ("date_of_birth", "DOB: 03/12/1984", "03/12/1984"),
    ("credentials", "postgres://ada:s3cret@db.nowhere.io/x", "postgres://ada:s3cret@db.nowhere.io"),
    ("credentials", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "value"), CERTAIN, ids=lambda value: str(value)[:24])
def test_private_data_is_found_where_it_stands(kind: str, text: str, value: str) -> None:
    found = [one for one in find_private_data(text) if one.kind == kind]
    assert [(text[one.start : one.end], one.certainty) for one in found] == [(value, "certain")]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("credit_card", "My card 4111111111111112 is lost"),
        ("bank_account", "IBAN GB83WEST12345698765432"),
        ("bank_account", "account number 12345678 at the bank"),
        ("phone", "They wrote down 12 345 678 90 and left"),
        ("street_address", "Please see 4512 Novakova 8, second floor"),
        ("street_address", "the corner of Mill and Church, he said"),
        ("postal_code", "ZIP: 90210"),
        ("credentials", "password: hunter22"),
        ("ip_address", "version 12.31.45.200"),
    ],
)
def test_what_is_doubtful_is_reported_as_possible(kind: str, text: str) -> None:
    found = [one for one in find_private_data(text) if one.kind == kind]
    assert [one.certainty for one in found] == ["possible"]


@pytest.mark.parametrize(
    "text",
    [
        "In 1861, 1862 and 1863 the receipts were 583,885,247.06 dollars, see pp. 123-145.",
        "From 1861-1865 the army grew; on 1863-01-01 and 01/01/1863 it was decreed.",
        "Chapter 12, section 3.4.5 of the Act of 2 July 1862 covers 160 acres.",
        "The 26 State boards and 80 others met 3 times; 50 000 men, 10 000 horses.",
        "January 72 68.1 64 78 39 42 31 93.9\nFebruary 69 67.8 62 78 45 41 27 98.8",
        "salon@db.example.org, 192.0.2.1, 127.0.0.1 and ada@test are examples.",
        "a1b2c3d4e5f60718293a4b5c6d7e8f901234567890abcdef1234567890abcdef",
        "Elinor Ostrom and Paul Baran spoke in New York about common lands.",
        "",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert find_private_data(text) == []


def test_a_name_is_private_beside_private_data_and_certain_behind_its_label() -> None:
    alone = "Grace Hopper spoke about compilers."
    assert find_private_data(alone) == []
    text = f"{alone} {'x ' * 60}\nName: Mary Poppins\nPhone: +44 20 7946 0958\nJane Banks saw it."
    found = {text[one.start : one.end]: one for one in find_private_data(text)}
    assert (found["Mary Poppins"].kind, found["Mary Poppins"].certainty) == ("name", "certain")
    assert (found["Jane Banks"].kind, found["Jane Banks"].certainty) == ("name", "possible")
    assert "Grace Hopper" not in found


def test_the_postal_code_behind_an_address_is_found_with_it() -> None:
    text = "She lives at 12 Old Mill Lane,\n Springfield\n 62704"
    kinds = [one.kind for one in find_private_data(text)]
    assert kinds == ["street_address", "postal_code"]
    assert count_kinds(find_private_data(text)) == {"street_address": 1, "postal_code": 1}


def test_a_masked_value_cannot_be_used() -> None:
    assert mask("4111 1111 1111 1111") == "41•• •••• •••• ••11"
    assert mask("jane@nowhere.io") == "ja••@•••••••.io"
    assert mask("abc") == "a•c"
    assert mask("ab") == "••"
    for _, text, _ in CERTAIN:
        for one in find_private_data(text):
            assert text[one.start : one.end] not in one.masked


@given(st.text(max_size=400))
def test_findings_lie_in_the_text_in_order_and_do_not_overlap(text: str) -> None:
    found = find_private_data(text)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
    for first, second in itertools.pairwise(found):
        assert first.end <= second.start


@pytest.mark.parametrize(
    "piece", ["1 ", "12-", "+1(", "A", "a@", "Aa ", "1 Aa ", "a.", "0x1", "::", "(at)", "::1 "]
)
def test_no_text_makes_it_run_long(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    before = time.process_time()
    find_private_data(text)
    assert time.process_time() - before < 20
