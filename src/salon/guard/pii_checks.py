"""Check digits: what tells a number that was issued from one that only looks like it.

Each function takes the number as it was written and tells whether it can have been issued.
"""

import hashlib
import ipaddress
import re
from collections.abc import Callable, Sequence

Check = Callable[[str], bool]

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VERHOEFF_TIMES = (
    *("0123456789", "1234067895", "2340178956", "3401289567", "4012395678"),
    *("5987604321", "6598710432", "7659821043", "8765932104", "9876543210"),
)
_VERHOEFF_SHIFT = (
    *("0123456789", "1576283094", "5803796142", "8916043527"),
    *("9453126870", "4286573901", "2793806415", "7046913258"),
)
_CODICE_ODD = (
    *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
)


def digits_of(text: str) -> list[int]:
    """Return the decimal digits in a text, in order."""
    return [int(one) for one in text if one in "0123456789"]


def bare(text: str) -> str:
    """Return letters and digits alone, in upper case."""
    return re.sub(r"[\W_]", "", text).upper()


def passes_luhn(text: str) -> bool:
    """Tell whether the last digit is the one that Luhn's formula gives."""
    total = 0
    for place, digit in enumerate(reversed(digits_of(text))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def is_card_number(text: str) -> bool:
    """Tell whether this is a payment card: a known beginning, a known length, Luhn."""
    number = "".join(map(str, digits_of(text)))
    known = re.fullmatch(
        r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
        r"|(?:6\d{3}|5[06-8]\d\d)\d{8,15}|(?:35\d{2}|1800|2131)\d{11,12}",
        number,
    )
    return bool(known) and len(set(number)) > 1 and passes_luhn(number)


def is_iban(text: str) -> bool:
    """Tell whether an account number passes ISO 7064's mod 97."""
    code = bare(text)
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", code):
        return False
    return int("".join(str(int(one, 36)) for one in code[4:] + code[:4])) % 97 == 1


def is_us_ssn(text: str) -> bool:
    """Tell whether the three parts are ones that are given out (numbers from 900 are for taxes)."""
    number = "".join(map(str, digits_of(text)))
    area, group, serial = number[:3], number[3:5], number[5:]
    return len(number) == 9 and area not in {"000", "666"} and group != "00" and serial != "0000"


def is_nhs_number(text: str) -> bool:
    """Tell whether the tenth digit fits, mod 11."""
    digits = digits_of(text)
    rest = 11 - _weighted(digits[:9], range(10, 1, -1)) % 11
    return len(digits) == 10 and rest != 10 and digits[9] == rest % 11


def is_spanish_id(text: str) -> bool:
    """Tell whether the letter of a DNI or NIE fits its number."""
    code = bare(text)
    number = code[:-1].translate(str.maketrans("XYZ", "012"))
    return number.isdecimal() and code[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23]


def is_codice_fiscale(text: str) -> bool:
    """Tell whether the last letter of an Italian tax code fits."""
    code = bare(text)
    total = 0
    for place, one in enumerate(code[:15]):
        value = int(one) if one.isdecimal() else ord(one) - ord("A")
        total += value if place % 2 else _CODICE_ODD[value]
    return len(code) == 16 and ord(code[15]) - ord("A") == total % 26


def is_french_nir(text: str) -> bool:
    """Tell whether the key of a French social security number fits."""
    code = bare(text).replace("2A", "19").replace("2B", "18")
    return len(code) == 15 and code.isdecimal() and 97 - int(code[:13]) % 97 == int(code[13:])


def is_german_tax_id(text: str) -> bool:
    """Tell whether the eleventh digit fits (ISO 7064, mod 11, 10)."""
    digits = digits_of(text)
    if len(digits) != 11 or digits[0] == 0:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def is_cpf(text: str) -> bool:
    """Tell whether both check digits of a Brazilian CPF fit."""
    digits = digits_of(text)
    if len(digits) != 11 or len(set(digits)) == 1:
        return False
    return all(
        _weighted(digits[:end], range(end + 1, 1, -1)) * 10 % 11 % 10 == digits[end]
        for end in (9, 10)
    )


def is_pesel(text: str) -> bool:
    """Tell whether the last digit of a Polish PESEL fits."""
    digits = digits_of(text)
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    return len(digits) == 11 and -_weighted(digits[:10], weights) % 10 == digits[10]


def is_bsn(text: str) -> bool:
    """Tell whether a Dutch citizen number passes the test of eleven."""
    digits = digits_of(text)
    return len(digits) == 9 and _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def is_hetu(text: str) -> bool:
    """Tell whether the last sign of a Finnish identity code fits."""
    code = text.upper()
    number = code[:6] + code[7:10]
    return number.isdecimal() and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number) % 31] == code[10]


def is_personnummer(text: str) -> bool:
    """Tell whether a Swedish number holds a day and passes Luhn."""
    number = "".join(map(str, digits_of(text)))[-10:]
    return 1 <= int(number[2:4]) <= 12 and 1 <= int(number[4:6]) % 60 <= 31 and passes_luhn(number)


def is_aadhaar(text: str) -> bool:
    """Tell whether an Indian number passes Verhoeff's check."""
    state = 0
    digits = digits_of(text)
    for place, digit in enumerate(reversed(digits)):
        state = int(_VERHOEFF_TIMES[state][int(_VERHOEFF_SHIFT[place % 8][digit])])
    return len(digits) == 12 and state == 0


def is_chinese_id(text: str) -> bool:
    """Tell whether the last sign of a resident number fits."""
    code = bare(text)
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return (
        len(code) == 18 and code[17] == "10X98765432"[_weighted(digits_of(code[:17]), weights) % 11]
    )


def is_ip_address(text: str) -> bool:
    """Tell whether this is somebody's address: a public one, none kept for examples."""
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def is_bitcoin_address(text: str) -> bool:
    """Tell whether the check sum of a Bitcoin address fits, in the old form or the new."""
    if text.lower().startswith("bc1"):
        return _is_bech32(text.lower())
    number = 0
    for one in text:
        if (value := _BASE58.find(one)) < 0:
            return False
        number = number * 58 + value
    try:
        content = number.to_bytes(25, "big")
    except OverflowError:
        return False
    return hashlib.sha256(hashlib.sha256(content[:21]).digest()).digest()[:4] == content[21:]


def _is_bech32(address: str) -> bool:
    values = [_BECH32.find(one) for one in address[3:]]
    state = 1
    for value in (3, 3, 0, 2, 3, *values):  # `bc`, spread out as BIP 173 wants it
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(
            (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
        ):
            state ^= generator if top >> bit & 1 else 0
    return -1 not in values and state in {1, 0x2BC830A3}


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))
